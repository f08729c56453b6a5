"""The real llama.cpp server, over its port: what it is asked to enforce, the smallest model cannot leave."""

from __future__ import annotations

import json
import os
import re
import secrets
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import pytest

from wieldy.connect.models.openai import OpenAIModel
from wieldy.connect.models.weights import SMALLEST, find
from wieldy.core.calls import AUTO, ToolCall, ToolChoice, ToolDefinition
from wieldy.core.messages import Message
from wieldy.core.outputs import ChoiceOutput, JsonOutput, PatternOutput
from wieldy.core.ports import ModelRequest
from wieldy.formats import get
from wieldy.schema import CompiledSchema

pytestmark = [pytest.mark.model, pytest.mark.anyio]

ORDER: dict[str, Any] = {
    "type": "object",
    "properties": {
        "item": {"type": "string", "maxLength": 12},
        "count": {"type": "integer", "minimum": 1, "maximum": 9},
        "size": {"enum": ["S", "M", "L"]},
        "code": {"type": "string", "pattern": "^[A-Z]{2}[0-9]{2}$"},
    },
    "required": ["item", "count", "size", "code"],
    "additionalProperties": False,
}
PROMPTS = ("Tell me a story about a fox.", "{")
TOOLS = (
    ToolDefinition(
        name="order",
        description="Order something.",
        input_schema={
            "type": "object",
            "properties": {
                "item": {"enum": ["shirt", "hat"]},
                "name": {"enum": ["Ann", "Bob"]},
                "gift": {"type": "boolean"},
            },
            "required": ["item", "name", "gift"],
            "additionalProperties": False,
        },
    ),
    ToolDefinition(
        name="cancel",
        description="Cancel.",
        input_schema={"type": "object", "properties": {"now": {"type": "boolean"}}, "required": ["now"]},
    ),
)
WRONG = ToolCall(id="a", name="order", arguments={"item": "coat", "name": "Montgomery", "gift": 7})


@pytest.fixture(scope="module")
def address() -> Iterator[tuple[str, str]]:
    """Where the server listens, and its key."""
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    xllamacpp: Any = import_module("xllamacpp")
    parameters: Any = xllamacpp.CommonParams()
    parameters.model.path = str(find(SMALLEST))
    parameters.n_ctx = 2048
    parameters.n_parallel = 1
    parameters.cpuparams.n_threads = 1
    parameters.warmup = False
    parameters.verbosity = -1
    key = secrets.token_hex(16)
    parameters.api_keys = [key]
    server: Any = xllamacpp.Server(parameters)
    yield f"{server.listening_address}/v1", key
    del server


def model_at(address: tuple[str, str], *, temperature: float = 1.0, chat_format: str | None = None) -> OpenAIModel:
    url, key = address
    options = {"temperature": temperature, "seed": 7}
    return OpenAIModel("m", base_url=url, api_key=key, options=options, chat_format=chat_format)


@pytest.mark.parametrize("prompt", PROMPTS)
async def test_a_choice_is_enforced(address, ask, prompt):
    choice = ChoiceOutput(options=("zebra-7", "Größe", 'a "b"\n'))
    model = model_at(address)
    _, reply = await ask(model, ModelRequest(messages=[Message.user(prompt)], output=choice, max_output_tokens=30))
    assert model.backend == "llama_server"
    assert reply.message.text in choice.options
    assert reply.held


@pytest.mark.parametrize("prompt", PROMPTS)
async def test_a_pattern_is_enforced(address, ask, prompt):
    pattern = PatternOutput(pattern=r"(?:[A-Z]{3}|x+)-\d{2,4}(?: ok)?")
    request = ModelRequest(messages=[Message.user(prompt)], output=pattern, max_output_tokens=60)
    _, reply = await ask(model_at(address), request)
    assert re.fullmatch(pattern.pattern, reply.message.text)
    assert reply.held


@pytest.mark.parametrize("prompt", PROMPTS)
async def test_a_schema_is_enforced(address, ask, prompt):
    request = ModelRequest(messages=[Message.user(prompt)], output=JsonOutput(schema=ORDER), max_output_tokens=120)
    deltas, reply = await ask(model_at(address), request)
    assert CompiledSchema(ORDER).accepts(json.loads(reply.message.text))
    assert reply.held
    assert "".join(delta.text for delta in deltas) == reply.message.text


@pytest.mark.parametrize("name", ["qwen3-coder", "llama-json", "json"])
@pytest.mark.parametrize("choice", [ToolChoice(mode="required"), ToolChoice(mode="tool", name="order")])
async def test_calls_in_a_chat_format_are_enforced_and_read(address, ask, name, choice):
    wrong = get(name).render_reply(Message.assistant(calls=[WRONG]), TOOLS)
    request = ModelRequest(
        messages=[Message.user(f"Repeat this text exactly:\n{wrong}")],
        tools=TOOLS,
        tool_choice=choice,
        max_output_tokens=150,
    )
    _, reply = await ask(model_at(address, chat_format=name, temperature=0), request)
    schemas = {tool.name: CompiledSchema(tool.input_schema) for tool in TOOLS}
    calls = [call for call in reply.message.calls if isinstance(call, ToolCall)]
    assert calls
    assert all(schemas[call.name].accepts(call.arguments) for call in calls)


async def test_beside_tools_an_answer_is_held_or_a_call_is_made(address, ask):
    output = ChoiceOutput(options=("done", "not done"))
    for prompt in PROMPTS:
        request = ModelRequest(
            messages=[Message.user(prompt)], tools=TOOLS, tool_choice=AUTO, output=output, max_output_tokens=150
        )
        _, reply = await ask(model_at(address, chat_format="hermes"), request)
        assert reply.message.calls or (reply.message.text in output.options and reply.held)


async def test_a_budget_that_ends_too_early_is_closed_and_said(address, ask):
    request = ModelRequest(messages=[Message.user("Hello")], output=JsonOutput(schema=ORDER), max_output_tokens=5)
    _, reply = await ask(model_at(address), request)
    assert reply.finish == "closed_by_budget"
    assert reply.forced
    assert CompiledSchema(ORDER).accepts(json.loads(reply.message.text))
