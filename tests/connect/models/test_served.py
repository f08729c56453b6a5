"""Models behind servers that are asked for more than text, over real connections."""

from __future__ import annotations

import json
from typing import Any

import anthropic
import httpx2
import openai
import pytest
from pydantic import BaseModel

from wieldy.agent import Agent
from wieldy.connect.models.anthropic import AnthropicModel
from wieldy.connect.models.openai import OpenAIModel
from wieldy.connect.models.retries import Timeouts
from wieldy.core.calls import InvalidToolCall, ToolCall, ToolChoice, ToolDefinition
from wieldy.core.errors import BudgetError, ModelUnreachableError, RequestRefusedError, UsageError
from wieldy.core.messages import Message
from wieldy.core.outputs import ChoiceOutput, JsonOutput, in_words
from wieldy.core.ports import ModelRequest
from wieldy.grammar import Tokenizer

pytestmark = pytest.mark.anyio

PLACE: dict[str, Any] = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "country": {"type": "string"}},
    "required": ["city", "country"],
    "additionalProperties": False,
}
JSON = JsonOutput(schema=PLACE, name="place")
CHOICE = ChoiceOutput(options=("yes", "no"))
HELLO = (Message.user("Where is Oslo?"),)
WEATHER = ToolDefinition(
    name="weather",
    description="The weather.",
    input_schema={
        "type": "object",
        "properties": {"city": {"type": "string"}, "day": {"type": "string"}},
        "required": ["city"],
    },
)
STRICT_WEATHER: dict[str, Any] = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "day": {"anyOf": [{"type": "string"}, {"type": "null"}]}},
    "required": ["city", "day"],
    "additionalProperties": False,
}


def listing(server: Any, owner: str) -> Any:
    return server.json({"object": "list", "data": [{"id": "m", "owned_by": owner}]})


def answering(server: Any, text: str, finish: str = "stop") -> Any:
    return server.events(server.chunk({"content": text}), server.chunk({}, finish), "[DONE]")


# What is sent is what the official clients send


async def test_a_strict_request_is_the_one_that_the_official_client_sends(server, ask):
    server.will(server.saying("ok"), answering(server, '{"city": "Oslo", "country": "Norway"}'))
    async with openai.AsyncOpenAI(
        base_url=f"{server.url}/v1", api_key="k", max_retries=0, http_client=httpx2.AsyncClient(trust_env=False)
    ) as client:
        stream = await client.chat.completions.create(
            model="m",
            stream=True,
            stream_options={"include_usage": True},
            messages=[{"role": "user", "content": "Where is Oslo?"}],
            tools=[
                {
                    "type": "function",
                    "function": {
                        "name": "weather",
                        "description": "The weather.",
                        "parameters": STRICT_WEATHER,
                        "strict": True,
                    },
                }
            ],
            response_format={
                "type": "json_schema",
                "json_schema": {"name": "place", "schema": PLACE, "strict": True},
            },
        )
        async for _ in stream:
            pass
    model = OpenAIModel("m", base_url=f"{server.url}/v1", api_key="k", backend="openai")
    _, reply = await ask(model, ModelRequest(messages=HELLO, tools=[WEATHER], output=JSON))
    theirs, ours = server.requests
    assert ours.json == theirs.json
    assert server.looked_up == []
    assert reply.held


async def test_structured_outputs_are_asked_for_as_anthropics_client_asks(server, ask):
    text = {"type": "text", "text": '{"city": "Oslo", "country": "Norway"}'}
    events = [
        {"type": "content_block_start", "index": 0, "content_block": text},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {}},
        {"type": "message_stop"},
    ]
    server.will(server.events(*events), server.events(*events))
    closed = {**WEATHER.input_schema, "additionalProperties": False}
    async with anthropic.AsyncAnthropic(
        base_url=server.url, auth_token="k", max_retries=0, http_client=httpx2.AsyncClient(trust_env=False)
    ) as client:
        stream = await client.messages.create(
            model="m",
            max_tokens=16_384,
            stream=True,
            messages=[{"role": "user", "content": [{"type": "text", "text": "Where is Oslo?"}]}],
            tools=[{"name": "weather", "description": "The weather.", "input_schema": closed, "strict": True}],
            output_config={"effort": "low", "format": {"type": "json_schema", "schema": PLACE}},
        )
        async for _ in stream:
            pass
    options: dict[str, Any] = {"output_config": {"effort": "low"}}
    model = AnthropicModel("m", base_url=server.url, api_key="k", options=options)
    _, reply = await ask(model, ModelRequest(messages=HELLO, tools=[WEATHER], output=JSON))
    theirs, ours = server.requests
    assert ours.json == theirs.json
    assert reply.held
    assert json.loads(reply.message.text) == {"city": "Oslo", "country": "Norway"}


# Which kind of server it is


