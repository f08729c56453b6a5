"""What a tool's code may do, and what becomes of it."""

import asyncio
import contextvars
import functools
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import anyio
import anyio.from_thread
import pytest

from wieldy.core.calls import ToolResult
from wieldy.core.context import Context
from wieldy.core.errors import ToolError
from wieldy.core.messages import Message
from wieldy.run.executor import MAX_CONCURRENT_CALLS
from wieldy.run.journal import MemoryJournal, SqliteJournal
from wieldy.run.loop import run
from wieldy.run.request import RunRequest
from wieldy.run.state import RunState, fold
from wieldy.testing import ScriptedModel, call, text
from wieldy.tools import Tool, Toolset, tool

pytestmark = pytest.mark.anyio


async def state_after(turn: list[Any], tools: Sequence[Any]) -> RunState:
    journal = MemoryJournal()
    request = RunRequest(
        model=ScriptedModel([turn, [text("done")]]),
        toolset=Toolset(tools),
        messages=(Message.user("Go"),),
        journal=journal,
    )
    await run(request)
    return fold(journal.read(request.run_id))


async def results_of(turn: list[Any], tools: Sequence[Any]) -> list[ToolResult]:
    state = await state_after(turn, tools)
    return [message.result for message in state.messages if message.result is not None]


@tool(effect="read")
def echo(word: str) -> str:
    """Says the word again."""
    return word


async def test_a_synchronous_tool_runs_in_a_thread_with_the_context_variables_of_the_caller() -> None:
    variable: contextvars.ContextVar[str] = contextvars.ContextVar("variable", default="unset")

    @tool(effect="read")
    def look() -> list[str]:
        """Where it runs and what it sees."""
        return [threading.current_thread().name, variable.get()]

    variable.set("set by the caller")
    [result] = await results_of([call("look")], [look])
    name, seen = result.structured_content  # type: ignore[misc]
    assert name != threading.main_thread().name
    assert seen == "set by the caller"


async def test_an_asynchronous_tool_runs_in_the_loop_and_what_it_sets_stays_its_own() -> None:
    variable: contextvars.ContextVar[str] = contextvars.ContextVar("variable", default="unset")

    @tool(effect="unsafe")
    async def change() -> str:
        """Sets the variable."""
        seen = variable.get()
        variable.set("set by a tool")
        return f"{seen} in {threading.current_thread().name}"

    results = await results_of([call("change"), call("change")], [change])
    assert [result.content for result in results] == ["unset in MainThread"] * 2
    assert variable.get() == "unset"


async def test_what_a_synchronous_function_hands_on_to_wait_for_is_waited_for() -> None:
    async def later(word: str) -> str:
        await anyio.lowlevel.checkpoint()
        return word

    @tool(effect="read")
    def now(word: str) -> Any:
        """Hands on a coroutine."""
        return later(word)

    partial = tool(functools.partial(later, word="part"), name="partial", effect="read")
    results = await results_of([call("now", {"word": "a"}), call("partial")], [now, partial])
    assert [result.content for result in results] == ["a", "part"]


async def test_the_context_names_the_run_the_call_and_a_key_that_depends_on_what_is_asked() -> None:
    seen: list[Context] = []

    @tool(effect="keyed")
    def pay(amount: int, ctx: Context) -> str:
        """Pays once."""
        seen.append(ctx)
        return "paid"

    state = await state_after([call("pay", {"amount": 1}), call("pay", {"amount": 1})], [pay])
    assert [(ctx.run_id, ctx.call_id, ctx.tool_name) for ctx in seen] == [
        (state.run_id, "c1", "pay"),
        (state.run_id, "c2", "pay"),
    ]
    assert seen[0].idempotency_key != seen[1].idempotency_key


@pytest.mark.parametrize(
    "error",
    [
        ValueError("secret"),
        StopIteration("secret"),
        RecursionError("secret"),
        ExceptionGroup("secret", [ValueError("secret")]),
    ],
)
@pytest.mark.parametrize("is_async", [True, False])
async def test_any_exception_becomes_one_sentence_and_the_traceback_stays_in_the_journal(
    error: Exception, is_async: bool
) -> None:
    def fail() -> str:
        raise error

    async def fail_later() -> str:
        raise error

    broken = tool(fail_later if is_async else fail, name="broken", effect="unsafe")
    state = await state_after([call("broken"), call("echo", {"word": "a"})], [broken, echo])
    failure, sibling = state.calls
    assert failure.result is not None
    assert failure.result.is_error
    assert failure.result.content.startswith("`broken` failed with an internal error")
    assert "secret" not in failure.result.content
    assert "secret" in (failure.detail or "")
    assert sibling.result is not None
    assert (sibling.result.content, sibling.result.is_error) == ("a", False)


