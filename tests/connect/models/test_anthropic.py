"""The Messages API over real connections: what is sent, and what becomes of what comes back."""

from __future__ import annotations

import re
from typing import Any

import anthropic
import httpx2
import pytest

from wieldy.connect.models.anthropic import API_VERSION, DEFAULT_MAX_OUTPUT_TOKENS, AnthropicModel, request_body
from wieldy.core.calls import NO_TOOLS, InvalidToolCall, ToolCall, ToolChoice, ToolDefinition, ToolResult
from wieldy.core.errors import (
    AuthenticationError,
    ContentFilterError,
    ProviderError,
    RateLimitError,
    RequestRefusedError,
    UsageError,
)
from wieldy.core.events import CallDelta, ReasoningDelta, TextDelta
from wieldy.core.limits import Usage
from wieldy.core.media import FilePart, ImagePart
from wieldy.core.messages import Message, ReasoningPart, TextPart
from wieldy.core.ports import ModelReply, ModelRequest

pytestmark = pytest.mark.anyio

WEATHER = ToolDefinition(
    name="get_weather",
    description="The weather in a city.",
    input_schema={"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
)
HELLO = ModelRequest(messages=[Message.user("Hello")])
CONVERSATION = (
    Message.system("Be brief."),
    Message(
        role="user",
        parts=(
            TextPart(text="Compare"),
            ImagePart(url="data:image/png;base64,iVBORw0KGgo="),
            ImagePart(url="https://example.org/map.png"),
        ),
    ),
    Message(
        role="assistant",
        parts=(
            ReasoningPart(text="Two cities.", signature="sig=="),
            ReasoningPart(text="", signature="redacted_thinking:ENCRYPTED"),
            TextPart(text="Let me look."),
            ToolCall(id="c1", name="get_weather", arguments={"city": "Zürich"}, provider_id="toolu_1"),
            ToolCall(id="c2", name="get_weather", arguments={"city": "Rome"}, provider_id="toolu_2"),
        ),
    ),
    Message.tool(ToolResult(tool_call_id="c1", content="rain")),
    Message.tool(ToolResult(tool_call_id="c2", content="no such city", is_error=True)),
    Message.user("And tomorrow?"),
)


def start(**usage: int) -> dict[str, Any]:
    message = {"id": "msg", "type": "message", "role": "assistant", "content": [], "model": "m", "stop_reason": None}
    return {"type": "message_start", "message": {**message, "usage": usage}}


def block(index: int, block: dict[str, Any], *deltas: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        {"type": "content_block_start", "index": index, "content_block": block},
        *({"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas),
        {"type": "content_block_stop", "index": index},
    ]


def end(reason: str = "end_turn", **usage: int) -> list[dict[str, Any]]:
    return [
        {"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": None}, "usage": usage},
        {"type": "message_stop"},
    ]


SAYING_OK = [start(), *block(0, {"type": "text", "text": ""}, {"type": "text_delta", "text": "ok"}), *end()]


def body_of(request: ModelRequest, **options: Any) -> dict[str, Any]:
    return request_body(request, model="m", max_output_tokens=100, options=options)


@pytest.fixture
def model(server, retries):
    return AnthropicModel("m", base_url=server.url, api_key="sk-ant-test", retries=retries)


# What comes back


async def test_thinking_text_and_calls_come_back_in_their_order_with_signatures_and_usage(server, ask, model):
    server.will(
        server.events(
            start(input_tokens=10, cache_creation_input_tokens=3, cache_read_input_tokens=4, output_tokens=1),
            {"type": "ping"},
            *block(
                0,
                {"type": "thinking", "thinking": "", "signature": ""},
                {"type": "thinking_delta", "thinking": "Which "},
                {"type": "thinking_delta", "thinking": "city?"},
                {"type": "signature_delta", "signature": "sig=="},
            ),
            *block(1, {"type": "redacted_thinking", "data": "ENCRYPTED"}),
            *block(2, {"type": "text", "text": ""}, {"type": "text_delta", "text": "Let me see."}),
            *block(
                3,
                {"type": "tool_use", "id": "toolu_1", "name": "get_weather", "input": {}},
                {"type": "input_json_delta", "partial_json": ""},
                {"type": "input_json_delta", "partial_json": '{"city": "Os'},
                {"type": "input_json_delta", "partial_json": 'lo"}'},
            ),
            *block(4, {"type": "tool_use", "id": "toolu_2", "name": "now", "input": {}}),
            {"type": "something_new", "data": 1},
            *end("tool_use", output_tokens=25),
        )
    )
    deltas, reply = await ask(model, HELLO)
    assert deltas == [
        ReasoningDelta(text="Which "),
        ReasoningDelta(text="city?"),
        TextDelta(text="Let me see."),
        CallDelta(index=0, name="get_weather"),
        CallDelta(index=0, arguments='{"city": "Os'),
        CallDelta(index=0, arguments='lo"}'),
        CallDelta(index=1, name="now"),
    ]
    assert reply == ModelReply(
        message=Message(
            role="assistant",
            parts=(
                ReasoningPart(text="Which city?", signature="sig=="),
                ReasoningPart(text="", signature="redacted_thinking:ENCRYPTED"),
                TextPart(text="Let me see."),
                ToolCall(id="toolu_1", name="get_weather", arguments={"city": "Oslo"}, provider_id="toolu_1"),
                ToolCall(id="toolu_2", name="now", arguments={}, provider_id="toolu_2"),
            ),
        ),
        usage=Usage(input_tokens=17, output_tokens=25, requests=1, cached_input_tokens=4),
    )


async def test_thinking_that_comes_back_is_sent_back_as_it_was(server, ask, model):
    server.will(
        server.events(
            start(),
            *block(
                0,
                {"type": "thinking", "thinking": "", "signature": ""},
                {"type": "thinking_delta", "thinking": "hm"},
                {"type": "signature_delta", "signature": "sig=="},
            ),
            *block(1, {"type": "redacted_thinking", "data": "ENCRYPTED"}),
            *block(2, {"type": "thinking", "thinking": "", "signature": "only-a-signature"}),
            *block(3, {"type": "text", "text": "ok"}),
            *end(),
        ),
        server.events(*SAYING_OK),
    )
    _, reply = await ask(model, HELLO)
    await ask(model, ModelRequest(messages=[*HELLO.messages, reply.message, Message.user("Go on")]))
    assert server.requests[1].json["messages"][1]["content"] == [
        {"type": "thinking", "thinking": "hm", "signature": "sig=="},
        {"type": "redacted_thinking", "data": "ENCRYPTED"},
        {"type": "thinking", "thinking": "", "signature": "only-a-signature"},
        {"type": "text", "text": "ok"},
    ]


async def test_an_answer_in_one_object_is_understood(server, ask, model):
    content = [
        {"type": "text", "text": "Let me see."},
        {"type": "tool_use", "id": "toolu_1", "name": "get_weather", "input": {"city": "Oslo"}},
    ]
    server.will(
        server.json(
            {
                "type": "message",
                "role": "assistant",
                "content": content,
                "stop_reason": "tool_use",
                "usage": {"input_tokens": 5, "output_tokens": 6},
            }
        )
    )
    deltas, reply = await ask(model, HELLO)
    assert deltas == [
        TextDelta(text="Let me see."),
        CallDelta(index=0, name="get_weather", arguments='{"city": "Oslo"}'),
    ]
    assert reply.message.calls == (
        ToolCall(id="toolu_1", name="get_weather", arguments={"city": "Oslo"}, provider_id="toolu_1"),
    )
    assert reply.usage == Usage(input_tokens=5, output_tokens=6, requests=1)


@pytest.mark.parametrize("written", ['{"city": "Os', ""])
@pytest.mark.parametrize("reason", ["max_tokens", "model_context_window_exceeded"])
async def test_a_call_cut_by_a_limit_is_an_invalid_call(server, ask, model, written, reason):
    call = {"type": "tool_use", "id": "t", "name": "get_weather", "input": {}}
    server.will(
        server.events(start(), *block(0, call, {"type": "input_json_delta", "partial_json": written}), *end(reason))
    )
    _, reply = await ask(model, HELLO)
    (cut,) = reply.message.calls
    assert isinstance(cut, InvalidToolCall)
    assert cut.text == written
    assert reply.finish == "length"


async def test_a_refusal_is_an_error_with_its_reason(server, ask, model):
    refusal = {
        "stop_reason": "refusal",
        "stop_details": {"type": "refusal", "category": "cyber", "explanation": "Too risky."},
    }
    server.will(
        server.events(start(), {"type": "message_delta", "delta": refusal, "usage": {}}, {"type": "message_stop"})
    )
    with pytest.raises(ContentFilterError, match=r"declined to answer \(Too risky\.\)"):
        await ask(model, HELLO)


@pytest.mark.parametrize(
    ("kind", "error", "tries"),
    [
        ("overloaded_error", ProviderError, 4),
        ("api_error", ProviderError, 4),
        ("rate_limit_error", RateLimitError, 4),
        ("authentication_error", AuthenticationError, 1),
        ("permission_error", AuthenticationError, 1),
        ("invalid_request_error", RequestRefusedError, 1),
        ("not_found_error", RequestRefusedError, 1),
    ],
)
async def test_an_error_inside_a_stream_is_sorted_by_its_type(server, ask, model, kind, error, tries):
    event = {"type": "error", "error": {"type": kind, "message": "The reason."}}
    server.will(*(server.events(start(), event) for _ in range(4)))
    with pytest.raises(error, match=r"The reason\."):
        await ask(model, HELLO)
    assert len(server.requests) == tries


async def test_a_stream_that_ends_before_the_message_is_an_error(server, ask, model):
    server.will(*(server.events(start(), *block(0, {"type": "text", "text": ""})) for _ in range(4)))
    with pytest.raises(ProviderError, match="ended before the answer did"):
        await ask(model, HELLO)


async def test_an_answer_that_breaks_off_after_its_first_words_is_not_asked_for_again(server, ask, model, waits):
    server.will(server.events(start(), *block(0, {"type": "text", "text": "half"}), then="abort"))
    with pytest.raises(ProviderError, match="broke off"):
        await ask(model, HELLO)
    assert waits.delays_s == []


@pytest.mark.parametrize(
    "event",
    [
        {"type": "content_block_delta", "index": 3, "delta": {"type": "text_delta", "text": "x"}},
        {"type": "content_block_start", "index": "first"},
        {"type": "message_delta"},
        {"choices": []},
        {"type": 5},
    ],
)
async def test_an_event_that_is_not_the_protocol_is_an_error(server, ask, model, event):
    server.will(server.events(start(), event))
    with pytest.raises(ProviderError, match="does not speak the expected protocol"):
        await ask(model, HELLO)


@pytest.mark.parametrize("answer", [{}, {"type": "message"}, {"type": "message", "content": ["text"]}, {"choices": []}])
async def test_a_whole_answer_that_is_not_the_protocol_is_an_error(server, ask, model, answer):
    server.will(server.json(answer))
    with pytest.raises(ProviderError, match="does not speak the expected protocol"):
        await ask(model, HELLO)


async def test_a_wrong_key_says_which_setting_to_check(server, ask, model):
    server.will(
        server.json(
            {"type": "error", "error": {"type": "authentication_error", "message": "invalid x-api-key"}}, status=401
        )
    )
    with pytest.raises(AuthenticationError, match=r"ANTHROPIC_API_KEY.*invalid x-api-key"):
        await ask(model, HELLO)


# What is sent


async def official_request(server, **request: Any) -> Any:
    server.will(server.events(*SAYING_OK))
    async with anthropic.AsyncAnthropic(
        base_url=server.url, api_key="sk-ant-test", max_retries=0, http_client=httpx2.AsyncClient(trust_env=False)
    ) as client:
        async for _ in await client.messages.create(model="m", stream=True, **request):
            pass
    return server.requests[-1]


async def test_the_request_is_the_one_that_the_official_client_sends(server, ask, model):
    theirs = await official_request(
        server,
        max_tokens=200,
        system="Be brief.",
        messages=[
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "Compare"},
                    {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}},
                    {"type": "image", "source": {"type": "url", "url": "https://example.org/map.png"}},
                ],
            },
            {
                "role": "assistant",
                "content": [
                    {"type": "thinking", "thinking": "Two cities.", "signature": "sig=="},
                    {"type": "redacted_thinking", "data": "ENCRYPTED"},
                    {"type": "text", "text": "Let me look."},
                    {"type": "tool_use", "id": "toolu_1", "name": "get_weather", "input": {"city": "Zürich"}},
                    {"type": "tool_use", "id": "toolu_2", "name": "get_weather", "input": {"city": "Rome"}},
                ],
            },
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": "toolu_1", "content": "rain"},
                    {"type": "tool_result", "tool_use_id": "toolu_2", "content": "no such city", "is_error": True},
                    {"type": "text", "text": "And tomorrow?"},
                ],
            },
        ],
        tools=[
            {
                "name": "get_weather",
                "description": "The weather in a city.",
                "input_schema": {**WEATHER.input_schema, "additionalProperties": False},
                "strict": True,
            }
        ],
        tool_choice={"type": "tool", "name": "get_weather"},
        thinking={"type": "adaptive"},
    )
    server.will(server.events(*SAYING_OK))
    model = AnthropicModel("m", base_url=server.url, api_key="sk-ant-test", options={"thinking": {"type": "adaptive"}})
    request = ModelRequest(
        messages=CONVERSATION,
        tools=[WEATHER],
        tool_choice=ToolChoice(mode="tool", name="get_weather"),
        max_output_tokens=200,
    )
    await ask(model, request)
    ours = server.requests[-1]
    assert ours.json == theirs.json
    for name in ("authorization", "anthropic-version", "content-type", "accept"):
        assert ours.headers[name] == theirs.headers[name]
    assert (ours.method, ours.path) == (theirs.method, theirs.path)


