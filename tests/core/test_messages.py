"""Messages and their dictionaries tell the same."""

from __future__ import annotations

from typing import Any

import pytest

from wieldy.core.calls import InvalidToolCall, ToolCall, ToolResult
from wieldy.core.errors import UsageError
from wieldy.core.media import FilePart, ImagePart
from wieldy.core.messages import Message, TextPart, messages_from

IMAGE = ImagePart(url="data:image/png;base64,iVBORw0KGgo=")
FILE = FilePart.from_bytes(b"%PDF-1.7", name="a.pdf")

CONVERSATION = (
    Message.system("Be brief."),
    Message(role="user", parts=(TextPart(text="Compare"), IMAGE, FILE)),
    Message.assistant(
        "Well.", [ToolCall(id="c1", name="look", arguments={"at": "é"}, provider_id="c1")], reasoning="Hm."
    ),
    Message.tool(ToolResult(tool_call_id="c1", content="seen")),
    Message.user("Thanks"),
)


def test_dictionaries_are_read_as_they_were_written() -> None:
    assert messages_from([message.to_dict() for message in CONVERSATION]) == CONVERSATION


def test_a_file_is_written_with_its_name_and_its_bytes() -> None:
    content: Any = CONVERSATION[1].to_dict()["content"]
    assert content[2] == {"type": "file", "file": {"filename": "a.pdf", "file_data": FILE.url}}


@pytest.mark.parametrize(
    ("file", "part"),
    [
        ({"file_data": "data:text/csv,a"}, FilePart(name="file", media_type="text/csv", url="data:text/csv,a")),
        (
            {"filename": "a.md", "file_data": "https://a.example/a"},
            FilePart(name="a.md", media_type="text/markdown", url="https://a.example/a"),
        ),
        (
            {"filename": 3, "file_data": "https://a.example/a"},
            FilePart(name="file", media_type="application/octet-stream", url="https://a.example/a"),
        ),
    ],
)
def test_what_a_dictionary_does_not_say_of_a_file_is_told_from_the_rest(file: dict[str, Any], part: FilePart) -> None:
    messages = [{"role": "user", "content": [{"type": "file", "file": file}]}]
    assert messages_from(messages)[0].parts == (part,)


def test_images_in_the_result_of_another_program_are_kept() -> None:
    content = [{"type": "text", "text": "a plot"}, {"type": "image_url", "image_url": {"url": IMAGE.url}}]
    result = messages_from([{"role": "tool", "tool_call_id": "c1", "content": content}])[0].result
    assert result == ToolResult(tool_call_id="c1", content="a plot", parts=(IMAGE,))


def test_a_tool_message_tells_its_text_only() -> None:
    message = Message.tool(ToolResult(tool_call_id="c1", content="[image 1: image/png]", parts=(IMAGE,)))
    assert message.to_dict() == {"role": "tool", "tool_call_id": "c1", "content": "[image 1: image/png]"}


def test_arguments_that_are_no_json_become_a_call_that_is_answered_but_not_run() -> None:
    call = {"id": "c1", "function": {"name": "look", "arguments": "{'at'"}}
    (message,) = messages_from([{"role": "assistant", "tool_calls": [call]}])
    assert isinstance(message.calls[0], InvalidToolCall)
    assert message.to_dict()["tool_calls"][0]["function"]["arguments"] == "{'at'"  # type: ignore[index, call-overload]


@pytest.mark.parametrize(
    ("messages", "problem"),
    [
        (3, "as a list, or one text from the user, found int"),
        ({"role": "user", "content": "hi"}, "found dict"),
        ([3], r"messages\[0\]: expected a Message or a dictionary, found int"),
        ([{"role": "robot"}], "expected a role of system, user, assistant, tool, found 'robot'"),
        ([{"role": "tool", "content": "x"}], "needs the 'tool_call_id'"),
        ([{"role": "user", "content": 3}], "to be text or a list, found int"),
        ([{"role": "user", "content": [{"type": "file", "file": {"file_id": "f1"}}]}], r"'file' \(with 'file_data'\)"),
        ([{"role": "user", "content": [{"type": "audio", "data": "x" * 999}]}], "of type 'text'"),
        ([{"role": "assistant", "tool_calls": "look"}], "'tool_calls' to be a list, found str"),
        ([{"role": "assistant", "tool_calls": [{"name": "look"}]}], "expected a call with 'id'"),
    ],
)
def test_what_is_no_message_is_refused_with_its_place(messages: Any, problem: str) -> None:
    with pytest.raises(UsageError, match=problem) as refused:
        messages_from(messages)
    assert len(str(refused.value)) < 400
