"""Replies of several messages, each with a header: who speaks, to whom, on which channel (OpenAI's harmony).

A reply begins within a header, because the prompt has opened it. A call is a message to `functions.NAME` with a JSON
body; what is meant for the reader and what is reasoning, the channel says. How it is read is in `harmony_reader`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal as OneOfThese

from wieldy.core.calls import ToolDefinition
from wieldy.core.errors import UsageError
from wieldy.formats.nodes.flat import Literal, WrittenCall
from wieldy.formats.nodes.json_calls import written_json
from wieldy.formats.reading.sink import Sink
from wieldy.formats.reading.source import Reading, Source
from wieldy.formats.reading.tool_index import ToolIndex
from wieldy.formats.wires.harmony_reader import HarmonyReader
from wieldy.formats.wires.message_header import Channel, Header, HeaderMarks
from wieldy.formats.wires.reply import Choice, ReadOptions, ReplyParts, Start
from wieldy.grammar.shape import Exact, InOrder, Json, Named, OneOf, Repeated, Shape, TextWithout, maybe

Purpose = OneOfThese["reasoning", "preamble", "answer", "call"]
"""What a message is for when it is written; each is written on one channel."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HarmonyWire:
    """A reply as messages with headers.

    Attributes:
        marks: The marks of headers and bodies.
        channels: What is said on each channel: reasoning, or text for the reader.
        written_on: The channel on which each kind of message is written.
        calls_end: What stands behind a call when another message follows.
    """

    marks: HeaderMarks
    channels: Mapping[str, Channel]
    written_on: Mapping[Purpose, str]
    calls_end: Literal

    def start(self, prompt: str | None) -> Start:
        """Where a reply begins: within the header, or the body, that the prompt opened last."""
        if prompt is None:
            return Start(header=self.marks.role)
        opened = prompt.rpartition(self.marks.start.text)
        if not opened[1]:
            return Start(is_known=True, header=self.marks.role)
        is_over = any(end.text in opened[2] for end in self.marks.ends)
        return Start(is_known=True, header="" if is_over else opened[2])

    def write(self, reply: ReplyParts, start: Start) -> str:
        """Reasoning, then text, then the calls; text beside calls is a preamble, any other the answer."""
        bodies: list[tuple[Header, str]] = []
        if reply.reasoning:
            bodies.append((self._header("reasoning"), reply.reasoning))
        if reply.content or not reply.calls:
            bodies.append((self._header("preamble" if reply.calls else "answer"), reply.content))
        bodies += [(self._header("call", call), written_json(call)) for call in reply.calls]
        messages = [self.marks.written(header) + body for header, body in bodies]
        ends = [self.calls_end.text if header.recipient else self.marks.ends[0].text for header, _ in bodies[:-1]]
        text = "".join(
            message + (end + self.marks.start.text if end else "")
            for message, end in zip(messages, [*ends, ""], strict=True)
        )
        return self._behind(start, text)

    def _behind(self, start: Start, text: str) -> str:
        """The text without what the prompt has of it; a body that the prompt opened for something else stays empty."""
        if text.startswith(start.header):
            return (self.marks.start.text if not start.header else "") + text.removeprefix(start.header)
        return self.marks.ends[0].text + self.marks.start.text + text

    def _header(self, purpose: Purpose, call: WrittenCall | None = None) -> Header:
        return Header(
            role=self.marks.role,
            recipient=self.marks.namespace + call.name if call else "",
            channel=self.written_on[purpose],
        )

    def reader(self, tools: ToolIndex, options: ReadOptions) -> Callable[[Source, Sink], Reading[None]]:
        """What reads a reply."""
        return HarmonyReader(self.marks, self.channels, tools.names, options).read

    # What grammars allow

    def shape(self, tools: Sequence[ToolDefinition], choice: Choice, rules: dict[str, Shape], start: Start) -> Shape:
        """Reasoning at will, preambles at will, then the answer or calls.

        Raises:
            UsageError: The prompt ends in the middle of a header.
        """
        marks = self.marks
        rules["text"] = TextWithout(tuple(mark.text for mark in (*marks.ends, marks.start)))
        next_message = (_exact(marks.ends[0]), _exact(marks.start), Exact(marks.role))
        rules["answer"] = Named("text") if choice.answer is None else choice.answer
        said = {
            purpose: InOrder((*self._opening(purpose), Named("answer" if purpose == "answer" else "text")))
            for purpose in ("preamble", "answer", "reasoning")
        }
        preambles = Repeated(InOrder((said["preamble"], *next_message)))
        ends: list[Shape] = []
        if choice.calls != "none" and tools:
            calls = self._calls(tools, rules, choice.at_most)
            ends.append(InOrder((preambles, calls)) if choice.has_text else calls)
        if choice.calls != "required":
            # A preamble is text for the reader too, so none stands before an answer that must be something.
            ends.append(InOrder((preambles, said["answer"])) if choice.answer is None else said["answer"])
        rules["ending"] = ends[0] if len(ends) == 1 else OneOf(tuple(ends))
        whole = InOrder((maybe(InOrder((said["reasoning"], *next_message))), Named("ending")))
        return self._from(start, whole, InOrder((*next_message, Named("ending"))), tools)

    def _from(self, start: Start, whole: Shape, rest: Shape, tools: Sequence[ToolDefinition]) -> Shape:
        """What may follow the header that the prompt has opened."""
        marks = self.marks
        if not start.header:
            return InOrder((_exact(marks.start), Exact(marks.role), whole))
        if start.header.strip() == marks.role:
            return whole
        opened, found, body = start.header.partition(marks.message.text)
        header = marks.parsed(opened)
        if not found or body:
            raise UsageError(
                f"Expected a prompt that ends with {marks.start.text + marks.role!r} or with a whole header, found one "
                f"that ends with {start.header[-40:]!r}."
            )
        called = [tool for tool in tools if tool.name == marks.called(header, [tool.name])]
        if called:
            return Json(called[0].input_schema)
        if self.channels.get(header.channel) == "reasoning":
            return InOrder((Named("text"), rest))
        return Named("answer")

    def _calls(self, tools: Sequence[ToolDefinition], rules: dict[str, Shape], at_most: int | None) -> Shape:
        marks = self.marks
        one = OneOf(tuple(InOrder((self._call_header(tool), Json(tool.input_schema))) for tool in tools))
        between = InOrder((_exact(self.calls_end), _exact(marks.start), Exact(marks.role)))
        rules["calls"] = Repeated(one, at_least=1, at_most=at_most, between=between)
        return Named("calls")

    def _call_header(self, tool: ToolDefinition) -> Shape:
        """The recipient before the channel, as it is rendered, or behind it, as models write it."""
        marks, recipient = self.marks, f"{self.marks.to}{self.marks.namespace}{tool.name}"
        channel = (_exact(marks.channel), Exact(self.written_on["call"]))
        return InOrder(
            (
                OneOf((InOrder((Exact(recipient), *channel)), InOrder((*channel, Exact(recipient))))),
                Exact(" "),
                maybe(_exact(marks.kind)),
                Exact(marks.json),
                _exact(marks.message),
            )
        )

    def _opening(self, purpose: Purpose) -> tuple[Shape, ...]:
        return (_exact(self.marks.channel), Exact(self.written_on[purpose]), _exact(self.marks.message))


def _exact(mark: Literal) -> Exact:
    return Exact(mark.text, token=mark.token)
