"""What answers behind a name, and the two switches of every model: held or free, one call a reply or several."""

from __future__ import annotations

import hashlib
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from wieldy.connect.models.anthropic import AnthropicModel
from wieldy.connect.models.deployment import MODELS, QUESTIONS, of_package, of_weights, read
from wieldy.connect.models.local import LocalModel
from wieldy.connect.models.openai import OpenAIModel
from wieldy.connect.models.resolve import resolve
from wieldy.connect.models.spoken import Speech
from wieldy.connect.models.template_process import TemplateProcess, TemplateSource
from wieldy.connect.models.weights import SMALLEST, find
from wieldy.connect.models.writing import Ending, OnToken, Token
from wieldy.core.calls import ToolDefinition
from wieldy.core.errors import GrammarError, UsageError
from wieldy.core.limits import Usage
from wieldy.core.messages import Message
from wieldy.core.outputs import ChoiceOutput
from wieldy.core.ports import ModelReply, ModelRequest
from wieldy.grammar import Grammar, Tokenizer
from wieldy.testing import ScriptedModel

SCHEMA: dict[str, Any] = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
WEATHER = ToolDefinition(name="weather", description="The weather.", input_schema=SCHEMA)
HELLO = (Message.user("Hello"),)


# Held or free


@pytest.mark.anyio
async def test_a_server_is_asked_to_enforce_something_only_where_that_is_wanted(server: Any, ask: Any) -> None:
    server.will(server.saying("yes"), server.saying("yes"))
    request = ModelRequest(messages=HELLO, tools=[WEATHER], output=ChoiceOutput(options=("yes", "no")))
    for constrained in (True, False):
        model = OpenAIModel("m", base_url=f"{server.url}/v1", backend="openai", constrained=constrained)
        _, reply = await ask(model, request)
        assert reply.held == constrained
    held, free = (sent.json for sent in server.requests)
    assert held.keys() - free.keys() == {"response_format"}
    assert [body["tools"][0]["function"].get("strict") for body in (held, free)] == [True, None]
    assert "yes" in str(free["messages"])  # it is told in words


@pytest.mark.anyio
async def test_an_unheld_model_of_the_other_protocol_has_no_strict_tools(server: Any, ask: Any) -> None:
    events = [
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": "ok"}},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {}},
        {"type": "message_stop"},
    ]
    server.will(server.events(*events), server.events(*events))
    for constrained in (True, False):
        await ask(
            AnthropicModel("m", base_url=server.url, constrained=constrained),
            ModelRequest(messages=HELLO, tools=[WEATHER], parallel_calls=constrained),
        )
    held, free = (sent.json for sent in server.requests)
    assert [body["tools"][0].get("strict") for body in (held, free)] == [True, None]
    assert "tool_choice" not in held
    assert free["tool_choice"] == {"type": "auto", "disable_parallel_tool_use": True}


@pytest.mark.anyio
async def test_one_call_a_reply_is_asked_for_in_the_servers_words(server: Any, ask: Any) -> None:
    server.will(server.saying("ok"), server.saying("ok"))
    for parallel in (True, False):
        model = OpenAIModel("m", base_url=f"{server.url}/v1", backend="plain")
        await ask(model, ModelRequest(messages=HELLO, tools=[WEATHER], parallel_calls=parallel))
    several, one = (sent.json for sent in server.requests)
    assert one == {**several, "parallel_tool_calls": False}


class Saying:
    """A model that says the same whatever it is held to, and keeps what that was."""

    begins_texts = False

    def __init__(self, said: str) -> None:
        self.grammars: list[Grammar | None] = []
        self._said = said

    @property
    def tokenizer(self) -> Tokenizer:
        raise GrammarError("A vocabulary of a kind that is not known.")

    def write(self, prompt: str, *, max_tokens: int, on_token: OnToken, grammar: Grammar | None = None) -> Ending:
        del prompt, max_tokens
        self.grammars.append(grammar)
        for letter in self._said:
            if on_token(Token(id=0, data=letter.encode())):
                break
        return Ending(usage=Usage(requests=1), finish="stop")


JSON_TEMPLATE = "{% for m in messages %}[{{ m.role }}]{{ m.content }}\n{% endfor %}[assistant]"


