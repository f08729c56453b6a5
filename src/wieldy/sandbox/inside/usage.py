"""What a process has used so far, where the system tells."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any


def usage_of(pid: int) -> dict[str, Any]:
    """Seconds of CPU time, threads, and the most bytes that it had in memory; each 0 where that is not known."""
    fields: dict[str, str] = {}
    cpu_s = 0.0
    try:
        for line in Path(f"/proc/{pid}/status").read_text(encoding="utf-8", errors="replace").splitlines():
            name, _, value = line.partition(":")
            fields[name] = value.strip()
        cpu_s = time.clock_gettime(~pid << 3 | 2)  # the process's clock, as `clock_getcpuclockid(3)` makes it
    except OSError:  # it has ended, or the system is not Linux
        pass
    peak_bytes = int(fields.get("VmHWM", "0 kB").split()[0]) * 1024
    return {"cpu_s": round(cpu_s, 3), "threads": int(fields.get("Threads", "0")), "peak_bytes": peak_bytes}
