"""What can go wrong on the way to a server and back: every fault on a real connection."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket

import anyio
import pytest

from wieldy.connect.models.openai import OpenAIModel
from wieldy.connect.models.retries import NO_RETRIES, Timeouts
from wieldy.core.errors import (
    AuthenticationError,
    ModelError,
    ModelUnreachableError,
    ProviderError,
    RateLimitError,
    RequestRefusedError,
    UsageError,
)
from wieldy.core.events import CallDelta, TextDelta
from wieldy.core.messages import Message
from wieldy.core.ports import ModelReply, ModelRequest

pytestmark = pytest.mark.anyio

HELLO = ModelRequest(messages=[Message.user("Hello")])
KEY = "sk-very-secret-key"


@pytest.fixture
def model(server, retries):
    return OpenAIModel("m", base_url=f"{server.url}/v1", api_key=KEY, retries=retries)


# Statuses


@pytest.mark.parametrize("status", [401, 403])
async def test_a_wrong_key_is_named_as_such_and_not_tried_again(server, ask, model, status):
    server.will(server.json({"error": {"message": f"Incorrect key: {KEY}"}}, status=status))
    with pytest.raises(AuthenticationError, match=r"did not accept the key") as caught:
        await ask(model, HELLO)
    assert caught.value.status == status
    assert KEY not in str(caught.value)
    assert "Incorrect key: [key]" in str(caught.value)
    assert len(server.requests) == 1


async def test_a_missing_key_is_named_as_such(server, ask, retries):
    server.will(server.json({"error": "no key"}, status=401))
    with pytest.raises(AuthenticationError, match=r"wants a key and none was sent.*OPENAI_API_KEY"):
        await ask(OpenAIModel("m", base_url=server.url, retries=retries), HELLO)
    assert "authorization" not in server.requests[0].headers


@pytest.mark.parametrize(
    ("status", "body", "words"),
    [
        (
            404,
            {"error": {"message": "The model `m` does not exist"}},
            "does not know the model 'm'.*`m` does not exist",
        ),
        (400, {"error": {"message": "context too long"}}, r"refused the request \(status 400\).*context too long"),
        (422, {"detail": [{"loc": ["body"], "msg": "field required"}]}, "field required"),
        (400, {"detail": "bad"}, "'bad'"),
        (413, "too large", "too large"),
        (402, {"message": "pay first"}, "pay first"),
    ],
)
async def test_a_refusal_quotes_the_server_and_is_not_tried_again(server, ask, model, status, body, words):
    server.will(server.json(body, status=status))
    with pytest.raises(RequestRefusedError, match=words):
        await ask(model, HELLO)
    assert len(server.requests) == 1


async def test_the_base_address_is_suspected_when_nothing_is_found_there(server, ask, retries):
    server.will(server.body(b"<!doctype html><title>404</title>", status=404, kind="text/html"))
    with pytest.raises(RequestRefusedError, match=r"most end in /v1.*web page"):
        await ask(OpenAIModel("m", base_url=server.url, retries=retries), HELLO)


async def test_what_a_server_says_is_shortened_and_printable(server, ask, model):
    server.will(server.json({"error": {"message": "\x1b[31mred\nline " + "x" * 10_000}}, status=400))
    with pytest.raises(RequestRefusedError) as caught:
        await ask(model, HELLO)
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 600


async def test_an_endless_error_page_is_read_only_in_part(server, ask, model):
    server.will(server.body(b"x" * 3_000_000, status=400, kind="text/plain"))
    with pytest.raises(RequestRefusedError):
        await ask(model, HELLO)


async def test_a_redirect_is_not_followed_and_takes_no_key_along(server, ask, model):
    server.will(server.body(b"", status=307, location="http://elsewhere.invalid/v1"))
    with pytest.raises(RequestRefusedError, match=r"redirects to 'http://elsewhere.invalid/v1'"):
        await ask(model, HELLO)
    assert len(server.requests) == 1


# Trying again


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 529])
async def test_a_passing_trouble_is_tried_again(server, ask, model, waits, status):
    server.will(server.json({"error": "busy"}, status=status), server.saying("here"))
    _, reply = await ask(model, HELLO)
    assert reply.message.text == "here"
    assert waits.delays_s == [0.5]
    assert server.requests[0].body == server.requests[1].body


async def test_the_wait_that_a_server_asks_for_is_kept(server, ask, model, waits):
    server.will(
        server.json({}, status=429, retry_after="7"),
        server.json({}, status=503, retry_after="Thu, 01 Jan 1970 00:00:09 GMT"),
        server.json({}, status=429, retry_after_ms="1500"),
        server.saying("here"),
    )
    await ask(model, HELLO)
    assert waits.delays_s == [7.0, 9.0, 1.5]


async def test_a_server_that_asks_for_too_long_a_wait_is_not_waited_for(server, ask, model, waits):
    server.will(server.json({"error": "slow down"}, status=429, retry_after="3600"))
    with pytest.raises(RateLimitError, match=r"asks to wait 3600 s.*slow down") as caught:
        await ask(model, HELLO)
    assert caught.value.retry_after_s == 3600
    assert waits.delays_s == []


async def test_a_used_up_quota_is_not_tried_again(server, ask, model):
    server.will(server.json({"error": {"message": "pay", "code": "insufficient_quota"}}, status=429))
    with pytest.raises(RateLimitError, match="no quota left"):
        await ask(model, HELLO)
    assert len(server.requests) == 1


async def test_a_server_that_forbids_another_try_is_obeyed(server, ask, model):
    server.will(server.json({}, status=500, x_should_retry="false"))
    with pytest.raises(ProviderError):
        await ask(model, HELLO)
    assert len(server.requests) == 1


async def test_a_server_that_fails_for_ever_is_given_up(server, ask, model, waits, caplog):
    server.will(*(server.json({"error": "overloaded"}, status=503) for _ in range(9)))
    with (
        caplog.at_level(logging.WARNING, logger="wieldy"),
        pytest.raises(ProviderError, match=r"failed \(status 503\).*overloaded.*Tried 4 times") as caught,
    ):
        await ask(model, HELLO)
    assert caught.value.status == 503
    assert waits.delays_s == [0.5, 1.0, 2.0]
    assert len(server.requests) == 4
    assert len(caplog.records) == 3
    assert KEY not in caplog.text


async def test_an_error_inside_a_stream_is_tried_again_if_nothing_was_said_yet(server, ask, model, waits):
    server.will(server.events({"error": {"message": "overloaded"}}), server.saying("here"))
    _, reply = await ask(model, HELLO)
    assert reply.message.text == "here"
    assert len(waits.delays_s) == 1


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b'{"message": "overloaded", "code": 503}', "overloaded"),
        (b'{"error": "overloaded"}', "overloaded"),
        (b"out of memory", "out of memory"),
        (b"[1]", "reported an error"),
    ],
)
async def test_an_event_named_error_is_an_error_whatever_it_holds(server, ask, model, data, words):
    server.will(*(server.events(b"event: error\ndata: " + data + b"\n\n") for _ in range(4)))
    with pytest.raises(ProviderError, match=words):
        await ask(model, HELLO)


# Connections that fail


async def test_a_dead_server_is_named_as_such(ask, waits, retries):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    model = OpenAIModel("m", base_url=f"http://127.0.0.1:{port}/v1", retries=retries)
    with pytest.raises(
        ModelUnreachableError, match=rf"Nothing listens at http://127.0.0.1:{port}/v1\. Start the server"
    ):
        await ask(model, HELLO)
    assert len(waits.delays_s) == 3


async def test_a_host_without_an_address_is_named_as_such(ask, retries):
    model = OpenAIModel("m", base_url="http://no-such-host.invalid/v1", retries=retries)
    with pytest.raises(ModelUnreachableError, match=r"host name in http://no-such-host.invalid/v1 has no address"):
        await ask(model, HELLO)


async def test_a_plain_server_at_a_secure_address_is_named_as_such(server, ask, waits, retries):
    model = OpenAIModel("m", base_url=server.url.replace("http:", "https:"), retries=retries)
    with pytest.raises(ModelUnreachableError, match=r"No secure connection.*use http:// instead"):
        await ask(model, HELLO)
    assert waits.delays_s == []


async def test_a_server_that_hangs_before_a_secure_connection_stands_is_given_up_after_the_time_out(ask, retries):
    async def hang(reader, writer):
        await reader.read()
        writer.close()

    silent = await asyncio.start_server(hang, "127.0.0.1", 0)
    async with silent:
        address = f"https://127.0.0.1:{silent.sockets[0].getsockname()[1]}/v1"
        model = OpenAIModel("m", base_url=address, timeouts=Timeouts(connect_s=0.05), retries=retries)
        with pytest.raises(ModelUnreachableError, match=r"took no connection within 0.05 s.*Tried 4 times"):
            await ask(model, HELLO)


@pytest.mark.parametrize("then", ["close", "abort"])
async def test_a_connection_that_breaks_before_an_answer_is_tried_again(server, ask, model, waits, then):
    server.will(server.raw(then=then), server.saying("here"))
    _, reply = await ask(model, HELLO)
    assert reply.message.text == "here"
    assert len(waits.delays_s) == 1


async def test_what_is_not_http_is_an_error(server, ask, model):
    server.will(*(server.raw(b"SSH-2.0-OpenSSH_9\r\n") for _ in range(4)))
    with pytest.raises(ModelUnreachableError, match="failed before an answer began"):
        await ask(model, HELLO)


async def test_a_server_that_never_answers_is_given_up_after_the_time_out(server, ask, waits, retries):
    server.will(server.raw(then="hang"))
    model = OpenAIModel("m", base_url=f"{server.url}/v1", timeouts=Timeouts(read_s=0.05), retries=retries)
    with pytest.raises(ModelUnreachableError, match=r"sent nothing within 0.05 s"):
        await ask(model, HELLO)
    assert waits.delays_s == []  # it may still be at work


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("SSL_CERT_FILE", "/no/such/file"),
        ("SSL_CERT_FILE", __file__),
        ("https_proxy", "gopher://proxy"),
        ("https_proxy", "socks5://proxy"),
    ],
)
async def test_settings_of_the_environment_that_cannot_be_used_are_named(ask, monkeypatch, name, value):
    monkeypatch.setenv(name, value)
    with pytest.raises(UsageError, match="network settings of the environment"):
        await ask(OpenAIModel("m", base_url="https://no-such-host.invalid/v1", retries=NO_RETRIES), HELLO)


# Answers that do not end well


async def collect(model):
    """The deltas that came before the error, and the error."""
    events = []
    try:
        async with contextlib.aclosing(model.stream(HELLO)) as stream:
            async for event in stream:
                events.append(event)
    except ModelError as error:
        return events, error
    return events, None


@pytest.mark.parametrize("then", ["close", "abort"])
async def test_an_answer_that_breaks_off_is_an_error_and_is_not_asked_for_again(server, model, waits, then):
    server.will(server.events(server.chunk({"content": "half"}), then=then))
    events, error = await collect(model)
    assert isinstance(error, ProviderError)
    assert "broke off in the middle" in str(error)
    assert not any(isinstance(event, ModelReply) for event in events)
    assert waits.delays_s == []


async def test_an_answer_that_just_ends_is_an_error_and_is_not_asked_for_again(server, model, waits):
    server.will(server.events(server.chunk({"content": "half"})))
    events, error = await collect(model)
    assert events == [TextDelta(text="half")]
    assert isinstance(error, ProviderError)
    assert "ended before the answer did" in str(error)
    assert waits.delays_s == []


async def test_an_answer_that_stops_coming_is_an_error(server, retries):
    server.will(server.events(server.chunk({"content": "half"}), then="hang"))
    model = OpenAIModel("m", base_url=f"{server.url}/v1", timeouts=Timeouts(read_s=0.5), retries=retries)
    events, error = await collect(model)
    assert events == [TextDelta(text="half")]
    assert isinstance(error, ModelUnreachableError)
    assert "in the middle of its answer" in str(error)


async def test_pieces_of_calls_are_for_watching_and_do_not_keep_a_request_from_being_sent_again(
    server, ask, model, waits
):
    function = {"name": "look", "arguments": '{"at'}
    half = server.chunk({"tool_calls": [{"index": 0, "id": "a", "function": function}]})
    server.will(server.events(half, then="abort"), server.saying("here"))
    deltas, reply = await ask(model, HELLO)
    assert deltas[0] == CallDelta(index=0, name="look", arguments='{"at')
    assert reply.message == Message.assistant("here")
    assert len(waits.delays_s) == 1


async def test_an_answer_that_breaks_off_before_its_first_word_is_asked_for_again(server, ask, model, waits):
    server.will(
        server.events(server.chunk({"role": "assistant"}), then="abort"), server.events(), server.saying("here")
    )
    _, reply = await ask(model, HELLO)
    assert reply.message.text == "here"
    assert len(waits.delays_s) == 2


@pytest.mark.parametrize(
    ("content", "kind", "words"),
    [
        (b"<html><body>Welcome to nginx!</body></html>", "text/html", "found a web page"),
        (b"<!DOCTYPE html>\n<p>", "application/json", "found a web page"),
        (b"{garbage", "application/json", "found '{garbage'"),
        (b"", "application/json", "found nothing"),
        (b"[1, 2]", "application/json", "expected a JSON object"),
        (b"\xff\xfe\x00", "application/octet-stream", "expected JSON"),
        (b"[" * 100_000, "application/json", "expected JSON"),
        (b"Internal Server Error", "text/plain", "Internal Server Error"),
    ],
)
async def test_a_body_that_is_not_the_protocol_is_an_error_and_not_asked_for_again(
    server, ask, model, content, kind, words
):
    server.will(server.body(content, kind=kind))
    with pytest.raises(ProviderError, match=words):
        await ask(model, HELLO)
    assert len(server.requests) == 1


@pytest.mark.parametrize("data", ["{garbage", "5", "null", "<html>", "[]", "[" * 100_000])
async def test_an_event_that_is_not_the_protocol_is_an_error(server, ask, model, data):
    server.will(server.events(data))
    with pytest.raises(ProviderError, match="does not speak the expected protocol"):
        await ask(model, HELLO)


async def test_a_body_that_does_not_unpack_is_an_error(server, ask, model):
    server.will(server.body(b"not gzip", content_encoding="gzip"))
    with pytest.raises(ProviderError, match="broke off"):
        await ask(model, HELLO)


async def test_an_event_without_end_is_given_up(server, ask, monkeypatch, retries):
    monkeypatch.setattr("wieldy.connect.models.http.EVENT_BYTES", 10_000)
    server.will(server.chunks(b"data: ", *[b"x" * 1_000] * 20))
    with pytest.raises(ProviderError, match="limit"):
        await ask(OpenAIModel("m", base_url=server.url, retries=retries), HELLO)


async def test_an_answer_without_end_is_given_up(server, model, monkeypatch):
    monkeypatch.setattr("wieldy.connect.models.http.ANSWER_BYTES", 2_000)
    server.will(server.events(*[server.chunk({"content": "x" * 100})] * 50))
    _, error = await collect(model)
    assert isinstance(error, ProviderError)
    assert "more than 2000 bytes" in str(error)


async def test_a_server_that_does_not_close_after_its_answer_is_not_waited_for_long(server, ask, model, monkeypatch):
    monkeypatch.setattr("wieldy.connect.models.http.DRAIN_S", 0.01)
    server.will(server.events(server.chunk({"content": "hi"}, "stop"), "[DONE]", then="hang"))
    with anyio.fail_after(60):
        _, reply = await ask(model, HELLO)
    assert reply.message.text == "hi"


# Secrets


async def test_the_key_is_in_no_text(server, ask, model, caplog):
    caplog.set_level(logging.DEBUG)
    server.will(server.json({"error": KEY}, status=500), server.saying("here"))
    await ask(model, HELLO)
    assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"
    assert KEY not in caplog.text
    assert KEY not in repr(model) + repr(model._server) + repr(model._server.facts)


async def test_a_password_in_an_address_is_sent_and_not_shown(server, ask):
    server.will(server.json({"error": "no"}, status=500))
    address = server.url.replace("//", "//ann:open%20sesame@") + "/v1"
    model = OpenAIModel("m", base_url=address, retries=NO_RETRIES)
    with pytest.raises(ProviderError) as caught:
        await ask(model, HELLO)
    assert server.requests[0].headers["authorization"].startswith("Basic ")
    assert "sesame" not in str(caught.value) + repr(model) + model.name
