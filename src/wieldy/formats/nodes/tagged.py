"""Arguments that stand one by one between marks, their values as raw text.

A raw value may contain anything, even its own closing mark, for the wire has no way of escaping it. A closing mark ends
the value only where what must follow an argument follows: the next argument or the end of the call. Types stand in the
tool's schema, or on the wire where a format writes them there.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal as OneOfThese
from typing import TypeAlias

from wieldy.core.calls import ToolDefinition
from wieldy.core.errors import UsageError
from wieldy.core.json import JsonObject, JsonValue
from wieldy.formats.events import escaped
from wieldy.formats.nodes.flat import Around, Gap, Literal, Reader, WrittenCall, first_literals, marked
from wieldy.formats.nodes.raw_shapes import arguments_in_order, json_type, one_of, raw_shapes
from wieldy.formats.nodes.text_ends import ends_of_text
from wieldy.formats.reading.json_text import OpenJson
from wieldy.formats.reading.pattern import SPACE, Either, End, Group, Part, Pattern, Run, Scanner
from wieldy.formats.reading.sink import OpenCall
from wieldy.formats.reading.source import Reading, Source
from wieldy.formats.values.expected import Expected
from wieldy.formats.values.values import decode, encode, in_schema_order
from wieldy.grammar.shape import Exact, InOrder, OneOf, Shape, TextWithout
from wieldy.schema.resolve import type_of

Types: TypeAlias = OneOfThese["none", "string flag", "name"]
"""What a wire says of a value's type: nothing, whether it is a string, or the type's name."""


@dataclass(frozen=True, slots=True)
class Key:
    """The name of the argument; `escape` where the wire escapes it as in XML."""

    escape: bool = False
    allowed: str = r"^\"<>\n"


@dataclass(frozen=True, slots=True)
class TypeMark:
    """Where the type of the value stands."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Quotes:
    """Marks within which a value is only text, its own closing mark included: read where they stand.

    Attributes:
        needed_for: A string is written within them if it has one of these characters.
    """

    open: str
    close: str
    needed_for: str


NO_LAYOUT = Gap()
_NO_STRING = Expected.of({"type": ["null", "boolean", "number", "array", "object"]})
TagNode: TypeAlias = Literal | Gap | Key | TypeMark


