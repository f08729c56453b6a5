"""What can be watched while a run goes on: one typed stream.

The result of a run is the last event's record; there is no second way of learning what happened.
"""

from __future__ import annotations

from typing import TypeAlias

from wieldy.core.approvals import ApprovalRequest
from wieldy.core.calls import AnyCall, ToolResult
from wieldy.core.limits import StopReason, Usage
from wieldy.core.messages import Message
from wieldy.core.record import Record


class RunStarted(Record, frozen=True, kw_only=True):
    """The run has its id and its first journal entry."""

    run_id: str
    model: str


class TurnStarted(Record, frozen=True, kw_only=True):
    """The model is asked for the next step; `turn` counts from 1."""

    turn: int


class TextDelta(Record, frozen=True, kw_only=True):
    """A piece of the model's text."""

    text: str


class ReasoningDelta(Record, frozen=True, kw_only=True):
    """A piece of the model's reasoning."""

    text: str


class CallDelta(Record, frozen=True, kw_only=True):
    """A piece of a call that the model is writing; for watching only, since the call may still turn out unreadable.

    Attributes:
        index: Which call of this reply, from 0.
        name: The tool's name, with the first piece.
        arguments: The next characters of the arguments, as the model's format has them.
    """

    index: int
    name: str | None = None
    arguments: str = ""


class CallStarted(Record, frozen=True, kw_only=True):
    """The model's call is recorded and will be dealt with; every call starts, also one that is refused at once."""

    call: AnyCall


class CallWaiting(Record, frozen=True, kw_only=True):
    """A person must say whether the call may run."""

    call: AnyCall
    request: ApprovalRequest


class CallRunning(Record, frozen=True, kw_only=True):
    """The tool's code begins; again for each further attempt.

    Attributes:
        attempt: Counts from 1.
    """

    call: AnyCall
    attempt: int


class CallProgress(Record, frozen=True, kw_only=True):
    """What the tool's code says about how far it is.

    Attributes:
        fraction: From 0 to 1, if it is known.
    """

    call: AnyCall
    message: str
    fraction: float | None = None


class CallFinished(Record, frozen=True, kw_only=True):
    """The call has its one result.

    Attributes:
        duration_s: From the start of the tool's code to its end, in seconds; 0 if it did not run.
    """

    call: AnyCall
    result: ToolResult
    duration_s: float


class LimitReached(Record, frozen=True, kw_only=True):
    """A limit was reached; the model is asked once more, without tools."""

    reason: StopReason


class RunResult(Record, frozen=True, kw_only=True):
    """How a run ended, or where it rests.

    Attributes:
        text: The answer; may be empty when a limit was reached.
        usage: Nested runs included.
        messages: The whole history, instructions first.
        waiting: What a person must decide on before the run can go on.
        is_tainted: Whether the model has read something from an untrusted source.
    """

    run_id: str
    text: str
    stop_reason: StopReason
    usage: Usage
    messages: tuple[Message, ...]
    waiting: tuple[ApprovalRequest, ...] = ()
    is_tainted: bool = False


class RunFinished(Record, frozen=True, kw_only=True):
    """The run is over; always the last event."""

    result: RunResult


RunEvent: TypeAlias = (
    RunStarted
    | TurnStarted
    | TextDelta
    | ReasoningDelta
    | CallDelta
    | CallStarted
    | CallWaiting
    | CallRunning
    | CallProgress
    | CallFinished
    | LimitReached
    | RunFinished
)
