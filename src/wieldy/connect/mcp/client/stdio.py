"""A server as a child process: one JSON message a line on its standard input and output.

Reading is linear in what is read, whatever the length of a line. What the server writes to standard error, and lines
that are no messages, are kept, bounded. The process is the leader of a session of its own; closing ends the whole
group, and on Linux the process is told to end when the program dies. Deliberately not here: when a server is started
again (`supervisor`), and the protocol (`sdk`).
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import anyio
from anyio.abc import ByteReceiveStream, ByteSendStream, Process
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

from wieldy.connect.mcp.client.http import UNREADABLE
from wieldy.connect.mcp.client.port import Streams
from wieldy.connect.mcp.client.unreadable import answered, mended
from wieldy.core.errors import UsageError

MAX_MESSAGE_BYTES: Final = 256 * 1024 * 1024
"""The longest message that is read; a server that sends a longer one is disconnected."""

KEPT_BYTES: Final = 16 * 1024
"""How much of what a server writes beside its messages is kept."""

CLOSING_S: Final = 2.0
"""How long a process may take to end after its input is closed, and again after it is asked to."""

_POLL_S: Final = 0.01
_GONE: Final = (anyio.ClosedResourceError, anyio.BrokenResourceError, anyio.EndOfStream, OSError)
# Run before the server in its process: the kernel is to end it with the program, whatever the server does itself.
_ENDS_WITH_PARENT: Final = (
    "import ctypes,os,sys;ctypes.CDLL(None).prctl(1,9,0,0,0);"
    "os.getppid()==int(sys.argv[1]) or sys.exit(1);os.execv(sys.argv[2],sys.argv[3:])"
)
_INHERITED: Final = (
    ("HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER", "LANG", "LC_ALL", "TMPDIR")
    if sys.platform != "win32"
    else ("APPDATA", "HOMEDRIVE", "HOMEPATH", "LOCALAPPDATA", "PATH", "PATHEXT", "SYSTEMROOT", "TEMP", "USERPROFILE")
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Codec:
    """How the SDK has messages.

    Attributes:
        read: From a line without its end; raises ValueError where it is no message.
        write: To a line without its end.
        failed: The message that the request of this id has failed: given the id, a code and why.
    """

    read: Callable[[bytes], Any]
    write: Callable[[Any], bytes]
    failed: Callable[[int | str, int, str], Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """What is started.

    Attributes:
        program: A name that is looked for on the path, or a path.
        environment: Beside the few variables that every program needs; nothing else of our own is handed on.
        folder: Where it runs; None for where we do.
    """

    program: str
    arguments: tuple[str, ...] = ()
    environment: Mapping[str, str]
    folder: Path | None = None

    def __repr__(self) -> str:
        return f"Command({self.program!r}, {len(self.arguments)} arguments, {len(self.environment)} variables)"


class StdioTransport:
    """One process, started once."""

    def __init__(self, command: Command, codec: Codec) -> None:
        self._command = command
        self._codec = codec
        self._said = _Kept(KEPT_BYTES)
        self._why = ""
        self._process: Process | None = None
        self.ended = anyio.Event()

    def has_ended(self) -> bool:
        """Whether the process has ended, though that may not have been heard of yet."""
        if self._process is not None and _is_dead(self._process):
            self.ended.set()
        return self.ended.is_set()

    def last_words(self) -> str:
        """How the process ended, and the last of what it wrote to standard error."""
        words = [self._why] if self._why else []
        status = None if self._process is None else self._process.returncode
        if status is not None:
            words.append(f"its process ended with {_status(status)}")
        if said := self._said.text():
            words.append(f"it last wrote: {said}")
        return "; ".join(words)

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[Streams]:
        """The process runs and both streams are open."""
        process = self._process = await _start(self._command)
        try:
            sender, incoming = anyio.create_memory_object_stream[Any](0)
            outgoing, receiver = anyio.create_memory_object_stream[Any](0)
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._read, process, sender)
                tasks.start_soon(self._write, process, receiver)
                tasks.start_soon(self._listen, process)
                try:
                    yield incoming, outgoing
                finally:
                    incoming.close()
                    with anyio.CancelScope(shield=True):
                        # What was handed over, a word of a cancellation for instance, still goes out.
                        await outgoing.aclose()
                        await _end(process)
                    tasks.cancel_scope.cancel()
        finally:
            self.ended.set()
            with anyio.CancelScope(shield=True):
                await _end(process)
                await _close_pipes(process)

    async def _read(self, process: Process, sender: MemoryObjectSendStream[Any]) -> None:
        assert process.stdout is not None
        async with sender:
            try:
                async for line in _lines(process.stdout):
                    await self._take(line, sender)
            except _TooLongError as error:
                self._why = str(error)
            except _GONE:
                pass
            finally:
                self.ended.set()
        await _drain(process.stdout)  # so that a process that still writes can come to its end

    async def _take(self, line: bytes, sender: MemoryObjectSendStream[Any]) -> None:
        if not line.strip():
            return
        messages = self._messages(line)
        if not messages:
            self._said.add(b"(on standard output) " + line[:1000] + b"\n")
        for message in messages:
            await sender.send(message)

    def _messages(self, line: bytes) -> list[Any]:
        """What the line says; where that cannot be read, that the requests which it answers have failed."""
        for text in (lambda: line, lambda: mended(line)):
            with suppress(ValueError):
                return [self._codec.read(text())]
        why = "its line is no message of JSON-RPC"
        return [self._codec.failed(number, UNREADABLE, why) for number in answered(line)]

    async def _write(self, process: Process, receiver: MemoryObjectReceiveStream[Any]) -> None:
        assert process.stdin is not None
        with suppress(*_GONE):
            async with receiver:
                async for message in receiver:
                    await process.stdin.send(self._codec.write(message) + b"\n")
            await process.stdin.aclose()

    async def _listen(self, process: Process) -> None:
        assert process.stderr is not None
        with suppress(*_GONE):
            async for chunk in process.stderr:
                self._said.add(chunk)


class _TooLongError(Exception):
    """A line went on and on."""


async def _lines(stream: ByteReceiveStream) -> AsyncIterator[bytes]:
    pieces: list[bytes] = []
    size = 0
    async for chunk in stream:
        first, *others = chunk.split(b"\n")
        pieces.append(first)
        size += len(first)
        for other in others:
            yield b"".join(pieces)
            pieces, size = [other], len(other)
        if size > MAX_MESSAGE_BYTES:
            raise _TooLongError(f"it sent a message of more than {MAX_MESSAGE_BYTES // 1024**2} MiB")


async def _drain(stream: ByteReceiveStream) -> None:
    with suppress(*_GONE):
        async for _ in stream:
            pass


def _line(command: Command, environment: Mapping[str, str]) -> list[str]:
    """What is run.

    Raises:
        UsageError: It cannot be.
    """
    program = shutil.which(command.program, path=environment.get("PATH"))
    if program is None:
        raise UsageError(
            f"Expected a program to start, found no {command.program!r} on the path. Install it, or give its path."
        )
    if command.folder is not None and not command.folder.is_dir():
        raise UsageError(f"Expected a folder to start {command.program!r} in, found no {str(command.folder)!r}.")
    # It is looked for where we are, and run in its folder.
    line = [str(Path(program).absolute()), *command.arguments]
    if sys.platform == "linux":
        return [sys.executable, "-I", "-S", "-c", _ENDS_WITH_PARENT, str(os.getpid()), line[0], *line]
    return line


async def _start(command: Command) -> Process:
    environment = {name: os.environ[name] for name in _INHERITED if name in os.environ} | dict(command.environment)
    return await anyio.open_process(
        _line(command, environment),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
        cwd=command.folder,
        start_new_session=True,
    )


def _is_dead(process: Process) -> bool:
    if process.returncode is not None:
        return True
    if not hasattr(os, "waitid"):
        return False
    try:
        # Only looked at: the event loop still waits for it.
        return os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
    except ChildProcessError:  # it was waited for a moment ago
        return True


async def _end(process: Process) -> None:
    """The process and its group have ended: by themselves, asked to, or killed."""
    if process.returncode is None and process.stdin is not None:
        with suppress(*_GONE):
            await _aclose(process.stdin)
        for number in (None, "SIGTERM", "SIGKILL"):
            if number is not None:
                _signal_group(process, number)
            if await _has_ended(process):
                break
    _signal_group(process, "SIGKILL")  # what it has left behind


async def _aclose(stream: ByteSendStream) -> None:
    with anyio.move_on_after(CLOSING_S):  # it may not take what was written to it
        await stream.aclose()


async def _has_ended(process: Process) -> bool:
    # Not by waiting: that would also wait for children of the process that hold its pipes.
    with anyio.move_on_after(CLOSING_S):
        while process.returncode is None:  # noqa: ASYNC110 - there is no such event
            await anyio.sleep(_POLL_S)
    return process.returncode is not None


def _signal_group(process: Process, name: str) -> None:
    with suppress(ProcessLookupError, PermissionError):
        if sys.platform == "win32":
            process.kill()
        else:
            os.killpg(process.pid, getattr(signal, name))


async def _close_pipes(process: Process) -> None:
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream is not None:
            with suppress(*_GONE):
                await stream.aclose()
    # A child that was left behind may hold an end of a pipe for ever; asyncio would complain of the other end.
    transport: Any = getattr(getattr(process, "_process", None), "_transport", None)
    if transport is not None:
        with suppress(PermissionError):
            transport.close()


def _status(status: int) -> str:
    if status >= 0:
        return f"status {status}"
    try:
        return f"signal {signal.Signals(-status).name}"
    except ValueError:
        return f"signal {-status}"


class _Kept:
    """The last of what was written."""

    def __init__(self, limit_bytes: int) -> None:
        self._limit = limit_bytes
        self._pieces: deque[bytes] = deque()
        self._size = 0

    def add(self, piece: bytes) -> None:
        self._pieces.append(piece[-self._limit :])
        self._size += len(self._pieces[-1])
        while self._size - len(self._pieces[0]) >= self._limit:
            self._size -= len(self._pieces.popleft())

    def text(self) -> str:
        return b"".join(self._pieces)[-self._limit :].decode("utf-8", "replace").strip()