@dataclass(frozen=True, slots=True, kw_only=True)
class TaggedArguments:
    """One stretch of marks per argument.

    Attributes:
        open: What stands before a value.
        close: What stands behind it.
        between: What stands between two arguments, if that is only layout.
        types: What the wire says of the type.
        spelling: How values that are no strings are spelled.
        before: What stands before the first argument, if that is only layout.
        after: What stands behind the last one.
        quotes: What may stand around a string within the marks.
    """

    open: tuple[TagNode, ...]
    close: tuple[Literal | Gap, ...]
    between: Gap = NO_LAYOUT
    types: Types = "none"
    spelling: OneOfThese["json", "python"] = "json"
    before: Gap = NO_LAYOUT
    after: Gap = NO_LAYOUT
    quotes: Quotes | None = None

    def __post_init__(self) -> None:
        """Whoever writes a format hears at once what its arguments lack.

        Raises:
            UsageError: There is not one key behind a mark, no closing mark, or a type mark without `types`.
        """
        keys = [index for index, node in enumerate(self.open) if isinstance(node, Key)]
        marks = [index for index, node in enumerate(self.open) if isinstance(node, Literal) and node.required]
        if len(keys) != 1 or not marks or marks[0] > keys[0]:
            raise UsageError(f"`open` of tagged arguments needs a mark and behind it one Key(), found {self.open!r}.")
        if not any(isinstance(node, Literal) and node.required for node in self.close):
            raise UsageError(f"`close` of tagged arguments needs a mark that must stand there, found {self.close!r}.")
        if (self.types == "none") == any(isinstance(node, TypeMark) for node in self.open):
            raise UsageError("Tagged arguments need a TypeMark() in `open` exactly where `types` says what it tells.")

    def write(self, call: WrittenCall) -> str:
        """All arguments in the order of the schema."""
        arguments = in_schema_order(call.arguments, call.expected)
        written = [self._written(name, value, call) for name, value in arguments.items()]
        return self.before.text + self.between.text.join(written) + self.after.text if written else self.before.text

    def _written(self, name: str, value: JsonValue, call: WrittenCall) -> str:
        marks: list[str] = []
        for node in self.open:
            match node:
                case Key(escape=escape):
                    marks.append(html.escape(name) if escape else name)
                case TypeMark():
                    marks.append(_type_mark(value, self.types))
                case Literal() | Gap():
                    marks.append(node.text)
        text = encode(value, call.expected.member(name), spelling=self.spelling)
        text = self._quoted(text) if isinstance(value, str) else text
        return "".join(marks) + text + "".join(node.text for node in self.close)

    def _quoted(self, text: str) -> str:
        quotes = self.quotes
        if quotes and (set(quotes.needed_for) & set(text) or text.startswith(quotes.open)):
            return quotes.open + text + quotes.close
        return text

    def giveaways(self, names: Sequence[str]) -> tuple[str, ...]:
        """None: the name stands elsewhere."""
        return ()

    def claim(self, names: Part) -> tuple[Part, ...]:
        """Nothing: there may be no argument."""
        return ()

    def reader(self, around: Around) -> Reader:
        """Takes arguments until the call ends."""
        return _TaggedReader(self, around).read

    def shape(self, tool: ToolDefinition, rules: dict[str, Shape], *, around: Around) -> Shape:
        """Every argument at most once, in the order of the schema; those that it requires, once."""
        expected = Expected.of(tool.input_schema)
        names, required = expected.names, expected.required
        text = self._text_shape(names, around)
        parts = [(self._argument_shape(name, expected.member(name), text), name in required) for name in names]
        before = (Exact(self.before.text),) if self.before.text else ()
        return InOrder((*before, arguments_in_order(parts, between=self.between.text, after=self.after.text)))

    def _argument_shape(self, name: str, expected: Expected, text: Shape) -> Shape:
        shapes = raw_shapes(expected, text=text, written=self._quoted)
        match self.types:
            case "none":
                marked = [("", one_of(shapes.values()))]
            case "string flag":
                others = [shape for kind, shape in shapes.items() if kind != "string"]
                marked = [("true", shapes["string"])] if "string" in shapes else []
                marked += [("false", one_of(others))] if others else []
            case "name":
                marked = list(shapes.items())
        return one_of(self._value_shape(name, mark, value) for mark, value in marked)

    def _text_shape(self, names: Sequence[str], around: Around) -> Shape:
        """Any string: text that does not end where a parser would see it end, whichever arguments it has seen."""
        closes = _Closes(self, around)
        ends = ends_of_text(closes.explicit, *closes.implied(names))
        if not self.quotes:
            return TextWithout(ends)
        inner = TextWithout(ends_of_text(closes.quoted(self.quotes)))
        quoted = (Exact(self.quotes.open), inner, Exact(self.quotes.close))
        return OneOf((TextWithout((*ends, self.quotes.open)), InOrder(quoted)))

    def _value_shape(self, name: str, mark: str, value: Shape) -> Shape:
        marks: list[Shape] = []
        for node in self.open:
            match node:
                case Key(escape=escape):
                    marks.append(Exact(html.escape(name) if escape else name))
                case TypeMark():
                    marks.append(Exact(mark))
                case Literal() | Gap() if node.text:
                    marks.append(Exact(node.text, token=isinstance(node, Literal) and node.token))
                case _:
                    pass
        closing = [Exact(node.text, token=isinstance(node, Literal) and node.token) for node in self.close if node.text]
        return InOrder((*marks, value, *closing))