def spoken(said: str, request: ModelRequest, *, constrained: bool) -> tuple[Saying, ModelReply]:
    model = Saying(said)
    template = TemplateProcess(TemplateSource(text=JSON_TEMPLATE, tokens={}))
    speech = Speech(model, template, chat_format="json", constrained=constrained)
    return model, speech.reply(request, now=datetime(2026, 1, 1), on_delta=lambda _: False)


def test_a_free_model_is_held_to_nothing_and_its_calls_are_read_all_the_same() -> None:
    request = ModelRequest(messages=HELLO, tools=[WEATHER])
    said = '{"name": "weather", "arguments": {"city": "Oslo"}}'
    for constrained in (True, False):
        model, reply = spoken(said, request, constrained=constrained)
        assert (model.grammars[0] is not None) == constrained
        assert [call.name for call in reply.message.calls] == ["weather"]


def test_one_call_a_reply_is_part_of_the_constraint() -> None:
    several, one = (
        spoken("Hello", ModelRequest(messages=HELLO, tools=[WEATHER], parallel_calls=parallel), constrained=True)[0]
        for parallel in (True, False)
    )
    assert several.grammars[0] != one.grammars[0]


def test_strings_give_models_with_these_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k")
    for name in ("local", "http://127.0.0.1:1/v1#m"):
        resolve(name, chat_format="hermes", constrained=False)
    resolve("anthropic:m", constrained=False)
    with pytest.raises(UsageError, match="expected no chat format"):
        resolve("anthropic:m", chat_format="hermes")
    with pytest.raises(UsageError, match="has its settings already"):
        resolve(ScriptedModel([]), constrained=False)


# What answers


def test_weights_are_told_by_their_content(tmp_path: Path) -> None:
    path = tmp_path / "a.gguf"
    for content in (b"one", b"other"):
        path.write_bytes(content)
        told = of_weights(path, {"general.architecture": "llama", "general.file_type": 15})
        assert told == {
            "file": "a.gguf",
            "sha256": hashlib.sha256(content).hexdigest(),
            "architecture": "llama",
            "quantisation": "Q4_K_M",
        }
    assert of_weights(path, {"general.file_type": 999})["quantisation"] == "file type 999"


def test_packages_are_told_with_their_version() -> None:
    assert (of_package("wieldy") or "").startswith("wieldy ")
    assert of_package("there-is-no-such-package") is None


def test_what_changes_from_request_to_request_is_not_told() -> None:
    body = '{"data": [{"id": "m", "created": 1, "permission": [{"id": "x"}], "max_model_len": 9, "root": "/w"}]}'
    assert read(MODELS, body, "m") == {"id": "m", "max_model_len": 9, "root": "/w"}
    assert read(MODELS, body, None) == {"id": "m", "max_model_len": 9, "root": "/w"}
    assert read(MODELS, body, "other") == {}
    for odd in ("", "[1]", '{"data": 3}', '{"data": [1]}', "[" * 100_000):
        assert read(MODELS, odd, "m") == {}
    tags = '{"models": [{"name": "q", "digest": "d", "details": {"quantization_level": "Q4_0"}, "modified_at": "now"}]}'
    found = read(QUESTIONS["ollama"][0], tags, "q")
    assert found == {"name": "q", "digest": "d", "details": {"quantization_level": "Q4_0"}}


@pytest.mark.anyio
async def test_a_server_tells_of_its_model_and_nobody_of_one_that_is_down(server: Any) -> None:
    server.pages["/v1/models"] = server.json({"data": [{"id": "m", "owned_by": "vllm", "max_model_len": 4096}]})
    told = await OpenAIModel("m", base_url=f"{server.url}/v1", options={"seed": 1}).deployment()
    assert told["backend"] == "vllm"
    assert told["server"] == {"id": "m", "owned_by": "vllm", "max_model_len": 4096}
    assert (told["served_model"], told["constraint"], told["options"]) == ("m", True, {"seed": 1})
    down = await OpenAIModel("m", base_url="http://127.0.0.1:9/v1").deployment()
    assert (down["backend"], down["server"]) == (None, None)


@pytest.mark.model
@pytest.mark.anyio
async def test_a_local_model_tells_of_its_weights_and_its_engine() -> None:
    path = find(SMALLEST)
    assert path is not None
    told = await LocalModel(path=path).deployment()
    assert told["sha256"] == SMALLEST.sha256
    assert str(told["engine"]).startswith("xllamacpp ")
    assert (told["quantisation"], told["constraint"]) == ("Q4_1", True)
