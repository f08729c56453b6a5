"""What the kernel tells of the processes below one: which there are, their threads, memory and computing."""

from __future__ import annotations

import ctypes
import os
import signal
import time
from contextlib import suppress
from pathlib import Path
from typing import Final

_PR_SET_DUMPABLE, _PR_SET_CHILD_SUBREAPER = 4, 36
_QUIET_S: Final = 0.01


def become_reaper() -> None:
    """Whatever is started below this process stays below it, even if its parent ends."""
    libc = ctypes.CDLL(None, use_errno=True)
    assert libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0
    assert libc.prctl(_PR_SET_DUMPABLE, 1, 0, 0, 0) == 0  # a change of user hid this process from itself


def below(pid: int) -> list[int]:
    """Children of the process, and theirs, that are not dead."""
    found: list[int] = []
    waiting = [pid]
    while waiting:
        alive = children(waiting.pop())
        waiting += alive
        found += alive
    return found


def children(pid: int) -> list[int]:
    """Processes that are the process's own children, and not dead."""
    found: list[int] = []
    with suppress(OSError):
        for listed in Path(f"/proc/{pid}/task").glob("*/children"):
            found += [int(each) for each in listed.read_text().split() if _status(int(each))]
    return found


def threads(pids: list[int]) -> int:
    """Threads of all of them together, each of which has one at least."""
    return sum(int(_status(pid).get("Threads", "0")) for pid in pids)


def user_of(pid: int) -> int:
    """Who the process runs as; nobody has the number -1, which a dead one gets."""
    return int(_status(pid).get("Uid", "-1").split()[0])


def memory(pid: int, field: str = "VmRSS") -> int:
    """Bytes that the process has in memory now, or the most that it had (`VmHWM`)."""
    return int(_status(pid).get(field, "0 kB").split()[0]) * 1024


def forget_peak() -> None:
    """The most that this process had in memory is what it has now."""
    Path("/proc/self/clear_refs").write_text("5")


def are_quiet(pids: list[int], *, for_s: float = _QUIET_S) -> bool:
    """Whether none of them computes in that time; one that waits for a processor may seem quiet in a short one."""
    before = [_cpu_s(pid) for pid in pids]
    time.sleep(for_s)
    return before == [_cpu_s(pid) for pid in pids]


def end(pids: list[int]) -> None:
    """They are dead, and those that are ours are reaped."""
    for pid in pids:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)
    for pid in pids:
        with suppress(ChildProcessError):
            os.waitpid(pid, 0)


def _cpu_s(pid: int) -> float:
    with suppress(OSError):
        return time.clock_gettime(~pid << 3 | 2)
    return 0.0


def _status(pid: int) -> dict[str, str]:
    """Empty for a process that is dead."""
    with suppress(OSError):
        text = Path(f"/proc/{pid}/status").read_text(encoding="utf-8", errors="replace")
        fields = {name: value.strip() for name, _, value in (line.partition(":") for line in text.splitlines())}
        return {} if fields["State"][0] in "ZX" else fields
    return {}
