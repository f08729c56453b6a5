"""The control without a supervisor: a host that runs code in its own process and believes what it is told.

It does what such hosts do: `exec` among its own objects, values that cross by pickle, frames of any size parsed as they
come, files stored under the names that they are sent with, errors passed on with their whole text, output kept for
ever. It runs in a process of its own that is ended after each attempt.
"""

from __future__ import annotations

import array
import asyncio
import base64
import inspect
import json
import mmap
import os
import pickle
import socket
import sys
import threading
import traceback
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, NoReturn

from escape_unlocked import bound_resources

_CHANNEL: Final = 100
_MARK: Final = b"all that was written before this is read"
_SETTLED_S: Final = 2.0

_KEPT: list[Any] = [array, mmap]  # what attempts import; a host that became another user may not read its library


def run_trusting(
    codes: list[str], given: dict[str, Any], report: int, handler: Callable[[dict[str, Any]], Any]
) -> NoReturn:
    """Runs the codes one after the other and writes what came of them, as JSON, to the descriptor; waits to be ended.

    Args:
        codes: Each with its prelude, run among the same objects.
        given: `secret` and `scratch`.
        report: Where to.
        handler: Answers calls.
    """
    bound_resources()
    secret = given["secret"]
    host = _Host(handler, Path(given["scratch"]))
    os.chdir(given["scratch"])
    host.open_descriptors(Path(given["canary"]))
    for code in codes:
        host.run(code)
    content = json.dumps({"outcomes": host.outcomes, "calls": host.calls, "raised": host.raised, "late": host.late})
    _KEPT.append(secret)
    with os.fdopen(report, "w") as file:
        file.write(content)
    while True:
        threading.Event().wait()


class _Host:
    def __init__(self, handler: Callable[[dict[str, Any]], Any], scratch: Path) -> None:
        self._handler = handler
        self._scratch = scratch
        self._namespace: dict[str, Any] = {"__name__": "__main__", "call_sync": self._call}
        self._replies = bytearray()
        self._stored: list[tuple[str, bytes]] = []
        self._said: list[dict[str, Any]] = []
        self._printed = bytearray()
        self._has_read = threading.Event()
        self._has_printed = threading.Event()
        self.outcomes: list[dict[str, Any]] = []
        self.calls: list[dict[str, Any]] = []
        self.late = 0
        self.raised: str | None = None

    def open_descriptors(self, canary: Path) -> None:
        """Channel, output, and what a host has open."""
        _KEPT.append(canary.open())
        self._channel, theirs = socket.socketpair()
        os.dup2(theirs.fileno(), _CHANNEL)
        theirs.close()
        output, their_output = os.pipe()
        os.dup2(their_output, 1)
        os.dup2(their_output, 2)
        sys.stdout = os.fdopen(1, "w", errors="backslashreplace", closefd=False)
        threading.Thread(target=self._read_output, args=(output,), daemon=True).start()
        threading.Thread(target=self._read_frames, daemon=True).start()

    def run(self, code: str) -> None:
        """Runs the code; a frame that says how it ended counts before what happened."""
        error = value = None
        try:
            value = self._evaluate(code)
        except Exception as raised:
            error = {"type": type(raised).__name__, "message": str(raised), "traceback": traceback.format_exc()}
        with suppress(OSError):
            sys.stdout.flush()
        self._settle()
        said = self._said[-1] if self._said else {}
        self.outcomes.append(
            {
                "value": said.get("value", value if _is_json(value) else None),
                "value_repr": None if _is_json(value) else repr(value),
                "stdout": self._printed.decode("utf-8", "replace"),
                "error": error,
                "artifacts": [(name, base64.b64encode(content).decode()) for name, content in self._files()],
            }
        )
        self._printed.clear()

    def _evaluate(self, code: str) -> Any:
        compiled = compile(code, "<code>", "exec", flags=0x2000)  # PyCF_ALLOW_TOP_LEVEL_AWAIT
        running = eval(compiled, self._namespace)
        if inspect.iscoroutine(running):
            asyncio.run(running)
        value = self._namespace.get("result")
        with suppress(pickle.PicklingError, TypeError, AttributeError):
            return pickle.loads(pickle.dumps(value))
        return value

    def _settle(self) -> None:
        """Waits until what was sent and printed is read: marks behind it are. A reader that broke is not waited for."""
        with suppress(OSError):
            os.write(_CHANNEL, len(_MARK).to_bytes(4, "big") + _MARK)
            self._has_read.wait(_SETTLED_S)
        with suppress(OSError):
            os.write(1, _MARK)
            self._has_printed.wait(_SETTLED_S)
        self._has_read.clear()
        self._has_printed.clear()

    def _call(self, name: str, arguments: dict[str, Any] | None = None) -> Any:
        call = {"seq": len(self.calls) + 1, "name": name, "arguments": arguments or {}}
        self.calls.append(call)
        return self._handler(call)

    def _read_output(self, descriptor: int) -> None:
        while piece := os.read(descriptor, 1 << 16):
            self._printed += piece
            if self._printed.endswith(_MARK):
                del self._printed[-len(_MARK) :]
                self._has_printed.set()

    def _read_frames(self) -> None:
        try:
            while header := self._read(4):
                content = self._read(int.from_bytes(header, "big"))
                if content == _MARK:
                    self._has_read.set()
                else:
                    self._take(json.loads(content))
        except BaseException as error:
            self.raised = repr(error)[:200]
            self._has_read.set()

    def _read(self, size: int) -> bytes:
        buffer, filled = bytearray(size), 0
        while filled < size:
            piece, descriptors, _, _ = socket.recv_fds(self._channel, min(size - filled, 1 << 16), 16)
            _KEPT.extend(descriptors)
            if not piece:
                raise EOFError
            buffer[filled : filled + len(piece)] = piece
            filled += len(piece)
        return bytes(buffer)

    def _take(self, frame: dict[str, Any]) -> None:
        if frame["op"] == "calls":
            for asked in frame["calls"]:
                call = {"seq": len(self.calls) + 1, "arguments": None, **asked}
                self.calls.append(call)
                self.late += bool(self._said)
                self._reply(self._handler(call))
        elif frame["op"] == "artifact":
            self._stored.append((frame["name"], base64.b64decode(frame["data"])))
            (self._scratch / frame["name"]).write_bytes(self._stored[-1][1])
        elif frame["op"] in {"done", "error"}:
            self._said.append(frame)
        else:
            raise LookupError(frame["op"])

    def _reply(self, answer: Any) -> None:
        self._replies += json.dumps(answer).encode()
        with suppress(BlockingIOError):
            while self._replies:
                del self._replies[: self._channel.send(self._replies, socket.MSG_DONTWAIT)]

    def _files(self) -> list[tuple[str, bytes]]:
        found = list(self._stored)
        for path in self._scratch.iterdir():
            if path.is_file():
                found.append((path.name, path.read_bytes()))
        return found


def _is_json(value: Any) -> bool:
    try:
        json.dumps(value)
    except (TypeError, ValueError, RecursionError):
        return False
    return True
