"""The event loop of code: where nothing in it can go on, calls go to the host, then timers come due, then it is stuck.

There are no threads, sockets and descriptors to watch, so this is all that a loop has to do. Loops may run within one
another (`asyncio.run` in code that is run by a loop itself): the outer one is suspended. Tasks and futures have their
place in sets by the order in which they were made, so that iterating over what `asyncio.wait` gives is the same every
time.
"""

from __future__ import annotations

import asyncio
import functools
import heapq
import itertools
import math
from collections import deque
from collections.abc import Awaitable, Callable, Generator, Iterable
from contextlib import contextmanager, suppress
from typing import Any, cast

from .calls import Calls
from .clock import Clock

_ATTEMPTS_TO_CANCEL = 10
_numbers = itertools.count()
_asyncio = cast("Any", asyncio)
_run, _run_in_runner, _as_completed = asyncio.run, asyncio.Runner.run, asyncio.as_completed


class DeadlockError(RuntimeError):
    """Whatever the code waits for, nobody is left who could bring it."""


class Future(asyncio.Future[Any]):
    """A future with a place in sets that does not depend on where it is in memory."""

    def __init__(self, *, loop: asyncio.AbstractEventLoop) -> None:
        self.number = next(_numbers)
        super().__init__(loop=loop)

    def __hash__(self) -> int:
        return self.number


class Task(asyncio.Task[Any]):
    """A task with a place in sets that does not depend on where it is in memory."""

    def __init__(self, coroutine: Any, **options: Any) -> None:
        self.number = next(_numbers)
        super().__init__(coroutine, **options)

    def __hash__(self) -> int:
        return self.number


class Loop(asyncio.BaseEventLoop):
    """An event loop.

    Attributes:
        calls, clock: Of all loops of this process.
    """

    calls: Calls
    clock: Clock

    def __init__(self, _selector: object = None) -> None:
        super().__init__()
        self.set_task_factory(_new_task)
        base = cast("Any", self)  # these two it keeps for itself, and they stay the same objects
        self._ready_handles: deque[Any] = base._ready
        self._timers: list[Any] = base._scheduled

    def time(self) -> float:
        """Seconds, by the clock."""
        return self.clock.monotonic()

    def create_future(self) -> Future:
        """One of this loop."""
        return Future(loop=self)

    def run_forever(self) -> None:
        """Runs until it is stopped; a loop that is running is suspended meanwhile."""
        with _suspended():
            super().run_forever()

    def run_until_complete(self, future: Any) -> Any:
        """What the future brings; the loop may be running already."""
        with _suspended():
            if not self.is_running():
                return super().run_until_complete(future)
            _asyncio._set_running_loop(self)
            awaited = asyncio.ensure_future(future, loop=self)
            while not awaited.done():
                self._run_once()
            return awaited.result()

    def finish(self) -> None:
        """Tasks that code has left go on until they end, or can go on no more.

        Raises:
            BaseException: What the first of them raised, in the order in which they were made.
        """
        watched: dict[Task, None] = {}

        async def until_end() -> None:
            while left := self._left(but=asyncio.current_task()):
                watched.update(dict.fromkeys(left))
                await asyncio.wait(left)

        with suppress(DeadlockError):
            self.run_until_complete(until_end())
        for task in watched:
            if task.done() and not task.cancelled() and (error := task.exception()) is not None:
                raise error

    def cancel_all(self) -> None:
        """No task is left, but one that does not let itself be cancelled; no timer either."""
        for _ in range(_ATTEMPTS_TO_CANCEL):
            left = self._left()
            if not left:
                break
            for task in left:
                task.cancel()
            with suppress(DeadlockError):
                self.run_until_complete(asyncio.wait(left))
        self._timers.clear()

    def _left(self, *, but: asyncio.Task[Any] | None = None) -> list[Task]:
        """In the order in which they were made."""
        tasks = cast("Iterable[Task]", asyncio.all_tasks(self))
        return sorted((task for task in tasks if task is not but), key=lambda task: task.number)

    def _run_once(self) -> None:
        ready, timers = self._ready_handles, self._timers
        while timers and (timers[0].cancelled() or timers[0].when() <= self.time()):
            handle = heapq.heappop(timers)
            handle._scheduled = False
            ready.append(handle)
        if not ready and not cast("Any", self)._stopping:
            self._wait()
        for _ in range(len(ready)):
            if not ready:  # a loop within has run them
                break
            handle = ready.popleft()
            if not handle._cancelled:
                handle._run()

    def _wait(self) -> None:
        if self.calls.exchange():
            return
        if not self._timers or not self._timers[0].when() < math.inf:
            raise DeadlockError("the code waits for something that will never come")
        self.clock.wait_until(self._timers[0].when())

    def _write_to_self(self) -> None:
        """Wakes a loop that waits, in others: here nobody could call while it does."""


def install(calls: Calls, clock: Clock) -> None:
    """All event loops that are made from now on are such ones."""
    Loop.calls, Loop.clock = calls, clock
    for module in (_asyncio, _asyncio.events):
        module.new_event_loop = Loop
    _asyncio.SelectorEventLoop = _asyncio.EventLoop = Loop
    _asyncio.run = _asyncio.runners.run = _suspending(_run)
    _asyncio.Runner.run = _suspending(_run_in_runner)
    _asyncio.as_completed = _asyncio.tasks.as_completed = _as_completed_in_order


def _new_task(loop: asyncio.AbstractEventLoop, coroutine: Any, **options: Any) -> Task:
    return Task(coroutine, loop=loop, **options)


@contextmanager
def _suspended() -> Generator[None]:
    """As if no loop were running: another one may run, or the same from within one of its tasks."""
    loop = asyncio._get_running_loop()
    task = None if loop is None else asyncio.current_task(loop)
    if task is not None:
        _asyncio.tasks._leave_task(loop, task)
    asyncio._set_running_loop(None)
    try:
        yield
    finally:
        asyncio._set_running_loop(loop)
        if task is not None:
            _asyncio.tasks._enter_task(loop, task)


def _suspending(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def with_others_suspended(*arguments: Any, **options: Any) -> Any:
        with _suspended():
            return function(*arguments, **options)

    return with_others_suspended


@functools.wraps(_as_completed)
def _as_completed_in_order(awaitables: Iterable[Awaitable[Any]], *, timeout: float | None = None) -> Any:
    """The original makes its tasks in the order of a set."""
    tasks = [asyncio.ensure_future(each) for each in dict.fromkeys(awaitables)]
    return _as_completed(tasks, timeout=timeout)