def test_the_version_is_that_of_the_official_client():
    assert API_VERSION == anthropic._constants.ANTHROPIC_API_VERSION


def test_an_answer_has_a_limit_even_if_none_was_set():
    assert body_of(HELLO)["max_tokens"] == 100
    assert body_of(ModelRequest(messages=HELLO.messages, max_output_tokens=7))["max_tokens"] == 7
    assert DEFAULT_MAX_OUTPUT_TOKENS > 4096


@pytest.mark.parametrize(
    ("choice", "wire"),
    [(NO_TOOLS, {"type": "none"}), (ToolChoice(mode="required"), {"type": "any"}), (ToolChoice(), None)],
)
def test_the_tool_choice_is_said_in_the_providers_words(choice, wire):
    body = body_of(ModelRequest(messages=HELLO.messages, tools=[WEATHER], tool_choice=choice))
    assert body.get("tool_choice") == wire
    assert "tool_choice" not in body_of(ModelRequest(messages=HELLO.messages, tool_choice=choice))


PNG = ImagePart(url="data:image/png;base64,iVBORw0KGgo=")
PNG_BLOCK = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}}
PDF = FilePart.from_bytes(b"%PDF-1.7", name="a.pdf")
PDF_BLOCK = {
    "type": "document",
    "source": {"type": "base64", "media_type": "application/pdf", "data": "JVBERi0xLjc="},
    "title": "a.pdf",
}
NOTES = FilePart.from_bytes(b"words", name="notes.txt")


