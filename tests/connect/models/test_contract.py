"""The scripted model gives what real servers make of the same words: it may stand for them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from wieldy.connect.models.anthropic import AnthropicModel
from wieldy.connect.models.openai import OpenAIModel
from wieldy.core.calls import InvalidToolCall
from wieldy.core.messages import Message, ReasoningPart
from wieldy.core.ports import ModelReply, ModelRequest
from wieldy.testing import ScriptedModel, call, reasoning, text

pytestmark = pytest.mark.anyio

HELLO = ModelRequest(messages=[Message.user("Hello")])
TURNS = {
    "text": [text("Good morning")],
    "thoughts, text and calls": [reasoning("hm"), text("I look."), call("f", {"x": 1}, id="a"), call("g", {}, id="b")],
    "one id twice": [call("f", {}, id="a"), call("f", {"x": 2}, id="a")],
    "arguments that are no JSON": [call("f", '{"x": ', id="a")],
    "arguments that say one thing twice": [call("f", '{"x": 1, "x": 2}', id="a")],
    "arguments with half a character": [call("f", '{"x": "\\ud800"}', id="a")],
    "arguments that are no object": [call("f", "[1]", id="a")],
    "nothing": [],
}


def chat_events(server: Any, turn: list[Any]) -> list[Any]:
    deltas: list[dict[str, Any]] = []
    for item in turn:
        if hasattr(item, "arguments"):
            index = sum("tool_calls" in delta for delta in deltas)
            function = {"name": item.name, "arguments": item.arguments}
            deltas.append({"tool_calls": [{"index": index, "id": item.id, "function": function}]})
        else:
            deltas.append({"reasoning_content" if isinstance(item, ReasoningPart) else "content": item.text})
    return [*(server.chunk(delta) for delta in deltas), server.chunk({}, "stop"), "[DONE]"]


def message_events(turn: list[Any]) -> list[Any]:
    events: list[Any] = []
    for index, item in enumerate(turn):
        if hasattr(item, "arguments"):
            block: dict[str, Any] = {"type": "tool_use", "id": item.id, "name": item.name, "input": {}}
            delta = {"type": "input_json_delta", "partial_json": item.arguments}
        elif isinstance(item, ReasoningPart):
            block, delta = {"type": "thinking", "thinking": ""}, {"type": "thinking_delta", "thinking": item.text}
        else:
            block, delta = {"type": "text", "text": ""}, {"type": "text_delta", "text": item.text}
        events.append({"type": "content_block_start", "index": index, "content_block": block})
        events.append({"type": "content_block_delta", "index": index, "delta": delta})
    end = {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {}}
    return [*events, end, {"type": "message_stop"}]


def essence(reply: ModelReply) -> tuple[Any, ...]:
    """What must agree: ids may differ where a server repeats one, and tokens are counted differently."""
    parts = [replace(part, id="") if hasattr(part, "provider_id") else part for part in reply.message.parts]
    return tuple(parts), reply.finish, reply.usage.requests


@pytest.mark.parametrize("turn", TURNS.values(), ids=TURNS.keys())
async def test_a_turn_is_the_same_from_the_script_and_from_both_protocols(server, ask, turn):
    server.will(server.events(*chat_events(server, turn)), server.events(*message_events(turn)))
    _, scripted = await ask(ScriptedModel([turn]), HELLO)
    _, chat = await ask(OpenAIModel("m", base_url=server.url), HELLO)
    _, messages = await ask(AnthropicModel("m", base_url=server.url), HELLO)
    assert essence(chat) == essence(scripted)
    assert essence(messages) == essence(scripted)


async def test_a_call_cut_by_the_limit_is_the_same_from_the_script_and_from_a_server(server, ask):
    cut = {"index": 0, "id": "a", "function": {"name": "write", "arguments": '{"text": "lo'}}
    server.will(server.events(server.chunk({"tool_calls": [cut]}), server.chunk({}, "length"), "[DONE]"))
    _, real = await ask(OpenAIModel("m", base_url=server.url), HELLO)
    model = ScriptedModel([[call("write", {"text": "long" * 20}, id="a")]])
    _, scripted = await ask(model, replace(HELLO, max_output_tokens=4))
    (theirs,), (ours,) = real.message.calls, scripted.message.calls
    assert isinstance(theirs, InvalidToolCall)
    assert isinstance(ours, InvalidToolCall)
    assert (ours.name, ours.error, scripted.finish) == (theirs.name, theirs.error, real.finish)
