"""Replies whose parts begin with a label at the beginning of a line: `Thought:`, `Action:`, `Final Answer:`.

How it is read is in `labelled_reader`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from wieldy.core.calls import ToolDefinition
from wieldy.formats.nodes.json_calls import written_json
from wieldy.formats.reading.sink import Sink
from wieldy.formats.reading.source import Reading, Source
from wieldy.formats.reading.tool_index import ToolIndex
from wieldy.formats.wires.labelled_reader import Label, LabelledReader, Meaning
from wieldy.formats.wires.reply import Choice, ReadOptions, ReplyParts, Start
from wieldy.grammar.shape import Exact, InOrder, Json, Named, OneOf, Repeated, Shape, TextWithout, maybe


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledWire:
    """A reply as labelled parts; the first label of each meaning is written.

    Text before the first label, and behind the arguments of a call, is for the reader.
    """

    labels: tuple[Label, ...]

    def start(self, prompt: str | None) -> Start:
        """Where a reply begins behind this prompt: in the part whose label the prompt ends with."""
        if prompt is None:
            return Start()
        last_line = prompt.rstrip().rpartition("\n")[2]
        for label in self.labels:
            if label.means in ("reasoning", "content") and last_line.endswith(label.spellings):
                return Start(is_known=True, inside="reasoning" if label.means == "reasoning" else "content")
        return Start(is_known=True)

    def write(self, reply: ReplyParts, start: Start) -> str:
        """Text beside calls first, then reasoning, then the calls, or the answer."""
        parts: list[str] = []
        if start.inside == "content":
            parts.append(" " + reply.content)
        elif reply.content and reply.calls:
            parts.append(reply.content)
        if start.inside == "reasoning":
            parts.insert(0, " " + reply.reasoning)
        elif reply.reasoning:
            parts.append(self._label("reasoning") + reply.reasoning)
        for call in reply.calls:
            parts += [self._label("name") + call.name, self._label("arguments") + written_json(call)]
        if not reply.calls and start.inside != "content":
            parts.append(self._label("content") + reply.content)
        return "\n".join(parts)

    def _label(self, means: Meaning) -> str:
        return next(label.text for label in self.labels if label.means == means) + " "

    def reader(self, tools: ToolIndex, options: ReadOptions) -> Callable[[Source, Sink], Reading[None]]:
        """What reads a reply."""
        return LabelledReader(self.labels, tools.names, options).read

    def shape(self, tools: Sequence[ToolDefinition], choice: Choice, rules: dict[str, Shape], start: Start) -> Shape:
        """Reasoning at will, then the answer; or text and reasoning at will, then calls."""
        rules["text"] = TextWithout(tuple(text for label in self.labels for text in label.spellings))
        answered_with = Named("text")
        if choice.answer is not None:
            rules["answer"] = choice.answer
            answered_with = Named("answer")
        answer = InOrder((Exact(self._label("content")), answered_with))
        thought = InOrder((Exact(self._label("reasoning")), Named("text"), Exact("\n")))
        if start.inside == "content":
            return InOrder((Exact(" "), answered_with))
        begin: Shape = maybe(thought)
        if start.inside == "reasoning":
            begin = InOrder((Exact(" "), Named("text"), Exact("\n")))
        answered = InOrder((begin, answer))
        if choice.calls == "none" or not tools:
            return answered
        said: Shape = InOrder(())
        if choice.has_text and start.inside != "reasoning":
            said = maybe(InOrder((Named("text"), Exact("\n"))))
        calling = InOrder((said, begin, self._calls(tools, choice.at_most)))
        return calling if choice.calls == "required" else OneOf((answered, calling))

    def _calls(self, tools: Sequence[ToolDefinition], at_most: int | None) -> Shape:
        name, arguments = self._label("name"), self._label("arguments")
        one = [InOrder((Exact(f"{name}{tool.name}\n{arguments}"), Json(tool.input_schema))) for tool in tools]
        return Repeated(OneOf(tuple(one)), at_least=1, at_most=at_most, between=Exact("\n"))
