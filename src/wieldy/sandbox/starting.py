"""The sandbox's own processes as the host sees them: started with nothing of ours, asked for workers, ended.

The interpreter is started anew, never forked from this process, whose memory may hold secrets; its environment is
written here. One socket goes to it, which keeps messages apart; descriptors travel only that way, never from workers.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

import anyio

from wieldy.core.errors import SandboxError
from wieldy.sandbox.environment import ENVIRONMENT
from wieldy.sandbox.inside.linux.namespaces import write_user_maps
from wieldy.sandbox.inside.settings import Settings
from wieldy.sandbox.tiers import StartError

_BOOT: Final = """
import _imp, sys
from importlib.machinery import FileFinder, SourceFileLoader

class Loader(SourceFileLoader):
    def get_code(self, name):
        code = super().get_code(name)
        _imp._fix_co_filename(code, f"<{name}>")  # where Wieldy is on this machine is nothing to the code
        return code

def finder(path):
    if not path.startswith(sys.argv[1]):
        raise ImportError
    return FileFinder(path, (Loader, [".py"]))

sys.path_hooks.insert(0, finder)
sys.path.append(sys.argv[1])
from inside.start import main
sys.path.pop()
del sys.path_hooks[0]
main(int(sys.argv[2]), int(sys.argv[3]))
"""
_START_S: Final = 60.0
_MESSAGE_BYTES: Final = 65536


class SandboxProcesses:
    """The interpreter that forks workers, and the socket to it."""

    def __init__(self, process: subprocess.Popen[bytes], control: socket.socket) -> None:
        self._process = process
        self._control = control
        self._zygote: int | None = None
        self._spawned: dict[int, int] = {}
        self._ended: dict[int, dict[str, Any]] = {}
        self._forgotten: set[int] = set()
        self._next_worker = 0
        self.facts: dict[str, Any] = {}

    @property
    def zygote(self) -> int:
        """A descriptor of the process that forks workers."""
        assert self._zygote is not None
        return self._zygote

    async def begin(self, settings: Settings) -> None:
        """The processes are isolated, have imported what workers need, and wait.

        Raises:
            StartError: A step was refused, or took too long.
        """
        with anyio.move_on_after(_START_S):
            try:
                await self._begin(settings)
            except SandboxError:
                status = await anyio.to_thread.run_sync(self._process.wait, abandon_on_cancel=True)
                raise StartError(f"the interpreter ended before it was ready, with exit status {status}") from None
            return
        raise StartError(f"the interpreter was not ready within {_START_S:.0f} s")

    async def _begin(self, settings: Settings) -> None:
        self._send(asdict(settings))
        while True:
            message, descriptors = await self._receive()
            if message["op"] == "failed":
                raise StartError(str(message["reason"]))
            if message["op"] == "ready":
                self._zygote = descriptors[0]
                self.facts = message
                return
            try:
                write_user_maps(self._process.pid)
            except OSError as error:
                raise StartError(f"users of the namespace: {error}") from None
            self._send({"op": "mapped"})

    def spawn(self, channel: socket.socket, output: int, errors: int) -> int:
        """A worker is asked for, with these ends of its channel and outputs; gives the number to know it by.

        Raises:
            SandboxError: The processes have ended.
        """
        self._next_worker += 1
        self._send({"op": "spawn", "id": self._next_worker}, [channel.fileno(), output, errors])
        return self._next_worker

    async def spawned(self, worker: int) -> int:
        """A descriptor of the worker's process.

        Raises:
            SandboxError: The processes have ended.
        """
        while worker not in self._spawned:
            await self._take()
        return self._spawned.pop(worker)

    async def ended(self, worker: int) -> dict[str, Any]:
        """How the worker's process ended: `status` as `subprocess` has it, `cpu_s`, `peak_bytes`.

        Raises:
            SandboxError: The processes have ended.
        """
        while worker not in self._ended:
            await self._take()
        return self._ended.pop(worker)

    def forget(self, worker: int) -> None:
        """Nobody will ask about the worker any more."""
        self._forgotten.add(worker)
        if worker in self._spawned:
            os.close(self._spawned.pop(worker))

    async def _take(self) -> None:
        message, descriptors = await self._receive()
        worker, is_end = message["id"], message["op"] == "ended"
        if worker in self._forgotten:
            for descriptor in descriptors:
                os.close(descriptor)
            if is_end:
                self._forgotten.discard(worker)
        elif is_end:
            self._ended[worker] = message
        else:
            self._spawned[worker] = descriptors[0]

    async def close(self) -> None:
        """No process of the sandbox is left."""
        with anyio.CancelScope(shield=True):
            if self._zygote is not None:
                with suppress(ProcessLookupError):
                    signal.pidfd_send_signal(self._zygote, signal.SIGKILL)
                await anyio.wait_readable(self._zygote)
                os.close(self._zygote)
                self._zygote = None
            self._process.kill()
            await anyio.to_thread.run_sync(self._process.wait)
            self._control.close()
            for process in self._spawned.values():
                os.close(process)
            self._spawned.clear()

    def _send(self, message: dict[str, Any], descriptors: list[int] | None = None) -> None:
        try:
            socket.send_fds(self._control, [json.dumps(message).encode()], descriptors or [])
        except OSError as error:
            raise SandboxError(f"the sandbox's interpreter has ended: {error}") from error

    async def _receive(self) -> tuple[dict[str, Any], list[int]]:
        while True:
            try:
                content, descriptors, _, _ = socket.recv_fds(self._control, _MESSAGE_BYTES, 4)
            except BlockingIOError:
                await anyio.wait_readable(self._control)
            except OSError as error:
                raise SandboxError(f"the sandbox's interpreter has ended: {error}") from error
            else:
                break
        if not content:
            raise SandboxError("the sandbox's interpreter has ended")
        return json.loads(content), descriptors


def start_interpreter(python: str | None) -> SandboxProcesses:
    """The interpreter runs and waits for its settings.

    Args:
        python: The interpreter's path; None is the one that runs this program.

    Raises:
        StartError: It cannot be started.
    """
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    ours.setblocking(False)
    command = [python or sys.executable, "-s", "-S", "-P", "-c", _BOOT]
    arguments = [str(Path(__file__).parent), str(theirs.fileno()), str(os.getpid())]
    try:
        process = subprocess.Popen(
            command + arguments,
            env=ENVIRONMENT,
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=[theirs.fileno()],
            start_new_session=True,
        )
    except OSError as error:
        ours.close()
        raise StartError(f"the interpreter {command[0]} cannot be started: {error}") from None
    finally:
        theirs.close()
    return SandboxProcesses(process, ours)
