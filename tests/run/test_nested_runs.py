"""Runs that calls of other runs start: what they use, how far they may go, and what is told of their failures."""

from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any

import anyio
import pytest

from wieldy.agent import Agent
from wieldy.core.context import Context
from wieldy.core.errors import ProviderError, UsageError
from wieldy.core.limits import Limits, Usage
from wieldy.core.messages import Message
from wieldy.core.ports import Draft, ModelEvent, ModelRequest
from wieldy.run.journal import MemoryJournal, kinds
from wieldy.run.nested import used_for
from wieldy.run.prices import Price
from wieldy.run.state import Parent, RunState, fold
from wieldy.testing import ScriptedModel, call, text
from wieldy.tools import Tool, tool

pytestmark = pytest.mark.anyio

Turn = list[Any]


@tool(effect="read")
def echo(word: str) -> str:
    """Says the word again."""
    return word


def results(messages: Sequence[Message]) -> int:
    return sum(message.role == "tool" for message in messages)


def asks(*prompts: str) -> ScriptedModel:
    """A model that asks an expert all of this in one turn, and is done."""
    return ScriptedModel(
        lambda messages: (
            [text("done")] if messages[-1].role == "tool" else [call("ask", {"prompt": prompt}) for prompt in prompts]
        )
    )


def talks(words: int) -> ScriptedModel:
    """A model that looks something up so often and answers then."""
    return ScriptedModel(
        lambda messages: (
            [text("answer")] if results(messages) == words else [call("echo", {"word": f"w{results(messages)}"})]
        )
    )


def expert(model: Any, tools: Sequence[Tool | Callable[..., object]] = (echo,), **rules: Any) -> Tool:
    return Agent(model, tools, **rules).as_tool("ask", "Asks an expert.")


def runs(agent: Agent) -> list[RunState]:
    """Of all runs in the journal, the oldest first."""
    return [fold(agent.journal.read(run_id)) for run_id in agent.journal.run_ids()][::-1]


def contents(agent: Agent) -> list[str]:
    """What the outer run's calls brought."""
    outer = next(run for run in runs(agent) if run.parent is None)
    return [each.result.content for each in outer.calls if each.result is not None]


async def test_calls_of_nested_runs_count_for_the_limit_on_calls() -> None:
    heard: list[str] = []

    @tool(effect="read")
    def note(word: str) -> str:
        """Takes a note."""
        heard.append(word)
        return "noted"

    def inner(messages: Sequence[Message]) -> Turn:
        return [call("note", {"word": f"{results(messages)}"})] if results(messages) < 10 else [text("ten")]

    agent = Agent(asks("a"), [expert(ScriptedModel(inner), [note])], limits=Limits(calls=5))
    result = await agent.run("Go")
    assert heard == ["0", "1", "2", "3"]
    assert result.stop_reason == "call_limit"
    # The fifth note was asked for in the nested run's last answer, which is why it is counted and was not taken.
    assert result.usage.calls == 1 + 4 + 1


async def test_of_many_calls_of_one_nested_reply_only_those_run_that_the_outer_limit_leaves() -> None:
    heard: list[str] = []

    @tool(effect="read")
    def note(word: str) -> str:
        """Takes a note."""
        heard.append(word)
        return "noted"

    notes = [call("note", {"word": str(number)}) for number in range(5)]
    inner = ScriptedModel(lambda messages: [text("done")] if results(messages) else notes)
    agent = Agent(asks("a"), [expert(inner, [note])], limits=Limits(calls=3))
    await agent.run("Go")
    assert sorted(heard) == ["0", "1"]  # which run at once


async def test_nested_runs_of_one_turn_share_what_is_left() -> None:
    limit = 2000
    prompts = [f"{number} " + "x" * 800 for number in range(8)]
    agent = Agent(asks(*prompts), [expert(talks(20))], limits=Limits(total_tokens=limit))
    result = await agent.run("Go")
    assert result.stop_reason == "total_token_limit"
    replies: list[Any] = [
        entry.data["usage"]
        for run in runs(agent)
        if run.parent is not None
        for entry in agent.journal.read(run.run_id)
        if entry.kind == "reply"
    ]
    largest = max(usage["input_tokens"] + usage["output_tokens"] for usage in replies)
    nested = sum(run.usage.input_tokens + run.usage.output_tokens for run in runs(agent) if run.parent is not None)
    assert nested <= limit + 8 * largest
    # Nobody went on after that, not even for a last answer.
    assert len(replies) <= 8 + limit // 200
    assert any("ended without an answer (total_token_limit)" in content for content in contents(agent))


