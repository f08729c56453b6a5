"""Tools whose code, errors and values do what nobody should: each call ends once, and the run goes on."""

from __future__ import annotations

import asyncio
import contextvars
import os
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import Any, cast

import anyio
import pytest

from wieldy.core.context import Context
from wieldy.core.errors import ToolDeniedError, ToolError, ToolTimeoutError, TransientToolError, UsageError
from wieldy.core.limits import Usage
from wieldy.core.messages import Message
from wieldy.run.journal import MemoryJournal
from wieldy.run.loop import run
from wieldy.run.outcomes import Rest
from wieldy.run.request import RunRequest
from wieldy.run.results import ResultRules
from wieldy.run.state import CallState, RunState, fold
from wieldy.testing import ScriptedModel, call, text
from wieldy.tools import Tool, Toolset, tool
from wieldy.tools.present import Sourced

pytestmark = pytest.mark.anyio

ENDS: list[type[BaseException]] = [
    RuntimeError,
    SystemExit,
    KeyboardInterrupt,
    GeneratorExit,
    StopIteration,
    asyncio.CancelledError,
]
"""What code may raise while it is looked at."""


@tool(effect="idempotent")
async def bystander() -> str:
    """Waits a little."""
    await asyncio.sleep(0.001)
    return "all is well"


async def ended(turn: Sequence[Any], tools: Sequence[Tool], **given: Any) -> RunState:
    """The run of these calls, then of one that has done nothing, then of an answer."""
    journal = MemoryJournal()
    request = RunRequest(
        model=ScriptedModel([turn, [call("bystander")], [text("done")]]),
        toolset=Toolset([*tools, bystander]),
        messages=(Message.user("Go"),),
        journal=journal,
        **given,
    )
    await run(request)
    state = fold(journal.read(request.run_id))
    assert state.stop_reason == "answered"
    *_, last = state.calls
    assert last.result is not None
    assert last.result.content == "all is well"
    return state


async def call_of(subject: Tool, *, is_alone: bool = True, **given: Any) -> CallState:
    """How its call ended, with or without another beside it."""
    turn = [call(subject.name)] if is_alone else [call(subject.name), call("bystander")]
    state = await ended(turn, [subject], **given)
    for each in state.calls:
        assert each.result is not None
        if each.call.name != subject.name:
            assert each.result.content == "all is well"
    return state.calls[0]


async def result_of(subject: Tool, **given: Any) -> Any:
    return (await call_of(subject, **given)).result


def raising(error: BaseException, *, is_async: bool, **declared: Any) -> Tool:
    def fail() -> str:
        raise error

    async def fail_later() -> str:
        raise error

    return tool(**({"name": "subject", "effect": "unsafe", "retries": 1} | declared))(fail_later if is_async else fail)


def giving(value: object, *, is_async: bool) -> Tool:
    def give() -> Any:
        return value

    async def give_later() -> Any:
        return value

    return tool(name="subject", effect="unsafe")(give_later if is_async else give)


# Errors


def _fails_with(end: type[BaseException]) -> Callable[..., Any]:
    def fail(*_: Any) -> Any:
        raise end("its own words")

    return fail


def _errors(end: type[BaseException]) -> list[BaseException]:
    """Errors of classes of their own that raise this wherever they are looked at."""
    fail = _fails_with(end)

    class Silent(ToolError):
        __str__ = __repr__ = fail

    class Private(TransientToolError):
        def __getattribute__(self, name: str) -> Any:
            return fail()

    class Transient(TransientToolError):
        layer = detail = nothing_done = retry_after_s = property(fail, lambda *_: None)  # type: ignore[assignment]

    class Faceless(ValueError):
        __class__ = property(fail)  # type: ignore[assignment]

    class Closed(Exception):
        __getattribute__ = __str__ = __repr__ = fail

    class Foreign(ConnectionError):
        __str__ = __repr__ = fail
        __notes__ = __cause__ = __context__ = property(fail)  # type: ignore[assignment]

    class Group(ExceptionGroup[ToolError]):
        exceptions = property(fail)  # type: ignore[assignment]

    class Words:
        __str__ = __repr__ = fail

    detailed = ToolError("words")
    detailed.detail = cast("Any", Words())
    transient = TransientToolError("words", retry_after_s=cast("Any", Words()), nothing_done=cast("Any", Words()))
    group = Group("g", [ToolError("words")])
    caused = ValueError("a")
    caused.__cause__ = Closed("b")
    spoken = ToolError(Words())  # type: ignore[arg-type]
    kinds = [Silent("a"), Private("a"), Transient("a"), Faceless("a"), Closed("a"), Foreign("a")]
    return [*kinds, detailed, transient, group, caused, spoken]


