"""A toolset that is served in another process, and the SDK's own client to it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import pytest

pytest.importorskip("mcp_types", reason="version 2 of the MCP library is not installed")

import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client

sys.path.insert(0, str(Path(__file__).parent))  # the modules that these tests share; there are no packages in tests

PROGRAM = Path(__file__).parent / "tools_program.py"

BOUND_S = 60
"""In seconds; more than the 5 s of the HTTP library, because other work may share the cores."""

Connect = Callable[..., AbstractAsyncContextManager[Client]]


@pytest.fixture(params=["auto", "legacy"])
def era(request: pytest.FixtureRequest) -> str:
    """Which revisions the client speaks: the newest, or only those with a handshake."""
    return request.param


@pytest.fixture(scope="module")
def journal(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of the server over HTTP."""
    return tmp_path_factory.mktemp("journal") / "calls.db"


@pytest.fixture(scope="module")
def url(journal: Path) -> Iterator[str]:
    """Of a server over HTTP."""
    process = subprocess.Popen([sys.executable, str(PROGRAM), "http", str(journal)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    yield f"http://127.0.0.1:{int(process.stdout.readline())}/mcp"
    process.terminate()
    process.wait()
    process.stdout.close()


@pytest.fixture
def over_stdio(era: str) -> Connect:
    @asynccontextmanager
    async def connect() -> AsyncGenerator[Client]:
        parameters = StdioServerParameters(command=sys.executable, args=[str(PROGRAM), "stdio"])
        async with Client(stdio_client(parameters), mode=era) as client:
            yield client

    return connect


@pytest.fixture
def over_http(url: str, era: str) -> Connect:
    @asynccontextmanager
    async def connect(key: str) -> AsyncGenerator[Client]:
        async with (
            httpx2.AsyncClient(headers={"Authorization": f"Bearer {key}"}, timeout=BOUND_S) as http,
            Client(streamable_http_client(url, http_client=http), mode=era) as client,
        ):
            yield client

    return connect
