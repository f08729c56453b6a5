"""What a process gives up before foreign code runs in it: user, capabilities, resources, and outliving its parent."""

from __future__ import annotations

import os
import resource
import signal
import struct

from .system_calls import buffer_of, system_call

NOBODY = 65534

_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_SET_NO_NEW_PRIVS, _PR_CAP_AMBIENT = 1, 4, 38, 47
_PR_CAP_AMBIENT_CLEAR_ALL = 4
_CAPABILITY_VERSION_3 = 0x20080522


def die_with_parent() -> None:
    """The kernel kills this process when its parent ends. A change of user undoes that: call it afterwards."""
    system_call("prctl", _PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def become_nobody() -> None:
    """The process runs as a user that owns nothing.

    Raises:
        OSError: The process may not change its user.
    """
    os.setgroups([])
    os.setresgid(NOBODY, NOBODY, NOBODY)
    os.setresuid(NOBODY, NOBODY, NOBODY)


def give_up_capabilities() -> None:
    """The process has no capability and can gain none, neither by programs that it starts."""
    system_call("prctl", _PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    system_call("prctl", _PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
    header = struct.pack("=Ii", _CAPABILITY_VERSION_3, 0)
    system_call("capset", buffer_of(header), buffer_of(bytes(24)))
    system_call("prctl", _PR_SET_DUMPABLE, 0, 0, 0, 0)


def limit_resources(*, memory_bytes: int, cpu_s: int, file_bytes: int, descriptors: int) -> None:
    """The kernel holds the process to these, and lets it lock no memory, leave no core and start no process.

    Args:
        memory_bytes: Address space of the whole process.
        cpu_s: After these the process gets SIGXCPU, and a second later it is killed.
        file_bytes: Size of any one file that it writes.
        descriptors: Open at one time.
    """
    limits = {
        resource.RLIMIT_AS: (memory_bytes, memory_bytes),
        resource.RLIMIT_CPU: (cpu_s, cpu_s + 1),
        resource.RLIMIT_FSIZE: (file_bytes, file_bytes),
        resource.RLIMIT_NOFILE: (descriptors, descriptors),
        resource.RLIMIT_CORE: (0, 0),
        resource.RLIMIT_MEMLOCK: (0, 0),
        resource.RLIMIT_NPROC: (0, 0),
        resource.RLIMIT_MSGQUEUE: (0, 0),
        resource.RLIMIT_RTPRIO: (0, 0),
    }
    for kind, pair in limits.items():
        resource.setrlimit(kind, pair)
