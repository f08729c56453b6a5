"""One attempt at a call: its tool's code runs once, and whatever it does becomes an ending.

What the code raises is its own, `SystemExit` included, because no tool decides when the program ends. Only what comes
from outside (cancellation, Ctrl-C) passes through. A thread cannot be stopped: a synchronous tool that takes too long
goes on in it, and the ending says so. Deliberately not here: further attempts (`single_call`), the order (`executor`).
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable
from contextvars import copy_context
from dataclasses import dataclass
from typing import TYPE_CHECKING

import anyio
from msgspec import Struct

from wieldy.core.errors import ModelVisibleError, ToolCrashedError, ToolTimeoutError, TransientToolError
from wieldy.core.foreign import is_awaitable
from wieldy.run.contexts import within
from wieldy.run.failures import failure_of
from wieldy.run.scopes import OpenScopes
from wieldy.run.threads import Raised, Returned, ThreadCall

if TYPE_CHECKING:
    from wieldy.core.errors import FailureLayer
    from wieldy.run.outcomes import Step


class Ending(Struct, frozen=True):
    """How an attempt ended.

    Attributes:
        value: What the code returned, if there is no error.
        layer: Whose failure it is, where that is not what the error's class says.
        is_quoted: Whether the error's text is the tool's own.
        nothing_done: Whether it is certain that a failed attempt had no effect.
        is_over: Whether the time of the run ended it.
        thread: In which the code goes on, if it does.
    """

    value: object = None
    error: ModelVisibleError | None = None
    layer: FailureLayer | None = None
    is_quoted: bool = False
    nothing_done: bool = False
    is_over: bool = False
    thread: ThreadCall | None = None


@dataclass(slots=True, kw_only=True)
class Conditions:
    """Under which code runs.

    Attributes:
        is_stopping: Whether the calls are being stopped from outside.
        is_at_work: Whether calls are carried out in this task.
        max_threads: How many threads at once.
        clock: Seconds that only grow.
        deadline: When the time of the run is over, by the clock.
    """

    is_stopping: Callable[[], bool]
    is_at_work: Callable[[asyncio.Task[object] | None], bool]
    max_threads: int
    clock: Callable[[], float]
    deadline: float | None
    _threads: anyio.CapacityLimiter | None = None

    @property
    def threads(self) -> anyio.CapacityLimiter:
        """Places for synchronous code."""
        if self._threads is None:
            self._threads = anyio.CapacityLimiter(self.max_threads)
        return self._threads

    def left_s(self) -> float:
        """How much time there is, in seconds."""
        return math.inf if self.deadline is None else self.deadline - self.clock()

    @property
    def is_over(self) -> bool:
        """Whether there is no time left."""
        return self.deadline is not None and self.clock() >= self.deadline


async def attempt(step: Step, bind: Callable[[], Callable[[], object]], *, is_async: bool, on: Conditions) -> Ending:
    """The code that `bind` gives was run to its end, or for as long as there was time."""
    left_s = on.left_s()
    limit_s = left_s if step.tool.timeout_s is None else min(step.tool.timeout_s, left_s)
    scope = None if limit_s == math.inf else anyio.CancelScope(deadline=anyio.current_time() + limit_s)
    thread: ThreadCall | None = None
    error: ModelVisibleError | None = None
    try:
        function = bind()
        if not is_async:
            thread = ThreadCall(function)
        if scope is None:
            return await _run(step, function, thread, on)
        with scope:
            return await _run(step, function, thread, on)
    except BaseException as raised:  # the one place that must take whatever a tool's code raises
        ending = failed(raised, step)
        # Code that falls over because it is stopped has not failed by itself.
        fell_over = isinstance(ending.error, ToolCrashedError | TransientToolError)
        if _comes_from_outside(raised, on) or (fell_over and on.is_stopping()):
            raise
        if scope is None or not scope.cancel_called or not fell_over:
            return ending
        error = ending.error
    if thread is not None and (ended := _after_all(thread, step)) is not None:
        return ended
    return _out_of_time(step, thread, limit_s=limit_s, is_over=limit_s == left_s, error=error)


async def _run(step: Step, function: Callable[[], object], thread: ThreadCall | None, on: Conditions) -> Ending:
    if thread is None:
        return Ending(await within(copy_context(), _waited_for(function)))
    end = await thread.run(on.threads)
    if isinstance(end, Raised):
        return failed(end.error, step)
    handed_on = end.value
    if not is_awaitable(handed_on):
        return Ending(handed_on)
    # A synchronous function may give something to be waited for, such as a lambda around a coroutine.
    return Ending(await within(copy_context(), _waited_for(lambda: handed_on)))


async def _waited_for(function: Callable[[], object]) -> object:
    """What the function gives in the end; what it leaves open in its task is closed, and what it sets is forgotten."""
    scopes = OpenScopes()
    try:
        value = function()
        ended = await value if is_awaitable(value) else value
    finally:
        is_open = scopes.close()
    if is_open:
        raise RuntimeError(
            "Expected the tool to close the cancel scopes and groups of tasks that it opens, found one left open; it "
            "is cancelled now. What is to outlive a call must be opened around the run, in a toolset for instance."
        )
    return ended


def failed(raised: BaseException, step: Step) -> Ending:
    """The ending of an attempt whose code raised this."""
    failure = failure_of(raised, step)
    return Ending(
        error=failure.error, layer=failure.layer, is_quoted=failure.is_quoted, nothing_done=failure.nothing_done
    )


def _after_all(thread: ThreadCall, step: Step) -> Ending | None:
    """How the thread ended in the very moment in which it was left, if it did."""
    match thread.end:
        case Returned(value) if not is_awaitable(value):
            return Ending(value)
        case Raised(error):
            return failed(error, step)
        case _:
            return None


def _out_of_time(
    step: Step, thread: ThreadCall | None, *, limit_s: float, is_over: bool, error: ModelVisibleError | None
) -> Ending:
    has_begun = thread is None or thread.has_begun
    name = step.call.name
    what = (
        f"`{name}` was stopped: the time of this run is over."
        if is_over
        else f"`{name}` gave no answer within {limit_s:g} s."
    )
    stopped = ToolTimeoutError(
        f"{what} {_what_now(step, has_begun=has_begun, is_over=is_over)}",
        detail=None if error is None else error.detail,
    )
    is_at_work = thread is not None and has_begun and thread.end is None
    return Ending(error=stopped, nothing_done=not has_begun, is_over=is_over, thread=thread if is_at_work else None)


def _what_now(step: Step, *, has_begun: bool, is_over: bool) -> str:
    if not has_begun:
        return "It had not begun, so nothing was done."
    if step.tool.effect != "read":
        return "What it started may still complete: do not take it for undone, and check before you ask for it again."
    return "Answer from what is known." if is_over else "Try a smaller request, or go on without it."


def _comes_from_outside(raised: BaseException, on: Conditions) -> bool:
    """Whether this stops the call, rather than being raised by the tool's own code."""
    kind = type(raised)  # and not what it says that it is
    if issubclass(kind, asyncio.CancelledError):
        # A tool may also wait for something of its own that was cancelled.
        return on.is_stopping()
    if issubclass(kind, GeneratorExit):
        # A coroutine that is thrown away is closed by whoever does so, and not by its task.
        return not on.is_at_work(_current_task())
    return issubclass(kind, KeyboardInterrupt)


def _current_task() -> asyncio.Task[object] | None:
    try:
        return asyncio.current_task()
    except RuntimeError:  # no event loop is running
        return None
