"""Serving: connections that ask nothing end, those that ask are served for as long as it takes."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
import anyio.abc
import pytest

from wieldy.connect.serving.connections import most_connections
from wieldy.connect.serving.listening import listening, serve
from wieldy.core.errors import UsageError

resource: Any = pytest.importorskip("resource")
pytestmark = pytest.mark.anyio

BOUND_S = 60
HEAD_S = 0.2
REQUEST = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"


@pytest.mark.parametrize("host", ["", "é..x", "a\0b", "[::1", "1:2:3", "x" * 300])
def test_where_nobody_can_listen_is_said(host: str) -> None:
    with pytest.raises(UsageError, match="Expected a place to listen, found"):
        listening(host).close()


async def slowly(scope: Any, receive: Any, send: Any) -> None:
    """An answer that takes many times as long as a head may, in pieces."""
    if scope["type"] != "http":
        return
    await send({"type": "http.response.start", "status": 200, "headers": []})
    for _ in range(5):
        await anyio.sleep(HEAD_S * 2)
        await send({"type": "http.response.body", "body": b"piece ", "more_body": True})
    await send({"type": "http.response.body", "body": b"end"})


@asynccontextmanager
async def served(app: Any, **options: Any) -> AsyncGenerator[Callable[[], Any]]:
    with listening() as place:
        port: int = place.getsockname()[1]
        async with anyio.create_task_group() as tasks:
            started = anyio.Event()

            async def serving() -> None:
                await serve(app, place, on_start=started.set, on_stop=lambda: None, **{"head_s": HEAD_S, **options})

            tasks.start_soon(serving)
            with anyio.fail_after(BOUND_S):
                await started.wait()
                yield lambda: anyio.connect_tcp("127.0.0.1", port)
            tasks.cancel_scope.cancel()


async def ended(stream: anyio.abc.SocketStream) -> bytes:
    """All that comes until the other side ends the connection."""
    found = b""
    while True:
        try:
            found += await stream.receive()
        except (anyio.EndOfStream, anyio.BrokenResourceError):
            return found


@pytest.mark.parametrize("said", [b"", b"GET / HTTP/1.1\r\nHost: loc"])
async def test_a_connection_that_asks_nothing_is_ended(said: bytes) -> None:
    async with served(slowly) as connect, await connect() as stream:
        if said:
            await stream.send(said)
        assert await ended(stream) == b""


async def test_an_answer_may_take_longer_and_half_a_request_after_it_may_not() -> None:
    async with served(slowly) as connect, await connect() as stream:
        await stream.send(REQUEST)
        found = b""
        while b"end" not in found:
            found += await stream.receive()
        assert found.count(b"piece") == 5
        await stream.send(REQUEST[:20])
        assert await ended(stream) in (b"", b"\r\n0\r\n\r\n", b"\r\n", b"0\r\n\r\n")


async def test_of_more_connections_than_may_be_each_is_ended_at_once() -> None:
    async with served(slowly, head_s=BOUND_S, most=3) as connect:
        streams = [await connect() for _ in range(5)]
        assert [await ended(stream) for stream in streams[3:]] == [b"", b""]
        await streams[0].send(REQUEST)
        assert b"200 OK" in await streams[0].receive()
        for stream in streams:
            await stream.aclose()


def test_the_process_keeps_half_of_what_it_may_open_for_itself() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (1024, hard))
        assert most_connections() == 512
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