def result_block(**fields: Any) -> dict[str, Any]:
    call = ToolCall(id="c1", name="f", arguments={})
    result = Message.tool(ToolResult(tool_call_id="c1", **fields))
    messages = [Message.user("x"), Message.assistant(calls=[call]), result]
    return body_of(ModelRequest(messages=messages))["messages"][2]["content"][0]


def test_images_and_pdfs_of_a_result_are_blocks_of_it():
    page = FilePart(name="b.pdf", media_type="application/pdf", url="https://a.example/b.pdf")
    assert result_block(content="two", parts=(PNG, PDF, page))["content"] == [
        {"type": "text", "text": "two"},
        PNG_BLOCK,
        PDF_BLOCK,
        {"type": "document", "source": {"type": "url", "url": "https://a.example/b.pdf"}, "title": "b.pdf"},
    ]
    assert result_block(content=" ", parts=(PNG,))["content"] == [PNG_BLOCK]


@pytest.mark.parametrize(
    "part",
    [
        ImagePart(url="data:image/svg+xml;base64,AA=="),
        ImagePart(url="data:image/png,raw"),
        FilePart(name="a.zip", media_type="application/zip", url="data:application/zip;base64,AA=="),
        FilePart(name="a.pdf", media_type="application/pdf", url="ftp://a.example/a.pdf"),
    ],
)
def test_a_model_is_told_what_it_cannot_be_shown(part):
    assert result_block(content="[1]", parts=(part,))["content"] == (
        "[1]\n\n[1 of the images and files named here cannot be shown to you.]"
    )


