"""What a reply looks like: reasoning, text and calls, and the marks between them.

`Wire` is the definition; `ReplyReader` reads it. Formats whose replies are several messages with headers have a wire of
their own (`harmony`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal as OneOfThese
from typing import Protocol, TypeAlias

from wieldy.core.calls import ToolDefinition
from wieldy.formats.events import TextWasReasoning
from wieldy.formats.nodes import Gap, Literal, WrittenCall, marked
from wieldy.formats.pattern import Either, Pattern, Scanner
from wieldy.formats.section import Section, SectionReader
from wieldy.formats.shape import Exact, InOrder, Named, OneOf, Shape, TextWithout, maybe
from wieldy.formats.sink import Sink
from wieldy.formats.source import Reading, Source
from wieldy.formats.tool_index import ToolIndex

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
    """

    open: Literal
    close: Literal
    before: Gap | None = None
    begin: Gap | None = None
    end: Gap | None = None
    behind: Gap | None = None

    @property
    def opening(self) -> str:
        """The canonical text before the region's own."""
        return _text(self.before) + self.open.text + _text(self.begin)

    @property
    def closing(self) -> str:
        """The canonical text behind it."""
        return _text(self.end) + self.close.text + _text(self.behind)


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
    """

    inside: OneOfThese["nothing", "reasoning", "content"] = "nothing"
    is_known: bool = False
    behind_mark: bool = False


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
    """

    calls: OneOfThese["auto", "required", "none"] = "auto"
    at_most: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Wire:
    """A reply as one run of text.

    Attributes:
        content: Marks around the text for the reader, if it has any.
        calls_in_reasoning: What the opening mark of a call means within reasoning.
        stray: Marks that say nothing and are passed over.
    """

    calls: Section
    reasoning: Region | None = None
    content: Region | None = None
    calls_in_reasoning: CallsInReasoning = "text"
    stray: tuple[Literal, ...] = field(default=())

    def start(self, prompt: str | None) -> Start:
        """Where a reply begins behind this prompt: in the region that it opened last and did not close."""
        if prompt is None:
            return Start()
        regions = {"reasoning": self.reasoning, "content": self.content}
        for name, region in regions.items():
            if region and prompt.rfind(region.open.text) > prompt.rfind(region.close.text):
                return Start(inside="reasoning" if name == "reasoning" else "content", is_known=True)
        closes = [region.close.text for region in regions.values() if region and region.behind is not None]
        return Start(is_known=True, behind_mark=prompt.rstrip().endswith(tuple(closes)) if closes else False)

    def write(self, reply: ReplyParts, start: Start) -> str:
        """Reasoning, then text, then calls."""
        text = ""
        if self.reasoning and start.inside == "reasoning":
            text += reply.reasoning + self.reasoning.closing
        elif self.reasoning and reply.reasoning:
            text += self.reasoning.opening + reply.reasoning + self.reasoning.closing
        if self.content:
            text += "" if start.inside == "content" else self.content.opening
            text += reply.content + self.content.closing
        else:
            text += reply.content
        return text + self.calls.write(reply.calls, after_text=bool(text))

    def reader(self, tools: ToolIndex, options: ReadOptions) -> Callable[[Source, Sink], Reading[None]]:
        """What reads a reply."""
        return _ReplyReader(self, tools, options).read

    def shape(self, tools: Sequence[ToolDefinition], choice: Choice, rules: dict[str, Shape], start: Start) -> Shape:
        """Reasoning if the wire has any, then text, then calls."""
        marks = self._marks()
        parts: list[Shape] = []
        if self.reasoning:
            thought = InOrder((TextWithout((self.reasoning.close.text,)), *_closing(self.reasoning)))
            parts.append(
                thought if start.inside == "reasoning" else maybe(InOrder((*_opening(self.reasoning), thought)))
            )
        content: Shape = TextWithout(marks)
        if self.content:
            opening = () if start.inside == "content" else _opening(self.content)
            content = InOrder((*opening, TextWithout((self.content.close.text, *marks)), *_closing(self.content)))
        rules["content"] = content
        if choice.calls == "none" or not tools:
            return InOrder((*parts, Named("content")))
        calls = self.calls.shape(tools, rules, at_most=choice.at_most)
        if self.calls.before and self.calls.before.text:
            calls = InOrder((maybe(Exact(self.calls.before.text)), calls))
        rules["calls"] = calls
        with_calls = InOrder((Named("content"), Named("calls")))
        if choice.calls == "required":
            return InOrder((*parts, with_calls))
        return InOrder((*parts, OneOf((Named("content"), with_calls))))

    def _marks(self) -> tuple[str, ...]:
        """The marks that text for the reader must not contain, because they would be read."""
        found = [literal for literal in (*self.calls.open, *self.calls.call.head) if isinstance(literal, Literal)]
        first = [literal.text for literal in found[:1] if literal.text.strip()]
        return (*first, *((self.reasoning.open.text, self.reasoning.close.text) if self.reasoning else ()))


