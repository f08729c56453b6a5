"""Which process this is, in words that outlive it, and whether such a process still lives.

A number alone does not name a process: the system gives it to another one later, and another machine or container has
the same one. Deliberately not here: what follows from it (`leases`).
"""

from __future__ import annotations

import os
import socket
import sys
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Process:
    """A process of this or another machine.

    Attributes:
        host: The machine's name, for people.
        place: Within which process numbers mean anything: this start of the system and its process namespace; on
            systems that name neither, the host; empty if numbers cannot be looked up at all.
        pid: Its number there.
        started: When it started, in the system's own count; empty if that cannot be known.
    """

    host: str
    place: str
    pid: int
    started: str

    def __str__(self) -> str:
        return f"process {self.pid} on {self.host}"


def this_process() -> Process:
    """The process that asks; a forked one is another."""
    return _process(os.getpid())


@lru_cache(maxsize=1)  # asked for every lease, and takes four system calls
def _process(pid: int) -> Process:
    host = socket.gethostname()
    return Process(host=host, place=_place(host), pid=pid, started=_state_and_start(pid)[1])


def is_alive(process: Process) -> bool:
    """Whether this process of our own place still runs; one that ended and was not waited for does not."""
    if process.pid <= 0:  # means many processes to the system
        return False
    state, started = _state_and_start(process.pid)
    if state:
        return state not in "ZX" and process.started in ("", started)
    try:
        os.kill(process.pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:  # somebody else's: it is there, and we may not touch it
        return True
    return True


def _place(host: str) -> str:
    if sys.platform == "win32":
        return ""  # there, signal 0 is not a question
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return f"{boot} {Path('/proc/self/ns/pid').readlink()}"
    except (OSError, ValueError):
        return host


def _state_and_start(pid: int) -> tuple[str, str]:
    # "number (name) state ...": the name may itself hold spaces and brackets.
    try:
        fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].decode("ascii").split()
        return fields[0], fields[19]
    except (OSError, ValueError, IndexError):
        return "", ""