def test_the_words_of_a_file_of_text_stand_in_the_result_already():
    assert result_block(content="words", parts=(NOTES,))["content"] == "words"


def test_a_failed_result_holds_text_only():
    block_ = result_block(content="no", parts=(PNG,), is_error=True)
    assert block_["content"].startswith("no\n\n[1 of the images")


def test_files_of_the_user_are_documents():
    message = Message(role="user", parts=(TextPart(text="Read"), PDF, NOTES))
    assert body_of(ModelRequest(messages=[message]))["messages"][0]["content"] == [
        {"type": "text", "text": "Read"},
        PDF_BLOCK,
        {
            "type": "document",
            "source": {"type": "text", "media_type": "text/plain", "data": "words"},
            "title": "notes.txt",
        },
    ]


def test_a_file_that_cannot_be_sent_is_the_programs_mistake():
    part = FilePart(name="a.zip", media_type="application/zip", url="data:application/zip;base64,AA==")
    with pytest.raises(UsageError, match=r"found 'a\.zip' \(application/zip\)"):
        body_of(ModelRequest(messages=[Message(role="user", parts=(part,))]))


def test_results_stand_in_the_order_of_their_calls():
    calls = [ToolCall(id=f"c{number}", name="f", arguments={}) for number in range(3)]
    results = [Message.tool(ToolResult(tool_call_id=f"c{number}", content=str(number))) for number in (2, 0, 1)]
    messages = body_of(ModelRequest(messages=[Message.user("x"), Message.assistant(calls=calls), *results]))["messages"]
    assert [block["content"] for block in messages[2]["content"]] == ["0", "1", "2"]
    assert len(messages) == 3