async def test_a_nested_run_sees_at_once_what_its_siblings_use() -> None:
    left: list[int | None] = []
    both = anyio.Event()

    @tool(effect="read")
    async def look(ctx: Context) -> str:
        """Looks at what is left, when both are there."""
        if ctx.limits.calls == 6:  # two calls of the outer model, and one of each nested one
            both.set()
        with anyio.fail_after(60):
            await both.wait()
        left.append(ctx.limits.calls)
        return "seen"

    inner = ScriptedModel(lambda messages: [text("done")] if results(messages) else [call("look")])
    await Agent(asks("a", "b"), [expert(inner, [look])], limits=Limits(calls=10)).run("Go")
    assert left == [6, 6]


async def test_what_a_tool_charges_counts_while_it_is_still_at_work() -> None:
    left: list[int | None] = []

    @tool(effect="read")
    async def think(ctx: Context) -> str:
        """Asks a model of its own."""
        left.append(ctx.limits.total_tokens)
        ctx.charge(Usage(input_tokens=300, requests=1))
        left.append(ctx.limits.total_tokens)
        return "thought"

    inner = ScriptedModel(lambda messages: [text("done")] if results(messages) else [call("think")])
    agent = Agent(asks("a"), [expert(inner, [think])], limits=Limits(total_tokens=5000))
    result = await agent.run("Go")
    before, after = left
    assert before is not None
    assert after == before - 300
    assert result.usage.requests == 2 + 2 + 1


async def test_runs_within_nested_runs_charge_all_the_way_out_and_once() -> None:
    innermost = Agent(talks(1), [echo]).as_tool("ask", "Asks the last one.")
    middle = Agent(asks("b"), [innermost]).as_tool("ask", "Asks the middle.")
    agent = Agent(asks("a"), [middle])
    result = await agent.run("Go")
    outer, between, last = runs(agent)
    assert (last.usage.requests, between.usage.requests, result.usage.requests) == (2, 4, 6)
    assert (last.usage.calls, between.usage.calls, outer.usage.calls) == (1, 2, 3)
    assert result.usage == outer.usage


class Broken(ScriptedModel):
    """A model that cannot be reached after its script."""

    def __init__(self, turns: Sequence[Turn], message: str) -> None:
        super().__init__(turns)
        self._left = len(turns)
        self._message = message

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:  # pyright: ignore[reportIncompatibleMethodOverride]
        if not self._left:
            raise ProviderError(self._message)
        self._left -= 1
        async for event in super().stream(request):
            yield event


async def test_what_a_nested_run_used_before_it_failed_counts() -> None:
    inner = Broken([[call("echo", {"word": "w"})]], "the key hunter22 was refused")
    agent = Agent(asks("a"), [expert(inner, secrets={"key": "hunter22"})])
    result = await agent.run("Go")
    outer, nested = runs(agent)
    assert (result.text, nested.status) == ("done", "failed")
    assert (result.usage.requests, result.usage.calls) == (3, 2)
    told = outer.calls[0].result
    assert told is not None
    assert told.layer == "provider"
    assert told.content == "`ask` could not go on, because its model failed: the key [secret key] was refused"
    assert "hunter22" not in str(
        [entry.data for run_id in agent.journal.run_ids() for entry in agent.journal.read(run_id)]
    )


async def test_a_nested_run_whose_program_fails_tells_the_operator_and_no_secrets() -> None:
    def policy(proposal: object) -> Any:
        raise KeyError("hunter22")

    agent = Agent(asks("a"), [expert(talks(1), policy=policy, secrets={"key": "hunter22"})])
    result = await agent.run("Go")
    [asked] = fold(agent.journal.read(result.run_id)).calls
    assert asked.result is not None
    assert asked.result.content.startswith("`ask` failed with an internal error")
    assert asked.attempts == 1
    assert "KeyError: '[secret key]'" in (asked.detail or "")
    assert "hunter22" not in str(agent.journal.read(result.run_id))
    assert result.usage.requests == 3


async def test_what_a_nested_run_used_before_it_was_stopped_counts() -> None:
    async def policy(proposal: object) -> Any:
        await anyio.sleep_forever()

    agent = Agent(asks("a"), [expert(talks(1), policy=policy)], limits=Limits(wall_time_s=1))
    result = await agent.run("Go")
    outer, nested = runs(agent)
    assert outer.calls[0].result is not None
    assert "was stopped: the time of this run is over" in outer.calls[0].result.content
    assert (nested.usage.requests, nested.usage.calls) == (1, 1)
    assert outer.calls[0].usage == nested.usage
    assert result.usage.calls == 2


