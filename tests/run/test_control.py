"""Ends other than an answer: the call of `finish`, limits on cost and time; unknown outcomes; nested runs."""

import threading
from collections.abc import Sequence
from typing import Any

import anyio
import pytest

from wieldy.agent import Agent
from wieldy.core.context import Context
from wieldy.core.errors import ToolError, UsageError
from wieldy.core.history import check_history
from wieldy.core.limits import Limits
from wieldy.core.messages import Message
from wieldy.core.principals import Principal
from wieldy.run.journal import MemoryJournal
from wieldy.run.loop import run
from wieldy.run.policy import Ask
from wieldy.run.prices import Price
from wieldy.run.request import RunRequest
from wieldy.run.state import fold
from wieldy.testing import ScriptedModel, call, text
from wieldy.tools import Toolset, tool

pytestmark = pytest.mark.anyio


@tool(effect="read")
def echo(word: str) -> str:
    """Says the word again."""
    return word


def contents(result: Any) -> list[str]:
    return [message.text for message in result.messages if message.role == "tool"]


# Finish


async def test_a_call_of_finish_ends_the_run_after_the_calls_before_it() -> None:
    turn = [call("echo", {"word": "a"}), call("finish", {"answer": "It is a."}), call("echo", {"word": "b"})]
    agent = Agent(ScriptedModel([turn]), [echo], finish=True)
    result = await agent.run("Go")
    assert (result.text, result.stop_reason) == ("It is a.", "finished")
    assert contents(result)[0] == "a"
    assert "not run: the task was ended by an earlier call" in contents(result)[2]
    check_history((*result.messages, Message.user("And?")))
    state = fold(agent.journal.read(result.run_id))
    assert (state.text, state.stop_reason, len(state.calls)) == ("It is a.", "finished", 3)
    assert await agent.resume(result.run_id) == result


async def test_a_finish_without_an_answer_is_refused_and_the_run_goes_on() -> None:
    agent = Agent(ScriptedModel([[call("finish", {"word": "a"})], [text("It is a.")]]), [echo], finish=True)
    result = await agent.run("Go")
    assert (result.text, result.stop_reason) == ("It is a.", "answered")
    assert "answer" in contents(result)[0]


async def test_finish_is_offered_only_where_it_is_wanted_and_its_name_is_then_taken() -> None:
    model = ScriptedModel([[text("done")]] * 2)
    await Agent(model, [echo]).run("Go")
    await Agent(model, [echo], finish=True).run("Go")
    assert [[tool.name for tool in request.tools] for request in model.requests] == [["echo"], ["echo", "finish"]]

    @tool(effect="read")
    def finish() -> str:
        """Is in the way."""
        return ""

    with pytest.raises(UsageError, match="no tool named 'finish'"):
        await Agent(ScriptedModel([]), [finish], finish=True).run("Go")


# Limits


async def test_cost_is_counted_by_the_price_of_the_model_and_can_be_limited() -> None:
    prices = {"scripted": Price(input_usd_per_million=1.0, output_usd_per_million=1_000_000.0)}
    turns = [*([call("echo", {"word": str(number)})] for number in range(3)), [text("enough")]]
    agent = Agent(ScriptedModel(turns[:1] + turns[-1:]), [echo], prices=prices, limits=Limits(cost_usd=2.0))
    result = await agent.run("Go")
    assert (result.stop_reason, result.text) == ("cost_limit", "enough")
    assert result.usage.cost_usd is not None
    assert result.usage.cost_usd >= result.usage.output_tokens


async def test_a_limit_on_the_cost_of_a_model_without_a_price_is_refused() -> None:
    with pytest.raises(UsageError, match="price of 'unpriced'"):
        await Agent(ScriptedModel([], name="unpriced"), limits=Limits(cost_usd=1.0)).run("Go")


async def test_a_model_that_is_a_script_costs_nothing() -> None:
    result = await Agent(ScriptedModel([[text("done")]]), limits=Limits(cost_usd=1.0)).run("Go")
    assert (result.stop_reason, result.usage.cost_usd) == ("answered", 0)


async def test_a_limit_on_all_tokens_leads_to_the_last_answer() -> None:
    turns = [[call("echo", {"word": "a" * 40})], [text("enough")]]
    result = await Agent(ScriptedModel(turns), [echo], limits=Limits(total_tokens=5)).run("Go")
    assert (result.stop_reason, result.text) == ("total_token_limit", "enough")