@pytest.mark.parametrize("is_async", [True, False])
@pytest.mark.parametrize("end", ENDS)
async def test_whatever_an_error_does_when_it_is_looked_at_the_call_has_failed(
    end: type[BaseException], is_async: bool
) -> None:
    for error in _errors(end):
        failure = await result_of(raising(error, is_async=is_async, timeout_s=5))
        assert failure.is_error
        assert failure.layer == "tool"
        assert failure.content


@pytest.mark.parametrize("is_async", [True, False])
async def test_errors_with_other_signatures_are_quoted_tried_again_and_replaced_by_a_fallback(is_async: bool) -> None:
    class CodedError(ToolError):
        def __init__(self, code: int, words: str) -> None:
            super().__init__(f"{code}: {words}")

    class BareError(TransientToolError):
        def __init__(self) -> None:
            Exception.__init__(self, "busy, says hunter22")

    class NoWordsError(ToolError):
        def __init__(self) -> None:
            pass

    @tool(effect="read")
    async def other() -> str:
        """Answers instead."""
        return "answered"

    errors: list[tuple[BaseException, str]] = [
        (CodedError(7, "no hunter22"), "7: no [secret password]"),
        (BareError(), "busy, says [secret password] It was tried 2 times."),
        (NoWordsError(), "The call failed, and the tool does not say why."),
    ]
    for error, words in errors:
        for fallback in (None, "other"):
            subject = raising(error, is_async=is_async, effect="read", fallback=fallback)
            state = await ended([call("subject")], [subject, other], secrets={"password": "hunter22"}, sleep=_at_once)
            assert state.calls[0].result is not None
            content = state.calls[0].result.content
            assert content == words if fallback is None else content.startswith("answered")
            assert "hunter22" not in str(state)


async def _at_once(_: float) -> None:
    await asyncio.sleep(0)


@pytest.mark.parametrize(
    "asked", [10**400, -(10**400), float("inf"), float("nan"), -1, "soon", True, 1e-320, [1], object(), 2 + 1j]
)
async def test_however_long_a_service_asks_to_be_left_alone_the_call_ends(asked: Any) -> None:
    subject = raising(TransientToolError("Busy.", retry_after_s=asked), is_async=True, effect="read")
    failure = await result_of(subject, sleep=_at_once)
    assert failure.is_error
    assert failure.content.startswith("Busy.")


@pytest.mark.parametrize(
    ("layer", "expected"), [("policy", "policy"), ("nobody", "tool"), (object(), "tool"), ([], "tool"), (None, "tool")]
)
async def test_a_layer_counts_only_if_there_is_one_of_that_name(layer: Any, expected: str) -> None:
    failing = type("OwnError", (ToolError,), {"layer": layer})
    assert (await result_of(raising(failing("words"), is_async=True))).layer == expected


async def test_what_an_error_says_of_its_kind_is_kept() -> None:
    for kind, layer, is_unknown in ((ToolTimeoutError, "tool", True), (ToolDeniedError, "policy", False)):
        own = type("OwnError", (kind,), {})
        ending = await call_of(raising(own("words"), is_async=True))
        assert ending.result is not None
        assert (ending.result.content, ending.result.layer) == ("words", layer)
        assert ending.is_unknown == is_unknown


@pytest.mark.parametrize("nothing_done", [1, "yes", object(), [True]])
async def test_nothing_was_done_only_where_that_is_said_plainly(nothing_done: Any) -> None:
    error = TransientToolError("Busy.", nothing_done=nothing_done)
    ending = await call_of(raising(error, is_async=True))
    assert (ending.is_unknown, ending.attempts) == (True, 1)


async def test_the_operator_finds_where_an_error_came_from_that_cannot_be_shown() -> None:
    class Closed(Exception):
        __getattribute__ = __str__ = _fails_with(SystemExit)

    detail = (await call_of(raising(Closed(), is_async=True))).detail or ""
    assert "in fail_later" in detail
    assert "Closed: (it cannot be shown)" in detail


# Values


def _values(end: type[BaseException]) -> list[object]:
    fail = _fails_with(end)

    class Silent:
        __str__ = __repr__ = fail

    class Faceless:
        __class__ = property(fail)  # type: ignore[assignment]

    class Closed:
        __getattribute__ = fail  # type: ignore[assignment]

    class Resting:
        __class__ = Rest  # type: ignore[assignment]

    class Waiting:
        __await__ = fail

    class Undrawable:
        _repr_png_ = fail

    class Words(str):
        __slots__ = ()
        __str__ = __len__ = encode = isascii = strip = fail  # type: ignore[assignment]

    values = [Silent(), Faceless(), Closed(), Resting(), Undrawable(), Words("a"), end("a")]
    if end is not KeyboardInterrupt:  # to wait for a value is to run a tool's code, where this may be Ctrl-C
        values.append(Waiting())
    sourced = [Sourced(Silent(), source=cast("Any", Silent())), Sourced("a", source="b", trust=cast("Any", Silent()))]
    return [*values, *([value] for value in values), *sourced]


