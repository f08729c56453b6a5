"""A worker behind standard input and output: the process of a command, which sends pieces (`inside.pieces`).

Runs on every system. What comes is believed as little as what a worker in a jail sends. When standard input is closed,
the other end ends itself and whatever it started; a command that does not is killed.
"""

from __future__ import annotations

import json
import math
import subprocess
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from typing import Final, TypeAlias

import anyio
from anyio.abc import Process

from wieldy.core.errors import SandboxError
from wieldy.sandbox.frames import FrameReader, ProtocolError
from wieldy.sandbox.inside.pieces import (
    CHANNEL,
    ENDED,
    ERRORS,
    FAILED,
    OUTPUT,
    PIECE_BYTES,
    USAGE,
    PieceReader,
    TooLongError,
    piece,
)
from wieldy.sandbox.outputs import Printed

_START_S: Final = 60.0
_ENDING_S: Final = 5.0
_PATIENCE_S: Final = 1.0
"""How long a command may take to end by itself. A container that was still being started when its input was closed may
never hear of that; it is removed as soon as it is there to be removed."""

_SAID_BYTES: Final = 4096

Removing: TypeAlias = Callable[[], Awaitable[None]]


class PipedWorker:
    """A process that a command started.

    Args:
        process: That of the command, with three pipes.
        remove: Called where closing standard input was not enough, again and again before the command is killed.

    Attributes:
        reader: Frames that it sent.
        output, errors: What the code printed in the present run.
        is_closed: Whether it sends nothing any more.
    """

    def __init__(self, process: Process, *, remove: Removing | None = None) -> None:
        self._process = process
        self._remove = remove
        self.reader = FrameReader()
        self.output, self.errors = Printed(), Printed()
        self.is_closed = False
        self._pieces = PieceReader()
        self._received = bytearray()
        self._unsent = bytearray()
        self._said = bytearray()
        self._failure: str | None = None
        self._used = dict.fromkeys(("cpu_s", "peak_bytes"), 0.0) | {"threads": 1.0}
        self._status: float | None = None
        self._has_told_end = False
        self._is_ready = self._is_gone = self._is_sending = self._is_broken_off = False

    async def begin(self, content: bytes) -> None:
        """The other end is sent the content."""
        self._unsent += content
        await self._send()

    async def ready(self) -> None:
        """The other end is isolated and waits for code.

        Raises:
            SandboxError: It could not be; nothing ran.
        """
        if self._is_ready:
            return
        failure: str | None = f"the sandbox was not ready within {_START_S:.0f} s"
        with anyio.move_on_after(_START_S):
            async with anyio.create_task_group() as waiting:
                heard_all = anyio.Event()
                waiting.start_soon(self._listen, heard_all)
                failure = await self._until_ready(heard_all)
                waiting.cancel_scope.cancel()
        if failure is not None:
            raise SandboxError(failure)
        self._is_ready = True

    async def _until_ready(self, heard_all: anyio.Event) -> str | None:
        """What went wrong, if something did."""
        try:
            while (frame := self.reader.next()) is None:
                if self.is_closed and not self._received:
                    if self._failure is None:
                        with anyio.move_on_after(_ENDING_S):  # what the command says comes on another pipe
                            await heard_all.wait()
                    return self._failure or f"the sandbox ended before it was ready: {self._last_words()}"
                await self.readable()
                self.read()
        except ProtocolError as error:
            return f"what was started is no sandbox: it sent {error}"
        is_ready = frame.get("op") == "ready"
        return None if is_ready else f"a worker of the sandbox could not be locked in: {frame.get('reason')}"

    def _last_words(self) -> str:
        lines = self._said.decode(errors="replace").strip().splitlines()
        return lines[-1] if lines else "it said nothing"

    def comes_soon(self) -> bool:
        """Nobody can tell."""
        return False

    async def readable(self) -> None:
        """Waits until what was unsent is sent; else until something came, or will not come any more."""
        self._is_sending = bool(self._unsent)
        if self._is_sending:
            await self._send()
        elif not self._received and not self.is_closed:
            await self._receive()

    async def _send(self) -> None:
        assert self._process.stdin is not None
        if self._is_broken_off:
            await anyio.sleep_forever()  # nobody knows how much was sent: there is no going on, only an end
        self._is_broken_off = True
        with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError, OSError):
            await self._process.stdin.send(bytes(self._unsent))  # one that has ended will have told how
        self._unsent.clear()
        self._is_broken_off = False

    async def _receive(self) -> None:
        assert self._process.stdout is not None
        try:
            self._received += await self._process.stdout.receive(PIECE_BYTES)
        except (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError):
            self.is_closed = True

    async def _listen(self, heard_all: anyio.Event | None = None) -> None:
        """Hears what the command itself says."""
        assert self._process.stderr is not None
        with suppress(anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError):
            while True:
                self._said += await self._process.stderr.receive()
                del self._said[:-_SAID_BYTES]
        if heard_all is not None:
            heard_all.set()

    def read(self) -> None:
        """Takes what came; after something was sent there is nothing yet.

        Raises:
            ProtocolError: It is nothing that the other end sends.
        """
        if self._is_sending:
            return
        self._pieces.feed(self._received)
        self._received.clear()
        try:
            while (taken := self._pieces.next()) is not None:
                self._take(*taken)
        except TooLongError as error:
            raise ProtocolError(str(error)) from None

    def _take(self, stream: int, content: bytes) -> None:
        if stream == CHANNEL:
            self.reader.feed(content)
        elif stream == OUTPUT:
            self.output.take(content)
        elif stream == ERRORS:
            self.errors.take(content)
        elif stream == USAGE:
            self._used |= _numbers_in(content)
        elif stream == ENDED:
            told = _numbers_in(content)
            self._status = told.pop("status", None)
            self._used |= told
            self._has_told_end = self.is_closed = True
        elif stream == FAILED:
            self._failure = content.decode(errors="replace")
            self.is_closed = True
        else:
            raise ProtocolError("a piece of no known stream")

    def drain(self) -> None:
        """Nothing: what was printed came before what the worker said after it."""

    @property
    def unsent_bytes(self) -> int:
        """What is sent when the worker is waited for."""
        return len(self._unsent)

    def send(self, frame: bytes) -> None:
        """The frame waits to be sent."""
        for start in range(0, len(frame), PIECE_BYTES):
            self._unsent += piece(CHANNEL, frame[start : start + PIECE_BYTES])

    def cpu_s(self) -> float:
        """CPU time that was used when it was told last."""
        return self._used["cpu_s"]

    def delayed_s(self) -> float:
        """Nobody can tell."""
        return 0.0

    def threads_and_peak(self) -> tuple[int, int]:
        """Threads, and the most bytes, that were told last."""
        return int(self._used["threads"]), int(self._used["peak_bytes"])

    def stop(self) -> None:
        """Nothing: it goes on if it does not wait, as long as its CPU time lasts."""

    def go_on(self) -> None:
        """Nothing, as it was not stopped."""

    async def ends_by_itself(self) -> bool:
        """Whether it ended, rather than to send nothing any more."""
        return self._status is not None or not self._has_told_end

    async def end(self) -> tuple[int, float, int]:
        """Ends it: how it ended (as `subprocess` has it), its CPU seconds, the most bytes that it had."""
        await self.close()
        status = _status_of(self._process.returncode) if self._status is None else int(self._status)
        return status, self._used["cpu_s"], int(self._used["peak_bytes"])

    async def close(self) -> None:
        """Nothing of it is left."""
        if self._is_gone:
            return
        self._is_gone = True
        with anyio.CancelScope(shield=True):
            assert self._process.stdin is not None
            with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError, OSError):
                await self._process.stdin.aclose()
            if not await self._ends_or_is_removed():
                with suppress(ProcessLookupError):
                    self._process.kill()
            await self._process.aclose()

    async def _ends_or_is_removed(self) -> bool:
        deadline = anyio.current_time() + _ENDING_S
        while not await self._ends_within(_PATIENCE_S):
            if self._remove is not None:
                await self._remove()
            if anyio.current_time() >= deadline:
                return False
        return True

    async def _ends_within(self, seconds: float) -> bool:
        with anyio.move_on_after(seconds):
            async with anyio.create_task_group() as waiting:
                waiting.start_soon(self._listen)
                waiting.start_soon(self._discard)
                await self._process.wait()
                waiting.cancel_scope.cancel()
            return True
        return False

    async def _discard(self) -> None:
        """Reads on, so that the other end does not wait for that."""
        assert self._process.stdout is not None
        with suppress(anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError):
            while True:
                await self._process.stdout.receive(PIECE_BYTES)


