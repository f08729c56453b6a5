"""What can be watched while a run goes on: one typed stream.

The result of a run is the last event's record; there is no second way of learning what happened.
"""

from __future__ import annotations

from typing import Any, TypeAlias

from wieldy.core.approvals import ApprovalRequest
from wieldy.core.calls import AnyCall, ToolResult
from wieldy.core.json import JsonValue
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


class OutputDelta(Record, frozen=True, kw_only=True):
    """What there is of a JSON output, as far as its text has come; follows the `TextDelta` that brought something new.

    Each value begins as the one before it did: texts, lists and objects grow at their ends, all else comes whole.
    The last one is the output. A new turn begins anew: the text before it was not the answer, or did not fit.

    Attributes:
        value: JSON; not validated, and not to be changed, because values share what they have in common.
    """

    value: JsonValue


class OutputRefused(Record, frozen=True, kw_only=True):
    """The answer is not what it must be; the model is told so and asked again.

    Attributes:
        error: What was expected and what was found.
    """

    error: str


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
        output: The answer as a value of the form that was wanted; `Incomplete` where it did not become one. None if
            nothing was wanted but text, or if there is no answer yet.
        closed_by_budget: Whether the answer is whole only because its end was chosen to fit what was left of a limit.
        forced: JSON pointers to the values of the answer that were decided so; that of the whole is "".
    """

    run_id: str
    text: str
    stop_reason: StopReason
    usage: Usage
    messages: tuple[Message, ...]
    waiting: tuple[ApprovalRequest, ...] = ()
    is_tainted: bool = False
    # The program's own type, which it knows and this module does not.
    output: Any = None
    closed_by_budget: bool = False
    forced: tuple[str, ...] = ()


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
    | OutputDelta
    | OutputRefused
    | LimitReached
    | RunFinished
)