@pytest.mark.parametrize("is_async", [True, False])
@pytest.mark.parametrize("end", ENDS)
async def test_whatever_a_value_does_when_it_is_looked_at_the_call_has_a_result(
    end: type[BaseException], is_async: bool
) -> None:
    for value in _values(end):
        assert (await result_of(giving(value, is_async=is_async))).content


@pytest.mark.parametrize("waiting", [(), None, 5, (5,), [object()]])
async def test_a_call_rests_only_for_a_question_that_somebody_can_answer(waiting: Any) -> None:
    assert (await result_of(giving(Rest(waiting=waiting), is_async=True))).content


# Summaries


@pytest.mark.parametrize("end", ENDS)
async def test_whatever_a_summariser_does_the_result_is_shown_without_it(end: type[BaseException]) -> None:
    fail = _fails_with(end)

    class Words(str):
        __slots__ = ()
        __len__ = strip = encode = __str__ = __repr__ = __format__ = fail  # type: ignore[assignment]

    class Silent:
        __repr__ = __str__ = fail

    class Waiting:
        __await__ = fail

    async def fail_later(*_: object) -> str:
        return fail()

    async def leave_open(*_: object) -> str:
        anyio.CancelScope().__enter__().cancel()
        return "short"

    async def cancel_itself(*_: object) -> str:
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        await asyncio.sleep(0)
        return "short"

    summarisers: list[Any] = [fail, fail_later, lambda *_: Silent(), lambda *_: Waiting(), leave_open, cancel_itself]
    long = giving("word " * 10_000, is_async=True)
    for summarise in summarisers:
        for is_alone in (True, False):
            rules = ResultRules(limit_bytes=1024, summarise=summarise)
            ending = await call_of(long, is_alone=is_alone, results=rules)
            assert ending.result is not None
            assert ending.result.content.startswith("word word")
            assert "are left out here" in ending.result.content
            assert (ending.detail or "").startswith("The summariser failed")
    rules = ResultRules(limit_bytes=1024, summarise=lambda *_: Words("short"))
    assert (await result_of(long, results=rules)).content.endswith("short")


async def test_a_run_that_is_stopped_while_a_result_is_summarised_stops() -> None:
    begun = asyncio.Event()
    was_stopped: list[bool] = []

    async def summarise(*_: object) -> str:
        begun.set()
        try:
            await asyncio.sleep(3600)
        except asyncio.CancelledError:
            was_stopped.append(True)
            raise
        return "short"

    subject = giving("word " * 10_000, is_async=True)
    for is_alone in (True, False):
        begun.clear()
        rules = ResultRules(limit_bytes=1024, summarise=summarise, summary_timeout_s=3600)
        running = asyncio.create_task(call_of(subject, is_alone=is_alone, results=rules))
        await begun.wait()
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
    assert was_stopped == [True, True]


# What a tool says


class Number(int):
    """A number of a class of its own."""


@pytest.mark.parametrize("is_async", [True, False])
@pytest.mark.parametrize(
    "say",
    [
        lambda ctx: ctx.charge(None),
        lambda ctx: ctx.charge("5 tokens"),
        lambda ctx: ctx.charge(Usage(input_tokens="5")),
        lambda ctx: ctx.charge(Usage(output_tokens=-1)),
        lambda ctx: ctx.charge(Usage(requests=1.5)),
        lambda ctx: ctx.charge(Usage(calls=10**400)),
        lambda ctx: ctx.charge(Usage(cached_input_tokens=None)),
        lambda ctx: ctx.charge(Usage(cost_usd=float("nan"))),
        lambda ctx: ctx.charge(Usage(cost_usd=-0.5)),
        lambda ctx: ctx.charge(Usage(cost_usd=float("inf"))),
        lambda ctx: ctx.charge(Usage(cost_usd=10**400)),
        lambda ctx: ctx.charge(Usage(cost_usd="0.5")),
        lambda ctx: ctx.progress(None),
        lambda ctx: ctx.progress(b"half"),
        lambda ctx: ctx.progress(object()),
        lambda ctx: ctx.progress("a", fraction="half"),
        lambda ctx: ctx.progress("a", fraction="0.5"),
        lambda ctx: ctx.progress("a", fraction=float("nan")),
        lambda ctx: ctx.progress("a", fraction=10**400),
        lambda ctx: ctx.progress("a", fraction=[1]),
    ],
)
async def test_what_cannot_be_meant_is_refused_at_once_where_it_is_said(say: Any, is_async: bool) -> None:
    refused: list[str] = []

    def try_to(ctx: Context) -> str:
        try:
            say(ctx)
        except UsageError as error:
            refused.append(str(error))
        ctx.charge(Usage(cached_input_tokens=Number(3)))
        return "said"

    async def try_later(ctx: Context) -> str:
        return try_to(ctx)

    subject = tool(name="subject", effect="read")(try_later if is_async else try_to)
    state = await ended([call("subject")], [subject])
    assert state.calls[0].result is not None
    assert state.calls[0].result.content == "said"
    assert state.usage.cached_input_tokens == 3
    [words] = refused
    assert words.startswith("Expected ")
    assert ", found " in words