async def open_piped(
    command: Sequence[str], begin: bytes, environment: Mapping[str, str] | None, *, remove: Removing | None = None
) -> PipedWorker:
    """The command runs.

    Args:
        command: And its arguments.
        begin: What it is sent first, so that it gets ready meanwhile; no more than a pipe holds.
        environment: All that it has; None is that of this program.
        remove: As `PipedWorker` takes it.

    Raises:
        SandboxError: It cannot be started.
    """
    pipe = subprocess.PIPE
    is_windows = sys.platform == "win32"
    try:
        process = await anyio.open_process(
            command,
            stdin=pipe,
            stdout=pipe,
            stderr=pipe,
            env=environment,
            start_new_session=not is_windows,  # what is typed to end the program does not end this on its own
            creationflags=subprocess.CREATE_NEW_PROCESS_GROUP if sys.platform == "win32" else 0,
        )
    except OSError as error:
        raise SandboxError(f"{command[0]} cannot be started: {error}") from None
    worker = PipedWorker(process, remove=remove)
    await worker.begin(begin)
    return worker


def _numbers_in(content: bytes) -> dict[str, float]:
    """What is told in numbers, by its names.

    Raises:
        ProtocolError: It is something else.
    """
    try:
        told = {str(name): float(value) for name, value in json.loads(content).items() if value is not None}
    except (ValueError, TypeError, AttributeError, OverflowError, RecursionError):
        raise ProtocolError("numbers that are none") from None
    if not all(map(math.isfinite, told.values())):
        raise ProtocolError("numbers that are none")
    return told


def _status_of(returncode: int | None) -> int:
    """As `subprocess` has it; commands that run another add 128 to the number of the signal that ended that."""
    code = returncode or 0
    return 128 - code if 128 < code < 160 else code
