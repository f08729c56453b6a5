"""What came of a run, as the host has checked it: the value is JSON, texts are text, files have harmless names."""

from __future__ import annotations

from typing import Literal, TypeAlias

from wieldy.core.json import JsonObject, JsonValue
from wieldy.core.record import Record

Status: TypeAlias = Literal["done", "error", "paused", "killed"]
"""`done`: the code came to its end. `error`: it raised. `paused`: it waits for answers. `killed`: it was ended."""

KilledBecause: TypeAlias = Literal[
    "wall_time",
    "cpu_time",
    "memory",
    "output",
    "files",
    "processes",
    "calls",
    "protocol",
    "crash",
    "exit",
    "tracked",
]
"""Which limit a run went beyond, or what else ended it.

`processes`: it left a thread behind. `protocol`: it sent what the guest never sends. `crash`: a signal, which
`Outcome.signal` names. `exit`: its process ended without a word. `tracked`: a limit of tracked code, which the error
tells.
"""


class Artifact(Record, frozen=True, kw_only=True):
    """A file that the code wrote, or a chart that it drew.

    Attributes:
        name: A relative path, without `..` and without control characters.
        media_type: By the name's ending; `application/octet-stream` where that says nothing.
    """

    name: str
    media_type: str
    content: bytes


class CodeError(Record, frozen=True, kw_only=True):
    """What the code raised.

    Attributes:
        type: The exception's class.
        line: Of the code, counted from 1, where it is known.
        traceback: As Python shows it, with the frames of the code only.
    """

    type: str
    message: str
    line: int | None
    traceback: str


class GuestCall(Record, frozen=True, kw_only=True):
    """A call that the code made.

    Attributes:
        seq: Counted from 1 within a run, in the order in which the code made its calls.
    """

    seq: int
    name: str
    arguments: JsonObject


class Counts(Record, frozen=True, kw_only=True):
    """What a run used.

    Attributes:
        calls: Of the host.
        cpu_s: Seconds of CPU time; 0 where the tier cannot tell.
        wall_s: Seconds that count against the limit: those in which no call was being answered.
        peak_memory_bytes: The most that the code's process had in memory, pages shared with others included; over all
            runs that share variables; 0 while a run is paused, and where the tier cannot tell.
        output_bytes: Written to standard output and standard error, kept or not.
    """

    calls: int = 0
    cpu_s: float = 0.0
    wall_s: float = 0.0
    peak_memory_bytes: int = 0
    output_bytes: int = 0


class Outcome(Record, frozen=True, kw_only=True):
    """What came of a run.

    Attributes:
        value: Of the last expression, else of the name assigned last, else None.
        value_repr: A short text in place of a value that JSON does not have; None where `value` is the value.
        stdout: What was printed: the first part of it, if it is long, which `remarks` tells then; control characters
            are taken out.
        error: What the code raised; beside `killed` too, where that is how it ended.
        killed_because: Which limit, or what else.
        signal: The signal's number, where one ended the process.
        waiting: The calls that wait for answers, in the order in which the code made them, where the run is paused.
        remarks: What of the run is not here, in words: files that were left out, the rest of what was printed.
        handler_crashes: Tracebacks of handlers that raised what they should not; the code read "internal error".
    """

    status: Status
    value: JsonValue = None
    value_repr: str | None = None
    stdout: str = ""
    stderr: str = ""
    artifacts: tuple[Artifact, ...] = ()
    error: CodeError | None = None
    killed_because: KilledBecause | None = None
    signal: int | None = None
    waiting: tuple[GuestCall, ...] = ()
    remarks: tuple[str, ...] = ()
    handler_crashes: tuple[str, ...] = ()
    counts: Counts = Counts()


class Reply(Record, frozen=True, kw_only=True):
    """What a call brought; it may carry a time, to which a standing clock moves.

    Attributes:
        value: What the code gets.
        time: Seconds since 1970, in UTC.
    """

    value: JsonValue
    time: float | None = None


class Failure(Record, frozen=True, kw_only=True):
    """A call failed: the code gets a `ToolError`.

    Attributes:
        kind: A stable word for how.
    """

    kind: str
    message: str


class Tier(Record, frozen=True, kw_only=True):
    """A way of isolating code, and whether it works on this machine.

    Attributes:
        isolates: What code in it cannot reach.
        leaves: What it does not isolate.
        reason: Why it does not work here; None where it does.
        notes: What else was found.
    """

    name: str
    works: bool
    isolates: tuple[str, ...]
    leaves: tuple[str, ...]
    reason: str | None = None
    notes: tuple[str, ...] = ()
