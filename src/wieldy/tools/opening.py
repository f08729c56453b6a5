"""One opening that many share: the first to enter opens, the last to leave closes.

What is opened may belong to the task that opened it (a task group, a time limit), and whoever leaves last is rarely who
came first. So opening and closing happen in one task that does nothing else, and that ends before the last user has
left. Each event loop has an opening of its own. Deliberately not here: what is opened, and opening anew what has broken
while it was in use; that needs all its users to leave first.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import TypeAlias
from weakref import WeakKeyDictionary

import anyio

Open: TypeAlias = Callable[[], AbstractAsyncContextManager[object]]


class SharedOpening:
    """Counts who uses what `open_` opens."""

    def __init__(self, open_: Open) -> None:
        self._open = open_
        self._openings: WeakKeyDictionary[asyncio.AbstractEventLoop, _Opening] = WeakKeyDictionary()

    async def enter(self) -> None:
        """It is open, and stays so until this user has left; what opening raises is raised to all who wait for it."""
        loop = asyncio.get_running_loop()
        while (opening := self._openings.get(loop)) is not None and opening.users == 0:
            await opening.ended.wait()  # it is being closed
        if opening is None:
            opening = self._openings[loop] = _Opening(self._open)
        opening.users += 1
        try:
            await opening.settled.wait()
            if opening.task.done():
                opening.task.result()
        except BaseException:
            await self._give_up(opening)
            raise

    async def leave(self) -> None:
        """It is closed if this was its last user; what closing raises is raised to them."""
        opening = self._openings[asyncio.get_running_loop()]
        opening.users -= 1
        if opening.users > 0:
            return
        opening.unused.set()
        try:
            await asyncio.wait([opening.task])
        except BaseException:
            await self._end(opening)
            raise
        self._forget(opening)
        opening.task.result()

    async def _give_up(self, opening: _Opening) -> None:
        opening.users -= 1
        if opening.users == 0:
            await self._end(opening)

    async def _end(self, opening: _Opening) -> None:
        opening.task.cancel()
        with anyio.CancelScope(shield=True):
            await asyncio.wait([opening.task])
        if not opening.task.cancelled():
            opening.task.exception()  # looked at, so that asyncio does not report it as forgotten
        self._forget(opening)

    def _forget(self, opening: _Opening) -> None:
        self._openings.pop(asyncio.get_running_loop(), None)
        opening.ended.set()


class _Opening:
    """One opening and the task that holds it.

    Attributes:
        settled: It is open, or could not be opened.
        unused: The last user has left.
        ended: It is closed and forgotten.
    """

    def __init__(self, open_: Open) -> None:
        self.users = 0
        self.settled, self.unused, self.ended = anyio.Event(), anyio.Event(), anyio.Event()
        self.task = asyncio.create_task(self._hold(open_), name="wieldy opening")

    async def _hold(self, open_: Open) -> None:
        try:
            async with open_():
                self.settled.set()
                await self.unused.wait()
        finally:
            self.settled.set()
