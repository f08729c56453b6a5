"""Which histories a strict provider takes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wieldy.core.calls import InvalidToolCall, ToolCall, ToolResult
from wieldy.core.errors import HistoryError
from wieldy.core.history import check_history, results_in_order_of_calls
from wieldy.core.media import FilePart, ImagePart
from wieldy.core.messages import Message, ReasoningPart, TextPart

SYSTEM, USER, ANSWER = Message.system("Be brief."), Message.user("Hello"), Message.assistant("Hi")


def calling(*ids: str) -> Message:
    return Message.assistant(calls=[ToolCall(id=call_id, name="f", arguments={}) for call_id in ids])


def result(call_id: str) -> Message:
    return Message.tool(ToolResult(tool_call_id=call_id, content="done"))


GOOD = {
    "a question": [USER],
    "instructions first": [SYSTEM, USER],
    "an answered call": [USER, calling("a"), result("a")],
    "several calls, answered in order": [USER, calling("a", "b"), result("a"), result("b")],
    "turn after turn": [SYSTEM, USER, calling("a"), result("a"), calling("b"), result("b"), ANSWER, USER],
    "an unreadable call that was answered": [
        USER,
        Message.assistant(calls=[InvalidToolCall(id="a", name=None, text="?", error="?")]),
        result("a"),
    ],
    "an empty answer": [USER, Message.assistant(), USER],
    "an image alone": [Message(role="user", parts=(ImagePart(url="data:"),))],
    "a file alone": [Message(role="user", parts=(FilePart(name="a.pdf", media_type="application/pdf", url="data:"),))],
    "two questions": [USER, USER],
    "an empty result": [USER, calling("a"), Message.tool(ToolResult(tool_call_id="a", content=""))],
}


@pytest.mark.parametrize("messages", GOOD.values(), ids=GOOD.keys())
def test_a_good_history_is_taken(messages):
    check_history(messages)


BAD = {
    "nothing": ([], "at least one message"),
    "instructions alone": ([SYSTEM], "Expected the last message to be a user message or a result"),
    "instructions later": ([USER, SYSTEM], r"messages\[1\]: a system message must be the first"),
    "instructions twice": ([SYSTEM, SYSTEM, USER], r"messages\[1\]: a system message must be the first"),
    "an answer first": ([ANSWER, USER], r"messages\[0\]: expected the conversation to open with a user message"),
    "an answer after the instructions": ([SYSTEM, ANSWER, USER], r"messages\[1\]: expected the conversation to open"),
    "an answer last": ([USER, ANSWER], "Expected the last message to be a user message or a result"),
    "a call without its result": (
        [USER, calling("a"), USER],
        r"results of 'a' \(called in messages\[1\]\) before messages\[2\]",
    ),
    "a call at the end": ([USER, calling("a")], "results of 'a'.*before the end"),
    "one result of two": ([USER, calling("a", "b"), result("a"), USER], "results of 'b'"),
    "a call answered too late": ([USER, calling("a"), calling("b"), result("a"), result("b")], "results of 'a'"),
    "results in another order": (
        [USER, calling("a", "b"), result("b"), result("a")],
        r"messages\[2\]: expected the result of 'a', found that of 'b'",
    ),
    "a result without a call": ([USER, result("a")], r"messages\[1\]: found a result for 'a', but no earlier message"),
    "a result before its call": ([USER, result("a"), calling("a")], "no earlier message"),
    "a second result": ([USER, calling("a"), result("a"), result("a")], "a second result for the call 'a'"),
    "one id for two calls": ([USER, calling("a", "a")], r"id 'a' was already used in messages\[1\]"),
    "one id in two turns": ([USER, calling("a"), result("a"), calling("a"), result("a")], r"id 'a' was already used"),
    "an empty id": ([USER, calling(""), result("")], "found an empty one"),
    "an empty question": ([Message.user("")], r"messages\[0\]: a user message needs text, an image or a file"),
    "a blank question": ([Message.user(" \n")], "needs text, an image or a file"),
    "a call by the user": (
        [Message(role="user", parts=calling("a").parts)],
        "'user' holds TextPart, ImagePart, FilePart; found ToolCall",
    ),
    "a result by the user": ([Message(role="user", parts=result("a").parts)], "found ToolResult"),
    "two results in one message": (
        [USER, calling("a", "b"), Message(role="tool", parts=result("a").parts + result("b").parts)],
        "exactly one result, found 2",
    ),
    "a tool message without a result": (
        [USER, calling("a"), Message(role="tool", parts=())],
        "exactly one result, found 0",
    ),
    "text in a tool message": ([USER, Message(role="tool", parts=(TextPart(text="x"),))], "found TextPart"),
    "thoughts of the user": ([Message(role="user", parts=(ReasoningPart(text="x"),))], "found ReasoningPart"),
    "an unknown role": ([Message(role="robot")], "expected a role of system, user, assistant, tool, found 'robot'"),  # type: ignore[arg-type]
}


@pytest.mark.parametrize(("messages", "words"), BAD.values(), ids=BAD.keys())
def test_a_broken_history_is_refused_with_the_rule_and_the_place(messages, words):
    with pytest.raises(HistoryError, match=words):
        check_history(messages)


TURNS = st.lists(st.integers(0, 3), min_size=1, max_size=6)


def conversation(turns: list[int]) -> list[Message]:
    messages = [SYSTEM, USER]
    for number, calls in enumerate(turns):
        ids = [f"c{number}-{place}" for place in range(calls)]
        messages += [calling(*ids), *map(result, ids)] if ids else [ANSWER, USER]
    return messages


@given(turns=TURNS)
def test_a_history_in_which_every_call_is_answered_in_order_is_always_taken(turns):
    check_history(conversation(turns))


@given(turns=TURNS.filter(any), data=st.data())
def test_a_history_that_lost_one_result_is_never_taken(turns, data):
    messages = conversation(turns)
    places = [index for index, message in enumerate(messages) if message.role == "tool"]
    del messages[data.draw(st.sampled_from(places))]
    with pytest.raises(HistoryError):
        check_history(messages)


def test_results_stand_in_the_order_of_the_calls_that_they_answer() -> None:
    calls = [ToolCall(id=name, name="f", arguments={}) for name in "abc"]
    results = {name: Message.tool(ToolResult(tool_call_id=name, content=name)) for name in "abc"}
    before, said = [Message.user("hi"), Message.assistant(calls=calls)], Message.assistant("done")

    mixed = results_in_order_of_calls([*before, results["c"], results["a"], results["b"], said])

    assert mixed == (*before, results["a"], results["b"], results["c"], said)
    assert results_in_order_of_calls(mixed) == mixed
