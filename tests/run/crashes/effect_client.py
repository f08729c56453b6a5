"""How processes talk to the world outside, synchronously and not."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import anyio

_TIMEOUT_S = 30


def ask(port: int, **request: Any) -> dict[str, Any]:
    """The server's answer."""
    with socket.create_connection(("127.0.0.1", port), timeout=_TIMEOUT_S) as connection:
        connection.sendall(json.dumps(request).encode() + b"\n")
        with connection.makefile("rb") as answer:
            return json.loads(answer.readline())


async def ask_async(port: int, **request: Any) -> dict[str, Any]:
    """The server's answer."""
    async with await anyio.connect_tcp("127.0.0.1", port) as connection:
        await connection.send(json.dumps(request).encode() + b"\n")
        answer = b""
        while not answer.endswith(b"\n"):
            answer += await connection.receive()
    return json.loads(answer)


class RunningEffectServer:
    """The server in a process of its own; ended with the `with` block.

    Attributes:
        port: Where it listens on loopback.
    """

    def __enter__(self) -> Self:
        program = Path(__file__).with_name("effect_server.py")
        self._process = subprocess.Popen(
            [sys.executable, str(program)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert self._process.stdout is not None
        self.port = int(self._process.stdout.readline())
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.communicate(timeout=_TIMEOUT_S)

    def ask(self, world: str, do: str, **request: Any) -> dict[str, Any]:
        """The server's answer about one world."""
        return ask(self.port, world=world, do=do, **request)
