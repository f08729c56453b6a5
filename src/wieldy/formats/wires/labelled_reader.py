"""Reads a reply whose parts begin with labels.

A label counts at the beginning of a line only. What the model writes as the result of its own call is recorded as
markup, with a `Problem`, and never read as anything else: the reply ends there.

The arguments are a JSON object, nearly right perhaps, or a text for the only text argument of the tool: in quotes, or
bare where another label follows. At the end of the reply a bare text may have been cut, and is refused.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from wieldy.core.json import JsonObject, JsonValue
from wieldy.formats.nodes.bare_text import only_text
from wieldy.formats.nodes.flat import marked
from wieldy.formats.nodes.json_calls import JsonArguments, read_arguments
from wieldy.formats.reading.json_text import peek
from wieldy.formats.reading.mending import mend
from wieldy.formats.reading.pattern import SPACE, Either, End, Part, Pattern, Run, Scanner
from wieldy.formats.reading.sink import OpenCall, Sink, read_object
from wieldy.formats.reading.source import Reading, Source, WireError
from wieldy.formats.wires.reply import ReadOptions
from wieldy.formats.wires.reply_reader import TextRun, ends_line

Meaning: TypeAlias = Literal["reasoning", "content", "name", "arguments", "result"]
_AROUND_NAME = " \t*`'\"[]"
"""With what models decorate names."""
_NOTHING = ("none", "nothing", "n/a", "-")
"""What models write for no arguments."""
_JSON_BEGINS = ("{", "[", '"', "`")
_MAY_BE_CUT = "a JSON object, for a bare text at the end of a reply may have been cut"
_OBJECT = JsonArguments()


@dataclass(frozen=True, slots=True, kw_only=True)
class Label:
    """What begins a part of a reply.

    Attributes:
        also: Other spellings that are read.
    """

    text: str
    means: Meaning
    also: tuple[str, ...] = ()

    @property
    def spellings(self) -> tuple[str, ...]:
        """All spellings."""
        return (self.text, *self.also)


class LabelledReader:
    """Reads one reply; used once."""

    def __init__(self, labels: Sequence[Label], names: Sequence[str], options: ReadOptions) -> None:
        self._names, self._start = names, options.start
        self._meanings: dict[str, Meaning] = {
            marked(text, options.tokens): label.means for label in labels for text in label.spellings
        }
        self._labels = Scanner(self._meanings)
        of_arguments = [text for text, means in self._meanings.items() if means == "arguments"]
        self._name_ends = Scanner(("\n", *of_arguments))
        self._arguments = Pattern((SPACE, Either(tuple((text,) for text in of_arguments))))
        other: tuple[tuple[Part, ...], ...] = tuple((text,) for text in self._meanings)
        self._other = Pattern((SPACE, Either(other)))
        self._line_ends = Pattern((Run(r" \t\r", at_least=0), Either((("\n",), (End(),), *other))))

    def read(self, source: Source, sink: Sink) -> Reading[None]:
        """Takes everything."""
        meaning: Meaning | None = "reasoning" if self._start.inside == "reasoning" else "content"
        begins_line = self._start.inside == "nothing"
        while meaning is not None:
            if meaning == "name":
                yield from self._read_call(source, sink)
                meaning, begins_line = "content", True
            elif meaning == "result":
                yield from self._read_result(source, sink)
                return
            else:
                if meaning == "arguments":
                    self._without_name(source, sink)
                meaning = yield from self._read_text(source, sink, meaning, begins_line=begins_line)
                begins_line = False

    def _without_name(self, source: Source, sink: Sink) -> None:
        sink.problem(WireError(source.position, expected="a call's name first", found="its arguments"))

    # Text

    def _read_text(self, source: Source, sink: Sink, meaning: Meaning, *, begins_line: bool) -> Reading[Meaning | None]:
        is_reasoning = meaning == "reasoning"
        run = TextRun(source, sink.reasoning if is_reasoning else sink.text, "reasoning" if is_reasoning else "content")
        run.trims = run.strips = True
        found = yield from self._until_label(source, run.take, begins_line=begins_line)
        run.mark(drops=True)
        if found is None:
            return None
        source.take(source.at + len(found))
        return self._meanings[found]

    def _until_label(self, source: Source, take: Callable[[int], object], *, begins_line: bool) -> Reading[str | None]:
        """Takes everything up to the next label, which it returns; None at the end of the text."""
        while True:
            end, begins = self._labels.find(source, source.at)
            begins_line = ends_line(source.text[source.at : end], before=begins_line)
            take(end)
            if begins:
                if begins_line:
                    return next(text for text in self._labels.literals if source.text.startswith(text, source.at))
                take(source.at + 1)
            elif source.ended:
                return None
            else:
                yield

    def _read_result(self, source: Source, sink: Sink) -> Reading[None]:
        source.begin("markup")
        if (yield from peek(source)):
            problem = source.error("the end of the reply, for results are not the model's to write")
            yield from source.tell(problem)
            sink.problem(problem)
        while True:
            source.take(len(source.text))
            if source.ended:
                return
            yield

    # Calls

    def _read_call(self, source: Source, sink: Sink) -> Reading[None]:
        source.begin("call")
        call = sink.open_call()
        try:
            call.named((yield from self._read_name(source)))
            if found := (yield from self._arguments.look(source)):
                source.take(found.end())
                yield from self._read_arguments(source, sink, call)
            elif (yield from self._other.look(source)):
                call.close()
            else:
                raise source.error("the label of the arguments")
        except WireError as error:
            yield from source.tell(error)
            yield from self._until_label(source, source.take, begins_line=True)
            call.fail(error)

    def _read_name(self, source: Source) -> Reading[str]:
        if not (yield from peek(source)) or (yield from self._other.look(source)):
            raise source.error("the name of a tool")
        pieces: list[str] = []
        while True:
            end, begins = self._name_ends.find(source, source.at)
            pieces.append(source.take(end))
            if begins:
                break
            if source.ended:
                raise source.error("the end of the line with the name of a tool, and its arguments")
            yield
        written = "".join(pieces).strip()
        plain = written.strip(_AROUND_NAME)
        return plain if plain in self._names or not written else written

    def _read_arguments(self, source: Source, sink: Sink, call: OpenCall) -> Reading[None]:
        first = yield from peek(source)
        call.begin_arguments()
        if (yield from self._other.look(source)):
            call.close()
            return
        try:
            if first == '"':
                raise source.error("a JSON object")
            yield from read_arguments(source, call)
            if not (yield from self._line_ends.look(source)):
                raise source.error("the end of the line")
            call.close()
        except WireError as error:
            yield from source.tell(error)
            is_cut = (yield from self._until_label(source, source.take, begins_line=False)) is None
            text = call.arguments_text.rstrip()
            if mend(call, text, node=_OBJECT, level=sink.repair, is_cut=is_cut):
                return
            arguments = _as_text(text, call.schema(call.name or ""), is_cut=is_cut)
            if arguments is None:
                may_be_cut = is_cut and text[:1] not in _JSON_BEGINS
                call.fail(WireError(error.position, expected=_MAY_BE_CUT, found=error.found) if may_be_cut else error)
            else:
                call.finish(call.name or "", arguments, None)


def _as_text(text: str, schema: JsonObject | None, *, is_cut: bool) -> JsonObject | None:
    """The arguments that a text stands for: as the only one that it can be, or none at all; None if it is neither."""
    argument, value = only_text(schema), _quoted(text)
    if value is not None and value.lstrip().startswith("{"):
        try:
            return read_object(value)
        except (ValueError, RecursionError):
            pass
    if is_cut and value is None:
        return None
    if argument is None:
        return {} if text.lower() in _NOTHING else None
    if value is None and text[:1] not in _JSON_BEGINS:
        value = text
    return None if value is None else {argument: value}


def _quoted(text: str) -> str | None:
    """The text that stands in quotes; None where something else stands there."""
    try:
        value: JsonValue = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, str) else None