async def test_what_is_refused_is_the_crash_of_a_tool_that_does_not_expect_it() -> None:
    @tool(effect="read")
    async def subject(ctx: Context) -> str:
        """Says what it cannot mean."""
        ctx.charge(cast("Any", "garbage"))
        return "never"

    ending = await call_of(subject)
    assert ending.result is not None
    assert ending.result.content.startswith("`subject` failed with an internal error")
    assert "Expected ctx.charge to be given a Usage, found str." in (ending.detail or "")


# What a tool does to the task and the process in which it runs


async def _leave_scope_open() -> None:
    anyio.CancelScope().__enter__()


async def _leave_cancelled_scope_open() -> None:
    anyio.CancelScope().__enter__().cancel()


async def _wait_in_cancelled_scope() -> None:
    await _leave_cancelled_scope_open()
    await anyio.sleep(60)


async def _leave_shield_open() -> None:
    anyio.CancelScope(shield=True).__enter__()
    anyio.CancelScope().__enter__()


async def _leave_deadline_open() -> None:
    anyio.CancelScope(deadline=anyio.current_time()).__enter__()


async def _leave_group_open() -> None:
    group = await anyio.create_task_group().__aenter__()
    group.start_soon(anyio.sleep_forever)


async def _leave_group_open_whose_task_fails() -> None:
    async def fail() -> None:
        raise ValueError("a task of a group")

    group = await anyio.create_task_group().__aenter__()
    group.start_soon(fail)
    await asyncio.sleep(0)


async def _leave_open_and_raise() -> None:
    await _leave_cancelled_scope_open()
    raise ValueError("its own")


LEFT_OPEN = [
    _leave_scope_open,
    _leave_cancelled_scope_open,
    _wait_in_cancelled_scope,
    _leave_shield_open,
    _leave_deadline_open,
    _leave_group_open,
    _leave_group_open_whose_task_fails,
    _leave_open_and_raise,
]


@pytest.mark.parametrize("is_alone", [True, False])
@pytest.mark.parametrize("timeout_s", [None, 30])
@pytest.mark.parametrize("do", LEFT_OPEN)
async def test_what_a_tool_leaves_open_is_closed_and_is_its_crash(
    do: Callable[[], Any], timeout_s: float | None, is_alone: bool
) -> None:
    async def subject() -> str:
        await do()
        return "never"

    made = tool(name="subject", effect="unsafe", timeout_s=timeout_s)(subject)
    before = asyncio.all_tasks()
    with anyio.CancelScope() as around:
        ending = await call_of(made, is_alone=is_alone)
    await asyncio.sleep(0)
    assert ending.result is not None
    assert ending.result.content.startswith("`subject` failed with an internal error")
    assert not around.cancel_called
    assert asyncio.all_tasks() == before


async def test_what_outlives_a_scope_of_its_own_is_no_leak() -> None:
    @tool(effect="read")
    async def subject() -> str:
        """Opens and closes."""
        async with anyio.create_task_group() as group:
            group.start_soon(anyio.sleep_forever)
            with anyio.move_on_after(0):
                await anyio.sleep_forever()
            group.cancel_scope.cancel()
        return "closed"

    assert (await result_of(subject)).content == "closed"
    assert (await result_of(subject, is_alone=False)).content == "closed"


async def test_a_tool_that_leaves_a_scope_open_may_be_tried_again_and_be_replaced() -> None:
    attempts: list[int] = []

    @tool(effect="read", fallback="bystander")
    async def subject(ctx: Context) -> str:
        """Fails in a scope that it leaves open."""
        attempts.append(ctx.attempt)
        anyio.CancelScope().__enter__().cancel()
        raise TransientToolError("Busy.")

    result = await result_of(subject, sleep=_at_once)
    assert result.content.startswith("all is well")
    assert attempts == [1, 2, 3]


