"""Isolated Python: code that nobody vouches for, run where it can reach nothing but what it is given.

    async with wieldy.sandbox.open() as session:
        outcome = await session.run("sum(range(10))")

Isolation is a kernel's (`jail`, `containers`), never Python's; or, only where a program names it, an interpreter's that
reaches nothing (`monty`). `open` takes the strongest tier that works on the machine, or the one that is named, and
never a weaker one in its place; `probe` tells what works here, on every system. Code may call the host,
and everything that it says is checked there (`conversation`, `supervisor`). Deliberately not here: what a tool is, and
what may be called; the handler of the calls decides that.
"""

from wieldy.sandbox.limits import SandboxLimits
from wieldy.sandbox.opening import open_session as open  # noqa: A004 - `sandbox.open`, as `gzip.open`
from wieldy.sandbox.outcome import (
    Artifact,
    CodeError,
    Counts,
    Failure,
    GuestCall,
    KilledBecause,
    Outcome,
    Reply,
    Status,
    Tier,
)
from wieldy.sandbox.probe import probe
from wieldy.sandbox.replies import MAX_VALUE_BYTES, Answer, Handler
from wieldy.sandbox.session import Session
from wieldy.sandbox.tiers import TierName

__all__ = [
    "MAX_VALUE_BYTES",
    "Answer",
    "Artifact",
    "CodeError",
    "Counts",
    "Failure",
    "GuestCall",
    "Handler",
    "KilledBecause",
    "Outcome",
    "Reply",
    "SandboxLimits",
    "Session",
    "Status",
    "Tier",
    "TierName",
    "open",
    "probe",
]
