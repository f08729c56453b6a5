"""The first process of a container: it forks the one that runs the code, and carries bytes between that and the host.

All that it has to the outside is standard input and output (`pieces`). When the host is gone it ends, and with it, as
the first process of its namespace, everything in the container. It measures the other process, and stops it in the
host's turn. Code there cannot signal or trace it: the kernel protects the first process, and it is not dumpable.
"""

from __future__ import annotations

import json
import os
import select
import signal
import socket
from typing import Any, NoReturn

from .guest.channel import FRAME_BYTES, Channel
from .guest.serving import serve
from .linux import numbers, rights, seccomp
from .pieces import CHANNEL, ENDED, ERRORS, FAILED, OUTPUT, SETTINGS, USAGE, PieceReader, piece
from .usage import usage_of
from .worker import arrange
from .zygote import preload

SCRATCH_PATH = "/scratch"

_READ_BYTES = 1 << 16
_LOOK_S = 0.1
_ENDING_S = 1.0
_DESCRIPTORS = 64
_INPUT, _OUTPUT = 0, 1


def main() -> NoReturn:
    """Carries until the host is gone or the code's process has ended."""
    reader = PieceReader()
    try:
        carrier = _begin(reader)
    except Exception as error:  # whatever it is, the host is told and nothing runs
        _tell(FAILED, f"{type(error).__name__}: {error}".encode())
        os._exit(70)
    carrier.carry(reader)
    os._exit(0)


def _begin(reader: PieceReader) -> Carrier:
    settings = _settings(reader)
    architecture = numbers.this_architecture()
    preload(tuple(settings["packages"]))
    filters = seccomp.Filter(architecture, has_scratch=True)
    rights.give_up_capabilities()
    ours, theirs = socket.socketpair()
    output, their_output = os.pipe()
    errors, their_errors = os.pipe()
    pid = os.fork()
    if not pid:
        ours.close()
        _become_worker(settings, filters, (theirs.fileno(), their_output, their_errors))
    theirs.close()
    os.close(their_output)
    os.close(their_errors)
    return Carrier(pid, ours, output, errors)


def _settings(reader: PieceReader) -> dict[str, Any]:
    while (first := reader.next()) is None:
        content = os.read(_INPUT, _READ_BYTES)
        if not content:
            os._exit(0)
        reader.feed(content)
    if first[0] != SETTINGS:
        raise ValueError("the host sent something else before the settings")
    return json.loads(first[1])


def _become_worker(settings: dict[str, Any], filters: seccomp.Filter, descriptors: tuple[int, int, int]) -> NoReturn:
    """Locks this process in as a jail does, but for what the container does already, and runs what the host sends."""
    try:
        arrange(descriptors)
        channel = Channel(3)
        try:
            rights.die_with_parent()
            rights.limit_resources(
                memory_bytes=settings["memory_bytes"],
                cpu_s=settings["lifetime_cpu_s"],
                file_bytes=settings["file_bytes"],
                descriptors=_DESCRIPTORS,
            )
            os.chdir(SCRATCH_PATH)
            signal.signal(signal.SIGXCPU, signal.SIG_DFL)
            seccomp.install(filters.program(os.getpid()))
        except Exception as error:  # whatever went wrong, nothing may run here
            channel.send({"op": "refused", "reason": f"{type(error).__name__}: {error}"})
            os._exit(70)
        serve(channel, scratch=SCRATCH_PATH)
    finally:
        os._exit(1)


