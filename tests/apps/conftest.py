"""A model server that answers from a script, and the real command as a process of its own."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import termios
from collections.abc import Callable, Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, TypeAlias

import pytest

Turn: TypeAlias = "str | list[tuple[str, dict[str, Any]]] | int"
"""One reply: text, calls (name and arguments), or an HTTP status to fail with."""

TOOLS = '''
from wieldy import ToolError, tool

@tool(effect="read")
def find_order(order_id: str) -> dict[str, str]:
    """Find an order.

    Args:
        order_id: The order's number.
    """
    if order_id == "0":
        raise ToolError("There is no order 0. Order numbers begin with 1.")
    return {"order_id": order_id, "status": "shipped"}


@tool(effect="keyed", writes=["order:{order_id}"])
def refund(order_id: str) -> str:
    """Refund an order.

    Args:
        order_id: The order's number.
    """
    print("refund was run")
    return f"refunded {order_id}"
'''


class ScriptedServer:
    """An OpenAI-compatible server on 127.0.0.1 that gives one scripted reply after the other."""

    def __init__(self, turns: list[Turn]) -> None:
        self.requests: list[dict[str, Any]] = []
        self._turns = iter(turns)
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *_: object) -> None:
                pass

            def do_POST(self) -> None:
                outer.requests.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
                turn = next(outer._turns, "The script has ended.")
                if isinstance(turn, int):
                    self._send(
                        turn, "application/json", json.dumps({"error": {"message": "scripted failure"}}).encode()
                    )
                else:
                    self._send(200, "text/event-stream", b"".join(_stream(turn)))

            def _send(self, status: int, content_type: str, body: bytes) -> None:
                self.send_response(status)
                self.send_header("Content-Type", content_type)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.model = f"http://127.0.0.1:{self._server.server_port}/v1#scripted"
        self._thread = Thread(target=self._server.serve_forever, args=(0.01,))
        self._thread.start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def _stream(turn: str | list[tuple[str, dict[str, Any]]]) -> Iterator[bytes]:
    if isinstance(turn, str):
        middle = len(turn) // 2
        deltas: list[dict[str, Any]] = [{"content": turn[:middle]}, {"content": turn[middle:]}]
    else:
        deltas = [
            {
                "tool_calls": [
                    {
                        "index": index,
                        "id": f"call_{index}",
                        "type": "function",
                        "function": {"name": name, "arguments": json.dumps(arguments)},
                    }
                ]
            }
            for index, (name, arguments) in enumerate(turn)
        ]
    for delta in deltas:
        yield _event({"choices": [{"index": 0, "delta": delta, "finish_reason": None}]})
    finish = "stop" if isinstance(turn, str) else "tool_calls"
    yield _event({"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]})
    yield _event({"choices": [], "usage": {"prompt_tokens": 11, "completion_tokens": 3, "total_tokens": 14}})
    yield b"data: [DONE]\n\n"


def _event(chunk: dict[str, Any]) -> bytes:
    whole = {"id": "x", "object": "chat.completion.chunk", "created": 0, "model": "scripted", **chunk}
    return b"data: " + json.dumps(whole).encode() + b"\n\n"


@pytest.fixture
def serve() -> Iterator[Callable[[list[Turn]], ScriptedServer]]:
    """Starts scripted servers and stops them after the test."""
    servers: list[ScriptedServer] = []

    def start(turns: list[Turn]) -> ScriptedServer:
        servers.append(ScriptedServer(turns))
        return servers[-1]

    yield start
    for server in servers:
        server.close()


COMMAND = (sys.executable, "-W", "error", "-m", "wieldy.apps.cli.main")

Wieldy: TypeAlias = "Callable[..., subprocess.CompletedProcess[str]]"


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """A user of their own: no keys, no caches, no journal, no network."""
    kept = {name: value for name, value in os.environ.items() if name in ("PATH", "SYSTEMROOT", "LANG", "LC_ALL")}
    home = tmp_path / "home"
    home.mkdir()
    nowhere = "http://127.0.0.1:9"
    return {
        **kept,
        "HOME": str(home),
        "USERPROFILE": str(home),
        "TERM": "xterm-256color",
        "HF_ENDPOINT": nowhere,
        "PIP_INDEX_URL": nowhere,
        "PIP_RETRIES": "0",
        "NO_PROXY": "127.0.0.1",
    }


@pytest.fixture
def wieldy(forked_wieldy: tuple[str, ...], environment: dict[str, str], tmp_path: Path) -> Wieldy:
    """Runs the command and returns what it printed and its exit code.

    That each command finds by itself all that it needs is seen where it is started anew (`test_main`).
    """

    def run(*arguments: str | Path, stdin: str = "", **more: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*forked_wieldy, *map(str, arguments)],
            capture_output=True,
            input=stdin,
            encoding="utf-8",
            errors="surrogateescape",
            env={**environment, **more},
            cwd=tmp_path,
            timeout=60,
            check=False,
        )

    return run


@pytest.fixture
def tools_file(tmp_path: Path) -> Path:
    """A file with a tool that reads and a tool that changes something."""
    file = tmp_path / "shop.py"
    file.write_text(TOOLS, encoding="utf-8")
    return file


class AtTerminal:
    """The command at a pseudo-terminal of 80 columns, typed to and read from."""

    def __init__(self, arguments: Sequence[str | Path], *, environment: dict[str, str], folder: Path) -> None:
        self._screen, terminal = os.openpty()
        termios.tcsetwinsize(terminal, (24, 80))
        self.output = ""
        self._process = subprocess.Popen(
            [*COMMAND, *map(str, arguments)],
            stdin=terminal,
            stdout=terminal,
            stderr=terminal,
            env=environment,
            cwd=folder,
            start_new_session=True,
        )
        os.close(terminal)

    def wait_for(self, text: str, *, times: int = 1) -> None:
        """Read until the text has been printed so often."""
        while self.output.count(text) < times:
            assert self._read(), f"{text!r} was never printed:\n{self.output}"

    def type(self, text: str) -> None:
        os.write(self._screen, text.encode())

    def end(self) -> int:
        """Read the rest and return the exit code."""
        while self._read():
            pass
        return self._process.wait(30)

    def close(self) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._screen)

    def _read(self) -> bool:
        ready, _, _ = select.select([self._screen], [], [], 30)
        if not ready:
            return False
        try:
            piece = os.read(self._screen, 65536)
        except OSError:  # how Linux says that the other side was closed
            return False
        self.output += piece.decode("utf-8", "replace")
        return bool(piece)


@pytest.fixture
def at_terminal(environment: dict[str, str], tmp_path: Path) -> Iterator[Callable[..., AtTerminal]]:
    """Starts the command at a pseudo-terminal and ends it after the test."""
    sessions: list[AtTerminal] = []

    def start(*arguments: str | Path, **more: str) -> AtTerminal:
        sessions.append(AtTerminal(arguments, environment={**environment, **more}, folder=tmp_path))
        return sessions[-1]

    yield start
    for session in sessions:
        session.close()
