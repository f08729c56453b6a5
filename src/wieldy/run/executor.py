"""Runs the code of tools: each call when the calls before it that matter have ended, and each to exactly one outcome.

Whatever a tool's code does, its siblings go on: what it raises becomes its own outcome, `SystemExit` included, because
no tool decides when the program ends. Only what comes from outside (cancellation, Ctrl-C) and a journal that cannot be
written pass through. A thread cannot be stopped: a synchronous tool that takes too long, or whose run is cancelled,
goes on in its thread, and the outcome says that it may. Deliberately not here: deciding the order (`scheduler`),
retries.
"""

from __future__ import annotations

import asyncio
import inspect
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, cast

import anyio
import anyio.to_thread

from wieldy.core.calls import ToolResult
from wieldy.core.errors import ModelVisibleError, ToolCrashedError, ToolTimeoutError
from wieldy.run.results import show, with_note

if TYPE_CHECKING:
    from wieldy.core.calls import ToolCall
    from wieldy.core.context import Context
    from wieldy.core.json import JsonValue
    from wieldy.tools import Tool, ValidArguments

MAX_CONCURRENT_CALLS: Final = 32
"""How many calls of one turn run at once; the others wait for a place."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A call that may run: found, validated and allowed."""

    call: ToolCall
    tool: Tool
    arguments: ValidArguments
    context: Context


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How a call ended.

    Attributes:
        duration_s: How long the tool's code ran, in seconds; 0 if it did not.
        detail: For the journal: a traceback.
        whole: For the journal: the full content, if the result was capped.
        recorded_as: The earlier call whose result this repeats.
    """

    result: ToolResult
    duration_s: float = 0.0
    detail: str | None = None
    whole: str | None = None
    recorded_as: str | None = None


def failed(call_id: str, error: ModelVisibleError, *, duration_s: float = 0.0) -> Outcome:
    """The outcome of a call that failed: the model reads the error's text."""
    shown = show(str(error) or "The call failed, and the tool does not say why.")
    result = ToolResult(tool_call_id=call_id, content=shown.content, is_error=True, layer=error.layer)
    return Outcome(result=result, duration_s=duration_s, detail=error.detail, whole=shown.whole)


async def execute(
    steps: Sequence[Step],
    waits: Sequence[Sequence[int]],
    *,
    on_start: Callable[[Step], None],
    on_end: Callable[[Step, Outcome], None],
    clock: Callable[[], float],
) -> None:
    """Every step has been run to its one outcome, each after those that `waits` names for it.

    `on_start` is called immediately before a tool's code and `on_end` immediately after it.
    """
    ended = [anyio.Event() for _ in steps]
    places, threads = anyio.CapacityLimiter(MAX_CONCURRENT_CALLS), anyio.CapacityLimiter(MAX_CONCURRENT_CALLS)

    async def run(index: int) -> None:
        for earlier in waits[index]:
            await ended[earlier].wait()
        async with places:
            on_start(steps[index])
            on_end(steps[index], await _attempt(steps[index], threads=threads, clock=clock))
        ended[index].set()

    try:
        async with anyio.create_task_group() as group:
            for index in range(len(steps)):
                group.start_soon(run, index)
    except ExceptionGroup as errors:
        # Only `on_start` and `on_end` raise these. An interrupt stays in its group: the event loop has seen it already,
        # and would stop cleaning up if it saw it again.
        raise first_of(errors) from errors


async def _attempt(step: Step, *, threads: anyio.CapacityLimiter, clock: Callable[[], float]) -> Outcome:
    started, task = clock(), asyncio.current_task()
    try:
        with anyio.move_on_after(step.tool.timeout_s):
            content, structured = step.tool.present(await _value_of(step, threads))
            return _succeeded(step, content, structured, duration_s=clock() - started)
        error: ModelVisibleError = _timed_out(step)
    except ModelVisibleError as visible:
        error = visible
    except BaseException as raised:  # the one place that must take whatever a tool's code raises
        if _comes_from_outside(raised, task):
            raise
        error = _crashed(step)
    return failed(step.call.id, error, duration_s=clock() - started)


async def _value_of(step: Step, threads: anyio.CapacityLimiter) -> object:
    function = step.tool.bind(step.arguments.values, step.context)
    if step.tool.is_async:
        value = function()
    else:
        # Abandoned when cancelled, because waiting for a thread that may never end would take the whole run with it.
        value = await anyio.to_thread.run_sync(_contained, function, abandon_on_cancel=True, limiter=threads)
    if inspect.isawaitable(value):  # also what a synchronous function hands on, such as a lambda around a coroutine
        value = await value
    return value


def _succeeded(step: Step, content: str, structured: JsonValue, *, duration_s: float) -> Outcome:
    shown = show(content)
    content = shown.content
    if step.arguments.repairs:
        content = with_note(content, f"Your arguments were changed to fit: {'; '.join(step.arguments.repairs)}.")
    result = ToolResult(tool_call_id=step.call.id, content=content, structured_content=structured)
    return Outcome(result=result, duration_s=duration_s, whole=shown.whole)


def _timed_out(step: Step) -> ToolTimeoutError:
    rest = (
        "Try a smaller request, or go on without it."
        if step.tool.effect == "read"
        else "What it started may still complete: do not take it for undone, and check before you ask for it again."
    )
    return ToolTimeoutError(f"`{step.call.name}` gave no answer within {step.tool.timeout_s:g} s. {rest}")


def _crashed(step: Step) -> ToolCrashedError:
    return ToolCrashedError(
        f"`{step.call.name}` failed with an internal error, which is recorded for the operator. "
        "Try other arguments or another way, or say that it does not work.",
        detail=traceback.format_exc(),
    )


def _contained(function: Callable[[], object]) -> object:
    try:
        return function()
    except Exception:
        raise
    except BaseException as raised:
        # Ctrl-C reaches the main thread only, so in this one it is the tool's own; and some of these, handed on to the
        # event loop, would end its tasks instead of being raised in them.
        raise RuntimeError(f"the tool raised {type(raised).__name__}") from raised


def _comes_from_outside(raised: BaseException, task: asyncio.Task[object] | None) -> bool:
    """Whether this stops the call's task, rather than being raised by the tool's own code."""
    match raised:
        case KeyboardInterrupt():
            return True
        case asyncio.CancelledError():
            # A tool may also wait for something of its own that was cancelled; asyncio counts what is meant for a task.
            return task is None or task.cancelling() > 0
        case GeneratorExit():
            # A coroutine that is thrown away is closed by whoever does so, and not by its task.
            return task is None or task is not _current_task()
        case _:
            return False


def _current_task() -> asyncio.Task[object] | None:
    try:
        return asyncio.current_task()
    except RuntimeError:  # no event loop is running
        return None


def first_of(error: BaseException) -> BaseException:
    """The first error in a group of errors; an error that is no group itself."""
    if isinstance(error, BaseExceptionGroup):
        return first_of(cast("BaseExceptionGroup[BaseException]", error).exceptions[0])
    return error
