"""Runs calls: each when those before it that matter have ended, and each to exactly one outcome.

Whatever a tool's code does, its siblings go on. Only what comes from outside (cancellation, Ctrl-C) and a recorder that
cannot record stop all of them; a call that is stopped so has no outcome, because nobody knows it. Deliberately not
here: deciding the order (`scheduler`), and what one call goes through (`single_call`).
"""

from __future__ import annotations

import asyncio
import contextlib
import heapq
import random as chances
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Final, cast

import anyio

from wieldy.core.errors import OutcomeUnknownError, ToolDeniedError
from wieldy.run.attempts import Conditions
from wieldy.run.failures import crashed
from wieldy.run.late import LateCalls
from wieldy.run.outcomes import Outcome, Rest, Step
from wieldy.run.recorder import Recorder
from wieldy.run.single_call import Means, SingleCall

if TYPE_CHECKING:
    from wieldy.run.results import Shaper

__all__ = ["MAX_CONCURRENT_CALLS", "LateCalls", "Recorder", "execute", "first_of"]

MAX_CONCURRENT_CALLS: Final = 32
"""How many calls of one turn run at once; the others wait for a place."""


async def execute(  # noqa: PLR0913 - all but two are given by name
    steps: Sequence[Step],
    waits: Sequence[Sequence[int]],
    *,
    recorder: Recorder,
    shaper: Shaper,
    clock: Callable[[], float],
    late: LateCalls | None = None,
    sleep: Callable[[float], Awaitable[None]] = anyio.sleep,
    deadline: float | None = None,
    random: Callable[[], float] = chances.random,
) -> None:
    """Every step has been run to its one outcome, each after those that `waits` names for it, or it rests or is left.

    Calls that may start at the same moment are recorded together, and before the code of any of them runs. So are the
    ends of asynchronous calls that only read, in the round of the event loop in which they came; all others at once.

    Args:
        steps: In the model's order.
        waits: For each step the indices of earlier ones, as the scheduler gives them.
        recorder: Told of every change.
        shaper: Makes results.
        clock: Seconds that only grow.
        late: Hears of threads that go on; without it they are forgotten when this returns.
        sleep: Waits between attempts.
        deadline: By the clock: what runs then is stopped, and what has not started is answered without being run.
        random: From 0 to 1; spreads attempts in time.
    """
    listening = LateCalls(recorder) if late is None else late
    listening.check()
    execution = _Execution(steps, waits, recorder=recorder, shaper=shaper)
    on = Conditions(
        is_stopping=execution.is_stopping,
        is_at_work=execution.is_at_work,
        max_threads=MAX_CONCURRENT_CALLS,
        clock=clock,
        deadline=deadline,
    )
    means = Means(recorder=recorder, shaper=shaper, late=listening, on=on, sleep=sleep, chance=random)
    try:
        await execution.run(means)
    finally:
        if late is None:
            await listening.aclose()