async def test_a_tool_that_says_what_went_wrong_is_quoted_and_one_that_does_not_is_reported() -> None:
    @tool(effect="read")
    def fail(words: str) -> str:
        """Fails with these words."""
        raise ToolError(words)

    results = await results_of([call("fail", {"words": "No\nsuch order."}), call("fail", {"words": ""})], [fail])
    assert [result.content for result in results] == [
        "No\nsuch order.",
        "The call failed, and the tool does not say why.",
    ]
    assert all(result.is_error and result.layer == "tool" for result in results)


async def test_a_tool_whose_own_work_was_cancelled_has_failed_and_the_run_goes_on() -> None:
    @tool(effect="read")
    async def wait_for_what_is_cancelled() -> str:
        """Waits for a future that somebody cancelled."""
        future: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        future.cancel()
        return await future

    @tool(effect="read")
    def raise_in_thread() -> str:
        """Raises what only a loop should."""
        raise asyncio.CancelledError

    turn = [call("wait_for_what_is_cancelled"), call("raise_in_thread"), call("echo", {"word": "a"})]
    results = await results_of(turn, [wait_for_what_is_cancelled, raise_in_thread, echo])
    assert [result.is_error for result in results] == [True, True, False]
    assert "internal error" in results[0].content


@pytest.mark.parametrize("effect", ["unsafe", "read"])
async def test_a_tool_that_takes_too_long_may_still_complete_and_the_model_is_told(effect: Any) -> None:
    for timeout_s in (0.01, 0.1, 1.0, 10.0):  # until the thread had time to begin
        has_begun, is_released, has_ended = threading.Event(), threading.Event(), threading.Event()
        block = blocking(has_begun, is_released, has_ended, effect=effect, timeout_s=timeout_s)
        try:
            [slow, sibling] = await results_of([call("block"), call("echo", {"word": "a"})], [block, echo])
        finally:
            is_released.set()
        if has_begun.is_set():
            break
    assert slow.is_error
    assert slow.content.startswith("`block` gave no answer within ")
    assert ("may still complete" in slow.content) == (effect == "unsafe")
    assert (sibling.content, sibling.is_error) == ("a", False)
    assert await anyio.to_thread.run_sync(has_ended.wait, 10)


def blocking(
    has_begun: threading.Event, is_released: threading.Event, has_ended: threading.Event, **declared: Any
) -> Tool:
    def block() -> str:
        """Takes its time, which a thread cannot be kept from."""
        has_begun.set()
        is_released.wait(60)
        has_ended.set()
        return "late"

    return tool(**declared)(block)


async def test_an_asynchronous_tool_that_takes_too_long_is_cancelled() -> None:
    was_cancelled = anyio.Event()

    @tool(effect="unsafe", timeout_s=0.01)
    async def wait() -> str:
        """Waits for ever."""
        try:
            await anyio.sleep_forever()
        finally:
            was_cancelled.set()
        return "never"

    [result] = await results_of([call("wait")], [wait])
    assert was_cancelled.is_set()
    assert "may still complete" in result.content


async def test_a_time_out_inside_a_tool_is_the_tools_own_failure() -> None:
    @tool(effect="read", timeout_s=10, retries=0)
    async def impatient() -> str:
        """Gives up by itself."""
        with anyio.fail_after(0):
            await anyio.sleep_forever()
        return "never"

    [result] = await results_of([call("impatient")], [impatient])
    assert result.content == "`impatient` failed: something that it waited for took too long."


async def test_no_more_calls_than_the_limit_run_at_once_and_all_of_them_run() -> None:
    running = most = 0

    @tool(effect="read")
    async def work(number: int) -> int:
        """Works."""
        nonlocal running, most
        running += 1
        most = max(most, running)
        for _ in range(3):
            await anyio.lowlevel.checkpoint()
        running -= 1
        return number

    results = await results_of([call("work", {"number": number}) for number in range(100)], [work])
    assert [result.content for result in results] == [str(number) for number in range(100)]
    assert most == MAX_CONCURRENT_CALLS


async def test_synchronous_tools_run_at_once() -> None:
    meeting = threading.Barrier(4, timeout=60)

    @tool(effect="read")
    def meet() -> int:
        """Waits for three others."""
        return meeting.wait()

    results = await results_of([call("meet")] * 4, [meet])
    assert sorted(result.content for result in results) == ["0", "1", "2", "3"]


