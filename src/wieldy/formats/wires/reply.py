"""The parts of a reply and how it is read: what a format needs of a wire, whatever the wire is made of."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal as OneOfThese
from typing import Protocol, TypeAlias

from wieldy.core.calls import ToolDefinition
from wieldy.formats.nodes.flat import Gap, Literal, WrittenCall
from wieldy.formats.reading.sink import Sink
from wieldy.formats.reading.source import Reading, Source
from wieldy.formats.reading.tool_index import ToolIndex
from wieldy.grammar.shape import Exact, InOrder, Json, Named, OneOf, Repeated, Shape

CallsInReasoning: TypeAlias = OneOfThese["text", "calls"]
"""What the opening mark of a call means within reasoning: only text, or the end of the reasoning and a call."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Region:
    """Text between two marks.

    Attributes:
        before: Layout before the opening mark.
        begin: Layout behind it.
        end: Layout before the closing mark.
        behind: Layout behind it.
        is_optional: Whether the marks are left out where there is nothing between them.
    """

    open: Literal
    close: Literal
    before: Gap | None = None
    begin: Gap | None = None
    end: Gap | None = None
    behind: Gap | None = None
    is_optional: bool = False

    @property
    def opening(self) -> str:
        """The canonical text before the region's own."""
        return text_of(self.before) + self.open.text + text_of(self.begin)

    @property
    def closing(self) -> str:
        """The canonical text behind it."""
        return text_of(self.end) + self.close.text + text_of(self.behind)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplyParts:
    """A reply as a renderer writes it."""

    reasoning: str = ""
    content: str = ""
    calls: tuple[WrittenCall, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """Where a reply begins, as the prompt left it.

    Attributes:
        inside: The region whose opening mark stands in the prompt.
        is_known: Whether a prompt was given; without one, a closing mark without its opening one may still come.
        behind_mark: Whether the prompt ends with a mark whose layout may still follow.
        header: What stands of the reply's first header in the prompt, for wires whose messages have headers.
    """

    inside: OneOfThese["nothing", "reasoning", "content"] = "nothing"
    is_known: bool = False
    behind_mark: bool = False
    header: str = ""


class WireLike(Protocol):
    """What a format needs of a wire."""

    def start(self, prompt: str | None) -> Start:
        """Where a reply begins behind this prompt."""
        ...

    def write(self, reply: ReplyParts, start: Start) -> str:
        """The canonical text of a reply."""
        ...

    def reader(self, tools: ToolIndex, options: ReadOptions) -> Callable[[Source, Sink], Reading[None]]:
        """What reads a reply."""
        ...

    def shape(self, tools: Sequence[ToolDefinition], choice: Choice, rules: dict[str, Shape], start: Start) -> Shape:
        """What a grammar allows for a reply."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadOptions:
    """How a reply is read.

    Attributes:
        tokens: The special tokens that are marked in the source.
        ends: The marks that end a reply.
        calls_in_reasoning: None for the family's own policy.
    """

    start: Start = Start()
    tokens: frozenset[str] = frozenset()
    ends: tuple[str, ...] = ()
    calls_in_reasoning: CallsInReasoning | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """What a grammar lets a reply be.

    Attributes:
        calls: Whether there may, must or must not be calls.
        at_most: How many calls; None for any number.
        offered: The names of all tools on offer, also of those that must not be called: text must not look like calls.
        ends: The marks that end a reply.
        answer: What the text of a reply without calls must be; None for any text.
        has_text: Whether there may be text beside calls.
        has_reasoning: Whether there may be reasoning that the prompt did not open.
    """

    calls: OneOfThese["auto", "required", "none"] = "auto"
    at_most: int | None = None
    offered: tuple[str, ...] = ()
    ends: tuple[str, ...] = ()
    answer: Shape | None = None
    has_text: bool = True
    has_reasoning: bool = True


def answer_or_calls(marked: Shape, answer: Shape, calls: Shape, rules: Mapping[str, Shape]) -> Shape:
    """An answer that must be something, or calls without text beside them.

    An engine that reads a literal as long as it can does not go back to JSON that begins in the same way, so a line
    break, which is white space to JSON, stands before such an answer.

    Args:
        marked: The answer with the marks around it.
        answer: The answer itself.
        calls: What stands instead of it.
        rules: The shapes that have names.
    """
    if isinstance(answer, Json) and any(text[:1] in _JSON_BEGINS for text in _beginnings(calls, rules)):
        marked = InOrder((Exact("\n"), marked))
    return OneOf((marked, calls))


_JSON_BEGINS = '{["-0123456789tfn'


def _beginnings(shape: Shape, rules: Mapping[str, Shape]) -> list[str]:
    """The literals with which the shape may begin; `{` for JSON."""
    match shape:
        case Exact(text=text):
            return [text]
        case Json():
            return ["{"]
        case Named(name=name):
            return _beginnings(rules[name], rules)
        case OneOf(options=options):
            return [text for option in options for text in _beginnings(option, rules)]
        case Repeated(part=part):
            return _beginnings(part, rules)
        case InOrder(parts=parts):
            found: list[str] = []
            for part in parts:
                found += _beginnings(part, rules)
                if not _may_be_empty(part):
                    break
            return found
        case _:
            return []


def _may_be_empty(shape: Shape) -> bool:
    match shape:
        case Repeated(at_least=at_least):
            return not at_least
        case InOrder(parts=parts):
            return all(map(_may_be_empty, parts))
        case _:
            return False


def text_of(gap: Gap | None) -> str:
    """The canonical text of layout that may not be there."""
    return gap.text if gap else ""