async def test_a_nested_run_that_is_resumed_charges_what_it_used_before_once() -> None:
    reached = anyio.Event()
    holds = [True]

    @tool(effect="idempotent")
    async def work() -> str:
        """Is stopped the first time."""
        if holds:
            reached.set()
            await anyio.sleep_forever()
        return "worked"

    def inner(messages: Sequence[Message]) -> Turn:
        turns = [[call("echo", {"word": "w"})], [call("work")], [text("answer")]]
        return turns[results(messages)]

    journal = MemoryJournal()
    agent = Agent(asks("a"), [expert(ScriptedModel(inner), [echo, work])], journal=journal)
    async with anyio.create_task_group() as group:
        group.start_soon(agent.run, "Go")
        with anyio.fail_after(60):
            await reached.wait()
        group.cancel_scope.cancel()
    holds.clear()
    outer, nested = runs(agent)
    assert (outer.usage.requests, nested.usage.requests) == (1, 2)
    result = await agent.resume(outer.run_id)
    outer, nested = runs(agent)
    assert (nested.usage.requests, nested.usage.calls) == (3, 2)
    assert (result.usage.requests, result.usage.calls) == (5, 3)
    assert outer.calls[0].usage == nested.usage


async def test_a_resumed_nested_run_is_kept_to_what_is_left_after_what_it_used_before() -> None:
    reached = anyio.Event()
    holds = [True]
    left: list[int | None] = []

    @tool(effect="read")
    async def work(ctx: Context) -> str:
        """Is stopped the first time."""
        left.append(ctx.limits.calls)
        if holds:
            reached.set()
            await anyio.sleep_forever()
        return "worked"

    inner = ScriptedModel(lambda messages: [text("done")] if results(messages) else [call("work")])
    agent = Agent(asks("a"), [expert(inner, [work])], limits=Limits(calls=5))
    async with anyio.create_task_group() as group:
        group.start_soon(agent.run, "Go")
        with anyio.fail_after(60):
            await reached.wait()
        group.cancel_scope.cancel()
    holds.clear()
    await agent.resume(runs(agent)[0].run_id)
    assert left == [3, 3]


def test_a_call_that_repeats_another_pays_only_for_what_it_caused_itself() -> None:
    journal = MemoryJournal()
    reply = {"message": {"role": "assistant", "parts": []}, "usage": {"requests": 1}, "finish": "stop"}
    began = {"model": "m", "messages": [], "tools": [], "limits": {}, "parent": {"run_id": "r", "call_id": "c1"}}
    turn = {"turn": 1, "tool_choice": "auto", "max_output_tokens": None}
    steps = [
        Draft(kinds.RUN_STARTED, began),
        Draft(kinds.TURN_STARTED, turn),
        Draft(kinds.REPLY, {**reply, "turn": 1}),
        Draft(kinds.RUN_RESUMED, {"by": "x", "limits": {}, "parent": {"run_id": "r", "call_id": "c2"}}),
        Draft(kinds.TURN_STARTED, {**turn, "turn": 2}),
        Draft(kinds.REPLY, {**reply, "turn": 2}),
        Draft(kinds.RUN_RESUMED, {"by": "a person", "limits": {}}),
        Draft(kinds.TURN_STARTED, {**turn, "turn": 3}),
        Draft(kinds.REPLY, {**reply, "turn": 3}),
    ]
    entries = journal.append("n", *steps)
    assert used_for(Parent(run_id="r", call_id="c1"), entries[:3]).requests == 1
    assert used_for(Parent(run_id="r", call_id="c2"), entries).requests == 2
    assert used_for(Parent(run_id="r", call_id="c3"), entries) == Usage()


async def test_a_limit_on_cost_holds_for_nested_runs() -> None:
    prices = {"scripted": Price(input_usd_per_million=1_000.0, output_usd_per_million=1_000.0)}
    agent = Agent(asks("a", "b"), [expert(talks(50), prices=prices)], prices=prices, limits=Limits(cost_usd=0.2))
    result = await agent.run("Go")
    assert result.stop_reason == "cost_limit"
    nested = [run for run in runs(agent) if run.parent is not None]
    assert {run.stop_reason for run in nested} == {"cost_limit"}
    costs = [run.usage.cost_usd or 0.0 for run in nested]
    assert 0.15 < sum(costs) < 0.25


async def test_a_nested_model_without_a_price_is_not_asked_where_cost_is_limited() -> None:
    prices = {"priced": Price(input_usd_per_million=1.0, output_usd_per_million=1.0)}
    script: list[Turn] = [[call("ask", {"prompt": "a"})], [text("done")]]
    nested = ScriptedModel([[text("answer")]], name="unpriced")
    agent = Agent(ScriptedModel(script, name="priced"), [expert(nested)], prices=prices, limits=Limits(cost_usd=1.0))
    result = await agent.run("Go")
    [asked] = fold(agent.journal.read(result.run_id)).calls
    assert UsageError.__name__ in (asked.detail or "")
    assert result.usage.requests == 2
