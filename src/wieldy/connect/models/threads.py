"""Work that blocks, done in a thread, for whoever waits without blocking and may leave early.

Deliberately not here: what the work is (`local`, `transformers`), and waiting for it at the program's end.
"""

from __future__ import annotations

import threading
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing, suppress
from dataclasses import dataclass
from math import inf
from typing import TypeAlias, TypeVar

import anyio
from anyio import RunFinishedError
from anyio.from_thread import run_sync as run_in_loop
from anyio.lowlevel import current_token

_T = TypeVar("_T")

Put: TypeAlias = Callable[[_T], bool]
"""Hands a piece on; returns whether nobody waits for more."""

IsLeft: TypeAlias = Callable[[], bool]
"""Whether nobody waits for the result any more."""


@dataclass(frozen=True, slots=True)
class _Failed:
    error: Exception


async def in_thread(work: Callable[[IsLeft], _T]) -> _T:
    """The work's result; whoever is cancelled does not wait for its end, and the work can ask whether that happened."""

    def put_result(put: Put[_T], is_left: IsLeft) -> None:
        put(work(is_left))

    async with aclosing(from_thread(put_result)) as results:
        return await anext(results)


async def from_thread(work: Callable[[Put[_T], IsLeft], None]) -> AsyncGenerator[_T]:
    """What the work puts, as it is put; whoever leaves early has the work told so, at its next piece."""
    # No task group: a generator may be closed by another task than the one that began it.
    sender, receiver = anyio.create_memory_object_stream[_T | _Failed](inf)
    token = current_token()
    is_left = threading.Event()

    def put(item: _T | _Failed) -> bool:
        if not is_left.is_set():
            run_in_loop(sender.send_nowait, item, token=token)
        return is_left.is_set()

    def run() -> None:
        with suppress(RunFinishedError):  # the event loop has ended, and with it whoever waited
            try:
                work(put, is_left.is_set)
            except RunFinishedError:
                raise
            except Exception as error:
                put(_Failed(error))
            run_in_loop(sender.close, token=token)

    threading.Thread(target=run, name="wieldy-local-model", daemon=True).start()
    try:
        with sender, receiver:
            async for item in receiver:
                if isinstance(item, _Failed):
                    raise item.error
                yield item
    finally:
        is_left.set()
