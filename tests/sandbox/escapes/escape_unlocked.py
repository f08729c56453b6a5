"""The control without isolation: Wieldy's own server of workers and guest, but workers are not locked in.

`start` is the host's side; `main` runs in the interpreter, as `inside.start.main` does. The same supervisor watches.
What is limited is what keeps the machine unharmed, far above what an attempt needs to show that it got out.
"""

from __future__ import annotations

import os
import resource
import signal
import socket
import subprocess
from pathlib import Path
from typing import Any, NoReturn

_BOOT = "import sys; sys.path += sys.argv[1:3]; from escape_unlocked import main; main(int(sys.argv[3]), sys.argv[4])"
_BOUNDS = {
    resource.RLIMIT_AS: 1 << 30,
    resource.RLIMIT_CPU: 20,
    resource.RLIMIT_FSIZE: 64 << 20,
    resource.RLIMIT_NOFILE: 256,
    resource.RLIMIT_CORE: 0,
}


def bound_resources() -> None:
    """The kernel holds this process to what the machine can bear."""
    for kind, limit in _BOUNDS.items():
        resource.setrlimit(kind, (limit, limit))


def start(python: str, scratch: Path) -> Any:
    """The processes as the host has them (`SandboxProcesses`); the caller tells them their settings."""
    from wieldy.sandbox import starting
    from wieldy.sandbox.environment import ENVIRONMENT

    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    ours.setblocking(False)
    sandbox = str(Path(starting.__file__).parent)
    arguments = [sandbox, str(Path(__file__).parent), str(theirs.fileno()), str(scratch)]
    process = subprocess.Popen(
        [python, "-s", "-S", "-P", "-c", _BOOT, *arguments],
        env=ENVIRONMENT,
        stdin=subprocess.DEVNULL,
        pass_fds=[theirs.fileno()],
        start_new_session=True,
    )
    theirs.close()
    return starting.SandboxProcesses(process, ours)


def settings() -> Any:
    """What nobody holds the processes to."""
    from wieldy.sandbox.inside.settings import Settings

    names = {name: 0 for name in Settings.__slots__ if name.endswith(("_bytes", "_s", "_files"))}
    return Settings(**names, has_namespaces=False, packages=(), readable=(), directory=None)


def main(control_descriptor: int, scratch: str) -> NoReturn:
    """Serves workers until the host is gone."""
    from inside import zygote
    from inside.linux import rights

    rights.die_with_parent()
    control = socket.socket(fileno=control_descriptor)
    zygote.receive(control)
    zygote.preload(())
    zygote.become_worker = _become_unlocked
    itself = os.pidfd_open(os.getpid())
    zygote.send(control, {"op": "ready", "landlock": 0}, (itself,))
    os.close(itself)
    server: Any = zygote.Zygote
    server(control, scratch).serve()
    raise AssertionError


def _become_unlocked(scratch: str, descriptors: tuple[int, int, int]) -> NoReturn:
    from inside import worker
    from inside.guest.serving import serve
    from inside.linux import rights

    try:
        worker.arrange(descriptors)
        rights.die_with_parent()
        bound_resources()
        signal.signal(signal.SIGXCPU, signal.SIG_DFL)
        os.chdir(scratch)
        serve(worker.Channel(3), scratch=scratch)
    finally:
        os._exit(1)
