"""What attempts are aimed at, outside of the sandbox: files, listeners and a process, and what became of them.

Everything is open to the user that the code runs as: only the tier may protect it.
"""

from __future__ import annotations

import os
import secrets
import select
import shutil
import signal
import socket
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

_VICTIM = """
import ctypes, signal, sys
secret = sys.stdin.readline().strip().encode()
text = ctypes.create_string_buffer(secret)
signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
print(ctypes.addressof(text), flush=True)
while True:
    print(signal.sigwaitinfo(signal.valid_signals()).si_signo, flush=True)
"""

_PYTHON = "/usr/bin/python3" if Path("/usr/bin/python3").exists() else sys.executable  # one that every user may run


class Targets:
    """A directory with files, listeners of four kinds, and a process, for one host.

    Attributes:
        secret: Stands in the file, in the memory and command line of the process, and in the host's environment.
        token: What listeners take as a proof of contact.
    """

    def __init__(self, directory: Path, secret: str, *, victim_user: int) -> None:
        self.secret = secret
        self.token = secrets.token_hex(12)
        self.scratch = directory / "scratch"
        self.outside = directory / "outside"
        self._directory = directory
        self._victim_user = victim_user
        self._listeners = _listeners(directory)
        self._victim = self._start_victim()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for listener in self._listeners.values():
            listener.close()
        self._end_victim()

    @property
    def victim_pid(self) -> int:
        """The process."""
        return self._victim.pid

    def given(self) -> dict[str, Any]:
        """What an attempt is told."""
        return {
            "CANARY": str(self.outside / "canary"),
            "OUTSIDE": str(self.outside),
            "TCP": self._listeners["tcp"].getsockname()[1],
            "UDP": self._listeners["udp"].getsockname()[1],
            "UNIX": str(self._directory / "unix"),
            "DATAGRAMS": str(self._directory / "datagrams"),
            "ABSTRACT": self._listeners["abstract"].getsockname().decode(),
            "TOKEN": self.token,
            "VICTIM": self._victim.pid,
            "ADDRESS": self._address,
            "LENGTH": len(self.secret),
            "HOST": os.getpid(),
        }

    def reset(self) -> None:
        """Everything is as it was before any attempt."""
        for directory in (self.outside, self.scratch):
            directory.mkdir(exist_ok=True)  # not made anew: processes that wait for code are in it
            directory.chmod(0o777)
            for left in directory.iterdir():
                shutil.rmtree(left) if left.is_dir() and not left.is_symlink() else left.unlink()
        files = {"canary": self.secret, "module.py": f"VALUE = {self.secret!r}", f"name-{self.secret}": ""}
        for name, content in files.items():
            (self.outside / name).write_text(content)
            (self.outside / name).chmod(0o666)
        script = self.outside / "script"
        script.write_text(f"#!/bin/sh\necho > {self.outside}/ran\n")
        script.chmod(0o777)
        (self.outside / "link").symlink_to(f"/nowhere/{self.secret}")
        for path in (self.outside / "canary", self.outside):
            os.utime(path, (1_000_000_000, 1_000_000_000))
        self._before = self._state()
        self.contacts()
        if self.victim_was_touched():
            self._end_victim()
            self._victim = self._start_victim()

    def changed_files(self) -> bool:
        """Whether anything in the directory outside is not as it was."""
        return self._state() != self._before

    def contacts(self) -> bool:
        """Whether a listener got the token since it was last asked."""
        found = False
        while ready := select.select(self._listeners.values(), [], [], 0)[0]:
            for listener in ready:
                if listener.type == socket.SOCK_DGRAM:
                    found |= self.token.encode() in listener.recv(4096)
                    continue
                with listener.accept()[0] as connection, suppress(OSError):
                    connection.settimeout(1)
                    found |= self.token.encode() in connection.recv(4096)
        return found

    def victim_was_touched(self) -> bool:
        """Whether the process got a signal, is dead, stopped or traced, or runs with other rights to the processor."""
        assert self._victim.stdout is not None
        is_touched = bool(select.select([self._victim.stdout], [], [], 0)[0]) or self._victim.poll() is not None
        return is_touched or self._state_of_victim() != self._victim_before

    def _state(self) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for path in (self.outside, *sorted(self.outside.iterdir())):
            state = path.lstat()
            content = path.read_bytes() if path.is_file() else b""
            with suppress(OSError):
                found[f"{path} attributes"] = os.listxattr(path, follow_symlinks=False)
            found[str(path)] = (state.st_mode, state.st_uid, state.st_nlink, state.st_mtime_ns, state.st_size, content)
        return found

    def _start_victim(self) -> subprocess.Popen[str]:
        is_other = self._victim_user != os.geteuid()
        victim = subprocess.Popen(
            [_PYTHON, "-I", "-S", "-c", _VICTIM, self.secret],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            user=self._victim_user if is_other else None,
            group=self._victim_user if is_other else None,
            extra_groups=[] if is_other else None,
        )
        assert victim.stdin is not None
        assert victim.stdout is not None
        victim.stdin.write(f"{self.secret}\n")
        victim.stdin.flush()
        self._address = int(victim.stdout.readline())
        self._victim = victim
        self._victim_before = self._state_of_victim()
        return victim

    def _state_of_victim(self) -> tuple[Any, ...]:
        directory = Path(f"/proc/{self._victim.pid}")
        fields = dict(line.split(":", 1) for line in (directory / "status").read_text().splitlines())
        stopped = fields["State"].strip()[0] in "Tt"
        nice = os.getpriority(os.PRIO_PROCESS, self._victim.pid)
        limits = (directory / "limits").read_text()
        return stopped, fields["TracerPid"], nice, fields["Cpus_allowed"], limits

    def _end_victim(self) -> None:
        self._victim.send_signal(signal.SIGKILL)
        self._victim.wait()
        for pipe in (self._victim.stdin, self._victim.stdout):
            if pipe is not None:
                pipe.close()


def _listeners(directory: Path) -> dict[str, socket.socket]:
    addresses: dict[str, tuple[socket.AddressFamily, socket.SocketKind, Any]] = {
        "tcp": (socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", 0)),
        "udp": (socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", 0)),
        "unix": (socket.AF_UNIX, socket.SOCK_STREAM, str(directory / "unix")),
        "datagrams": (socket.AF_UNIX, socket.SOCK_DGRAM, str(directory / "datagrams")),
        "abstract": (socket.AF_UNIX, socket.SOCK_STREAM, b"\0wieldy-" + secrets.token_hex(8).encode()),
    }
    found: dict[str, socket.socket] = {}
    for name, (family, kind, address) in addresses.items():
        found[name] = listener = socket.socket(family, kind)
        listener.bind(address)
        if kind == socket.SOCK_STREAM:
            listener.listen()
    for name in ("unix", "datagrams"):
        (directory / name).chmod(0o777)
    return found