def _text(gap: Gap | None) -> str:
    return gap.text if gap else ""


def _opening(region: Region) -> tuple[Shape, ...]:
    gaps = (_text(region.before), _text(region.begin))
    return (*_exact(gaps[0]), Exact(region.open.text, token=region.open.token), *_exact(gaps[1]))


def _closing(region: Region) -> tuple[Shape, ...]:
    gaps = (_text(region.end), _text(region.behind))
    return (*_exact(gaps[0]), Exact(region.close.text, token=region.close.token), *_exact(gaps[1]))


def _exact(text: str) -> tuple[Shape, ...]:
    return (Exact(text),) if text else ()


class _TextRun:
    """Text for the reader or reasoning, with layout at its edges held back until it is clear that it is none."""

    def __init__(self, source: Source, emit: Callable[[str], None], kind: OneOfThese["content", "reasoning"]) -> None:
        self.source, self._emit, self._kind = source, emit, kind
        self.trims = False
        self.is_fresh = True
        self.strips = False
        self._held: list[str] = []
        self._held_since = 0

    def take(self, end: int) -> None:
        """Takes plain text up to `end`."""
        source = self.source
        if end <= source.at:
            return
        if self.strips:
            start = len(source.text[source.at : end]) - len(source.text[source.at : end].lstrip())
            source.begin("markup")
            source.take(source.at + start)
            if source.at == end:
                return
            self.strips = False
        position = source.position
        source.begin(self._kind)
        text = source.take(end)
        body = text.rstrip() if self.trims else text
        if body:
            self.settle()
            self._emit(body)
            self.is_fresh = False
            position += len(body)
        if len(body) < len(text):
            if not self._held:
                self._held_since = position
            self._held.append(text[len(body) :])

    def settle(self) -> None:
        """What was held back is text."""
        if self._held:
            self._emit("".join(self._held))
            self._held.clear()
            self.is_fresh = False

    def mark(self, *, drops: bool) -> None:
        """A mark stands next; what was held back is layout if the mark has layout before it."""
        if drops:
            self.source.begin("markup", self._held_since if self._held else None)
            self._held.clear()
        else:
            self.settle()
            self.source.begin("markup")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Mark:
    """A mark and what happens at it."""

    literals: tuple[str, ...]
    claim: Pattern
    drops_before: bool
    act: Callable[[Source, Sink], Reading[None]] | Callable[[Source, Sink], Iterator[None]]
    at_line_start: bool = False
    only_fresh: bool = False


