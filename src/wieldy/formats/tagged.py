"""Arguments that stand one by one between marks, their values as raw text.

A raw value may contain anything, even its own closing mark, for the wire has no way of escaping it. A closing mark ends
the value only where what must follow an argument follows: the next argument or the end of the call. Types stand in the
tool's schema, or on the wire where a format writes them there.
"""

from __future__ import annotations

import html
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal as OneOfThese
from typing import TypeAlias

from wieldy.core.calls import ToolDefinition
from wieldy.core.json import JsonObject, JsonValue
from wieldy.formats.events import escaped
from wieldy.formats.expected import Expected
from wieldy.formats.nodes import Around, Gap, Literal, Reader, WrittenCall, first_literals, marked
from wieldy.formats.pattern import SPACE, Either, End, Group, Part, Pattern, Run, Scanner
from wieldy.formats.shape import Exact, InOrder, Json, OneOf, Shape, TextWithout, in_order
from wieldy.formats.sink import OpenCall
from wieldy.formats.source import Reading, Source
from wieldy.formats.values import decode, encode, in_schema_order
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


NO_LAYOUT = Gap()
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
    """

    open: tuple[TagNode, ...]
    close: tuple[Literal | Gap, ...]
    between: Gap = NO_LAYOUT
    types: Types = "none"
    spelling: OneOfThese["json", "python"] = "json"
    before: Gap = NO_LAYOUT
    after: Gap = NO_LAYOUT

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
        text = value if isinstance(value, str) else encode(value, call.expected.member(name), spelling=self.spelling)
        return "".join(marks) + text + "".join(node.text for node in self.close)

    def giveaways(self, names: Sequence[str]) -> tuple[str, ...]:
        """None: the name stands elsewhere."""
        return ()

    def claim(self, names: Part) -> tuple[Part, ...]:
        """Nothing: there may be no argument."""
        return ()

    def reader(self, around: Around) -> Reader:
        """Takes arguments until the call ends."""
        return _TaggedReader(self, around).read

    def shape(self, tool: ToolDefinition, rules: dict[str, Shape]) -> Shape:
        """Every argument at most once, in the order of the schema; those that it requires, once."""
        expected = Expected.of(tool.input_schema)
        required = tool.input_schema.get("required")
        names = expected.names
        known = [name for name in (required if isinstance(required, list) else []) if name in names]
        parts = [self._argument_shape(name, expected.member(name), argument_schema(tool, name)) for name in names]
        gap = Exact(self.between.text) if self.between.text else None
        body = in_order([(part, name in known) for part, name in zip(parts, names, strict=True)], gap)
        around = [Exact(text) for text in (self.before.text, self.after.text) if text]
        if not parts:
            return around[0] if self.before.text else InOrder(())
        return InOrder((*around[: bool(self.before.text)], body, *around[bool(self.before.text) :]))

    def _argument_shape(self, name: str, expected: Expected, schema: JsonObject) -> Shape:
        kinds: list[Shape] = []
        types = expected.types
        if "string" in types:
            kinds.append(self._value_shape(name, "string", TextWithout(self._ends())))
        if types - {"string"} or not types:
            kinds += [
                self._value_shape(name, kind, Json(_without_strings(schema, types))) for kind in self._kinds(types)
            ]
        return kinds[0] if len(kinds) == 1 else OneOf(tuple(kinds))

    def _kinds(self, types: frozenset[str]) -> tuple[str, ...]:
        return ("number",) if self.types != "name" else tuple(sorted({_json_type(kind) for kind in types - {"string"}}))

    def _value_shape(self, name: str, kind: str, value: Shape) -> Shape:
        marks: list[Shape] = []
        for node in self.open:
            match node:
                case Key(escape=escape):
                    marks.append(Exact(html.escape(name) if escape else name))
                case TypeMark():
                    marks.append(Exact(kind if self.types == "name" else ("true" if kind == "string" else "false")))
                case Literal() | Gap() if node.text:
                    marks.append(Exact(node.text, token=isinstance(node, Literal) and node.token))
                case _:
                    pass
        closing = [Exact(node.text, token=isinstance(node, Literal) and node.token) for node in self.close if node.text]
        return InOrder((*marks, value, *closing))

    def _ends(self) -> tuple[str, ...]:
        return tuple(node.text for node in self.close if isinstance(node, Literal) and node.required)


def argument_schema(tool: ToolDefinition, name: str) -> JsonObject:
    """The schema of one argument, with the definitions that it may refer to."""
    properties = tool.input_schema.get("properties")
    schema = properties.get(name) if isinstance(properties, dict) else None
    shared = {key: tool.input_schema[key] for key in ("$defs", "definitions") if key in tool.input_schema}
    return {**shared, **schema} if isinstance(schema, dict) else {}


def _without_strings(schema: JsonObject, types: frozenset[str]) -> JsonObject:
    if "string" not in types:
        return schema
    other: list[JsonValue] = [*sorted(types - {"string"})]
    return schema if schema.keys() & {"enum", "const"} else {"type": other}


def _json_type(kind: str) -> str:
    return "number" if kind == "integer" else kind


def _type_mark(value: JsonValue, types: Types) -> str:
    if types == "name":
        return _json_type(type_of(value))
    return "true" if isinstance(value, str) else "false"


class _TaggedReader:
    """Reads tagged arguments; made once per parser."""

    def __init__(self, node: TaggedArguments, around: Around) -> None:
        self._node, self._around = node, around
        tokens = around.tokens
        self._open = Pattern((SPACE, *_open_parts(node.open, tokens, None)))
        self._call_end = Pattern((SPACE, *around.end)) if around.end else None
        self._gap = Pattern((SPACE,))
        self._escapes = any(isinstance(item, Key) and item.escape for item in node.open)
        self._line = "\n" if Literal("\n", required=False) in node.close else ""
        opening = _first_literal(node.open, tokens)
        closing = [
            text
            for item in node.close
            if isinstance(item, Literal) and item.required
            for text in _spellings(item, tokens)
        ]
        close = tuple(part for item in node.close for part in item.parts(tokens))
        following = [(opening,), *((around.end,) if around.end else ())]
        self._closed = Pattern((Group("close", close), SPACE, Either((*following, (End(),)))))
        ends = (opening, *_end_literals(around))
        self._scanner = Scanner((*closing, *(self._line + text for text in (*closing, *ends))))
        self._implicit: dict[tuple[str, ...], Pattern] = {}

    def read(self, source: Source, call: OpenCall) -> Reading[None]:
        """Takes arguments up to where the call ends; see `Reader`."""
        expected, seen = call.expected, set[str]()
        implicit = self._implied_ends(expected.names)
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
            yield from self._read_value(source, call, expected.member(key), groups.get("type"), implicit)
        call.write("}")

    def _read_value(
        self, source: Source, call: OpenCall, expected: Expected, mark: str | None, implicit: Pattern
    ) -> Reading[None]:
        is_text = mark in ("true", "string") or (mark is None and expected.takes_any_text)
        pieces: list[str] = []
        out: Callable[[str], object] = (lambda text: call.write(escaped(text))) if is_text else pieces.append
        if is_text:
            call.write('"')
        yield from self._raw(source, out, implicit)
        if is_text:
            call.write('"')
        else:
            call.write(json.dumps(_decoded("".join(pieces), expected, mark), ensure_ascii=False))

    def _raw(self, source: Source, out: Callable[[str], object], implicit: Pattern) -> Reading[None]:
        while True:
            end, begins = self._scanner.find(source, source.at)
            if end > source.at:
                out(source.take(end))
            if begins:
                for pattern in (self._closed, implicit):
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
        """Where a value ends although its close is missing: before a known argument, or where the whole call ends."""
        if names not in self._implicit:
            around = self._around
            known = Either(tuple((name,) for name in sorted(names, key=len, reverse=True))) if names else None
            options: list[tuple[Part, ...]] = []
            if known:
                options.append(_open_parts(self._node.open, around.tokens, known))
            if around.end:
                behind = [(literal,) for literal in around.behind]
                options.append((*around.end, SPACE, Either((*behind, (End(),)))))
            self._implicit[names] = Pattern(
                (Group("close", (self._line,)), Either(tuple(options))) if options else ("\ufdd1",)
            )
        return self._implicit[names]


def _decoded(text: str, expected: Expected, mark: str | None) -> JsonValue:
    if mark is not None:
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            pass
    return decode(text, expected)


def _open_parts(nodes: tuple[TagNode, ...], tokens: frozenset[str], names: Part | None) -> tuple[Part, ...]:
    parts: list[Part] = []
    for node in nodes:
        match node:
            case Key(allowed=allowed):
                parts.append(Group("key", (names or Run(allowed),)))
            case TypeMark():
                parts.append(Group("type", (Run("a-z", at_most=9),)))
            case Literal() | Gap():
                parts += node.parts(tokens)
    return tuple(parts)


def _spellings(node: Literal, tokens: frozenset[str]) -> list[str]:
    return [marked(spelling, tokens) for spelling in (node.text, *node.also) if spelling]


def _first_literal(nodes: tuple[TagNode, ...], tokens: frozenset[str]) -> str:
    literal = next(node for node in nodes if isinstance(node, Literal) and node.required)
    return marked(literal.text, tokens)


def _end_literals(around: Around) -> tuple[str, ...]:
    try:
        return first_literals(around.close, around.tokens)
    except ValueError:
        return around.behind


def _described(nodes: Sequence[object]) -> str:
    texts = [repr(node.text) for node in nodes if isinstance(node, Literal) and node.required]
    return " and ".join(texts) or "the end of the call"
