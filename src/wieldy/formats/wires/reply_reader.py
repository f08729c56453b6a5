"""Reads a reply that is one run of text: finds its marks, and takes what stands between them for what it is."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Literal as OneOfThese

from wieldy.formats.events import TextWasReasoning
from wieldy.formats.nodes.flat import Gap, Literal, marked
from wieldy.formats.reading.pattern import Either, Pattern, Scanner
from wieldy.formats.reading.sink import Sink
from wieldy.formats.reading.source import Reading, Source
from wieldy.formats.reading.tool_index import ToolIndex
from wieldy.formats.wires.reply import CallsInReasoning, ReadOptions, Region
from wieldy.formats.wires.section import Section
from wieldy.formats.wires.section_reader import SectionReader

TextKind = OneOfThese["content", "reasoning"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Marks:
    """The marks of a reply.

    Attributes:
        stray: Marks that say nothing and are passed over.
        end: Layout before the end of a reply.
    """

    calls: Section
    reasoning: Region | None
    content: Region | None
    calls_in_reasoning: CallsInReasoning
    stray: tuple[Literal, ...]
    end: Gap | None = None


class TextRun:
    """Text for the reader or reasoning, with layout at its edges held back until it is clear that it is none."""

    def __init__(self, source: Source, emit: Callable[[str], None], kind: TextKind) -> None:
        self.source, self._emit = source, emit
        self._kind: TextKind = kind
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

    def add(self, text: str) -> None:
        """Text that was taken already, and begins with no space."""
        self.settle()
        self._emit(text)
        self.is_fresh = self.strips = False

    def settle(self) -> None:
        """What was held back is text."""
        if self._held:
            self._emit("".join(self._held))
            self._held.clear()
            self.is_fresh = False

    def mark(self, *, drops: bool, position: int | None = None) -> None:
        """A mark stands next, or at a position; what was held back is layout if the mark has layout before it."""
        if drops:
            self.source.begin("markup", self._held_since if self._held else position)
            self._held.clear()
        else:
            self.settle()
            self.source.begin("markup")


@dataclass(frozen=True, slots=True)
class _CallInReasoning:
    """Tells a call from a thought about calls: more than the mark must stand there, or the text must end in it."""

    mark: Pattern
    beginning: Callable[[], Pattern]
    """Made where a mark stands, which is seldom: patterns cost more than parsers."""

    def look(self, source: Source) -> Reading[re.Match[str] | None]:
        """What stands there of the beginning of a call; None if it is none."""
        if not (yield from self.mark.look(source)):
            return None
        beginning = self.beginning()
        return (yield from beginning.look(source)) or beginning.begun(source)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Mark:
    """A mark and what happens at it."""

    literals: tuple[str, ...]
    claim: Pattern | _CallInReasoning
    drops_before: bool
    act: Callable[[Source, Sink], Reading[None]]
    at_line_start: bool = False
    only_fresh: bool = False
    ends_reply: bool = False


class ReplyReader:
    """Reads one reply; used once."""

    def __init__(self, marks: Marks, tools: ToolIndex, options: ReadOptions) -> None:
        self._marks, self._options, self._tools = marks, options, tools
        self._mode: TextKind = "content"
        outside = [literal.text for literal in marks.stray] + list(options.ends)
        self._after = [marked(text, options.tokens) for text in outside]
        self._calls = SectionReader(marks.calls, tools.names, options.tokens, self._after)
        self._had_reasoning = options.start.inside == "reasoning"
        self._after_calls = False
        self._at_line_start = True

    def read(self, source: Source, sink: Sink) -> Reading[None]:
        """Takes everything."""
        self._content = TextRun(source, sink.text, "content")
        self._reasoning = TextRun(source, sink.reasoning, "reasoning")
        self._content.strips = self._options.start.behind_mark
        if self._options.start.inside == "reasoning":
            self._enter_reasoning()
        modes: dict[TextKind, list[_Mark]] = {
            "content": self._content_marks(),
            "reasoning": self._reasoning_marks(),
        }
        scanners = {mode: Scanner([text for mark in marks for text in mark.literals]) for mode, marks in modes.items()}
        self._content.trims = self._marks.end is not None or any(mark.drops_before for mark in modes["content"])
        self._reasoning.trims = any(mark.drops_before for mark in modes["reasoning"])
        while True:
            run = self._content if self._mode == "content" else self._reasoning
            end, begins = scanners[self._mode].find(source, source.at)
            if end > source.at:
                self._at_line_start = ends_line(source.text[source.at : end], before=self._at_line_start)
            run.take(end)
            if begins:
                yield from self._at_mark(source, sink, modes[self._mode], run)
            elif source.ended:
                break
            else:
                yield
        if self._ends_in_layout:
            self._content.mark(drops=True)
        self._content.settle()
        self._reasoning.settle()

    @property
    def _is_behind_calls(self) -> bool:
        """Whether what was held back can only be layout: behind calls, and nothing followed."""
        return self._after_calls and self._marks.calls.before is not None and self._content.is_fresh

    @property
    def _ends_in_layout(self) -> bool:
        """Whether what was held back is layout if the reply ends here."""
        return self._marks.end is not None or self._is_behind_calls

    def _at_mark(self, source: Source, sink: Sink, marks: Sequence[_Mark], run: TextRun) -> Reading[None]:
        for mark in marks:
            if (mark.only_fresh and not run.is_fresh) or (mark.at_line_start and not self._at_line_start):
                continue
            if (yield from mark.claim.look(source)):
                run.mark(drops=mark.drops_before or (mark.ends_reply and self._ends_in_layout))
                yield from mark.act(source, sink)
                self._at_line_start = True
                return
        self._at_line_start = source.text[source.at] == "\n"
        run.take(source.at + 1)

    def _content_marks(self) -> list[_Mark]:
        known = self._marks
        marks: list[_Mark] = []
        if known.reasoning:
            marks.append(
                self._mark(known.reasoning.open, known.reasoning.before, self._open_reasoning, only_fresh=True)
            )
            marks.append(self._mark(known.reasoning.close, known.reasoning.end, self._close_unopened))
        if known.content:
            marks.append(self._mark(known.content.open, known.content.before, self._pass_open))
            marks.append(self._mark(known.content.close, known.content.end, self._pass_close))
        marks.append(self._calls_mark())
        return [*marks, *self._passed()]

    def _reasoning_marks(self) -> list[_Mark]:
        reasoning = self._marks.reasoning
        if not reasoning:
            return []
        marks = [self._mark(reasoning.close, reasoning.end, self._close_reasoning)]
        marks.append(self._mark(reasoning.open, None, self._open_again, only_fresh=True))
        if self._marks.content:
            # Whoever begins the text for the reader has done with reasoning, even if nothing said so.
            marks.append(self._mark(self._marks.content.open, self._marks.content.before, self._pass_open))
        if self._marks.calls_in_reasoning == "calls":
            marks.append(replace(self._calls_mark(), claim=self._claim_in_reasoning()))
        return [*marks, *self._passed()]

    def _claim_in_reasoning(self) -> _CallInReasoning:
        section = replace(self._marks.calls, claimed_by="any name")

        @cache
        def beginning() -> Pattern:
            return SectionReader(section, self._tools.names, self._options.tokens, self._after).claim

        return _CallInReasoning(self._calls.claim, beginning)

    def _passed(self) -> list[_Mark]:
        stray = [self._mark(literal, None, self._pass) for literal in self._marks.stray]
        ends = [self._mark(Literal(text), None, self._pass_end) for text in self._options.ends]
        return [*stray, *(replace(end, ends_reply=True) for end in ends)]

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
            yield from act(source, sink, len(found.group()) if found else 0)

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
        self._reasoning.strips = self._marks.reasoning is not None and self._marks.reasoning.begin is not None

    def _leave_reasoning(self) -> None:
        self._mode = "content"

    def _open_reasoning(self, source: Source, sink: Sink, length: int) -> Reading[None]:
        yield from self._pass(source, sink, length)
        self._enter_reasoning()

    def _open_again(self, source: Source, sink: Sink, length: int) -> Reading[None]:
        yield from self._open_reasoning(source, sink, length)

    def _close_reasoning(self, source: Source, sink: Sink, length: int) -> Reading[None]:
        yield from self._pass(source, sink, length)
        self._leave_reasoning()
        self._content.strips = self._marks.reasoning is not None and self._marks.reasoning.behind is not None

    def _close_unopened(self, source: Source, sink: Sink, length: int) -> Reading[None]:
        if not self._options.start.is_known and not self._had_reasoning and not sink.calls:
            sink.event(TextWasReasoning())
            self._had_reasoning = True
            self._content.is_fresh = True
        else:
            problem = source.error("text or a call")
            yield from source.tell(problem)
            sink.problem(problem)
        yield from self._close_reasoning(source, sink, length)

    def _pass_open(self, source: Source, sink: Sink, length: int) -> Reading[None]:
        yield from self._pass(source, sink, length)
        self._leave_reasoning()
        self._content.strips = self._marks.content is not None and self._marks.content.begin is not None

    def _pass_close(self, source: Source, sink: Sink, length: int) -> Reading[None]:
        yield from self._pass(source, sink, length)
        self._content.strips = self._marks.content is not None and self._marks.content.behind is not None

    def _pass_end(self, source: Source, sink: Sink, length: int) -> Reading[None]:
        yield from self._pass(source, sink, length)
        self._leave_reasoning()
        self._content.strips = True

    def _pass(self, source: Source, sink: Sink, length: int) -> Reading[None]:
        source.take(source.at + length)
        yield from ()


def ends_line(text: str, *, before: bool) -> bool:
    """Whether a line begins behind the text, but for whitespace; `before` says whether one began before it."""
    line = text.rpartition("\n")[2]
    return not line.strip() and (before or "\n" in text)
