"""Calls of a server behind a URL that wants no handshake: whatever it answers is told, and nothing is done twice."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import partial
from http.server import BaseHTTPRequestHandler
from itertools import chain, repeat
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from wieldy import Agent
from wieldy.connect import mcp
from wieldy.connect.mcp.client.questions import Question
from wieldy.core.events import CallProgress, RunFinished
from wieldy.testing import ScriptedModel, text
from wieldy.testing import call as scripted_call

pytest.importorskip("mcp_types", reason="version 1 of the library knows no server without a handshake")
pytestmark = pytest.mark.anyio

Listen: TypeAlias = Callable[[type[BaseHTTPRequestHandler]], str]

REVISION = "2026-07-28"
JSON, EVENTS = "application/json", "text/event-stream"
DISCOVERED = {"supportedVersions": [REVISION], "capabilities": {"tools": {}}, "resultType": "complete"}
LISTED = {"tools": [{"name": "go", "inputSchema": {"type": "object"}}], "ttlMs": 0, "cacheScope": "private"}
ANSWER = {"content": [{"type": "text", "text": "fine"}], "resultType": "complete"}
COMPLETE = {"resultType": "complete"}
HELLO = {"server/discover": DISCOVERED, "tools/list": {**LISTED, "resultType": "complete"}}
WITH_HANDSHAKE = {
    "server/discover": None,
    "notifications/initialized": {},
    "initialize": {
        "protocolVersion": "2025-11-25",
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "s", "version": "1"},
    },
    "tools/list": {"tools": LISTED["tools"]},
}
UNKNOWN = {"code": -32601, "message": "Method not found"}


def message(**more: Any) -> str:
    return json.dumps({"jsonrpc": "2.0", "id": "ID", **more})


def events(*messages: str) -> str:
    return "".join(f"event: message\r\ndata: {each}\r\n\r\n" for each in messages)


class Sending(BaseHTTPRequestHandler):
    """Sends answers."""

    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *_: object) -> None:
        pass

    def send(self, status: int, sent: str, kind: str, **headers: str) -> None:
        """An answer with an end."""
        self.send_response(status)
        for name, value in {"Content-Type": kind, "Content-Length": str(len(sent)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(sent.encode())

    def send_for_ever(self, status: int, kind: str, pieces: Iterable[bytes], encoding: str) -> None:
        self.send_response(status)
        for name, value in {"Content-Type": kind, "Content-Encoding": encoding, "Connection": "close"}.items():
            self.send_header(name, value)
        self.end_headers()
        with suppress(OSError):  # whoever was reading has gone
            for piece in pieces:
                self.wfile.write(piece)


class Scripted:
    """A server on the loopback that answers every call in one way.

    Args:
        listen: Makes it listen.
        body: What it answers to a call; of several the next one each time, and the last one from then on.
        content_type: Of that.
        moves_to: The path where it is.
        hello: What it answers to other requests, by method.
        status: Of its answers to calls.
        endless: What it answers to calls instead, piece by piece.
        encoding: Of these pieces.

    Attributes:
        calls: What it was called with.
        paths: Where each request was sent.
    """

    def __init__(
        self,
        listen: Listen,
        body: str | list[str],
        content_type: str = JSON,
        *,
        moves_to: str = "",
        hello: Any = HELLO,
        status: int = 200,
        endless: Iterable[bytes] = (),
        encoding: str = "identity",
    ) -> None:
        self.calls: list[dict[str, Any]] = []
        self.paths: list[str] = []
        outer, bodies = self, [body] if isinstance(body, str) else [*body]

        class Handler(Sending):
            def do_GET(self) -> None:
                self.send(405, "", JSON)

            def do_POST(self) -> None:
                request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                outer.paths.append(self.path)
                if moves_to and self.path != moves_to:
                    self.send(307, "", JSON, Location=moves_to)
                    return
                if request["method"] in hello:
                    known = hello[request["method"]]
                    said = message(error=UNKNOWN) if known is None else message(result=known)
                    is_asked = "id" in request
                    text = said.replace('"ID"', json.dumps(request["id"])) if is_asked else ""
                    self.send(200 if is_asked else 202, text, JSON)
                    return
                outer.calls.append(request["params"])
                body = bodies.pop(0) if len(bodies) > 1 else bodies[0]
                sent = body.replace('"ID"', json.dumps(request["id"]))
                token = request["params"].get("_meta", {}).get("progressToken")
                if endless:
                    self.send_for_ever(status, content_type, endless, encoding)
                    return
                self.send(status, sent.replace('"TOKEN"', json.dumps(token)), content_type)

        self.url = listen(Handler)


@pytest.fixture
def answering(listen: Listen) -> Callable[..., Scripted]:
    return partial(Scripted, listen)


async def called(
    server: Scripted, times: int = 1, *, config: Any = None
) -> tuple[list[str], list[tuple[str, float | None]]]:
    """The results of calls one after the other, and what was heard of how far they were."""
    model = ScriptedModel([*([scripted_call("go", {"number": number})] for number in range(times)), [text("done")]])
    async with mcp({"url": server.url, **(config or {})}) as toolset:
        events = [event async for event in Agent(model, tools=[toolset]).stream("go")]
    heard = [(event.message, event.fraction) for event in events if isinstance(event, CallProgress)]
    (result,) = [event.result for event in events if isinstance(event, RunFinished)]
    return [message.result.content for message in result.messages if message.result is not None], heard


async def test_an_answer_as_json_or_as_a_stream_is_the_answer(answering: Any) -> None:
    for body, kind in ((message(result=ANSWER), JSON), (events(message(result=ANSWER)), EVENTS)):
        server = answering(body, kind)
        (found,), _ = await called(server)
        assert "fine" in found
        (params,) = server.calls
        assert (params["name"], params["arguments"]) == ("go", {"number": 0})
        assert params["_meta"]["io.modelcontextprotocol/protocolVersion"] == REVISION


@pytest.mark.parametrize("hello", [HELLO, WITH_HANDSHAKE])
async def test_half_of_a_pair_costs_one_character_and_nothing_else(answering: Any, hello: Any) -> None:
    cut = {"content": [{"type": "text", "text": "cut \ud83d!"}], "resultType": "complete"}
    for kind in (JSON, EVENTS):
        body = message(result=cut)
        server = answering(body if kind == JSON else events(body), kind, hello=hello)
        (found,), _ = await called(server)
        assert "cut \ufffd!" in found


async def test_a_block_that_the_protocol_does_not_know_is_shown_and_the_call_has_ended(answering: Any) -> None:
    odd = {"content": [{"type": "weird", "x": 1}, {"type": "text", "text": "fine"}], "resultType": "complete"}
    server = answering(message(result=odd))
    (found,), _ = await called(server)
    assert "fine" in found
    assert "weird" in found
    assert "outcome unknown" not in found


async def test_what_comes_before_the_answer_is_heard_if_it_tells_how_far_it_is(answering: Any) -> None:
    def note(method: str, **params: Any) -> str:
        return json.dumps({"jsonrpc": "2.0", "method": method, "params": params})

    odd = note("notifications/progress", progressToken="TOKEN", progress="much")
    first = note("notifications/progress", progressToken="TOKEN", progress=1, total=2, message="half")
    second = note("notifications/progress", progressToken="TOKEN", progress=2)
    log = note("notifications/message", level="info", data="hello")
    server = answering(events(log, odd, first, second, message(result=ANSWER)), EVENTS)
    (found,), heard = await called(server)
    assert "fine" in found
    assert heard == [("half", 0.5), ("", None)]


@pytest.mark.parametrize(
    ("body", "kind", "said"),
    [
        ("{", JSON, "the protocol does not know (no JSON"),
        ("7", JSON, "the protocol does not know (no message, but 7"),
        (message(), JSON, "the protocol does not know (neither a result nor an error"),
        (message(result=7), JSON, "the protocol does not know"),
        (message(result={"content": 7}), JSON, "the protocol does not know"),
        (message(error={"code": "x"}), JSON, "the protocol does not know"),
        (events("{"), EVENTS, "the protocol does not know"),
        ("", EVENTS, "the stream ended without an answer"),
        (events(message(method="notifications/message", params={})), EVENTS, "the stream ended without an answer"),
    ],
)
async def test_of_a_call_whose_answer_is_none_nobody_knows_how_it_ended_and_the_next_is_made(
    answering: Any, body: str, kind: str, said: str
) -> None:
    server = answering(body, kind)
    found, _ = await called(server, times=2)
    assert len(found) == 2
    assert all("outcome unknown" in each and said in each for each in found), found
    assert [params["arguments"] for params in server.calls] == [{"number": 0}, {"number": 1}]


async def test_with_a_handshake_nobody_knows_either_what_became_of_a_call_without_an_answer(answering: Any) -> None:
    for body, kind, said in (
        ("{", JSON, "the protocol does not know"),
        (message(result=7), JSON, "the protocol does not know"),
        (message(result={"content": 7}), JSON, "the protocol does not know"),
        (events(message(result=7)), EVENTS, "the protocol does not know"),
        (events("{"), EVENTS, "outcome unknown"),
        ("", EVENTS, "stream ended"),
    ):
        (found,), _ = await called(answering(body, kind, hello=WITH_HANDSHAKE))
        assert "outcome unknown" in found, (body, found)
        assert said in found, (body, found)
    refusal = message(error={"code": -32000, "message": "no licence"})
    for body, kind in ((refusal, JSON), (events(refusal), EVENTS)):
        (found,), _ = await called(answering(body, kind, hello=WITH_HANDSHAKE))
        assert "refused `go`: no licence" in found


async def test_an_error_of_the_protocol_is_told_in_its_own_words(answering: Any) -> None:
    for kind, code in ((JSON, -32001), (EVENTS, -32001), (JSON, -32000), (EVENTS, -32000)):
        body = message(error={"code": code, "message": "no licence", "data": {}})
        server = answering(body if kind == JSON else events(body), kind)
        (found,), _ = await called(server)
        assert "no licence" in found
        assert "refused" in found


async def test_a_server_that_has_moved_on_the_same_origin_is_followed_and_called_once(answering: Any) -> None:
    server = answering(message(result=ANSWER), moves_to="/mcp/")
    (found,), _ = await called(server)
    assert "fine" in found
    assert len(server.calls) == 1
    assert set(server.paths) == {"/mcp", "/mcp/"}


async def test_an_event_beyond_the_limit_ends_the_call_and_nothing_else(
    answering: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from wieldy.connect.mcp.client import sdk_v2

    monkeypatch.setattr(sdk_v2, "LIMIT_BYTES", 10_000)
    large = {"content": [{"type": "text", "text": "x" * 20_000}], "resultType": "complete"}
    server = answering(events(message(result=large)), EVENTS)
    found, _ = await called(server, times=2)
    assert all("outcome unknown" in each and "cannot be read" in each for each in found), found


SECRET = "canary-5d1e"
KEY = {"headers": {"X-Key": SECRET}}
BIG = b" " * 100_000


class Compressed:
    """One stream of gzip without an end."""

    def __iter__(self) -> Iterator[bytes]:
        compressing = zlib.compressobj(wbits=31)
        while True:
            yield compressing.compress(BIG) + compressing.flush(zlib.Z_SYNC_FLUSH)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ({"id": "other", "result": ANSWER}, "an answer to 'other', which is another request"),
        ({"id": None, "result": ANSWER}, "an answer to None"),
        ({"id": ["ID"], "result": ANSWER}, "an answer to ["),
        ({"id": "other", "error": {"code": 1, "message": "no"}}, "an answer to 'other'"),
    ],
)
async def test_an_answer_to_another_request_is_none(answering: Any, answer: Any, said: str) -> None:
    (found,), _ = await called(answering(message(**answer)))
    assert "outcome unknown" in found
    assert said in found
    stream = events(message(**answer), message(result={"content": [{"type": "text", "text": "mine"}]} | COMPLETE))
    (found,), _ = await called(answering(stream, EVENTS))
    assert "mine" in found


async def test_a_refusal_may_come_without_an_id(answering: Any) -> None:
    refusal = message(id=None, error={"code": -32600, "message": "no licence"})
    for body, kind in ((refusal, JSON), (events(refusal), EVENTS)):
        (found,), _ = await called(answering(body, kind))
        assert "refused `go`: no licence" in found


@pytest.mark.parametrize("hello", [HELLO, WITH_HANDSHAKE])
@pytest.mark.parametrize(("endless", "encoding"), [(repeat(BIG), "identity"), (Compressed(), "gzip")])
async def test_an_answer_without_an_end_is_read_to_a_limit(
    answering: Any, monkeypatch: pytest.MonkeyPatch, hello: Any, endless: Any, encoding: str
) -> None:
    from wieldy.connect.mcp.client import http

    monkeypatch.setattr(http, "LIMIT_BYTES", 1_000_000)
    server = answering("", endless=endless, encoding=encoding, hello=hello)
    found, _ = await called(server, times=2)
    assert all("outcome unknown" in each and "longer than the 1000000 bytes" in each for each in found), found


@pytest.mark.parametrize("hello", [HELLO, WITH_HANDSHAKE])
async def test_of_an_error_without_an_end_the_beginning_is_told(answering: Any, hello: Any) -> None:
    server = answering("", "text/plain", status=400, endless=chain([b"no licence"], repeat(BIG)), hello=hello)
    (found,), _ = await called(server)
    assert "HTTP 400 Bad Request: no licence" in found


@pytest.mark.parametrize("hello", [HELLO, WITH_HANDSHAKE])
async def test_what_cannot_be_decoded_costs_one_call(answering: Any, hello: Any) -> None:
    server = answering("", endless=repeat(BIG), encoding="gzip", hello=hello)
    found, _ = await called(server, times=2)
    assert all("outcome unknown" in each and "cannot" in each for each in found), found


@pytest.mark.parametrize("hello", [HELLO, WITH_HANDSHAKE])
async def test_json_that_is_too_deep_to_be_read_costs_one_call(answering: Any, hello: Any) -> None:
    server = answering("[" * 100_000, status=400, hello=hello)
    found, _ = await called(server, times=2)
    assert all("HTTP 400 Bad Request: [[[" in each for each in found), found
    server = answering("[" * 100_000, hello=hello)
    found, _ = await called(server, times=2)
    assert all("the protocol does not know" in each for each in found), found
    deep = {"content": [{"type": "text", "text": "[" * 100_000}], "structuredContent": {"a": 1}} | COMPLETE
    (found,), _ = await called(answering(message(result=deep), hello=hello))
    assert "internal error" not in found


async def test_addresses_for_a_person_are_told_without_a_secret_and_whatever_stands_among_them(answering: Any) -> None:
    asked = [1, None, [], {}, {"url": 5}, {"url": f"https://x.example/?t={SECRET}"}]
    refusal = message(error={"code": -32042, "message": "sign in", "data": {"elicitations": asked}})
    (found,), _ = await called(answering(refusal), config=KEY)
    assert "A person has to go to https://x.example/?t=[secret " in found
    assert SECRET not in found


async def test_the_answerer_and_the_model_see_a_question_without_a_secret(answering: Any) -> None:
    asking = {"q": {"method": "elicitation/create", "params": question_about({"a": STRING | {"title": SECRET}})}}
    bodies = [message(result={"resultType": "input_required", "inputRequests": asking}), message(result=ANSWER)]
    (found,), _ = await called(answering(bodies), config=KEY)
    assert "The server asked a person 'again [secret " in found
    assert SECRET not in found
    seen: list[Question] = []
    async with mcp({"url": answering(bodies).url, **KEY}, answerer=seen.append) as toolset:
        await Agent(ScriptedModel([[scripted_call("go", {})], [text("done")]]), tools=[toolset]).run("go")
    assert len(seen) == 1
    assert SECRET not in repr(seen)


STRING = {"type": "string"}


def question_about(properties: Any) -> dict[str, Any]:
    return {
        "message": f"again {SECRET}",
        "requestedSchema": {"type": "object", "properties": properties, "required": [*properties]},
    }


def bytes_in(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.iterdir())


@pytest.mark.parametrize("state", ["plain", SECRET])
async def test_a_question_that_rests_is_recorded_without_a_secret(answering: Any, tmp_path: Path, state: str) -> None:
    asking = {"q": {"method": "elicitation/create", "params": question_about({})}}
    question = {"resultType": "input_required", "inputRequests": asking, "requestState": state}
    server = answering([message(result=question), message(result=ANSWER)])
    model = ScriptedModel([[scripted_call("go", {})], [text("done")]])
    async with mcp({"url": server.url, **KEY}) as toolset:
        result = await Agent(model, tools=[toolset], journal=tmp_path / "runs.db").run("go")
    # What the server wants back as it was cannot be kept if a secret stands in it.
    assert result.stop_reason == ("waiting_for_approval" if state == "plain" else "answered")
    kept = bytes_in(tmp_path)
    assert b"again [secret" in kept
    assert SECRET.encode() not in kept


async def test_a_tool_that_is_described_with_a_secret_is_shown_without_it(answering: Any) -> None:
    tool = {"name": "go", "description": f"Goes with {SECRET}.", "inputSchema": {"type": "object", "title": SECRET}}
    hello = {**HELLO, "tools/list": {**LISTED, **COMPLETE, "tools": [tool]}}
    async with mcp({"url": answering(message(result=ANSWER), hello=hello).url, **KEY}) as toolset:
        (found,) = toolset
        assert found.definition.description.startswith("Goes with [secret ")
        assert SECRET not in repr(found.definition)
