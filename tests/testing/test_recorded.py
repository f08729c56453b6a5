"""Recording a model and answering without it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from wieldy.core.calls import NO_TOOLS, ToolDefinition, ToolResult
from wieldy.core.errors import UsageError
from wieldy.core.messages import Message
from wieldy.core.ports import Model, ModelReply, ModelRequest
from wieldy.testing import ReplayedModel, ScriptedModel, call, reasoning, record, text

pytestmark = pytest.mark.anyio

TOOL = ToolDefinition(name="f", description="Does it.", input_schema={"type": "object"})
OTHER = ToolDefinition(name="g", description="Does more.", input_schema={"type": "object"})
HELLO = ModelRequest(messages=[Message.user("Hello")], tools=[TOOL])


async def ask(model: Model, request: ModelRequest) -> tuple[list[Any], ModelReply]:
    *deltas, reply = [event async for event in model.stream(request)]
    assert isinstance(reply, ModelReply)
    return deltas, reply


def after(request: ModelRequest, reply: ModelReply, *, call_id: str) -> ModelRequest:
    """The next request of a run that gives calls ids of its own."""
    calls = [replace(call, id=call_id) for call in reply.message.calls]
    told = [Message.assistant(reply.message.text, calls), Message.tool(ToolResult(tool_call_id=call_id, content="3"))]
    return replace(request, messages=[*request.messages, *told])


@pytest.fixture
async def path(tmp_path):
    """A recording of a run of two turns."""
    file = tmp_path / "run.jsonl"
    script = ScriptedModel(
        [[reasoning("hm \ud800"), call("f", {"x": 1}, id="c")], [text("It is 3. \u2028 \U0001f600")]]
    )
    model = record(script, file)
    assert model.name == "scripted"
    _, first = await ask(model, HELLO)
    await ask(model, after(HELLO, first, call_id="c"))
    script.assert_consumed()
    return file


async def test_the_same_requests_get_the_same_replies_whatever_ids_the_run_gives(path):
    model = ReplayedModel(path)
    _, first = await ask(model, HELLO)
    deltas, second = await ask(model, after(HELLO, first, call_id="another"))
    assert [call.arguments for call in first.message.calls] == [{"x": 1}]
    assert first.message.reasoning == "hm \ud800"
    assert second.message.text == "It is 3. \u2028 \U0001f600"
    assert "".join(delta.text for delta in deltas) == second.message.text
    assert model.name == "replayed:scripted"


async def test_a_recording_serves_again_from_its_start(path):
    for _ in range(2):
        model = ReplayedModel(path)
        _, reply = await ask(model, HELLO)
        _, again = await ask(model, HELLO)
        assert reply == again


async def test_several_replies_to_one_request_come_in_their_order_and_the_last_one_stays(tmp_path):
    recording = record(ScriptedModel([[text("a")], [text("b")]]), tmp_path / "r")
    for _ in range(2):
        await ask(recording, HELLO)
    model = ReplayedModel(tmp_path / "r")
    assert [(await ask(model, HELLO))[1].message.text for _ in range(3)] == ["a", "b", "b"]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"messages": [Message.user("Hullo")]}, r"messages\[0\] was recorded as .*Hello.* and is asked as .*Hullo"),
        (
            {"messages": [*HELLO.messages, Message.user("more")]},
            r"messages\[1\] was recorded as|after 1 equal messages",
        ),
        ({"tools": [TOOL, OTHER]}, "the tools g are new"),
        ({"tools": [OTHER]}, "the tools f are missing; the tools g are new"),
        ({"tools": [replace(TOOL, description="Else.")]}, "the tools f have changed"),
        ({"tool_choice": NO_TOOLS}, "tool_choice was recorded as 'auto' and is asked as 'none'"),
        ({"max_output_tokens": 5}, "max_output_tokens was recorded as None and is asked as 5"),
    ],
)
async def test_an_unknown_request_is_refused_and_told_what_differs(path, change, words):
    with pytest.raises(UsageError, match=words):
        await ask(ReplayedModel(path), replace(HELLO, **change))


async def test_a_changed_result_is_found_in_a_long_text(path):
    model = ReplayedModel(path)
    _, first = await ask(model, HELLO)
    request = after(HELLO, first, call_id="c")
    changed = Message.tool(ToolResult(tool_call_id="c", content="4"))
    with pytest.raises(UsageError, match=r"messages\[2\] was recorded as .*3.* and is asked as .*4"):
        await ask(model, replace(request, messages=[*request.messages[:-1], changed]))


def test_a_file_that_holds_something_is_not_written_over(tmp_path):
    file = tmp_path / "notes"
    file.write_text("mine")
    with pytest.raises(UsageError, match="is not empty"):
        record(ScriptedModel([]), file)
    assert file.read_text() == "mine"


def test_a_place_that_cannot_be_written_is_an_error_at_once(tmp_path):
    with pytest.raises(UsageError, match="cannot be written"):
        record(ScriptedModel([]), tmp_path / "no" / "folder")


HEAD = '{"format": "wieldy recording 1", "model": "m"}\n'


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "line 1: expected a line of a recording"),
        ("hello", "line 1"),
        ('{"format": "other"}', "line 1"),
        ("[]", "line 1"),
        (HEAD + "{", "line 2"),
        (HEAD + "\n" + HEAD, "line 2"),
        (HEAD + '{"messages": ["gone"], "tools": [], "settings": {}, "reply": {}}', "line 2"),
        (HEAD + '{"messages": [], "tools": [], "settings": {}, "reply": 5}', "line 2"),
        (HEAD + "[" * 100_000, "line 2"),
    ],
)
def test_a_file_that_is_no_recording_is_refused_with_the_line(tmp_path, content, words):
    (tmp_path / "r").write_text(content)
    with pytest.raises(UsageError, match=words):
        ReplayedModel(tmp_path / "r")


def test_a_file_that_cannot_be_read_is_refused(tmp_path):
    (tmp_path / "binary").write_bytes(b"\xff\xfe")
    for name in ("missing", "binary", "."):
        with pytest.raises(UsageError, match="cannot be read"):
            ReplayedModel(tmp_path / name)


async def test_an_empty_recording_refuses_everything(tmp_path):
    record(ScriptedModel([]), tmp_path / "r")
    with pytest.raises(UsageError, match="it holds no request at all"):
        await ask(ReplayedModel(tmp_path / "r"), HELLO)


async def test_a_reply_that_never_came_is_not_recorded(tmp_path):
    model = record(ScriptedModel([]), tmp_path / "r")
    with pytest.raises(UsageError, match="one more"):
        await ask(model, HELLO)
    with pytest.raises(UsageError, match="no request at all"):
        await ask(ReplayedModel(tmp_path / "r"), HELLO)