class _ReplyReader:
    """Reads one reply; used once."""

    def __init__(self, wire: Wire, tools: ToolIndex, options: ReadOptions) -> None:
        self._wire, self._options = wire, options
        self._mode: OneOfThese["content", "reasoning"] = "content"
        outside = [literal.text for literal in wire.stray] + list(options.ends)
        marks = [marked(text, options.tokens) for text in outside]
        self._calls = SectionReader(wire.calls, tools.names, options.tokens, marks)
        self._had_reasoning = options.start.inside == "reasoning"
        self._after_calls = False
        self._at_line_start = True

    def read(self, source: Source, sink: Sink) -> Reading[None]:
        """Takes everything."""
        self._content = _TextRun(source, sink.text, "content")
        self._reasoning = _TextRun(source, sink.reasoning, "reasoning")
        self._content.strips = self._options.start.behind_mark
        if self._options.start.inside == "reasoning":
            self._enter_reasoning()
        modes = {"content": self._content_marks(), "reasoning": self._reasoning_marks()}
        scanners = {mode: Scanner([text for mark in marks for text in mark.literals]) for mode, marks in modes.items()}
        self._content.trims = any(mark.drops_before for mark in modes["content"])
        self._reasoning.trims = any(mark.drops_before for mark in modes["reasoning"])
        while True:
            run = self._content if self._mode == "content" else self._reasoning
            end, begins = scanners[self._mode].find(source, source.at)
            if end > source.at:
                self._at_line_start = _ends_line(source.text[source.at : end], before=self._at_line_start)
            run.take(end)
            if begins:
                yield from self._at_mark(source, sink, modes[self._mode], run)
            elif source.ended:
                break
            else:
                yield
        if self._after_calls and self._wire.calls.before and self._content.is_fresh:
            self._content.mark(drops=True)
        self._content.settle()
        self._reasoning.settle()

    def _at_mark(self, source: Source, sink: Sink, marks: Sequence[_Mark], run: _TextRun) -> Reading[None]:
        for mark in marks:
            if mark.only_fresh and not run.is_fresh or mark.at_line_start and not self._at_line_start:
                continue
            if (yield from mark.claim.look(source)):
                run.mark(drops=mark.drops_before)
                yield from mark.act(source, sink)
                self._at_line_start = True
                return
        self._at_line_start = source.text[source.at] == "\n"
        run.take(source.at + 1)

    def _content_marks(self) -> list[_Mark]:
        wire = self._wire
        marks: list[_Mark] = []
        if wire.reasoning:
            marks.append(self._mark(wire.reasoning.open, wire.reasoning.before, self._open_reasoning, only_fresh=True))
            marks.append(self._mark(wire.reasoning.close, wire.reasoning.end, self._close_unopened))
        if wire.content:
            marks.append(self._mark(wire.content.open, wire.content.before, self._pass_open))
            marks.append(self._mark(wire.content.close, wire.content.end, self._pass_close))
        marks.append(self._calls_mark())
        return [*marks, *self._passed()]

    def _reasoning_marks(self) -> list[_Mark]:
        reasoning = self._wire.reasoning
        if not reasoning:
            return []
        marks = [self._mark(reasoning.close, reasoning.end, self._close_reasoning)]
        marks.append(self._mark(reasoning.open, None, self._open_again, only_fresh=True))
        if (self._options.calls_in_reasoning or self._wire.calls_in_reasoning) == "calls":
            marks.append(self._calls_mark())
        return [*marks, *self._passed()]

    def _passed(self) -> list[_Mark]:
        ends = [Literal(text) for text in self._options.ends]
        return [self._mark(literal, None, self._pass) for literal in (*self._wire.stray, *ends)]

    def _mark(
        self,
        literal: Literal,
        before: Gap | None,
        act: Callable[[Source, Sink, int], Reading[None]],
        *,
        only_fresh: bool = False,
    ) -> _Mark:
        spellings = tuple(marked(text, self._options.tokens) for text in (literal.text, *literal.also))
        claim = Pattern((Either(tuple((text,) for text in spellings)),))

        def take(source: Source, sink: Sink) -> Reading[None]:
            found = yield from claim.look(source)
            yield from act(source, sink, found.end() if found else source.at)

        return _Mark(literals=spellings, claim=claim, drops_before=before is not None, act=take, only_fresh=only_fresh)

    def _calls_mark(self) -> _Mark:
        calls = self._calls
        return _Mark(
            literals=calls.literals,
            claim=calls.claim,
            drops_before=calls.before is not None,
            act=self._read_calls,
            at_line_start=calls.at_line_start,
        )

    def _read_calls(self, source: Source, sink: Sink) -> Reading[None]:
        self._leave_reasoning()
        yield from self._calls.read(source, sink)
        self._after_calls = True
        self._content.is_fresh = True

    def _enter_reasoning(self) -> None:
        self._mode = "reasoning"
        self._had_reasoning = True
        self._reasoning.strips = self._wire.reasoning is not None and self._wire.reasoning.begin is not None

    def _leave_reasoning(self) -> None:
        self._mode = "content"

    def _open_reasoning(self, source: Source, sink: Sink, end: int) -> Reading[None]:
        yield from self._pass(source, sink, end)
        self._enter_reasoning()

    def _open_again(self, source: Source, sink: Sink, end: int) -> Reading[None]:
        yield from self._open_reasoning(source, sink, end)

    def _close_reasoning(self, source: Source, sink: Sink, end: int) -> Reading[None]:
        yield from self._pass(source, sink, end)
        self._leave_reasoning()
        self._content.strips = self._wire.reasoning is not None and self._wire.reasoning.behind is not None

    def _close_unopened(self, source: Source, sink: Sink, end: int) -> Reading[None]:
        if not self._options.start.is_known and not self._had_reasoning and not sink.calls:
            sink.event(TextWasReasoning())
            self._had_reasoning = True
            self._content.is_fresh = True
        else:
            problem = source.error("text or a call")
            yield from source.tell(problem)
            sink.problem(problem)
        yield from self._close_reasoning(source, sink, end)

    def _pass_open(self, source: Source, sink: Sink, end: int) -> Reading[None]:
        yield from self._pass(source, sink, end)
        self._content.strips = self._wire.content is not None and self._wire.content.begin is not None

    def _pass_close(self, source: Source, sink: Sink, end: int) -> Reading[None]:
        yield from self._pass(source, sink, end)
        self._content.strips = self._wire.content is not None and self._wire.content.behind is not None

    def _pass(self, source: Source, sink: Sink, end: int) -> Reading[None]:
        source.take(end)
        yield from ()


def _ends_line(text: str, *, before: bool) -> bool:
    line = text.rpartition("\n")[2]
    return not line.strip() and (before or "\n" in text)
