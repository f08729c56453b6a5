"""A real HTTP server on this machine that answers with exactly the bytes it was given, and says what it was asked."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any, Literal

import pytest

from wieldy.connect.models.retries import Retries
from wieldy.core.ports import Model, ModelReply, ModelRequest


@dataclass(frozen=True, kw_only=True)
class Received:
    """One request as it arrived."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass(frozen=True, kw_only=True)
class Answer:
    """Bytes to send, one piece after another, and what to do then."""

    pieces: tuple[bytes, ...] = ()
    then: Literal["keep", "close", "abort", "hang"] = "keep"


class WireServer:
    """Answers request after request from a list; a request that no answer was given for gets status 599.

    What is only looked up (GET) is answered from `pages`, by its path; where there is none, nothing is found.
    """

    def __init__(self) -> None:
        self.requests: list[Received] = []
        self.looked_up: list[str] = []
        self.pages: dict[str, Answer] = {}
        self.connections = 0
        self.url = ""
        self._answers: list[Answer] = []
        self._writers: set[asyncio.StreamWriter] = set()
        self._handlers: set[asyncio.Task[None]] = set()

    def will(self, *answers: Answer) -> None:
        """Adds answers."""
        self._answers += answers

    # What to answer

    @staticmethod
    def raw(*pieces: bytes, then: Literal["keep", "close", "abort", "hang"] = "close") -> Answer:
        return Answer(pieces=pieces, then=then)

    @staticmethod
    def body(content: bytes, *, status: int = 200, kind: str = "application/json", **headers: str) -> Answer:
        lines = [f"HTTP/1.1 {status} Something", f"content-type: {kind}", f"content-length: {len(content)}"]
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        return Answer(pieces=("\r\n".join(lines).encode() + b"\r\n\r\n" + content,))

    @classmethod
    def json(cls, value: object, *, status: int = 200, **headers: str) -> Answer:
        return cls.body(json.dumps(value).encode(), status=status, **headers)

    @staticmethod
    def chunks(
        *pieces: bytes,
        kind: str = "text/event-stream",
        then: Literal["keep", "close", "abort", "hang"] = "keep",
    ) -> Answer:
        """Each piece as a chunk of its own, which is how the client sees them; the end only if `then` is "keep"."""
        head = f"HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ntransfer-encoding: chunked\r\n\r\n".encode()
        framed = tuple(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in pieces if piece)
        last = (b"0\r\n\r\n",) if then == "keep" else ()
        return Answer(pieces=(head, *framed, *last), then=then)

    @classmethod
    def events(cls, *events: object, then: Literal["keep", "close", "abort", "hang"] = "keep") -> Answer:
        """Server-sent events: text as it is, anything else as JSON; with a `type`, named after it."""
        return cls.chunks(*(_event(event) for event in events), then=then)

    # What an OpenAI-compatible server says

    @staticmethod
    def chunk(delta: dict[str, Any] | None = None, finish: str | None = None, **more: Any) -> dict[str, Any]:
        choices = [] if delta is None else [{"index": 0, "delta": delta, "finish_reason": finish}]
        return {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": choices, **more}

    @classmethod
    def saying(cls, text: str) -> Answer:
        return cls.events(cls.chunk({"role": "assistant", "content": text}), cls.chunk({}, "stop"), "[DONE]")

    # Serving

    async def serve(self, port: int = 0) -> asyncio.Server:
        server = await asyncio.start_server(self._accept, "127.0.0.1", port)
        self.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        return server

    async def stop(self, server: asyncio.Server) -> None:
        server.close()
        for writer in list(self._writers):
            writer.transport.abort()
        for handler in list(self._handlers):
            handler.cancel()
        await asyncio.gather(*self._handlers, return_exceptions=True)
        await server.wait_closed()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._handlers.add(task)
        self._writers.add(writer)
        self.connections += 1
        try:
            while (received := await self._receive(reader, writer)) is not None:
                then = await self._send(writer, self._answer_to(received))
                if then != "keep":
                    break
        except (ConnectionError, asyncio.CancelledError):
            pass
        finally:
            writer.close()
            self._writers.discard(writer)
            self._handlers.discard(task)

    @staticmethod
    async def _receive(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> Received | None:
        try:
            start = await reader.readexactly(1)
            if start == b"\x16":  # the start of TLS, which real servers refuse in plain text as well
                writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
                return None
            head = (start + await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        except (asyncio.IncompleteReadError, ConnectionError):
            return None
        first, *lines = head.strip().split("\r\n")
        method, path, _ = first.split(" ")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        body = await reader.readexactly(int(headers.get("content-length", 0)))
        return Received(method=method, path=path, headers=headers, body=body)

    def _answer_to(self, received: Received) -> Answer:
        if received.method == "GET":
            self.looked_up.append(received.path)
            return self.pages.get(received.path) or self.json({"error": "not found"}, status=404)
        self.requests.append(received)
        return self._answers.pop(0) if self._answers else self.json({"error": "no answer left"}, status=599)

    @staticmethod
    async def _send(writer: asyncio.StreamWriter, answer: Answer) -> str:
        for piece in answer.pieces:
            writer.write(piece)
            await writer.drain()
        if answer.then == "abort":
            writer.transport.abort()
        if answer.then == "hang":
            await asyncio.Event().wait()
        return answer.then


def _event(event: object) -> bytes:
    if isinstance(event, bytes):
        return event
    if isinstance(event, str):
        return f"data: {event}\n\n".encode()
    name = f"event: {event['type']}\n" if isinstance(event, dict) and "type" in event else ""
    return f"{name}data: {json.dumps(event)}\n\n".encode()


@dataclass
class Waits:
    """Instead of waiting, notes for how long."""

    delays_s: list[float] = field(default_factory=list)

    async def __call__(self, delay_s: float) -> None:
        self.delays_s.append(delay_s)


@pytest.fixture
async def server() -> AsyncIterator[WireServer]:
    wire = WireServer()
    listening = await wire.serve()
    yield wire
    await wire.stop(listening)


@pytest.fixture(scope="session")
def new_server() -> Callable[[], WireServer]:
    """For a test that runs event loops of its own."""
    return WireServer


Ask = Callable[[Model, ModelRequest], Awaitable[tuple[list[Any], ModelReply]]]


@pytest.fixture(scope="session")
def ask() -> Ask:
    """Puts a request to a model and gives its deltas and its reply."""

    async def put(model: Model, request: ModelRequest) -> tuple[list[Any], ModelReply]:
        async with aclosing(model.stream(request)) as stream:  # type: ignore[type-var]
            *deltas, reply = [event async for event in stream]
        assert isinstance(reply, ModelReply)
        return deltas, reply

    return put


@pytest.fixture
def waits() -> Waits:
    return Waits()


@pytest.fixture
def retries(waits: Waits) -> Retries:
    """Retries that take no time; the random number is always 1."""
    return Retries(sleep=waits, random=lambda: 1.0, now=lambda: 0.0)
