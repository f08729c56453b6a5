"""Calls as JSON objects in whatever text a model writes: bare, in a fence, in a list, under many keys.

How they are found and read is in `prose_json_reader`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from wieldy.core.calls import ToolDefinition
from wieldy.formats.nodes.flat import WrittenCall
from wieldy.formats.nodes.json_calls import written_json
from wieldy.formats.reading.sink import Sink
from wieldy.formats.reading.source import Reading, Source
from wieldy.formats.reading.tool_index import ToolIndex
from wieldy.formats.wires.prose_json_reader import CallKeys, ProseJsonReader
from wieldy.formats.wires.reply import Choice, ReadOptions, Region, ReplyParts, Start, answer_or_calls
from wieldy.grammar.shape import Exact, InOrder, Json, Marker, Named, OneOf, Repeated, Shape, TextWithout, maybe


@dataclass(frozen=True, slots=True, kw_only=True)
class ProseJsonWire:
    """A reply as text with JSON calls in it.

    Attributes:
        keys: The keys that a call may have; the first name and the first arguments are written.
        reasoning: Marks around reasoning at the beginning.
    """

    keys: CallKeys
    reasoning: Region

    def start(self, prompt: str | None) -> Start:
        """Where a reply begins behind this prompt: in reasoning, if the prompt opened some."""
        if prompt is None:
            return Start()
        is_open = prompt.rfind(self.reasoning.open.text) > prompt.rfind(self.reasoning.close.text)
        return Start(is_known=True, inside="reasoning" if is_open else "nothing")

    def write(self, reply: ReplyParts, start: Start) -> str:
        """Reasoning, then text, then a call, or a list of several."""
        text = ""
        if start.inside == "reasoning":
            text = reply.reasoning + self.reasoning.closing
        elif reply.reasoning:
            text = self.reasoning.opening + reply.reasoning + self.reasoning.closing
        calls = [self._written(call) for call in reply.calls]
        gap = "\n" if reply.content and calls else ""
        return text + reply.content + gap + (f"[{', '.join(calls)}]" if len(calls) > 1 else "".join(calls))

    def _written(self, call: WrittenCall) -> str:
        return f"{self._opening(call.name)}{written_json(call)}}}"

    def _opening(self, name: str) -> str:
        keys = self.keys
        return f'{{"{keys.names[0]}": {json.dumps(name, ensure_ascii=False)}, "{keys.arguments[0]}": '

    def reader(self, tools: ToolIndex, options: ReadOptions) -> Callable[[Source, Sink], Reading[None]]:
        """What reads a reply."""
        return ProseJsonReader(self.keys, self.reasoning, tools.names, options).read

    def shape(self, tools: Sequence[ToolDefinition], choice: Choice, rules: dict[str, Shape], start: Start) -> Shape:
        """Reasoning at will, then text; with calls on offer, text without objects, and then calls."""
        close, opening = self.reasoning.close.text, self.reasoning.open.text
        thought = InOrder((TextWithout((close,)), Exact(self.reasoning.closing)))
        begin: Shape = thought
        if start.inside != "reasoning":
            begin = maybe(InOrder((Exact(self.reasoning.opening), thought))) if choice.has_reasoning else InOrder(())
        if choice.answer is not None:
            rules["answer"] = choice.answer
        if choice.calls == "none" or not tools:
            if choice.answer is not None:
                return InOrder((begin, Named("answer")))
            return InOrder((begin, TextWithout((opening, *self._giveaways(tools)))))
        rules["content"] = TextWithout(("{", opening))
        one = OneOf(
            tuple(InOrder((Exact(self._opening(tool.name)), Json(tool.input_schema), Exact("}"))) for tool in tools)
        )
        many = Repeated(one, at_least=1, at_most=choice.at_most, between=Exact(", "))
        listed = InOrder((Exact("["), many, Exact("]")))
        calls = OneOf((one, listed))
        calling = InOrder((begin, calls))
        if choice.has_text:
            # Text that ends with a bracket would make a list of the one call.
            before_one = TextWithout(("{", "[", opening))
            single = InOrder((before_one, maybe(Exact("\n")), one))
            calling = InOrder((begin, OneOf((single, InOrder((Named("content"), maybe(Exact("\n")), listed))))))
        if choice.calls == "required":
            return calling
        if choice.answer is not None:
            return InOrder((begin, answer_or_calls(Named("answer"), choice.answer, calls, rules)))
        return OneOf((InOrder((begin, Named("content"))), calling))

    def _giveaways(self, tools: Sequence[ToolDefinition]) -> tuple[Marker, ...]:
        """What every call has: the name of a tool on offer as a value, or arguments, in whatever quotes."""
        keys = self.keys.arguments
        names = [(":", f"{quote}{tool.name}") for tool in tools for quote in ('"', "'", "")]
        quoted = [(f"{quote}{key}{quote}", ":") for key in keys for quote in "\"'"]
        return (*names, *quoted, *((before, key, ":") for key in keys for before in "{,"))