async def test_the_kind_of_server_is_found_out_once_and_only_where_it_matters(server, ask):
    server.pages["/v1/models"] = listing(server, "vllm")
    server.will(server.saying("Hello"), answering(server, "yes"), answering(server, "no"))
    model = OpenAIModel("m", base_url=f"{server.url}/v1")
    await ask(model, ModelRequest(messages=HELLO))
    assert (server.looked_up, model.backend) == ([], None)
    for _ in range(2):
        _, reply = await ask(model, ModelRequest(messages=HELLO, output=CHOICE))
        assert reply.held
    assert (server.looked_up, model.backend) == (["/v1/models"], "vllm")
    sent = server.requests[1].json
    assert sent["structured_outputs"] == {"choice": ["yes", "no"]}
    assert sent["messages"][0] == {"role": "system", "content": in_words(CHOICE)}


async def test_ollama_is_asked_for_its_version(server, ask):
    server.pages["/api/version"] = server.json({"version": "0.40.12"})
    server.will(answering(server, '{"answer": "yes"}'))
    model = OpenAIModel("m", base_url=f"{server.url}/v1")
    _, reply = await ask(model, ModelRequest(messages=HELLO, output=CHOICE))
    assert (model.backend, reply.message.text) == ("ollama", "yes")
    assert server.looked_up == ["/v1/models", "/api/version"]


async def test_a_server_that_says_nothing_of_itself_is_plain(server, ask):
    server.pages["/v1/models"] = server.json({"error": "no"}, status=500)
    server.pages["/api/version"] = server.raw(then="abort")
    server.will(answering(server, "yes"), answering(server, "yes"))
    model = OpenAIModel("m", base_url=f"{server.url}/v1")
    for _ in range(2):
        _, reply = await ask(model, ModelRequest(messages=HELLO, output=CHOICE))
        assert (model.backend, reply.message.text, reply.held) == ("plain", "yes", False)
    assert server.looked_up == ["/v1/models", "/api/version"]


async def test_a_server_that_does_not_answer_in_time_is_asked_all_the_same(server, ask):
    server.pages["/v1/models"] = server.raw(then="hang")
    server.will(answering(server, "yes"))
    model = OpenAIModel("m", base_url=f"{server.url}/v1", timeouts=Timeouts(read_s=0.2))
    _, reply = await ask(model, ModelRequest(messages=HELLO, output=CHOICE))
    assert (model.backend, reply.message.text) == (None, "yes")


async def test_a_server_that_was_not_there_yet_is_asked_again(new_server, ask, retries):
    server = new_server()
    listening = await server.serve()
    port = int(server.url.rpartition(":")[2])
    await server.stop(listening)
    model = OpenAIModel("m", base_url=f"{server.url}/v1", retries=retries)
    with pytest.raises(ModelUnreachableError):
        await ask(model, ModelRequest(messages=HELLO, output=CHOICE))
    listening = await server.serve(port)
    server.pages["/v1/models"] = listing(server, "vllm")
    server.will(answering(server, "yes"))
    _, reply = await ask(model, ModelRequest(messages=HELLO, output=CHOICE))
    assert (model.backend, reply.held) == ("vllm", True)
    await server.stop(listening)


async def test_what_the_program_says_of_the_server_counts(server, ask):
    server.will(answering(server, "yes"))
    model = OpenAIModel("m", base_url=f"{server.url}/v1", backend="sglang")
    await ask(model, ModelRequest(messages=HELLO, output=CHOICE))
    assert server.looked_up == []
    assert server.requests[0].json["regex"] == "yes|no"


@pytest.mark.parametrize("backend", ["vlm", "anthropic", ""])
def test_a_kind_that_there_is_not_is_the_programs_mistake(backend):
    with pytest.raises(UsageError, match="Expected a backend of openai"):
        OpenAIModel("m", backend=backend)


# A server that does not take it


async def test_a_server_that_refuses_a_constraint_is_asked_in_words_and_remembered(server, ask, caplog):
    refusal = server.json({"error": {"message": "response_format is not supported"}}, status=400)
    server.will(refusal, answering(server, "yes"), answering(server, "no"))
    model = OpenAIModel("m", base_url=f"{server.url}/v1", backend="plain")
    request = ModelRequest(messages=HELLO, output=CHOICE)
    _, first = await ask(model, request)
    _, second = await ask(model, request)
    assert [first.message.text, second.message.text] == ["yes", "no"]
    assert ["response_format" in sent.json for sent in server.requests] == [True, False, False]
    assert in_words(CHOICE) in server.requests[1].json["messages"][0]["content"]
    assert "response_format is not supported" in caplog.text