async def test_a_tool_that_never_ends_is_stopped_in_time_for_the_last_answer() -> None:
    @tool(effect="unsafe")
    async def wait() -> str:
        """Waits for ever."""
        await anyio.sleep_forever()
        return "never"

    turns = [[call("wait")], [text("It did not answer.")]]
    result = await Agent(ScriptedModel(turns), [wait], limits=Limits(wall_time_s=1)).run("Go")
    assert (result.stop_reason, result.text) == ("wall_time_limit", "It did not answer.")
    assert "may still complete" in contents(result)[0]


async def test_a_model_that_never_answers_is_stopped_and_asked_for_its_last_answer() -> None:
    class Slow(ScriptedModel):
        async def stream(self, request: Any) -> Any:
            if request.tool_choice.mode == "auto":
                await anyio.sleep_forever()
            async for event in super().stream(request):
                yield event

    agent = Agent(Slow([[text("in time")]]), limits=Limits(wall_time_s=1))
    result = await agent.run("Go")
    assert (result.stop_reason, result.text) == ("wall_time_limit", "in time")


# Calls of unknown outcome


async def test_only_a_repeat_of_a_call_of_unknown_outcome_needs_consent() -> None:
    done: list[str] = []

    @tool(effect="unsafe", timeout_s=0.05)
    async def send(letter: str) -> str:
        """Sends a letter."""
        done.append(letter)
        if len(done) == 1:
            await anyio.sleep_forever()
        return "sent"

    def script(messages: Sequence[Message]) -> list[Any]:
        letters = ["a", "b", "a"]
        asked = sum(1 for message in messages if message.role == "assistant")
        return [call("send", {"letter": letters[asked]})] if asked < 3 else [text("done")]

    agent = Agent(ScriptedModel(script), [send])
    result = await agent.run("Go")
    assert (result.stop_reason, done) == ("waiting_for_approval", ["a", "b"])
    [waiting] = result.waiting
    assert "c1" in waiting.reason
    assert "outcome is unknown" in waiting.reason
    agent.approve(result.run_id, waiting.call_id, by="ada")
    assert (await agent.resume(result.run_id)).text == "done"
    assert done == ["a", "b", "a"]


async def test_a_repeat_of_a_keyed_call_of_unknown_outcome_has_the_same_key() -> None:
    keys: list[str] = []

    @tool(effect="keyed", timeout_s=0.05)
    async def pay(amount: int, ctx: Context) -> str:
        """Pays."""
        keys.append(ctx.idempotency_key)
        if len(keys) == 1:
            await anyio.sleep_forever()
        return "paid"

    turns = [[call("pay", {"amount": 5})], [call("pay", {"amount": 5})], [call("pay", {"amount": 5})], [text("done")]]
    result = await Agent(ScriptedModel(turns), [pay]).run("Go")
    assert (result.text, keys[0] == keys[1], keys[1] == keys[2]) == ("done", True, False)


async def test_a_thread_that_comes_late_is_on_record_and_the_model_is_told() -> None:
    released = threading.Event()

    @tool(effect="unsafe", timeout_s=0.05)
    def charge(card: str) -> str:
        """Charges a card."""
        released.wait(60)
        return f"charged {card}"

    @tool(effect="read")
    async def look() -> str:
        """Looks, after the charge came through."""
        released.set()
        with anyio.fail_after(60):
            while not any(entry.kind == "call_came_late" for entry in agent.journal.read(run_id())):
                await anyio.lowlevel.checkpoint()
        return "seen"

    def run_id() -> str:
        return next(iter(agent.journal.run_ids()))

    turns = [[call("charge", {"card": "x"})], [call("look")], [call("charge", {"card": "x"})], [text("done")]]
    agent = Agent(ScriptedModel(turns), [charge, look])
    result = await agent.run("Go")
    timed_out, seen, again = contents(result)
    assert "may still complete" in timed_out
    assert "your earlier call of `charge`" in seen
    assert "charged x" in seen
    assert again == "charged x"  # the model knew how the first had ended, and wanted it once more
    assert [state.repeats for state in fold(agent.journal.read(result.run_id)).calls] == [(), (), ()]


# Permissions