async def test_a_synchronous_tool_may_run_an_event_loop_and_call_back_into_ours() -> None:
    @tool(effect="read")
    def nested() -> str:
        """Runs something asynchronous."""
        anyio.from_thread.run(anyio.lowlevel.checkpoint)
        return anyio.run(answer)

    async def answer() -> str:
        await anyio.lowlevel.checkpoint()
        return "nested"

    [result] = await results_of([call("nested")], [nested])
    assert result.content == "nested"


EXIT = """
import sys
from wieldy import Agent, tool
from wieldy.testing import ScriptedModel, call

@tool(effect="read")
async def leave() -> str:
    "Is running when the second Ctrl-C comes."
    raise KeyboardInterrupt

turn = [call("leave") for _ in range(int(sys.argv[2]))]
Agent(ScriptedModel([turn]), tools=[leave], journal=sys.argv[1]).run_sync("Go")
print("not reached")
"""


class Stop(BaseException):
    """What a framework may raise to get past every `except Exception`."""


@pytest.mark.parametrize("leaving", [SystemExit(7), GeneratorExit(), Stop("past everything"), KeyboardInterrupt()])
async def test_no_synchronous_tool_ends_the_run_whatever_it_raises(leaving: BaseException) -> None:
    @tool(effect="read")
    def leave() -> str:
        """Leaves."""
        raise leaving

    state = await state_after([call("leave"), call("echo", {"word": "still here"})], [leave, echo])

    assert_crashed_alone(state, type(leaving).__name__)


@pytest.mark.parametrize("leaving", [SystemExit(7), GeneratorExit(), Stop("past everything")])
async def test_no_asynchronous_tool_ends_the_run_unless_it_is_interrupted(leaving: BaseException) -> None:
    @tool(effect="read")
    async def leave() -> str:
        """Leaves."""
        await anyio.lowlevel.checkpoint()
        raise leaving

    state = await state_after([call("leave"), call("echo", {"word": "still here"})], [leave, echo])

    assert_crashed_alone(state, type(leaving).__name__)


def assert_crashed_alone(state: RunState, name: str) -> None:
    left, stayed = state.calls
    assert (state.status, state.text) == ("finished", "done")
    assert left.result is not None
    assert left.result.content.startswith("`leave` failed with an internal error")
    assert name not in left.result.content
    assert name in (left.detail or "")
    assert stayed.result is not None
    assert stayed.result.content == "still here"


@pytest.mark.parametrize("count", [1, 2])
def test_an_interrupt_is_not_swallowed_and_calls_stay_started(tmp_path: Path, count: int) -> None:
    path = tmp_path / "j.db"
    finished = subprocess.run(
        [sys.executable, "-c", EXIT, str(path), str(count)],
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert (finished.returncode, finished.stdout) == (-2, b""), finished.stderr
    with SqliteJournal(path) as journal:
        [run_id] = journal.run_ids()
        state = fold(journal.read(run_id))
    assert state.status == "interrupted"
    assert [each.status for each in state.calls] == ["started"] * count
    assert b"never retrieved" not in finished.stderr


KILLED = """
import sys, time
from wieldy import Agent, tool
from wieldy.testing import ScriptedModel, call, text

@tool(effect="read")
def look() -> str:
    "Looks."
    return "seen"

@tool(effect="unsafe")
def pay(amount: int) -> str:
    "Pays, and is killed while doing so."
    print("paying", flush=True)
    time.sleep(600)
    return "paid"

script = [[call("look")], [call("look"), call("pay", {"amount": 5}), call("pay", {"amount": 6})], [text("done")]]
Agent(ScriptedModel(script), tools=[look, pay], journal=sys.argv[1]).run_sync("Pay")
"""


def test_a_process_that_is_killed_while_a_tool_runs_leaves_a_record_of_exactly_that(tmp_path: Path) -> None:
    path = tmp_path / "j.db"
    with subprocess.Popen([sys.executable, "-c", KILLED, str(path)], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"paying\n"
        process.kill()
    with SqliteJournal(path) as journal:
        [run_id] = journal.run_ids()
        entries = journal.read(run_id)
    state = fold(entries)
    assert (state.status, state.ended) == ("running", None)
    assert [(each.call.name, each.status) for each in state.calls] == [
        ("look", "finished"),
        ("look", "finished"),
        ("pay", "started"),
        ("pay", "asked"),
    ]
    assert entries[-1].kind == "call_started"
    assert entries[-1].data["arguments"] == {"amount": 5}
