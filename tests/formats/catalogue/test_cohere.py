"""What Cohere's formats have beyond the laws: the action that is none, counted ids, regions."""

import json

import pytest

from wieldy.core.calls import InvalidToolCall, ToolCall, ToolResult
from wieldy.core.messages import Message
from wieldy.formats import get

ADD = {"name": "add", "parameters": {"type": "object", "properties": {"a": {"type": "integer"}}}}


def action(name: str) -> str:
    return f'Action:\n```json\n[\n    {{\n        "tool_name": "{name}",\n        "parameters": {{}}\n    }}\n]```'


def test_an_action_of_an_unknown_tool_is_a_call() -> None:
    assert [call.name for call in get("command-r").parse(action("subtract"), [ADD]).calls] == ["subtract"]


@pytest.mark.parametrize("name", ["directly-answer", "directly_answer"])
def test_the_action_of_answering_directly_is_text(name: str) -> None:
    reply = get("command-r").parse(action(name), [ADD])

    assert (reply.calls, reply.content) == ((), action(name))


def test_the_action_of_answering_directly_is_a_call_where_a_tool_has_that_name() -> None:
    tool = {**ADD, "name": "directly_answer"}

    assert [call.name for call in get("command-r").parse(action("directly_answer"), [tool]).calls] == [tool["name"]]


def test_the_word_action_is_text() -> None:
    text = "Action: buy milk.\nAction:\n```json\n[1, 2]\n```"

    assert get("command-r").parse(text, [ADD]).content == text


def test_ids_count_through_the_conversation_and_results_carry_them() -> None:
    messages = [Message.user("Add.")]
    for number in range(3):
        call = ToolCall(id=f"call_{number}", name="add", arguments={"a": number}, provider_id="toolu_1")
        messages += [Message.assistant("", [call]), Message.tool(ToolResult(tool_call_id=call.id, content="x"))]

    text = get("command-a").render(messages, [ADD])

    assert [text.count(f'"tool_call_id": "{number}"') for number in range(4)] == [3, 2, 2, 0]


@pytest.mark.parametrize(("written", "read"), [("3", "3"), (3, "3"), (None, None), ("a\nb", "a\nb")])
def test_an_id_of_any_kind_is_read(written: object, read: str | None) -> None:
    call = json.dumps({"tool_call_id": written, "tool_name": "add", "parameters": {}})

    (found,) = get("command-a").parse(f"<|START_ACTION|>[{call}]<|END_ACTION|>", [ADD]).calls

    assert found.provider_id == read


def test_a_reply_without_text_has_no_marks_of_text() -> None:
    call = ToolCall(id="call_0", name="add", arguments={})

    assert "TEXT" not in get("command-a").render_reply(Message.assistant("", [call]), [ADD])
    assert "TEXT" in get("command-a").render_reply(Message.assistant("Hello"), [ADD])


def test_an_action_that_is_no_list_is_a_call_that_cannot_be_read() -> None:
    (call,) = get("command-a").parse("<|START_ACTION|>add 1<|END_ACTION|>", [ADD]).calls

    assert isinstance(call, InvalidToolCall)
    assert "add 1" in call.error