class _Execution:
    """The calls of one turn. Every one is blocked, ready, running, ended, resting, or left for another time.

    The tasks are asyncio's own, which cost a quarter of anyio's. Each has a cancel scope, so that it is stopped as
    anyio stops: shielded code is let finish, and code that swallows a cancellation meets the next one. A call that is
    alone needs no task.
    """

    def __init__(
        self, steps: Sequence[Step], waits: Sequence[Sequence[int]], *, recorder: Recorder, shaper: Shaper
    ) -> None:
        self._steps = steps
        self._recorder, self._shaper = recorder, shaper
        self._blockers = [len(earlier) for earlier in waits]
        self._followers: list[list[int]] = [[] for _ in waits]
        for index, earlier in enumerate(waits):
            for other in earlier:
                self._followers[other].append(index)
        self._ready = [index for index, count in enumerate(self._blockers) if count == 0]  # a heap
        self._running: dict[int, asyncio.Task[None]] = {}
        self._ended: list[tuple[int, Outcome | Rest]] = []  # and not recorded yet
        self._scopes: dict[int, anyio.CancelScope] = {}
        self._failure: BaseException | None = None
        self._is_stopping = self._is_launching = False
        self._parent = cast("asyncio.Task[object]", asyncio.current_task())
        self._cancelled_before = self._parent.cancelling()

    def is_stopping(self) -> bool:
        """Whether the calls are being stopped from outside."""
        # A program that is ending cancels all tasks at once, and ours may hear of it before their parent.
        return self._is_stopping or self._parent.cancelling() > self._cancelled_before

    def is_at_work(self, task: asyncio.Task[object] | None) -> bool:
        """Whether this is a task in which calls are carried out."""
        return task is self._parent or any(task is running for running in self._running.values())

    async def run(self, means: Means) -> None:
        """All calls that can be were brought to their ends."""
        self._means = means
        if self._cancelled_before:
            await asyncio.sleep(0)  # where that has not been heard yet, it is here, and by no tool
        if len(self._steps) == 1:
            await self._run_alone()
            return
        self._loop = asyncio.get_running_loop()
        self._new_scope = type(anyio.CancelScope())  # anyio looks for the backend each time
        self._all_ended = self._loop.create_future()
        self._launch()
        try:
            await self._all_ended
        except BaseException:
            await self._stop_all()
            raise
        if self._failure is not None:
            raise self._failure

    async def _run_alone(self) -> None:
        for index in self._chosen():
            ended = await self._carried_out(self._steps[index])
            self._ended.append((index, ended))
            self._record_ends()

    def _chosen(self) -> list[int]:
        """As many calls as may run and as there are places for; they are recorded as started."""
        chosen: list[int] = []
        while self._ready and len(self._running) + len(chosen) < MAX_CONCURRENT_CALLS:
            index = heapq.heappop(self._ready)
            if self._means.on.is_over:
                self._ended.append((index, self._too_late(index)))
                self._record_ends()
            elif self._recorder.may_start(self._steps[index]):
                chosen.append(index)
        if chosen:
            self._recorder.start([self._steps[index] for index in chosen])
        return chosen

    def _launch(self) -> None:
        self._is_launching = False
        try:
            self._record_ends()
            if not self.is_stopping():
                for index in self._chosen():
                    self._begin(index)
        except BaseException as error:  # it would be raised in the event loop, and whoever waits would wait for ever
            self._fail(error)
        self._see_whether_all_ended()

    def _launch_soon(self) -> None:
        """Once for all that end in the same round of the event loop, so that they are recorded together."""
        if (self._ready or self._ended) and not self._is_launching:
            self._is_launching = True
            self._loop.call_soon(self._launch)

    def _see_whether_all_ended(self) -> None:
        if not self._running and not self._is_launching and not self._all_ended.done():
            self._all_ended.set_result(None)

    def _begin(self, index: int) -> None:
        self._running[index] = task = self._loop.create_task(self._carry_out(index))
        task.add_done_callback(self._see_end)

    def _see_end(self, task: asyncio.Task[None]) -> None:
        if not task.cancelled():
            task.exception()  # whoever stopped it knows of it; asyncio would report it as forgotten
        elif not self.is_stopping():
            for index, running in tuple(self._running.items()):
                if running is task:
                    self._begin(index)  # a tool beside it has cancelled it before its first step

    async def _carry_out(self, index: int) -> None:
        try:
            if self.is_stopping():
                return
            with self._new_scope() as self._scopes[index]:
                ended = await self._carried_out(self._steps[index])
                del self._running[index]
                self._ended.append((index, ended))
                if not (self._running and _can_wait(self._steps[index])):
                    self._record_ends()
                self._launch_soon()
        except asyncio.CancelledError:
            raise
        except BaseException as error:  # of the recorder: those of a tool's code are outcomes
            self._fail(error)
        finally:
            self._running.pop(index, None)
            self._see_whether_all_ended()

    async def _carried_out(self, step: Step) -> Outcome | Rest:
        try:
            return await SingleCall(step, self._means).carry_out()
        except asyncio.CancelledError as error:
            if self.is_stopping():
                raise
            # Its code has cancelled the task in which it ran, and what came next met it.
            return self._shaper.failed(step.call.id, crashed(error, step))

    def _record_ends(self) -> None:
        ended, self._ended = self._ended, []
        outcomes = [(index, outcome) for index, outcome in ended if not isinstance(outcome, Rest)]
        if outcomes:
            self._recorder.end([(self._steps[index], outcome) for index, outcome in outcomes])
        for index, rest in ended:
            if isinstance(rest, Rest):
                self._recorder.rest(self._steps[index], rest)
        for index, _ in outcomes:
            for follower in self._followers[index]:
                self._blockers[follower] -= 1
                if self._blockers[follower] == 0:
                    heapq.heappush(self._ready, follower)

    def _too_late(self, index: int) -> Outcome:
        step = self._steps[index]
        call, name = step.call, step.call.name
        if step.context.attempt == 1:
            error = ToolDeniedError(f"`{name}` was not run: the time of this run is over. Answer from what is known.")
            return self._shaper.failed(call.id, error)
        unknown = OutcomeUnknownError(
            f"`{name}`: outcome unknown. It was started before, and the time of this run was over before it could be "
            "found out whether it took effect. Do not take it for done or undone."
        )
        return self._shaper.failed(call.id, unknown, is_unknown=step.tool.effect != "read")

    def _fail(self, error: BaseException) -> None:
        """The others are stopped too; the first failure is the one that is raised."""
        if not self.is_stopping():
            self._failure = error
            self._stop()

    def _stop(self) -> None:
        self._is_stopping = True
        for index in self._running:
            if index in self._scopes:  # else it has not begun, and will not
                self._scopes[index].cancel()

    async def _stop_all(self) -> None:
        self._stop()
        with contextlib.suppress(Exception):  # what stopped the calls is more important, and is raised
            self._record_ends()
        with anyio.CancelScope(shield=True):
            # A task that is cancelled before its first step never gets to say that it has ended.
            while under_way := [task for task in self._running.values() if not task.done()]:
                try:
                    await asyncio.wait(under_way)
                except asyncio.CancelledError:
                    continue  # asked to stop once more, which it does; the first request is raised in the end


def _can_wait(step: Step) -> bool:
    """Whether the call's end may be recorded a moment later, with others, since nothing is in doubt if it never is.

    Not those of threads, which end one by one.
    """
    return step.tool.effect == "read" and step.tool.is_async and step.fallback is None


def first_of(error: BaseException) -> BaseException:
    """The first error in a group of errors; an error that is no group itself."""
    if isinstance(error, BaseExceptionGroup):
        return first_of(cast("BaseExceptionGroup[BaseException]", error).exceptions[0])
    return error
