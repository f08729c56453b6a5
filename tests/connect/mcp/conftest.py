"""Servers for tests, as separate processes, and calls of their tools as a model makes them."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from wieldy import Agent, ToolResult
from wieldy.testing import ScriptedModel, text
from wieldy.testing import call as scripted_call
from wieldy.tools import Toolset

pytest.importorskip("mcp", reason="the MCP library is not installed")

PROGRAM = Path(__file__).parent / "server_program.py"
PYTHON = os.environ.get("WIELDY_TEST_SERVER_PYTHON", sys.executable)
"""What servers run with; another one where the client is tried with another version of the SDK."""


@dataclass
class Servers:
    """Starts servers.

    Attributes:
        log: One line for each effect that took place.
    """

    log: Path
    _processes: list[subprocess.Popen[str]] = field(default_factory=list)

    def command(self, *options: str) -> list[str]:
        """The command of one over standard input and output."""
        return [PYTHON, str(PROGRAM), "stdio", "--log", str(self.log), *options]

    def http(self, *options: str, port: int = 0) -> HttpServer:
        """One that listens on the loopback."""
        process = subprocess.Popen(
            [PYTHON, str(PROGRAM), "http", str(port), "--log", str(self.log), *options],
            stdout=subprocess.PIPE,
            text=True,
        )
        self._processes.append(process)
        assert process.stdout is not None
        return HttpServer(process, int(process.stdout.readline()))

    def effects(self) -> list[str]:
        return self.log.read_text().split() if self.log.exists() else []

    def close(self) -> None:
        for process in self._processes:
            process.kill()
            process.wait()
            assert process.stdout is not None
            process.stdout.close()


@dataclass
class HttpServer:
    process: subprocess.Popen[str]
    port: int

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/mcp"

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()


class Listening(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients go away, which is no error."""


@pytest.fixture
def listen() -> Iterator[Callable[[type[BaseHTTPRequestHandler]], str]]:
    """Answers requests on the loopback until the test ends, and gives the address."""
    with ExitStack() as listening:

        def start(handler: type[BaseHTTPRequestHandler]) -> str:
            server = listening.enter_context(Listening(("127.0.0.1", 0), handler))
            thread = Thread(target=server.serve_forever, args=(0.01,))
            thread.start()
            listening.callback(thread.join)
            listening.callback(server.shutdown)
            return f"http://127.0.0.1:{server.server_port}/mcp"

        yield start


@pytest.fixture
def servers(tmp_path: Path) -> Iterator[Servers]:
    made = Servers(tmp_path / "effects")
    yield made
    made.close()


@pytest.fixture(params=["modern", "legacy"])
def era(request: pytest.FixtureRequest) -> str:
    """Which revisions of the protocol the server knows: the newest, or only those with a handshake."""
    return request.param


@pytest.fixture
def call() -> Callable[..., Any]:
    """Calls a tool as a model does, and gives its result."""

    async def call_tool(toolset: Toolset, name: str, /, **arguments: Any) -> ToolResult:
        model = ScriptedModel([[scripted_call(name, arguments)], [text("done")]])
        result = await Agent(model, tools=[toolset]).run("go")
        found = next(message.result for message in result.messages if message.role == "tool")
        assert found is not None
        return found

    return call_tool