def argument_schema(tool: ToolDefinition, name: str) -> JsonObject:
    """The schema of one argument, with the definitions that it may refer to."""
    properties = tool.input_schema.get("properties")
    schema = properties.get(name) if isinstance(properties, dict) else None
    shared = {key: tool.input_schema[key] for key in ("$defs", "definitions") if key in tool.input_schema}
    return {**shared, **schema} if isinstance(schema, dict) else {}


def _type_mark(value: JsonValue, types: Types) -> str:
    if types == "name":
        return json_type(type_of(value))
    return "true" if isinstance(value, str) else "false"


class _Closes:
    """By what the end of a value is seen: the close of every pattern is its group `close`."""

    def __init__(self, node: TaggedArguments, around: Around) -> None:
        self._node, self._around = node, around
        openings = tuple((opening,) for opening in _first_spellings(node.open, around.tokens))
        self._following = Either((*openings, *((around.end,) if around.end else ()), (End(),)))
        self._close = tuple(part for item in node.close for part in item.parts(around.tokens))
        self.line = "\n" if Literal("\n", required=False) in node.close else ""

    @property
    def explicit(self) -> tuple[Part, ...]:
        """A closing mark, and behind it what must follow an argument."""
        return (Group("close", self._close), SPACE, self._following)

    def quoted(self, quotes: Quotes) -> tuple[Part, ...]:
        """The same behind closing quotes."""
        return (Group("close", (quotes.close, SPACE, *self._close)), SPACE, self._following)

    def implied(self, names: Sequence[str]) -> list[tuple[Part, ...]]:
        """Where a value ends although its close is missing: before one of the arguments, or where the call ends."""
        around, line = self._around, Group("close", (self.line,))
        options: list[tuple[Part, ...]] = []
        if names:
            known = Either(tuple((name,) for name in sorted(names, key=len, reverse=True)))
            options.append((line, *_open_parts(self._node.open, around.tokens, known)))
        if around.end:
            behind = [(literal,) for literal in around.behind]
            options.append((line, *around.end, SPACE, Either((*behind, (End(),)))))
        return options