def test_neighbours_of_one_role_become_one_message_and_blank_ones_none():
    messages = [Message.user("a"), Message.user("b"), Message.assistant(), Message.user(" "), Message.user("c")]
    assert body_of(ModelRequest(messages=messages))["messages"] == [
        {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]},
        {"role": "user", "content": [{"type": "text", "text": "c"}]},
    ]


def test_a_later_system_message_keeps_its_place():
    body = body_of(
        ModelRequest(messages=[Message.system("a"), Message.system("b"), Message.user("x"), Message.system("c")])
    )
    assert body["system"] == "a\n\nb"
    assert [message["role"] for message in body["messages"]] == ["user", "system"]


def test_thoughts_of_another_provider_are_not_sent():
    messages = [Message.user("x"), Message.assistant("y", reasoning="unsigned"), Message.user("z")]
    assert body_of(ModelRequest(messages=messages))["messages"][1]["content"] == [{"type": "text", "text": "y"}]


def test_ids_and_names_that_the_provider_would_refuse_are_made_fit():
    calls = [
        ToolCall(id="c1", name="functions.get weather", arguments={}, provider_id="functions.get:0"),
        InvalidToolCall(id="c2", name=None, text="{bro", error="?", provider_id="x" * 100),
    ]
    results = [Message.tool(ToolResult(tool_call_id=call.id, content="")) for call in calls]
    messages = body_of(ModelRequest(messages=[Message.user("x"), Message.assistant(calls=calls), *results]))["messages"]
    for block_, result in zip(messages[1]["content"], messages[2]["content"], strict=True):
        assert re.fullmatch("[A-Za-z0-9_-]+", block_["id"])
        assert re.fullmatch("[A-Za-z0-9_-]{1,64}", block_["name"])
        assert result["tool_use_id"] == block_["id"]
    assert messages[1]["content"][1]["input"] == {"unreadable_arguments": "{bro"}


@pytest.mark.parametrize(
    "url", ["data:image/png,raw", "data:text/plain;base64,AAAA", "data:image/png;base64,", "data:"]
)
def test_an_image_that_cannot_be_sent_is_the_programs_mistake(url):
    request = ModelRequest(messages=[Message(role="user", parts=(ImagePart(url=url),))])
    with pytest.raises(UsageError, match="Expected an image"):
        body_of(request)


async def test_the_address_may_end_in_the_version_or_not(server, ask):
    server.will(server.events(*SAYING_OK), server.events(*SAYING_OK))
    for address in (server.url, f"{server.url}/v1/"):
        await ask(AnthropicModel("m", base_url=address), HELLO)
    assert [request.path for request in server.requests] == ["/v1/messages"] * 2


def test_texts_at_which_to_stop_are_sent_and_the_programs_own_come_first() -> None:
    request = ModelRequest(messages=(Message.user("Go"),), stop=("\nObservation:",))
    assert body_of(request)["stop_sequences"] == ["\nObservation:"]
    assert body_of(request, stop_sequences=["END"])["stop_sequences"] == ["END"]
