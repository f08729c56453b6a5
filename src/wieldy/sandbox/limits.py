"""How much code may use up in the sandbox; each limit has a name, and going beyond it is a named outcome."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import cast

from wieldy.core.errors import UsageError

MEGABYTE = 1 << 20
_MOST = 1 << 62
"""Kernels take no more as a limit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxLimits:
    """What one run may use up, unless it says otherwise; all are above 0.

    Attributes:
        wall_s: Seconds that a run may take. They stand still while a call is being answered: how long a call may take
            is its own affair. Where the kernel tells it, time in which others had the core does not count either, up
            to nine times the limit.
        cpu_s: Seconds of CPU time in one run.
        lifetime_cpu_s: Seconds of CPU time of all runs that share variables; the kernel holds to this, whatever becomes
            of the program that started the run.
        memory_bytes: Memory that a run may map, that of the interpreter and its packages included. Files that it writes
            come on top.
        output_bytes: Bytes written to standard output and standard error together.
        kept_output_bytes: Of each of the two; what is beyond is counted and dropped.
        files_bytes: Size of all files that a run writes together.
        file_bytes: Size of any one of them.
        files: How many files and directories it writes.
        calls: How often it calls the host. Calls that are made at once have at most 16 MB of arguments, and as
            much of answers by a handler; one call, and one answer, have at most 4 MB.

    Raises:
        UsageError: One is no number that can be a limit.
    """

    wall_s: float = 10.0
    cpu_s: float = 10.0
    lifetime_cpu_s: int = 300
    memory_bytes: int = 512 * MEGABYTE
    output_bytes: int = 64 * MEGABYTE
    kept_output_bytes: int = 256 << 10
    files_bytes: int = 64 * MEGABYTE
    file_bytes: int = 64 * MEGABYTE
    files: int = 1000
    calls: int = 1000

    def __post_init__(self) -> None:
        for each in fields(self):
            value: object = getattr(self, each.name)
            if each.name in ("wall_s", "cpu_s"):
                is_number, kind = isinstance(value, int | float) and not isinstance(value, bool), "number"
            else:
                is_number, kind = isinstance(value, int) and not isinstance(value, bool), "whole number"
            if not is_number or not 0 < cast("float", value) <= _MOST:  # which no NaN is
                raise UsageError(
                    f"SandboxLimits.{each.name} must be a {kind} above 0, and 2**62 at most; it is {value!r:.100}"
                )