class _TaggedReader:
    """Reads tagged arguments; made once per parser."""

    def __init__(self, node: TaggedArguments, around: Around) -> None:
        self._node, self._around = node, around
        tokens = around.tokens
        self._open = Pattern((SPACE, *_open_parts(node.open, tokens, None)))
        self._call_end = Pattern((SPACE, *around.end)) if around.end else None
        self._gap = Pattern((SPACE,))
        self._escapes = any(isinstance(item, Key) and item.escape for item in node.open)
        closing = [
            text
            for item in node.close
            if isinstance(item, Literal) and item.required
            for text in _spellings(item, tokens)
        ]
        self._closes = closes = _Closes(node, around)
        self._closed = Pattern(closes.explicit)
        ends = (*_first_spellings(node.open, tokens), *_end_literals(around))
        self._scanner = Scanner((*closing, *(closes.line + text for text in (*closing, *ends))))
        self._implicit: dict[tuple[str, ...], Pattern] = {}
        quotes = node.quotes
        self._quote = Pattern((quotes.open,)) if quotes else None
        self._quotes_closed = Pattern(closes.quoted(quotes) if quotes else ())
        self._quote_scanner = Scanner((quotes.close,) if quotes else ())

    def read(self, source: Source, call: OpenCall) -> Reading[None]:
        """Takes arguments up to where the call ends; see `Reader`."""
        expected, seen = call.expected, set[str]()
        call.write("{")
        while True:
            opening = yield from self._open.look(source)
            if not opening:
                if self._call_end and not (yield from self._call_end.look(source)):
                    raise source.error(f"another argument or {_described(self._around.close)}")
                gap = yield from self._gap.look(source)
                source.take(gap.end() if gap else source.at)
                break
            groups = opening.groupdict()
            key = html.unescape(groups["key"]) if self._escapes else groups["key"]
            source.take(opening.end())
            if key in seen:
                raise source.error(f"each argument once, but {key!r} stands there again")
            call.write((", " if seen else "") + json.dumps(key, ensure_ascii=False) + ": ")
            seen.add(key)
            following = tuple(name for name in expected.names if name not in seen)
            yield from self._read_value(source, call, expected.member(key), groups.get("type"), following)
        call.write("}")

    def _read_value(
        self, source: Source, call: OpenCall, expected: Expected, mark: str | None, following: tuple[str, ...]
    ) -> Reading[None]:
        is_text = mark in ("true", "string") or (mark is None and expected.takes_any_text)
        pieces: list[str] = []
        out: Callable[[str], object] = (lambda text: call.write(escaped(text))) if is_text else pieces.append
        if is_text:
            call.write('"')
        is_json = mark not in (None, "true", "string") or "string" not in expected.admitted.types
        yield from self._raw(source, out, self._implied_ends(following), OpenJson(pieces) if is_json else None)
        if is_text:
            call.write('"')
        else:
            call.write(json.dumps(_decoded("".join(pieces), expected, mark), ensure_ascii=False))

    def _raw(
        self, source: Source, out: Callable[[str], object], implicit: Pattern, json_so_far: OpenJson | None
    ) -> Reading[None]:
        """Takes text up to what closes it, which is taken, or up to what shows that its close is missing.

        What stands within a string of JSON closes nothing, unless it is a special token.
        """
        scanner, closes = self._scanner, (self._closed, implicit)
        if self._quote and (quote := (yield from self._quote.look(source))):
            source.take(quote.end())
            scanner, closes = self._quote_scanner, (self._quotes_closed,)
        while True:
            end, begins = scanner.find(source, source.at)
            if end > source.at:
                out(source.take(end))
            if begins:
                is_in_string = json_so_far is not None and json_so_far.goes_on_with(source.text[source.at])
                for pattern in () if is_in_string else closes:
                    found = yield from pattern.look(source)
                    if found:
                        source.take(found.end("close"))
                        return
                out(source.take(source.at + 1))
            elif source.ended:
                raise source.error(_described(self._node.close))
            else:
                yield

    def _implied_ends(self, names: tuple[str, ...]) -> Pattern:
        if names not in self._implicit:
            options = self._closes.implied(names)
            # Patterns have no two groups of one name, so that the common beginning stands before the options.
            either = Either(tuple(option[1:] for option in options))
            self._implicit[names] = Pattern((options[0][0], either) if options else ("\ufdd1",))
        return self._implicit[names]


def _decoded(text: str, expected: Expected, mark: str | None) -> JsonValue:
    value = decode(text, expected)
    # The schema takes it for a string, but the wire says that it is none.
    return decode(text, _NO_STRING) if mark is not None and isinstance(value, str) else value


def _open_parts(nodes: tuple[TagNode, ...], tokens: frozenset[str], names: Part | None) -> tuple[Part, ...]:
    parts: list[Part] = []
    for node, behind in zip(nodes, (*nodes[1:], None), strict=True):
        match node:
            case Key(allowed=allowed):
                # A key ends where the mark behind it begins, whatever else it may be written with.
                end = re.escape(behind.text[0]) if isinstance(behind, Literal) and allowed.startswith("^") else ""
                parts.append(Group("key", (names or Run(allowed + end),)))
            case TypeMark():
                parts.append(Group("type", (Run("a-z", at_most=9),)))
            case Literal() | Gap():
                parts += node.parts(tokens)
    return tuple(parts)


def _spellings(node: Literal, tokens: frozenset[str]) -> list[str]:
    return [marked(spelling, tokens) for spelling in (node.text, *node.also) if spelling]


def _first_spellings(nodes: tuple[TagNode, ...], tokens: frozenset[str]) -> list[str]:
    return _spellings(next(node for node in nodes if isinstance(node, Literal) and node.required), tokens)


def _end_literals(around: Around) -> tuple[str, ...]:
    try:
        return first_literals(around.close, around.tokens)
    except ValueError:
        return around.behind


def _described(nodes: Sequence[object]) -> str:
    texts = [repr(node.text) for node in nodes if isinstance(node, Literal) and node.required]
    return " and ".join(texts) or "the end of the call"
