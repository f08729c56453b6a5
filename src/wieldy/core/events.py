"""What can be watched while a run goes on: one typed stream.

The result of a run is the last event's record; there is no second way of learning what happened.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from wieldy.core.calls import AnyCall, ToolResult
from wieldy.core.limits import StopReason, Usage
from wieldy.core.messages import Message


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStarted:
    """The run has its id and its first journal entry."""

    run_id: str
    model: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnStarted:
    """The model is asked for the next step; `turn` counts from 1."""

    turn: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TextDelta:
    """A piece of the model's text."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReasoningDelta:
    """A piece of the model's reasoning."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CallStarted:
    """The call was recorded and is being dealt with; invalid and refused calls start too, and end at once."""

    call: AnyCall


@dataclass(frozen=True, slots=True, kw_only=True)
class CallFinished:
    """The call has its one result.

    Attributes:
        duration_s: From the start of the tool's code to its end, in seconds; 0 if it did not run.
    """

    call: AnyCall
    result: ToolResult
    duration_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitReached:
    """A limit was reached; the model is asked once more, without tools."""

    reason: StopReason


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResult:
    """How a run ended.

    Attributes:
        text: The answer; may be empty when a limit was reached.
        messages: The whole history, instructions first.
    """

    run_id: str
    text: str
    stop_reason: StopReason
    usage: Usage
    messages: tuple[Message, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFinished:
    """The run is over; always the last event."""

    result: RunResult


RunEvent: TypeAlias = (
    RunStarted | TurnStarted | TextDelta | ReasoningDelta | CallStarted | CallFinished | LimitReached | RunFinished
)
