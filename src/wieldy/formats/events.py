"""What a parser tells while a model writes, and the reply that it all adds up to.

Law: the events of a text are the same however it was cut, once neighbouring deltas of one kind are joined.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from wieldy.core.calls import AnyCall, InvalidToolCall, ToolCall
from wieldy.core.events import ReasoningDelta, TextDelta
from wieldy.schema.repair import Change, RepairLevel


@dataclass(frozen=True, slots=True, kw_only=True)
class CallOpened:
    """A call has a name; its arguments follow.

    Attributes:
        index: Which call of the reply it is, counted from 0.
        provider_id: The id on the wire, if one stands before the arguments.
    """

    index: int
    id: str
    name: str
    provider_id: str | None = None


@dataclass(frozen=True, slots=True)
class ArgumentsDelta:
    """A piece of the JSON text of a call's arguments; the pieces of one call joined are one JSON object.

    Joined pieces are only ever added to. The call is not to be run before its `ToolCall` comes.
    """

    index: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """Something was not as the format says, and reading went on; nothing was lost.

    Attributes:
        position: Offset in the input, in characters.
    """

    position: int
    expected: str
    found: str

    def __str__(self) -> str:
        return f"At character {self.position}: expected {self.expected}, found {self.found}."


@dataclass(frozen=True, slots=True, kw_only=True)
class Repaired:
    """A call's JSON was nearly right and was read with changes; its `ToolCall` follows.

    Attributes:
        index: Which call of the reply it is, counted from 0.
        position: Where its JSON begins in the input, in characters.
        level: The level of repair that it took, 2 or 3.
        changes: Everything that was read other than it was written, with positions in the input.
    """

    index: int
    position: int
    level: RepairLevel
    changes: tuple[Change, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TextWasReasoning:
    """All text so far was reasoning whose opening mark was not in the text: it stood in the prompt."""


ParseEvent: TypeAlias = (
    TextDelta
    | ReasoningDelta
    | CallOpened
    | ArgumentsDelta
    | ToolCall
    | InvalidToolCall
    | Problem
    | Repaired
    | TextWasReasoning
)


SpanKind: TypeAlias = Literal["content", "reasoning", "call", "markup"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """What a stretch of the input was read as.

    Attributes:
        start: Offset of its first character in the input, in characters.
        end: Offset behind its last.
    """

    kind: SpanKind
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What a model's text says.

    Attributes:
        content: All text for the reader, in order.
        calls: All calls in the order in which they were written, those that could not be read among them.
        problems: Where the text was not as the format says.
        repairs: What was changed in calls whose JSON was nearly right.
        spans: What every stretch of the text was read as, without gaps.
    """

    content: str = ""
    reasoning: str = ""
    calls: tuple[AnyCall, ...] = ()
    problems: tuple[Problem, ...] = ()
    repairs: tuple[Repaired, ...] = ()
    spans: tuple[Span, ...] = ()


def reply_of(events: Iterable[ParseEvent], spans: tuple[Span, ...] = ()) -> Reply:
    """The reply that the events tell of."""
    content: list[str] = []
    reasoning: list[str] = []
    calls: list[AnyCall] = []
    problems: list[Problem] = []
    repairs: list[Repaired] = []
    for event in events:
        match event:
            case TextDelta(text=text):
                content.append(text)
            case ReasoningDelta(text=text):
                reasoning.append(text)
            case TextWasReasoning():
                reasoning += content
                content.clear()
            case ToolCall() | InvalidToolCall():
                calls.append(event)
            case Problem():
                problems.append(event)
            case Repaired():
                repairs.append(event)
            case CallOpened() | ArgumentsDelta():
                pass
    return Reply(
        content="".join(content),
        reasoning="".join(reasoning),
        calls=tuple(calls),
        problems=tuple(problems),
        repairs=tuple(repairs),
        spans=spans,
    )


def escaped(text: str) -> str:
    """The text as the inside of a JSON string."""
    return json.dumps(text, ensure_ascii=False)[1:-1]
