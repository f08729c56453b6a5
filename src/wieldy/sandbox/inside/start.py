"""The first thing that runs in the sandbox's interpreter: isolate, import, serve; and say why where that fails.

With namespaces there are two processes: this one waits outside the new process namespace, and the zygote is the first
process within it, so that its end is the end of all workers. The host writes who their users are.
"""

from __future__ import annotations

import os
import platform
import socket
import sys
from typing import Any, cast

from .linux import landlock, numbers, rights, seccomp
from .linux.namespaces import SCRATCH_PATH, enter_root, mount_memory, separate
from .paths import DEVICES, hidden_directories, library_paths, package_directories, readable_except
from .settings import Settings
from .worker import Prepared
from .zygote import Zygote, preload, receive, send

_PRELOAD_SCRATCH_BYTES, _PRELOAD_SCRATCH_FILES = 16 << 20, 1000


def main(control_descriptor: int, host_pid: int) -> None:
    """Serves workers until the host is gone, or tells it why that cannot be and ends.

    Args:
        control_descriptor: A socket to the host that keeps messages apart.
        host_pid: The process that started this one.
    """
    sys.argv, sys.orig_argv = [""], [""]  # the host's paths and process are nothing to the code
    rights.die_with_parent()
    if os.getppid() != host_pid:
        os._exit(0)
    control = socket.socket(fileno=control_descriptor)
    try:
        _begin(control).serve()
    except Exception as error:  # whatever it is, the host is told and nothing runs
        send(control, {"op": "failed", "reason": f"{type(error).__name__}: {error}"})
        os._exit(70)


def _begin(control: socket.socket) -> Zygote:
    settings = _settings(receive(control)[0])
    architecture = numbers.this_architecture()
    landlock_version = landlock.version()
    sites = package_directories() if settings.packages else ()
    readable = (*library_paths(), *sites, *settings.readable)
    hidden = () if settings.packages else hidden_directories()
    is_root = os.geteuid() == 0
    if settings.has_namespaces:
        _enter_namespaces(control, readable, hidden)
    elif is_root:
        rights.become_nobody()
        rights.die_with_parent()
        _check_readable()
    sys.path += sites
    preload(settings.packages)
    prepared = Prepared(
        settings=settings,
        readable=[("/", landlock.READ)] if settings.has_namespaces else readable_except(readable, hidden),
        is_root=is_root and settings.has_namespaces,
        seccomp=seccomp.Filter(architecture, has_scratch=settings.has_namespaces),
    )
    itself = os.pidfd_open(os.getpid())
    send(control, {"op": "ready", "landlock": landlock_version}, (itself,))
    os.close(itself)
    return Zygote(control, prepared)


def _settings(sent: dict[str, Any]) -> Settings:
    sent |= {"packages": tuple(sent["packages"]), "readable": tuple(sent["readable"])}
    return Settings(**sent)


def _enter_namespaces(control: socket.socket, readable: tuple[str, ...], hidden: tuple[str, ...]) -> None:
    """Returns in the first process of the new process namespace, which has a file system of its own."""
    separate()
    send(control, {"op": "separated"})
    receive(control)  # the users are known now
    cast("Any", platform)._uname_cache = None  # it has the machine's own name
    enter_root(readable, empty=hidden, devices=DEVICES, host_name="sandbox")
    zygote = os.fork()
    if zygote:
        control.close()
        os.waitpid(zygote, 0)
        os._exit(0)
    rights.die_with_parent()
    mount_memory(SCRATCH_PATH, size_bytes=_PRELOAD_SCRATCH_BYTES, files=_PRELOAD_SCRATCH_FILES, mode=0o755)


def _check_readable() -> None:
    """The user that runs the code must be able to read the interpreter's own library.

    Raises:
        PermissionError: It cannot.
    """
    for path in sys.path:
        if path.endswith("lib-dynload") and not os.access(path, os.R_OK | os.X_OK):
            raise PermissionError(
                f"code runs as the user nobody here, who cannot read {path}: choose an interpreter that everybody "
                "can read (python=), or start as an ordinary user"
            )
