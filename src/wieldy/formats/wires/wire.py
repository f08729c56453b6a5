"""A reply as one run of text: reasoning, text and calls, and the marks between them.

Formats whose replies are several messages with headers have a wire of their own (`harmony`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from wieldy.core.calls import ToolDefinition
from wieldy.formats.nodes.flat import Gap, Literal
from wieldy.formats.reading.sink import Sink
from wieldy.formats.reading.source import Reading, Source
from wieldy.formats.reading.tool_index import ToolIndex
from wieldy.formats.wires.reply import (
    CallsInReasoning,
    Choice,
    ReadOptions,
    Region,
    ReplyParts,
    Start,
    answer_or_calls,
    text_of,
)
from wieldy.formats.wires.reply_reader import Marks, ReplyReader
from wieldy.formats.wires.section import Section
from wieldy.grammar.shape import Exact, InOrder, Named, OneOf, Shape, TextWithout, maybe


@dataclass(frozen=True, slots=True, kw_only=True)
class Wire:
    """A reply as one run of text.

    Attributes:
        content: Marks around the text for the reader, if it has any.
        calls_in_reasoning: What the opening mark of a call means within reasoning.
        stray: Marks that say nothing and are passed over.
        begin: Layout with which every reply begins.
        end: Layout that may stand at the end of every reply, where no mark tells it from text; never written.
    """

    calls: Section
    reasoning: Region | None = None
    content: Region | None = None
    calls_in_reasoning: CallsInReasoning = "text"
    stray: tuple[Literal, ...] = ()
    begin: Gap | None = None
    end: Gap | None = None

    def start(self, prompt: str | None) -> Start:
        """Where a reply begins behind this prompt: in the region that it opened last and did not close."""
        if prompt is None:
            return Start(behind_mark=self.begin is not None)
        regions = {"reasoning": self.reasoning, "content": self.content}
        for name, region in regions.items():
            if region and prompt.rfind(region.open.text) > prompt.rfind(region.close.text):
                return Start(inside="reasoning" if name == "reasoning" else "content", is_known=True)
        closes = [region.close.text for region in regions.values() if region and region.behind is not None]
        behind_mark = prompt.rstrip().endswith(tuple(closes)) if closes else False
        return Start(is_known=True, behind_mark=behind_mark or self.begin is not None)

    def write(self, reply: ReplyParts, start: Start) -> str:
        """Reasoning, then text, then calls."""
        text = text_of(self.begin)
        if self.reasoning and start.inside == "reasoning":
            text += reply.reasoning + self.reasoning.closing
        elif self.reasoning and reply.reasoning:
            text += self.reasoning.opening + reply.reasoning + self.reasoning.closing
        if self.content and self._has_content(self.content, reply, start):
            text += "" if start.inside == "content" else self.content.opening
            text += reply.content + self.content.closing
        else:
            text += reply.content
        return text + self.calls.write(reply.calls, after_text=bool(reply.content))

    def _has_content(self, region: Region, reply: ReplyParts, start: Start) -> bool:
        return bool(reply.content) or start.inside == "content" or not region.is_optional

    def reader(self, tools: ToolIndex, options: ReadOptions) -> Callable[[Source, Sink], Reading[None]]:
        """What reads a reply."""
        marks = Marks(
            calls=self.calls,
            reasoning=self.reasoning,
            content=self.content,
            calls_in_reasoning=options.calls_in_reasoning or self.calls_in_reasoning,
            stray=self.stray,
            end=self.end,
        )
        return ReplyReader(marks, tools, options).read

    def shape(self, tools: Sequence[ToolDefinition], choice: Choice, rules: dict[str, Shape], start: Start) -> Shape:
        """Reasoning if the wire has any, then text, then calls."""
        call_marks = self.calls.text_marks(choice.offered)
        marks = (*call_marks, *_spellings(self.reasoning), *_spellings(self.content))
        parts: list[Shape] = [*_exact(text_of(self.begin))]
        if self.reasoning:
            begins_content = self.content.open.spellings if self.content else ()
            ends = (*begins_content, *(call_marks if self.calls_in_reasoning == "calls" else ()))
            thought = InOrder((TextWithout((*self.reasoning.close.spellings, *ends)), *_closing(self.reasoning)))
            if start.inside == "reasoning":
                parts.append(thought)
            elif choice.has_reasoning:
                parts.append(maybe(InOrder((*_opening(self.reasoning), thought))))
        rules["content"] = self._content_shape(TextWithout(marks), start, may_be_missing=True)
        answer: Shape = Named("content")
        if choice.answer is not None:
            rules["answer"] = choice.answer
            answer = self._content_shape(Named("answer"), start, may_be_missing=False)
        if choice.calls == "none" or not tools:
            return InOrder((*parts, answer))
        outside = (*(literal.text for literal in self.stray), *choice.ends)
        calls = self.calls.shape(tools, rules, at_most=choice.at_most, marks=outside)
        rules["calls"] = calls
        calling = self._behind_content(Named("calls"))
        if choice.answer is not None or not choice.has_text:
            calling = InOrder((self._content_shape(InOrder(()), start, may_be_missing=True), Named("calls")))
        if choice.calls == "required":
            return InOrder((*parts, calling))
        if choice.answer is not None:
            return InOrder((*parts, answer_or_calls(answer, choice.answer, calling, rules)))
        return InOrder((*parts, OneOf((answer, calling))))

    def _content_shape(self, text: Shape, start: Start, *, may_be_missing: bool) -> Shape:
        if not self.content:
            return text
        is_open = start.inside == "content"
        opening = () if is_open else _opening(self.content)
        marked = InOrder((*opening, text, *_closing(self.content)))
        return maybe(marked) if may_be_missing and self.content.is_optional and not is_open else marked

    def _behind_content(self, calls: Shape) -> Shape:
        gap = _exact(text_of(self.calls.before))
        if self.calls.at_line_start:
            return InOrder((maybe(InOrder((Named("content"), *gap))), calls))
        return InOrder((Named("content"), *map(maybe, gap), calls))


def _spellings(region: Region | None) -> tuple[str, ...]:
    return (*region.open.spellings, *region.close.spellings) if region else ()


def _opening(region: Region) -> tuple[Shape, ...]:
    gaps = (text_of(region.before), text_of(region.begin))
    return (*_exact(gaps[0]), Exact(region.open.text, token=region.open.token), *_exact(gaps[1]))


def _closing(region: Region) -> tuple[Shape, ...]:
    gaps = (text_of(region.end), text_of(region.behind))
    return (*_exact(gaps[0]), Exact(region.close.text, token=region.close.token), *_exact(gaps[1]))


def _exact(text: str) -> tuple[Shape, ...]:
    return (Exact(text),) if text else ()