async def test_tools_that_are_refused_as_strict_are_sent_as_they_are(server, ask):
    refusal = server.json({"error": {"message": "Schema is too complex"}}, status=400)
    call = {"index": 0, "id": "a", "function": {"name": "weather", "arguments": '{"city": "Oslo"}'}}
    server.will(refusal, server.events(server.chunk({"tool_calls": [call]}, "tool_calls"), "[DONE]"))
    model = OpenAIModel("m", base_url=f"{server.url}/v1", backend="openai")
    _, reply = await ask(model, ModelRequest(messages=HELLO, tools=[WEATHER]))
    assert reply.message.calls == (ToolCall(id="a", name="weather", arguments={"city": "Oslo"}, provider_id="a"),)
    first, second = (request.json["tools"][0]["function"] for request in server.requests)
    assert first["strict"]
    assert "strict" not in second
    assert second["parameters"] == WEATHER.input_schema


async def test_a_request_that_is_refused_either_way_is_refused(server, ask):
    for _ in range(2):
        server.will(server.json({"error": {"message": "the prompt is too long"}}, status=400))
    model = OpenAIModel("m", base_url=f"{server.url}/v1", backend="vllm")
    with pytest.raises(RequestRefusedError, match="too long"):
        await ask(model, ModelRequest(messages=HELLO, output=CHOICE))
    server.will(answering(server, "yes"))
    await ask(model, ModelRequest(messages=HELLO, output=CHOICE))
    assert "structured_outputs" in server.requests[2].json


async def test_a_request_without_constraints_is_refused_at_once(server, ask):
    server.will(server.json({"error": {"message": "no"}}, status=400))
    with pytest.raises(RequestRefusedError):
        await ask(OpenAIModel("m", base_url=f"{server.url}/v1"), ModelRequest(messages=HELLO))
    assert len(server.requests) == 1


# Budgets


async def test_an_answer_that_was_cut_off_is_made_whole_and_says_so(server, ask):
    server.will(answering(server, '{"city": "Oslo", "cou', "length"))
    model = OpenAIModel("m", base_url=f"{server.url}/v1", backend="vllm")
    _, reply = await ask(model, ModelRequest(messages=HELLO, output=JSON))
    assert json.loads(reply.message.text) == {"city": "Oslo", "country": ""}
    assert (reply.finish, reply.forced) == ("closed_by_budget", ("/country",))


async def test_a_call_that_was_cut_off_stays_unreadable(server, ask):
    call = {"index": 0, "id": "a", "function": {"name": "weather", "arguments": '{"city": "Os'}}
    server.will(server.events(server.chunk({"tool_calls": [call]}), server.chunk({}, "length"), "[DONE]"))
    model = OpenAIModel("m", base_url=f"{server.url}/v1", backend="vllm")
    _, reply = await ask(model, ModelRequest(messages=HELLO, tools=[WEATHER], output=JSON))
    (cut,) = reply.message.calls
    assert isinstance(cut, InvalidToolCall)
    assert reply.finish == "length"


async def test_a_budget_below_the_shortest_answer_is_refused_before_anything_is_sent(server, ask):
    model = OpenAIModel("m", base_url=f"{server.url}/v1", backend="vllm", tokenizer=Tokenizer.of_bytes())
    shortest = len('{"city":"","country":""}')
    with pytest.raises(BudgetError, match=rf"takes {shortest} tokens, and {shortest - 1} are allowed") as caught:
        await ask(model, ModelRequest(messages=HELLO, output=JSON, max_output_tokens=shortest - 1))
    assert (caught.value.minimum, caught.value.budget) == (shortest, shortest - 1)
    assert server.requests == []
    server.will(answering(server, '{"city":"","country":""}'))
    await ask(model, ModelRequest(messages=HELLO, output=JSON, max_output_tokens=shortest))


# Reports


def test_a_model_says_what_its_server_takes_without_sending_anything() -> None:
    class Place(BaseModel):
        city: str
        country: str

    model = OpenAIModel("m", base_url="http://127.0.0.1:9/v1", backend="vllm")
    plan = model.takes(Place, [WEATHER], tool_choice=ToolChoice(mode="none"))
    assert (plan.answer.how, plan.answer.holds) == ("mask", True)
    assert list(plan.fields) == ["structured_outputs"]
    assert model.takes(["a", "b"]).fields == {"structured_outputs": {"choice": ["a", "b"]}}
    assert model.takes(tools=[WEATHER]).strict == {"weather"}


# Whole runs


async def test_a_run_gets_its_output_from_a_server_that_masks(server):
    server.pages["/v1/models"] = listing(server, "sglang")
    server.will(answering(server, '{"city": "Oslo", "country": "Norway"}'))

    class Place(BaseModel):
        city: str
        country: str

    result = await Agent(f"{server.url}/v1#m", output=Place).run("Where is Oslo?")
    assert result.output == Place(city="Oslo", country="Norway")
    assert server.requests[0].json["response_format"]["json_schema"]["strict"]