async def test_a_tool_that_needs_a_permission_runs_only_for_those_who_have_it() -> None:
    @tool(effect="unsafe", permission="orders:write")
    def ship() -> str:
        """Ships."""
        return "shipped"

    turns = [[call("ship")], [text("done")]]
    for principal, words in (
        (None, "orders:write"),
        (Principal(name="eve", permissions=frozenset({"orders:read"})), "orders:write"),
        (Principal(name="ada", permissions=frozenset({"orders:*"})), "shipped"),
    ):
        result = await Agent(ScriptedModel(turns), [ship], principal=principal).run("Go")
        assert words in contents(result)[0]


# Nested runs


async def test_a_run_within_a_run_is_linked_counted_and_kept_to_what_is_left() -> None:
    inner = Agent(ScriptedModel([[call("echo", {"word": "a"})], [text("inner answer")]]), [echo])
    outer = Agent(
        ScriptedModel([[call("ask_expert", {"prompt": "What?"})], [text("outer answer")]]),
        [inner.as_tool("ask_expert", "Asks an expert.")],
        limits=Limits(turns=20, calls=7),
    )
    result = await outer.run("Go")
    assert (result.text, contents(result)) == ("outer answer", ["inner answer"])
    inner_id, outer_id = outer.journal.run_ids()
    assert outer_id == result.run_id
    nested, whole = fold(outer.journal.read(inner_id)), fold(outer.journal.read(outer_id))
    assert nested.parent is not None
    assert (nested.parent.run_id, nested.parent.call_id, nested.prompt) == (outer_id, "c1", "What?")
    assert result.usage.requests == 4
    assert whole.calls[0].usage == nested.usage
    started = outer.journal.read(inner_id)[0]
    assert started.data["limits"]["calls"] == 6  # type: ignore[call-overload,index]


async def test_a_nested_run_that_waits_lets_the_outer_run_wait_and_both_go_on() -> None:
    paid: list[int] = []

    @tool(effect="unsafe")
    def pay(amount: int) -> str:
        """Pays."""
        paid.append(amount)
        return "paid"

    def inner_script(messages: Sequence[Message]) -> list[Any]:
        return [text("inner done")] if messages[-1].role == "tool" else [call("pay", {"amount": 5})]

    def outer_script(messages: Sequence[Message]) -> list[Any]:
        return [text("outer done")] if messages[-1].role == "tool" else [call("ask_clerk", {"prompt": "Pay."})]

    inner = Agent(ScriptedModel(inner_script), [pay], policy=lambda proposal: Ask())
    outer = Agent(ScriptedModel(outer_script), [inner.as_tool("ask_clerk", "Asks a clerk.")])
    result = await outer.run("Go")
    assert (result.stop_reason, paid) == ("waiting_for_approval", [])
    [waiting] = result.waiting
    assert waiting.run_id != result.run_id
    assert outer.pending(result.run_id) == result.waiting
    assert (result.usage.requests, result.usage.calls) == (2, 2)
    outer.approve(waiting.run_id, waiting.call_id, by="ada")
    end = await outer.resume(result.run_id)
    assert (end.text, contents(end), paid) == ("outer done", ["inner done"], [5])
    assert (end.usage.requests, end.usage.calls) == (4, 2)


async def test_what_a_tool_raises_about_retrying_is_the_runtimes_decision() -> None:
    attempts: list[int] = []

    @tool(effect="idempotent", retries=2)
    def flaky(ctx: Context) -> str:
        """Works the third time."""
        attempts.append(ctx.attempt)
        if ctx.attempt < 3:
            raise ConnectionError("not now")
        return "worked"

    waited: list[float] = []

    async def sleep(seconds: float) -> None:
        waited.append(seconds)

    request = RunRequest(
        model=ScriptedModel([[call("flaky")], [text("done")]]),
        toolset=Toolset([flaky]),
        journal=MemoryJournal(),
        messages=(Message.user("Go"),),
        sleep=sleep,
    )
    result = await run(request)
    assert (contents(result), attempts, len(waited)) == (["worked"], [1, 2, 3], 2)
    [state] = fold(request.journal.read(request.run_id)).calls
    assert [(failure.attempt, failure.wait_s) for failure in state.failures] == [(1, waited[0]), (2, waited[1])]
    assert state.attempts == 3


async def test_a_tool_error_is_one_result_and_nothing_else() -> None:
    @tool(effect="read")
    def refuse() -> str:
        """Refuses."""
        raise ToolError("No.")

    result = await Agent(ScriptedModel([[call("refuse")], [text("done")]]), [refuse]).run("Go")
    assert contents(result) == ["No."]
