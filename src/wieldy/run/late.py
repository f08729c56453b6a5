"""Calls that go on in their threads although they have ended, by a time-out or with the time of their run.

What they bring is recorded as long as the run lives. Deliberately not here: telling the model (the loop).
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, TypeAlias

import anyio

if TYPE_CHECKING:
    from wieldy.run.outcomes import Outcome, Step
    from wieldy.run.recorder import Recorder
    from wieldy.run.threads import ThreadCall, ThreadEnd

Shape: TypeAlias = "Callable[[ThreadEnd], Awaitable[Outcome | None]]"
"""What is recorded of such an end; None for nothing."""


class LateCalls:
    """Held for a whole run, within one event loop."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._under_way: dict[ThreadCall, Step] = {}
        self._shaping: set[asyncio.Task[None]] = set()
        self._is_open = True
        self._failure: BaseException | None = None

    @property
    def under_way(self) -> tuple[Step, ...]:
        """The calls that are still at work, of which nobody will hear if the run ends now."""
        return tuple(self._under_way.values())

    def expect(self, step: Step, thread: ThreadCall, shape: Shape) -> None:
        """The thread's end will be recorded, if it comes while the run lives."""
        loop = asyncio.get_running_loop()
        self._under_way[thread] = step

        def tell(end: ThreadEnd) -> None:
            try:
                loop.call_soon_threadsafe(self._take, thread, end, shape)
            except RuntimeError:  # the loop is closed: the run, and who would have listened, are gone
                return

        thread.when_ended(tell)

    def check(self) -> None:
        """Nothing, if everything that came could be recorded; else what went wrong is raised, once."""
        failure, self._failure = self._failure, None
        if failure is not None:
            raise failure

    def close(self) -> None:
        """Nothing that comes from now on is recorded."""
        self._is_open = False
        for task in self._shaping:
            task.cancel()

    async def aclose(self) -> None:
        """As `close`, and nothing is at work here any more."""
        self.close()
        if self._shaping:
            with anyio.CancelScope(shield=True):
                await asyncio.wait(self._shaping)

    def _take(self, thread: ThreadCall, end: ThreadEnd, shape: Shape) -> None:
        step = self._under_way.pop(thread)
        if not self._is_open:
            return
        # Showing a value may have to wait for a summary of it.
        task = asyncio.get_running_loop().create_task(self._record(step, end, shape), name="wieldy late call")
        self._shaping.add(task)
        task.add_done_callback(self._shaping.discard)

    async def _record(self, step: Step, end: ThreadEnd, shape: Shape) -> None:
        try:
            outcome = await shape(end)
            if outcome is not None:
                self._recorder.late(step, outcome)
        except Exception as error:  # kept for whoever checks next: nobody waits for this task
            self._failure = error
