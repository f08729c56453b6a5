"""Finds JSON calls in text and reads them, nearly right as they may be.

A bracket begins a call only where a key follows that calls have; then everything up to its closing bracket, or to the
closing fence, is read as one value. If it is no call, it is text as it stands. A call is one that names a known tool,
or has a name, an object of arguments and nothing else. What ends before its bracket closes is never executable.
Cost: linear; no text is looked at twice.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from wieldy.core.json import JsonObject, JsonValue
from wieldy.formats.nodes.bare_text import only_text
from wieldy.formats.nodes.flat import marked
from wieldy.formats.reading.mending import Meant, settle
from wieldy.formats.reading.pattern import SPACE, Either, Group, Part, Pattern, Run, Scanner
from wieldy.formats.reading.sink import Sink, read_object
from wieldy.formats.reading.source import Reading, Source, WireError
from wieldy.formats.reading.tool_index import ToolIndex
from wieldy.formats.wires.reply import ReadOptions, Region
from wieldy.formats.wires.reply_reader import TextRun
from wieldy.schema.repair import JsonRepairError, RepairedJson, RepairLevel, read_json

_FENCE = "```"
_OUTSIDE = re.compile(r"[^\"'{}\[\]`]*")
_SHOWN = 24
_MAX_NESTING = 5
"""So many lists and wrappers may stand around a call."""
_INSIDE = {quote: re.compile(rf"[^{quote}\\]*") for quote in "\"'"}


@dataclass(frozen=True, slots=True, kw_only=True)
class CallKeys:
    """The keys under which models write calls.

    Attributes:
        names: Of the tool's name.
        arguments: Of the arguments.
        also: What else may stand there and says nothing.
        wrappers: What holds a call, or a list of calls.
    """

    names: tuple[str, ...]
    arguments: tuple[str, ...]
    also: tuple[str, ...] = ()
    wrappers: tuple[str, ...] = ()

    @property
    def all(self) -> tuple[str, ...]:
        """Every key that a call may begin with, longest first."""
        keys = {*self.names, *self.arguments, *self.also, *self.wrappers}
        return tuple(sorted(keys, key=lambda key: (-len(key), key)))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Said:
    """A call as it stands in a value; the arguments are None if they are no object."""

    name: str
    arguments: JsonObject | None


class ProseJsonReader:
    """Reads one reply; used once."""

    def __init__(self, keys: CallKeys, reasoning: Region, names: Sequence[str], options: ReadOptions) -> None:
        self._keys, self._names, self._start = keys, names, options.start
        opening, self._closing = (marked(mark.text, options.tokens) for mark in (reasoning.open, reasoning.close))
        self._reasoning_opens = Pattern((SPACE, opening))
        self._reasoning_closes = Scanner((self._closing,))
        quote: Part = Either((('"',), ("'",), ()))
        one: tuple[Part, ...] = ("{", SPACE, quote, Either(tuple((key,) for key in keys.all)), quote, SPACE, ":")
        fence = Group("fence", (Either(((_FENCE, Run("a-zA-Z0-9_", at_least=0, at_most=20), SPACE), ())),))
        self._claim = Pattern((fence, Either((one, ("[", SPACE, *one)))))
        self._begins = Scanner(("{", "[", _FENCE))
        self._fence_closes = Pattern((SPACE, _FENCE))
        self._fence = Pattern((_FENCE,))
        known = "|".join(map(re.escape, sorted(names, key=len, reverse=True)))
        of_name = "|".join(map(re.escape, keys.names))
        self._mention = re.compile(rf"(?:{of_name})[\"']?\s*:\s*[\"']?({known})\b") if known else None

    def read(self, source: Source, sink: Sink) -> Reading[None]:
        """Takes everything."""
        yield from self._read_reasoning(source, sink)
        run = TextRun(source, sink.text, "content")
        run.trims = run.strips = True
        while True:
            end, begins = self._begins.find(source, source.at)
            run.take(end)
            if begins:
                claim = yield from self._claim.look(source)
                if claim:
                    yield from self._read_value(source, sink, run, claim.end("fence"))
                else:
                    run.take(source.at + 1)
            elif source.ended:
                break
            else:
                yield
        run.mark(drops=True)

    def _read_reasoning(self, source: Source, sink: Sink) -> Reading[None]:
        source.begin("markup")
        if self._start.inside != "reasoning":
            opening = yield from self._reasoning_opens.look(source)
            if not opening:
                return
            source.take(opening.end())
        run = TextRun(source, sink.reasoning, "reasoning")
        run.trims = run.strips = True
        while True:
            end, begins = self._reasoning_closes.find(source, source.at)
            run.take(end)
            if begins or source.ended:
                break
            yield
        run.mark(drops=True)
        if begins:
            source.take(source.at + len(self._closing))

    # One value

    def _read_value(self, source: Source, sink: Sink, run: TextRun, fence_end: int) -> Reading[None]:
        start = source.position
        fence = source.take(fence_end)
        value_start = source.position
        text, is_whole = yield from self._take_value(source, is_fenced=bool(fence))
        found = self._understood(text, sink.repair) if is_whole else _cut(text)
        calls = [] if isinstance(found, WireError) else self._calls(found.value, sink.tools, nesting=0)
        name = self._mentioned(text) if isinstance(found, WireError) else None
        if not any(calls) and name is None:
            source.begin("content", start)
            run.add(fence + text)
            return
        run.mark(drops=True, position=start)
        source.begin("call", value_start)
        if isinstance(found, WireError):
            self._fail(source, sink, text, name, _behind(found, value_start))
        else:
            self._tell(source, sink, calls, text, found, value_start)
        if fence and (closing := (yield from self._fence_closes.look(source))):
            source.begin("markup")
            source.take(closing.end())
        run.strips = run.is_fresh

    def _take_value(self, source: Source, *, is_fenced: bool) -> Reading[tuple[str, bool]]:
        """Takes the value that begins here; whether it ended before the text did."""
        pieces: list[str] = []
        depth, quote, last = 0, "", ""
        while True:
            found = (_INSIDE[quote] if quote else _OUTSIDE).match(source.text, source.at)
            plain = source.take(found.end() if found else source.at)
            pieces.append(plain)
            last = plain.rstrip()[-1:] or last
            if source.at == len(source.text):
                if source.ended:
                    return "".join(pieces), False
                yield
                continue
            character = source.text[source.at]
            if character == "`" and is_fenced and (yield from self._fence.look(source)):
                return "".join(pieces), True
            if character == "\\" and quote:
                while source.at + 1 == len(source.text) and not source.ended:
                    yield
                pieces.append(source.take(min(source.at + 2, len(source.text))))
                continue
            pieces.append(source.take(source.at + 1))
            if quote:
                quote = "" if character == quote else quote
            elif character == '"' or (character == "'" and last in ("{", "[", ":", ",")):
                quote = character
            else:
                depth += {"{": 1, "[": 1, "}": -1, "]": -1}.get(character, 0)
            last = character
            if depth == 0:
                return "".join(pieces), True

    # What it means

    def _understood(self, text: str, level: RepairLevel) -> RepairedJson | WireError:
        try:
            return read_json(text, level=level)
        except JsonRepairError as error:
            return WireError(error.position, expected=error.expected, found=error.found)

    def _mentioned(self, text: str) -> str | None:
        """The known tool that a text names which cannot be read."""
        found = self._mention.search(text) if self._mention else None
        return found.group(1) if found else None

    def _calls(self, value: JsonValue, tools: ToolIndex, *, nesting: int) -> list[_Said | None]:
        """What each part of a value says; None for what is no call."""
        if isinstance(value, list) and nesting < _MAX_NESTING:
            return [call for item in value for call in self._calls(item, tools, nesting=nesting + 1)]
        if not isinstance(value, dict):
            return [None]
        inner = next((value[key] for key in self._keys.wrappers if isinstance(value.get(key), dict | list)), None)
        if inner is not None and nesting < _MAX_NESTING:
            return self._calls(inner, tools, nesting=nesting + 1)
        return [self._call(value, tools)]

    def _call(self, value: JsonObject, tools: ToolIndex) -> _Said | None:
        keys = self._keys
        name_key = next((key for key in keys.names if isinstance(value.get(key), str)), None)
        if name_key is None:
            return None
        name = str(value[name_key])
        others = {key: item for key, item in value.items() if key != name_key and key not in keys.also}
        argument_key = next((key for key in keys.arguments if key in others), None)
        schema = next((tool.input_schema for tool in tools.definitions if tool.name == name), None)
        if argument_key is None:
            is_flat = schema is not None and others.keys() <= set(tools.expected(name).names)
            return _Said(name=name, arguments=others) if is_flat else None
        arguments = _arguments(others[argument_key], schema)
        if schema is None and (len(others) > 1 or arguments is None):
            return None
        return _Said(name=name, arguments=arguments)

    def _tell(
        self,
        source: Source,
        sink: Sink,
        calls: Sequence[_Said | None],
        text: str,
        found: RepairedJson,
        position: int,
    ) -> None:
        for said in calls:
            if said is None or said.arguments is None:
                error = WireError(position, expected="a call with an object of arguments", found=repr(text[:_SHOWN]))
                self._fail(source, sink, text, said.name if said else None, error)
                continue
            call = sink.open_call()
            call.arguments_position, source.recorded = position, [text]
            call.named(said.name)
            if not settle(call, text, found, Meant(name=said.name, arguments=said.arguments)):
                expected = "arguments of the types that the tool takes, or strict JSON"
                call.fail(WireError(position, expected=expected, found=repr(text[:_SHOWN])))
            found = replace(found, changes=())

    def _fail(self, source: Source, sink: Sink, text: str, name: str | None, error: WireError) -> None:
        call = sink.open_call()
        source.recorded = [text]
        if name is not None:
            call.named(name)
        call.fail(error)


def _arguments(value: JsonValue, schema: JsonObject | None) -> JsonObject | None:
    if isinstance(value, dict):
        return value
    if value is None:
        return {}
    if not isinstance(value, str):
        return None
    try:
        return read_object(value)
    except (ValueError, RecursionError):
        name = only_text(schema)
        return None if name is None else {name: value}


def _cut(text: str) -> WireError:
    return WireError(len(text), expected="the closing bracket", found="the end of the text")


def _behind(error: WireError, position: int) -> WireError:
    return WireError(position + error.position, expected=error.expected, found=error.found)
