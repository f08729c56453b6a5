"""A model that follows its script."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wieldy.core.calls import InvalidToolCall, ToolCall, ToolResult
from wieldy.core.errors import HistoryError, UsageError
from wieldy.core.events import ReasoningDelta, TextDelta
from wieldy.core.limits import Usage
from wieldy.core.messages import Message, ReasoningPart, TextPart
from wieldy.core.ports import ModelReply, ModelRequest
from wieldy.testing import ScriptedModel, call, reasoning, text
from wieldy.testing.scripted import CHARACTERS_PER_TOKEN

pytestmark = pytest.mark.anyio

HELLO = ModelRequest(messages=[Message.user("Hello")])


async def ask(model: ScriptedModel, request: ModelRequest = HELLO) -> tuple[list[Any], ModelReply]:
    *deltas, reply = [event async for event in model.stream(request)]
    assert isinstance(reply, ModelReply)
    return deltas, reply


async def test_turn_after_turn_is_said_as_it_is_written():
    model = ScriptedModel([[reasoning("hm"), text("Let me see."), call("f", {"x": 1}, id="c1")], [text("Done.")]])
    _, first = await ask(model)
    assert first.message.parts == (
        ReasoningPart(text="hm"),
        TextPart(text="Let me see."),
        ToolCall(id="c1", name="f", arguments={"x": 1}, provider_id="c1"),
    )
    assert first.finish == "stop"
    messages = [*HELLO.messages, first.message, Message.tool(ToolResult(tool_call_id="c1", content="1"))]
    _, second = await ask(model, ModelRequest(messages=messages))
    assert second.message == Message.assistant("Done.")
    assert [len(request.messages) for request in model.requests] == [1, 3]
    model.assert_consumed()


async def test_text_comes_in_several_pieces_whose_sum_is_the_text():
    deltas, reply = await ask(ScriptedModel([[reasoning("abc"), text("Good morning")]]))
    assert len([delta for delta in deltas if isinstance(delta, TextDelta)]) > 1
    assert "".join(delta.text for delta in deltas if isinstance(delta, TextDelta)) == reply.message.text
    assert "".join(delta.text for delta in deltas if isinstance(delta, ReasoningDelta)) == reply.message.reasoning


async def test_a_function_is_given_the_messages():
    model = ScriptedModel(lambda messages: [text(messages[-1].text.upper())])
    for _ in range(2):
        _, reply = await ask(model)
        assert reply.message.text == "HELLO"
    model.close()


async def test_calls_without_an_id_get_ids_that_no_call_has():
    model = ScriptedModel([[call("f"), call("f")], [call("f")]])
    messages = [Message.user("x"), Message.assistant(calls=[ToolCall(id="call_2", name="f", arguments={})])]
    messages.append(Message.tool(ToolResult(tool_call_id="call_2", content="")))
    _, first = await ask(model, ModelRequest(messages=messages))
    _, second = await ask(model)
    ids = [call.id for call in (*first.message.calls, *second.message.calls)]
    assert len({"call_2", *ids}) == 4


async def test_ids_may_be_empty_or_used_twice_as_with_real_providers():
    _, reply = await ask(ScriptedModel([[call("f", id="a"), call("f", id="a"), call("f", id="")]]))
    assert [call.id for call in reply.message.calls] == ["a", "a", ""]


@pytest.mark.parametrize("arguments", ['{"x": ', "[]", "nonsense"])
async def test_arguments_given_as_text_may_be_broken(arguments):
    _, reply = await ask(ScriptedModel([[call("f", arguments)]]))
    (broken,) = reply.message.calls
    assert isinstance(broken, InvalidToolCall)
    assert broken.text == arguments


async def test_arguments_given_as_text_may_be_good():
    _, reply = await ask(ScriptedModel([[call("f", '{"x": 1}'), ToolCall(id="own", name="g", arguments={})]]))
    assert [(call.name, call.arguments) for call in reply.message.calls] == [("f", {"x": 1}), ("g", {})]


async def test_a_history_that_a_strict_provider_would_refuse_is_refused_and_uses_no_turn():
    model = ScriptedModel([[text("never")]])
    lost = [Message.user("x"), Message.assistant(calls=[ToolCall(id="a", name="f", arguments={})]), Message.user("y")]
    with pytest.raises(HistoryError, match="results of 'a'"):
        await ask(model, ModelRequest(messages=lost))
    assert model.requests == []
    with pytest.raises(UsageError):
        model.assert_consumed()


async def test_turns_that_nobody_asked_for_are_an_error():
    model = ScriptedModel([[text("one")], [call("f", {"x": 1}), text("two")]])
    await ask(model)
    with pytest.raises(UsageError, match=r"2 turns and only 1 were asked for.*call\('f', {\"x\":1}\), 'two'"):
        model.close()
    with pytest.raises(UsageError, match="only 1 were asked for"), model:
        pass


async def test_an_error_that_is_on_its_way_is_not_hidden_by_turns_that_are_left():
    with pytest.raises(ZeroDivisionError), ScriptedModel([[text("one")]]):
        raise ZeroDivisionError


async def test_a_run_that_goes_on_beyond_its_script_is_an_error_that_says_where():
    with ScriptedModel([[text("one")]]) as model:
        await ask(model)
        with pytest.raises(UsageError, match=r"1 turns and the run asks for one more.*'user': 'Hello'"):
            await ask(model)


@pytest.mark.parametrize(
    ("turns", "words"),
    [
        (None, "expected a list of turns or a function"),
        ("text", "expected a list of turns or a function"),
        (text("one"), "expected a list of turns or a function"),
        ([text("one")], r"turns\[0\]: expected a list such as \[text"),
        (["one"], r"turns\[0\]: expected a list such as"),
        (
            [[text("one")], ["two"]],
            r"turns\[1\]\[0\]: expected text\(...\), call\(...\) or reasoning\(...\), found 'two'",
        ),
        ([[call]], r"turns\[0\]\[0\]: expected text"),
    ],
)
def test_a_script_that_is_none_is_refused_at_once(turns, words):
    with pytest.raises(UsageError, match=words):
        ScriptedModel(turns)


async def test_a_function_that_gives_no_turn_is_told_so():
    with pytest.raises(UsageError, match=r"the function's turn: expected a list"):
        await ask(ScriptedModel(lambda messages: "text"))  # type: ignore[arg-type, return-value]


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: text(5), r"text\(...\): expected text, found 5"),
        (lambda: reasoning(None), r"reasoning\(...\): expected text"),
        (lambda: call("f", {"x": object()}), r"call\('f', ...\): expected arguments as a dictionary of JSON values"),
        (lambda: call("f", [1]), "expected arguments as a dictionary"),
    ],
)
def test_an_item_that_cannot_be_said_is_refused_where_it_is_written(make, words):
    with pytest.raises(UsageError, match=words):
        make()


async def test_usage_is_counted_in_characters():
    _, reply = await ask(ScriptedModel([[text("12345678"), call("abcd", {})]]))
    assert reply.usage == Usage(input_tokens=2, output_tokens=4, requests=1)


@given(
    items=st.lists(
        st.builds(text, st.text(max_size=30))
        | st.builds(reasoning, st.text(max_size=30))
        | st.builds(call, st.text(min_size=1, max_size=5), st.dictionaries(st.text(max_size=3), st.text(max_size=9))),
        max_size=4,
    ),
    limit=st.integers(0, 20),
)
async def test_an_answer_never_exceeds_the_limit_and_says_when_it_was_cut(items, limit):
    request = ModelRequest(messages=HELLO.messages, max_output_tokens=limit)
    _, whole = await ask(ScriptedModel([items]))
    _, limited = await ask(ScriptedModel([items]), request)
    assert limited.usage.output_tokens <= limit
    fits = whole.usage.output_tokens <= limit
    assert (limited.finish == "stop") is fits
    if fits:
        assert limited == whole
    assert len(limited.message.text) <= limit * CHARACTERS_PER_TOKEN


async def test_a_call_that_is_cut_is_not_executable():
    model = ScriptedModel([[call("write", {"text": "long" * 20}, id="a")], [call("write", {}, id="a")]])
    _, cut = await ask(model, ModelRequest(messages=HELLO.messages, max_output_tokens=4))
    (half,) = cut.message.calls
    assert isinstance(half, InvalidToolCall)
    assert half.text == '{"text":"lo'
    _, cut = await ask(model, ModelRequest(messages=HELLO.messages, max_output_tokens=1))
    assert cut.message.calls == ()
    assert cut.finish == "length"
