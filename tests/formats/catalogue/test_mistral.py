"""What Mistral's versions have beyond the laws: ids, and no end but the arguments'."""

import re

import pytest

from wieldy.core.calls import InvalidToolCall, ToolCall, ToolResult
from wieldy.core.messages import Message
from wieldy.formats import get

ADD = {"name": "add", "parameters": {"type": "object", "properties": {"a": {"type": "integer"}}}}


def conversation(call: ToolCall) -> list[Message]:
    return [
        Message.user("Add."),
        Message.assistant("", [call]),
        Message.tool(ToolResult(tool_call_id=call.id, content="2")),
    ]


@pytest.mark.parametrize("name", ["mistral-v3", "mistral-v7", "mistral-v11"])
@pytest.mark.parametrize("provider_id", [None, "toolu_01AbC"])
def test_a_call_and_its_result_carry_the_same_nine_characters(name: str, provider_id: str | None) -> None:
    call = ToolCall(id="call_0", name="add", arguments={"a": 1}, provider_id=provider_id)

    text = get(name).render(conversation(call), [ADD])

    nine = set(re.findall(r"\b[0-9a-f]{9}\b", text))
    assert len(nine) == 1
    assert text.count(nine.pop()) == 2


@pytest.mark.parametrize("name", ["mistral-v3", "mistral-v7", "mistral-v11"])
def test_an_id_that_the_model_wrote_is_kept(name: str) -> None:
    call = ToolCall(id="call_0", name="add", arguments={"a": 1}, provider_id="AbCdEf123")

    assert get(name).render(conversation(call), [ADD]).count("AbCdEf123") == 2


@pytest.mark.parametrize("text", ["[TOOL_CALLS]add[ARGS]{}", "[TOOL_CALLS]add[CALL_ID]AbCdEf123[ARGS]{}"])
def test_v11_writes_an_id_only_for_a_call_that_has_one(text: str) -> None:
    calls = get("mistral-v11").parse(text, [ADD]).calls

    assert get("mistral-v11").render_reply(Message.assistant("", calls), [ADD]) == text


def test_a_call_without_arguments_is_one_if_another_follows_and_none_if_the_text_ends() -> None:
    whole, cut = get("mistral-v13").parse("[TOOL_CALLS]add[ARGS][TOOL_CALLS]add[ARGS]", [ADD]).calls

    assert isinstance(whole, ToolCall)
    assert whole.arguments == {}
    assert isinstance(cut, InvalidToolCall)


def test_an_array_that_is_cut_between_calls_keeps_those_before_and_says_so() -> None:
    reply = get("mistral-v7").parse('[TOOL_CALLS][{"name": "add", "arguments": {"a": 1}}, ', [ADD])

    assert [call.name for call in reply.calls] == ["add"]
    assert [problem.found for problem in reply.problems] == ["the end of the text"]
