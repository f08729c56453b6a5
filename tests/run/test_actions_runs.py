"""Whole runs of agents that act in text: mistakes are told and mended, limits and `finish` work as for calls."""

from __future__ import annotations

import pytest

from wieldy import Agent, Limits, tool
from wieldy.core.events import CallDelta, ReasoningDelta, TextDelta
from wieldy.core.messages import Message
from wieldy.testing import ScriptedModel, text

pytestmark = pytest.mark.anyio

made: list[str] = []


@tool(effect="read")
def stock(item: str) -> int:
    """How many of an item are in stock.

    Args:
        item: Its name.
    """
    made.append(item)
    return {"lamp": 12, "chair": 30}.get(item, 0)


@pytest.fixture(autouse=True)
def nothing_made() -> None:
    made.clear()


def says(*replies: str) -> ScriptedModel:
    return ScriptedModel([[text(reply)] for reply in replies])


LAMPS = 'Thought: I look.\nAction: stock\nAction Input: {"item": "lamp"}'


async def test_a_model_that_invents_a_result_gets_the_real_one() -> None:
    with says(LAMPS + "\nObservation: 99\nFinal Answer: 99", "Thought: Twelve.\nFinal Answer: 12") as model:
        result = await Agent(model, tools=[stock], actions="react").run("How many lamps?")
    assert result.text == "12"
    assert model.requests[1].messages[-1] == Message.user("Observation: 12")
    assert "99" not in "".join(message.text for message in model.requests[1].messages)


async def test_mistakes_of_the_form_are_told_until_it_is_right() -> None:
    replies = (
        "Thought: I should look.",
        "Thought: I look.\nAction: stock",
        'Action: stocks\nAction Input: {"item": "lamp"}',
        'Action: stock\nAction Input: {"item": "lamp", "most": }',
        LAMPS,
        "Final Answer: 12",
    )
    with says(*replies) as model:
        result = await Agent(model, tools=[stock], actions="react").run("How many lamps?")
    assert (result.text, result.stop_reason, made) == ("12", "answered", ["lamp"])
    told = [request.messages[-1].text for request in model.requests[1:]]
    assert "Your reply was neither a call nor an answer." in told[0]
    assert "`item` is missing" in told[1]
    assert "Did you mean `stock`?" in told[2]
    assert 'Action: stock\nAction Input: {"item": ' in told[3]
    assert told[4] == "Observation: 12"


@pytest.mark.parametrize(
    ("actions", "reply"),
    [
        ("react", 'Action: finish\nAction Input: {"answer": "12"}'),
        ("react", "Action: finish\nAction Input: 12"),
        ("json", '{"name": "finish", "arguments": {"answer": "12"}}'),
    ],
)
async def test_finish_is_an_action_like_any_other(actions, reply) -> None:
    with says(reply) as model:
        result = await Agent(model, tools=[stock], actions=actions, finish=True).run("How many lamps?")
    assert (result.text, result.stop_reason) == ("12", "finished")
    assert "finish: End the task." in model.requests[0].messages[0].text


async def test_a_run_that_may_finish_may_also_just_answer() -> None:
    with says("Final Answer: 12") as model:
        result = await Agent(model, tools=[stock], actions="react", finish=True).run("How many lamps?")
    assert (result.text, result.stop_reason) == ("12", "answered")


async def test_behind_a_limit_the_answer_is_asked_for_in_the_words_of_the_form() -> None:
    with says(LAMPS, "Thought: Twelve.\nFinal Answer: 12") as model:
        result = await Agent(model, tools=[stock], actions="react", limits=Limits(turns=1)).run("How many lamps?")
    assert (result.text, result.stop_reason) == ("12", "turn_limit")
    last = model.requests[1].messages[-1].text
    assert last.startswith("Observation: 12\n\nDo not use a tool now.")
    assert last.endswith("Final Answer: your answer to the user")


async def test_several_calls_of_one_reply_run_and_are_told_in_order() -> None:
    calls = '[{"name": "stock", "arguments": {"item": "lamp"}}, {"name": "stock", "arguments": {"item": "chair"}}]'
    with says(calls, "12 and 30.") as model:
        result = await Agent(model, tools=[stock], actions="json").run("How many lamps and chairs?")
    assert result.text == "12 and 30."
    assert model.requests[1].messages[-2:] == (
        Message.assistant(calls),
        Message.user("Result of stock: 12\n\nResult of stock: 30"),
    )


async def test_what_the_model_writes_is_seen_as_it_comes() -> None:
    with says(LAMPS, "Thought: Twelve.\nFinal Answer: We have 12.") as model:
        events = [event async for event in Agent(model, tools=[stock], actions="react").stream("How many lamps?")]
    assert "".join(event.text for event in events if isinstance(event, TextDelta)) == "We have 12."
    assert "".join(event.text for event in events if isinstance(event, ReasoningDelta)) == "I look.Twelve."
    deltas = [event for event in events if isinstance(event, CallDelta)]
    assert (deltas[0].name, "".join(delta.arguments for delta in deltas)) == ("stock", '{"item": "lamp"}')


async def test_a_conversation_goes_on_after_the_answer() -> None:
    with says(LAMPS, "Final Answer: 12", "Final Answer: You are welcome.") as model:
        agent = Agent(model, tools=[stock], actions="react")
        first = await agent.run("How many lamps?")
        second = await agent.run([*first.messages, Message.user("Thanks.")])
    assert second.text == "You are welcome."
    assert [message.role for message in model.requests[2].messages] == ["system", *["user", "assistant"] * 2, "user"]