def _own_task() -> asyncio.Task[Any]:
    task = asyncio.current_task()
    assert task is not None
    return task


async def test_a_tool_beside_others_that_cancels_its_own_task_has_crashed() -> None:
    @tool(effect="unsafe")
    async def subject() -> str:
        """Cancels itself."""
        _own_task().cancel()
        await asyncio.sleep(60)
        return "never"

    assert (await result_of(subject, is_alone=False)).content.startswith("`subject` failed with an internal error")


async def test_a_tool_beside_others_that_cancels_its_own_task_before_it_waits_has_crashed() -> None:
    @tool(effect="read")
    async def subject() -> str:
        """Cancels itself, and fails."""
        _own_task().cancel()
        raise TransientToolError("Busy.")

    assert (await result_of(subject, is_alone=False)).content.startswith("`subject` failed with an internal error")


async def test_a_call_that_a_tool_beside_it_cancels_before_it_begins_begins_all_the_same() -> None:
    around = asyncio.all_tasks()

    @tool(effect="read")
    async def subject() -> str:
        """Cancels the tasks of the others."""
        for task in asyncio.all_tasks() - around - {_own_task()}:
            task.cancel()
        return "done"

    journal = MemoryJournal()
    request = RunRequest(
        model=ScriptedModel([[call("subject"), *[call("look", {"at": at}) for at in range(3)]], [text("done")]]),
        toolset=Toolset([subject, tool(name="look", effect="read")(_look)]),
        messages=(Message.user("Go"),),
        journal=journal,
    )
    running = asyncio.create_task(run(request))
    around.add(running)
    await asyncio.wait_for(running, 60)  # it would never end
    results = [each.result for each in fold(journal.read(request.run_id)).calls]
    assert [result.content for result in results if result is not None] == ["done", "0", "1", "2"]


async def _look(at: int) -> str:
    await asyncio.sleep(0)
    return str(at)


async def test_a_tool_that_is_alone_and_cancels_its_task_stops_the_run_and_no_tool_after_it() -> None:
    # Nobody can tell this from a program that stops the run.
    went_on: list[bool] = []

    @tool(effect="unsafe")
    async def subject() -> str:
        """Cancels itself."""
        _own_task().cancel()
        return "done"

    @tool(effect="unsafe")
    async def after() -> str:
        """Comes after it."""
        went_on.append(True)
        return "went on"

    journal = MemoryJournal()
    request = RunRequest(
        model=ScriptedModel([[call("subject")], [call("after")], [text("done")]]),
        toolset=Toolset([subject, after]),
        messages=(Message.user("Go"),),
        journal=journal,
    )
    with pytest.raises(asyncio.CancelledError):
        await asyncio.create_task(run(request))
    state = fold(journal.read(request.run_id))
    assert [each.result.content for each in state.calls if each.result is not None] == ["done"]
    assert (state.status, went_on) == ("interrupted", [])


@pytest.fixture
async def kept_as_it_is() -> AsyncIterator[None]:
    folder, limit = Path.cwd(), sys.getrecursionlimit()
    yield
    os.chdir(folder)
    sys.setrecursionlimit(limit)


VARIABLE: contextvars.ContextVar[str] = contextvars.ContextVar("VARIABLE", default="unset")


@pytest.mark.usefixtures("kept_as_it_is")
@pytest.mark.parametrize("is_alone", [True, False])
async def test_what_a_tool_does_to_its_surroundings_does_not_end_the_run(is_alone: bool, tmp_path: Any) -> None:
    async def close_default_executor() -> None:
        await asyncio.get_running_loop().shutdown_default_executor()

    async def swap_context() -> None:
        for variable in contextvars.copy_context():
            variable.set(cast("Any", "swapped"))
        VARIABLE.set("swapped")

    async def change_folder() -> None:
        os.chdir(tmp_path)

    async def lower_recursion_limit() -> None:
        sys.setrecursionlimit(sys.getrecursionlimit() - 200)

    async def close_loop() -> None:
        asyncio.get_running_loop().close()

    async def forget_loop() -> None:
        asyncio.set_event_loop(None)

    for do in (close_default_executor, swap_context, change_folder, lower_recursion_limit, close_loop, forget_loop):
        content = (await result_of(tool(name="subject", effect="unsafe")(do), is_alone=is_alone)).content
        assert content.startswith(("The tool ran and returned no value.", "`subject` failed with an internal error"))
    assert VARIABLE.get() == "unset"