class Carrier:
    """Bytes from the host to the process that runs the code, and back, with what that process uses."""

    def __init__(self, pid: int, channel: socket.socket, output: int, errors: int) -> None:
        self._pid = pid
        self._process = os.pidfd_open(pid)
        self._channel = channel
        self._output, self._errors = output, errors
        self._open = {channel.fileno(), output, errors}
        for descriptor in self._open:
            os.set_blocking(descriptor, False)
        self._unsent = bytearray()
        self._told_usage = b""
        self._has_ended_itself = True
        self._turn = Turn()
        self._has_turn = True
        self._poll = select.poll()
        for descriptor in (_INPUT, self._process, *self._open):
            self._poll.register(descriptor, select.POLLIN)

    def carry(self, reader: PieceReader) -> None:
        """Until the code's process has ended, and the host knows all that it wrote and how it ended."""
        self._obey(reader)
        while True:
            ready = dict(self._poll.poll(_LOOK_S * 1000 if self._has_turn else None))
            self._carry_out()
            if self._unsent:
                self._carry_in()
            if _INPUT in ready:
                reader.feed(_read_or_exit())
                self._obey(reader)
            if self._process in ready:
                break
            if self._channel.fileno() not in self._open:
                self._end_if_it_goes_on()
                break
        while self._carry_out():
            pass
        self._tell_end()

    def _obey(self, reader: PieceReader) -> None:
        while (taken := reader.next()) is not None:
            if taken[0] == CHANNEL:
                self._unsent += taken[1]
                if not self._has_turn:
                    self._has_turn = True
                    os.kill(self._pid, signal.SIGCONT)
        self._carry_in()

    def _carry_in(self) -> None:
        try:
            while self._unsent:
                del self._unsent[: self._channel.send(self._unsent)]
        except BlockingIOError:
            pass
        except OSError:  # the other end is closed; how its process ended will be told
            self._unsent.clear()
        if self._channel.fileno() in self._open:
            self._poll.modify(self._channel, select.POLLIN | (select.POLLOUT if self._unsent else 0))

    def _carry_out(self) -> bool:
        """Whether the channel had something, and may have more.

        What was printed before the channel's bytes were written is told before them, and so is what was used by then.
        """
        content = self._taken(self._channel.fileno())
        for descriptor in (self._output, self._errors):
            while printed := self._taken(descriptor):
                _tell(OUTPUT if descriptor == self._output else ERRORS, printed)
        self._tell_usage()
        if content:
            if self._turn.is_over_with(content):
                self._has_turn = False
                os.kill(self._pid, signal.SIGSTOP)
            _tell(CHANNEL, content)
        return bool(content)

    def _taken(self, descriptor: int) -> bytes:
        """One piece of what is there; nothing where the other end is closed, which is not looked at any more."""
        if descriptor not in self._open:
            return b""
        try:
            content = os.read(descriptor, _READ_BYTES)
        except BlockingIOError:
            return b""
        except OSError:
            content = b""
        if not content:
            self._poll.unregister(descriptor)
            self._open.discard(descriptor)
        return content

    def _tell_usage(self) -> None:
        if (usage := _json(usage_of(self._pid))) != self._told_usage:
            self._told_usage = usage
            _tell(USAGE, usage)

    def _end_if_it_goes_on(self) -> None:
        """A process that has closed its channel has ended, or it is ended."""
        self._has_ended_itself = bool(select.select([self._process], [], [], _ENDING_S)[0])
        if not self._has_ended_itself:
            os.kill(self._pid, signal.SIGKILL)

    def _tell_end(self) -> None:
        _, status, usage = os.wait4(self._pid, 0)
        end = {
            "status": os.waitstatus_to_exitcode(status) if self._has_ended_itself else None,
            "cpu_s": usage.ru_utime + usage.ru_stime,
            "peak_bytes": usage.ru_maxrss * 1024,
        }
        _tell(ENDED, _json(end))


class Turn:
    """What the guest says, as far as it tells when its turn is over: when it has asked for calls, or has ended."""

    def __init__(self) -> None:
        self._said = bytearray()

    def is_over_with(self, content: bytes) -> bool:
        """Whether the turn is over with these bytes, which follow those of before."""
        self._said += content
        is_over = False
        while len(self._said) >= 4:
            end = 4 + int.from_bytes(self._said[:4], "big")
            if end > 4 + FRAME_BYTES:
                self._said.clear()
                return True  # the host listens to it no more
            if len(self._said) < end:
                break
            is_over = _ends_turn(bytes(self._said[4:end]))
            del self._said[:end]
        return is_over


def _ends_turn(frame: bytes) -> bool:
    try:
        said = json.loads(frame)
        return said["op"] != "artifact" and said.get("more") is not True
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return True  # likewise


def _read_or_exit() -> bytes:
    content = os.read(_INPUT, _READ_BYTES)
    if not content:
        os._exit(0)  # the host is gone
    return content


def _json(content: dict[str, Any]) -> bytes:
    return json.dumps(content).encode()


def _tell(stream: int, content: bytes) -> None:
    framed: bytes | memoryview = piece(stream, content)
    while framed:
        framed = memoryview(framed)[os.write(_OUTPUT, framed) :]
