"""One worker as the host holds it: descriptors of its process, channel and outputs, and what is read and written there.

Nothing here waits but `ready`; reading takes what is there. The worker's process is addressed by descriptor only, so a
signal never reaches another process that got its number.
"""

from __future__ import annotations

import os
import re
import select
import signal
import socket
import time
from contextlib import suppress
from pathlib import Path
from typing import Final

import anyio

from wieldy.core.errors import SandboxError
from wieldy.sandbox.frames import FrameReader
from wieldy.sandbox.outputs import Output
from wieldy.sandbox.starting import SandboxProcesses

_PIECE_BYTES: Final = 1 << 16
_MOMENT_S: Final = 1e-4
_QUICK_S: Final = 1e-3
_MOMENTS: Final = 50  # then others have their turn
_MOST_OF_SELECT: Final = 1024  # descriptors that `select(2)` knows
_EXITING: Final = 4  # PF_EXITING among the flags of `proc_pid_stat(5)`


class JailedWorker:
    """A locked-in process that runs code.

    Attributes:
        reader: Frames that it sent.
        output, errors: What it printed in the present run.
        is_closed: Whether it sends nothing any more.
    """

    def __init__(self, processes: SandboxProcesses) -> None:
        self._processes = processes
        self._channel, theirs = socket.socketpair()
        self._channel.setblocking(False)
        output, their_output = os.pipe()
        errors, their_errors = os.pipe()
        for descriptor in (output, errors):
            os.set_blocking(descriptor, False)
        self.output, self.errors = Output(output), Output(errors)
        try:
            self._number = processes.spawn(theirs, their_output, their_errors)
        except SandboxError:
            self._channel.close()
            self.output.close()
            self.errors.close()
            raise
        finally:
            theirs.close()
            os.close(their_output)
            os.close(their_errors)
        self.reader = FrameReader()
        self.is_closed = False
        self._process: int | None = None
        self._is_ready = False
        self._pid = 0
        self._unsent = bytearray()
        self._is_stopped = False
        self._quick = 0
        self._poll = select.epoll()
        for descriptor in (self._channel.fileno(), output, errors):
            self._poll.register(descriptor, select.EPOLLIN)

    async def ready(self) -> None:
        """The worker is locked in and waits for code.

        Raises:
            SandboxError: It could not be locked in; nothing ran.
        """
        if self._is_ready:
            return
        self.errors.begin(_PIECE_BYTES)
        if self._process is None:
            self._process = await self._processes.spawned(self._number)
            self._pid = _pid_of(self._process)
        self.read()
        while (frame := self.reader.next()) is None:
            await self.readable()
            self.read()
            if self.is_closed and self.reader.is_empty:
                self.drain()
                said = self.errors.kept.decode(errors="replace") or "it said nothing"
                raise SandboxError(f"a worker of the sandbox ended before it was ready: {said}")
        if frame.get("op") != "ready":
            raise SandboxError(f"a worker of the sandbox could not be locked in: {frame.get('reason')}")
        self._is_ready = True

    def comes_soon(self) -> bool:
        """Whether there is something to read, after a moment's wait if it came at once of late.

        The event loop stands still for that moment; going through it costs as much.
        """
        self._quick -= 1
        if self._quick <= 0 or self._unsent or self._channel.fileno() >= _MOST_OF_SELECT:
            return False
        if select.select([self._channel], [], [], _MOMENT_S)[0]:
            return True
        self._quick = 0
        return False

    async def readable(self) -> None:
        """Waits until there is something to read, or what was left unsent can be sent."""
        began = time.monotonic()
        await anyio.wait_readable(self._poll.fileno())
        self._quick = _MOMENTS if time.monotonic() - began < _QUICK_S else 0

    def read(self) -> None:
        """Takes what is there: frames' bytes; outputs when there are none, so that a call costs one question less."""
        if not self._unsent and not self.is_closed and self._read_channel():
            return
        for descriptor, event in self._poll.poll(0):
            if descriptor != self._channel.fileno():
                self._read_output(descriptor)
                continue
            if event & select.EPOLLOUT:
                self._flush()
            if event & ~select.EPOLLOUT and not self.is_closed:
                self._read_channel()

    def drain(self) -> None:
        """Takes what is left of the outputs; the worker is stopped or dead."""
        for output in (self.output, self.errors):
            while output.read():
                pass

    @property
    def unsent_bytes(self) -> int:
        """What the worker has not read yet, beyond what fits in the channel."""
        return len(self._unsent)

    def send(self, frame: bytes) -> None:
        """The frame is sent, or what is left of it waits for the worker to read."""
        self._unsent += frame
        self._flush()

    def cpu_s(self) -> float:
        """CPU time that the process has used; 0 when it has ended."""
        with suppress(OSError):
            return time.clock_gettime(~self._pid << 3 | 2)  # the process's clock, as `clock_getcpuclockid(3)` makes it
        return 0.0

    def delayed_s(self) -> float:
        """Time in which the process could have run and others had its core; 0 where the kernel does not say."""
        with suppress(IndexError):
            return int(_known(self._pid, "schedstat").split()[1]) / 1e9
        return 0.0

    def threads_and_peak(self) -> tuple[int, int]:
        """Threads of the process, and the most bytes that it had in memory."""
        status = _known(self._pid, "status")
        return _number(status, b"Threads"), _number(status, b"VmHWM") * 1024

    def stop(self) -> None:
        """The process does nothing until `go_on`."""
        if not self._is_stopped:
            self._signal(signal.SIGSTOP)
            self._is_stopped = True

    def go_on(self) -> None:
        """The process goes on."""
        if self._is_stopped:
            self._signal(signal.SIGCONT)
            self._is_stopped = False

    def kill(self) -> None:
        """The process is as good as dead."""
        self._signal(signal.SIGKILL)

    async def ends_by_itself(self) -> bool:
        """Whether the process, whose channel is closed, is ending; then it has ended afterwards."""
        assert self._process is not None
        if not self._is_exiting():
            return False
        await anyio.wait_readable(self._process)
        return True

    def _is_exiting(self) -> bool:
        # The kernel marks a process before it closes what was open, so a closed channel alone is no end.
        fields = _known(self._pid, "stat").rpartition(b")")[2].split()
        return not fields or bool(int(fields[6]) & _EXITING)

    async def end(self) -> tuple[int, float, int]:
        """Kills the process: how it ended (as `subprocess` has it), its CPU seconds, the most bytes that it had."""
        self.kill()
        ended = await self._processes.ended(self._number)
        return int(ended["status"]), float(ended["cpu_s"]), int(ended["peak_bytes"])

    async def close(self) -> None:
        """The process is killed and all descriptors are closed."""
        self.kill()
        if self._process is not None:
            os.close(self._process)
            self._process = None
        self._processes.forget(self._number)
        self._poll.close()
        self._channel.close()
        self.output.close()
        self.errors.close()

    def _signal(self, number: signal.Signals) -> None:
        if self._process is not None:
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._process, number)

    def _read_channel(self) -> bool:
        """Takes one piece of what is there; whether there was one."""
        try:
            # Not recvmsg: a descriptor that somebody passes along is dropped by the kernel.
            piece = os.read(self._channel.fileno(), _PIECE_BYTES)
        except BlockingIOError:
            return False
        except ConnectionResetError:
            piece = b""
        if piece:
            self.reader.feed(piece)
        else:
            self.is_closed = True
            self._poll.unregister(self._channel.fileno())
        return True

    def _read_output(self, descriptor: int) -> None:
        output = self.output if descriptor == self.output.descriptor else self.errors
        if not output.read() and output.is_at_end:
            self._poll.unregister(descriptor)

    def _flush(self) -> None:
        had_unsent = len(self._unsent)
        try:
            while self._unsent:
                del self._unsent[: self._channel.send(self._unsent)]
        except BlockingIOError:
            pass
        except (BrokenPipeError, ConnectionResetError):
            self._unsent.clear()
        if not self.is_closed and bool(had_unsent):
            wanted = select.EPOLLIN | (select.EPOLLOUT if self._unsent else 0)
            self._poll.modify(self._channel.fileno(), wanted)


def mapped_by(process: int) -> int:
    """Bytes of address space of the process that the descriptor stands for."""
    return _number(_known(_pid_of(process), "status"), b"VmSize") * 1024


def _pid_of(process: int) -> int:
    """The number, as this process sees it, of the process that the descriptor stands for."""
    for line in Path(f"/proc/self/fdinfo/{process}").read_text(encoding="ascii").splitlines():
        if line.startswith("Pid:"):
            return int(line.split()[1])
    raise SandboxError("the machine's /proc does not say which process a descriptor stands for")


def _known(pid: int, what: str) -> bytes:
    """What the kernel tells of a process; nothing once it has ended."""
    try:
        descriptor = os.open(f"/proc/{pid}/{what}", os.O_RDONLY)
    except OSError:
        return b""
    try:
        return os.read(descriptor, _PIECE_BYTES)
    except OSError:
        return b""
    finally:
        os.close(descriptor)


def _number(status: bytes, name: bytes) -> int:
    """The number that is told under the name, or 0."""
    found = re.search(rb"^%s:\s+(\d+)" % name, status, re.MULTILINE)
    return int(found[1]) if found else 0
