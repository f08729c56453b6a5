"""One attempt at a call: its tool's code runs once, and whatever it does becomes an ending.

What the code raises is its own, `SystemExit` included, because no tool decides when the program ends. Only what comes
from outside (cancellation, Ctrl-C) passes through. A thread cannot be stopped: a synchronous tool that takes too long
goes on in it, and the ending says so. Deliberately not here: further attempts (`single_call`), the order (`executor`).
"""

from __future__ import annotations

import asyncio
import inspect
import math
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple, cast

import anyio

from wieldy.core.errors import ModelVisibleError, ToolCrashedError, ToolTimeoutError, TransientToolError
from wieldy.run.retries import CHECK_FIRST
from wieldy.run.threads import Raised, Returned, ThreadCall

if TYPE_CHECKING:
    from wieldy.run.outcomes import Step


class Ending(NamedTuple):
    """How an attempt ended.

    Attributes:
        value: What the code returned, if there is no error.
        is_quoted: Whether the error's text is the tool's own.
        nothing_done: Whether it is certain that a failed attempt had no effect.
        is_over: Whether the time of the run ended it.
        thread: In which the code goes on, if it does.
    """

    value: object = None
    error: ModelVisibleError | None = None
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
        value = function()
    else:
        end = await thread.run(on.threads)
        if isinstance(end, Raised):
            return failed(end.error, step)
        value = end.value
    # Also what a synchronous function hands on to be waited for, such as a lambda around a coroutine.
    return Ending(await value if inspect.isawaitable(value) else value)


def failed(raised: BaseException, step: Step) -> Ending:
    """The ending of an attempt whose code raised this."""
    error = what_went_wrong(raised, step)
    nothing_done = isinstance(error, TransientToolError) and error.nothing_done
    return Ending(error=error, is_quoted=isinstance(single(raised), ModelVisibleError), nothing_done=nothing_done)


def _after_all(thread: ThreadCall, step: Step) -> Ending | None:
    """How the thread ended in the very moment in which it was left, if it did."""
    match thread.end:
        case Returned(value) if not inspect.isawaitable(value):
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
        detail=getattr(error, "detail", None),
    )
    is_at_work = thread is not None and has_begun and thread.end is None
    return Ending(error=stopped, nothing_done=not has_begun, is_over=is_over, thread=thread if is_at_work else None)


def _what_now(step: Step, *, has_begun: bool, is_over: bool) -> str:
    if not has_begun:
        return "It had not begun, so nothing was done."
    if step.tool.effect != "read":
        return "What it started may still complete: do not take it for undone, and check before you ask for it again."
    return "Answer from what is known." if is_over else "Try a smaller request, or go on without it."


def what_went_wrong(raised: BaseException, step: Step) -> ModelVisibleError:
    """What a model is told of something that a tool's code raised."""
    raised = single(raised)
    name = step.call.name
    if isinstance(raised, TransientToolError):
        return _sound(raised)
    if isinstance(raised, ModelVisibleError):
        return raised
    detail = "".join(traceback.format_exception(raised))
    if isinstance(raised, TimeoutError):
        return TransientToolError(f"`{name}` failed: something that it waited for took too long.", detail=detail)
    if isinstance(raised, ConnectionError):
        return TransientToolError(f"`{name}` failed: a connection could not be made or broke.", detail=detail)
    caution = "" if step.tool.effect in _HARMLESS_TO_REPEAT else f" {CHECK_FIRST}"
    return ToolCrashedError(
        f"`{name}` failed with an internal error, which is recorded for the operator.{caution} "
        "Try other arguments or another way, or say that it does not work.",
        detail=detail,
    )


_HARMLESS_TO_REPEAT: Final = ("read", "idempotent")


def _sound(error: TransientToolError) -> TransientToolError:
    """The error as the runtime decides about it: a tool's own class of it may lack or hold anything."""
    return TransientToolError(
        text_of(error),
        retry_after_s=getattr(error, "retry_after_s", None),
        nothing_done=getattr(error, "nothing_done", False) is True,
        detail=getattr(error, "detail", None),
    )


def text_of(error: ModelVisibleError) -> str:
    """What the error says; nothing where a tool's own class of it cannot say it."""
    try:
        return str(error)
    except Exception:  # `__str__` is the tool's code
        return ""


def single(raised: BaseException) -> BaseException:
    """What a group holds that holds only that, as task groups raise it."""
    while isinstance(raised, BaseExceptionGroup):
        errors = cast("BaseExceptionGroup[BaseException]", raised).exceptions
        if len(errors) != 1:
            break
        (raised,) = errors
    return cast("BaseException", raised)


def _comes_from_outside(raised: BaseException, on: Conditions) -> bool:
    """Whether this stops the call, rather than being raised by the tool's own code."""
    match raised:
        case KeyboardInterrupt():
            return True
        case asyncio.CancelledError():
            # A tool may also wait for something of its own that was cancelled.
            return on.is_stopping()
        case GeneratorExit():
            # A coroutine that is thrown away is closed by whoever does so, and not by its task.
            return not on.is_at_work(_current_task())
        case _:
            return False


def _current_task() -> asyncio.Task[object] | None:
    try:
        return asyncio.current_task()
    except RuntimeError:  # no event loop is running
        return None
