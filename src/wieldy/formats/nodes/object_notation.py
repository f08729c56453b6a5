"""Gemma's own notation for objects: `{city:<|"|>Paris<|"|>,days:2}`.

Names stand without quotes, strings between two equal marks, everything else is JSON without spaces; members are sorted
by name, letters of both cases alike. Nothing is escaped, so that a string cannot hold the mark. More is read than is
written: spaces, ordinary quotes, Python's words.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

from wieldy.core.calls import ToolDefinition
from wieldy.core.json import JsonValue
from wieldy.formats.events import escaped
from wieldy.formats.nodes.flat import Around, Literal, Reader, WrittenCall, marked
from wieldy.formats.nodes.value_shapes import ValueNotation, ValueShapes
from wieldy.formats.reading.json_text import Out, peek
from wieldy.formats.reading.literals import LiteralSyntax, read_literal
from wieldy.formats.reading.pattern import SPACE, Group, Part, Pattern, Run, Scanner
from wieldy.formats.reading.python_strings import read_python_string
from wieldy.formats.reading.sink import OpenCall
from wieldy.formats.reading.source import Reading, Source
from wieldy.grammar.shape import Characters, Exact, InOrder, OneOf, Shape, TextWithout, in_order, maybe

_KEY = Pattern((Group("key", (Run(r"^:,{}\[\]<>\"\n", at_least=0),)), SPACE, ":"))
_EDGE = Characters("^\\s:,{}\\[\\]<>\"'", at_most=1)
_INNER = Characters("^:,{}\\[\\]<>\"'\\n", at_least=0, at_most=100)
_ANY_KEY = InOrder((_EDGE, maybe(InOrder((_INNER, _EDGE)))))
_PLAIN_KEY = re.compile(
    r"(?![rRuU]?')[^\s:,{}\[\]<>\"\ufdd0](?:[^:,{}\[\]<>\"\n\ufdd0]{0,200}[^\s:,{}\[\]<>\"\ufdd0])?"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectNotation:
    """Arguments as an object.

    Attributes:
        quote: What stands around a string.
    """

    quote: Literal

    def write(self, call: WrittenCall) -> str:
        """The object."""
        return self._written(call.arguments)

    def _written(self, value: JsonValue) -> str:
        match value:
            case str():
                return f"{self.quote.text}{value}{self.quote.text}"
            case dict():
                members = (f"{self._key(name)}{self._written(value[name])}" for name in _sorted(list(value)))
                return "{" + ",".join(members) + "}"
            case list():
                return "[" + ",".join(map(self._written, value)) + "]"
            case _:
                return json.dumps(value)

    def _key(self, name: str) -> str:
        return f"{name if _PLAIN_KEY.fullmatch(name) else self._written(name)}:"

    def reader(self, around: Around) -> Reader:
        """Takes the object; strings are passed on as they come."""
        syntax = _ObjectSyntax(marked(self.quote.text, around.tokens)).syntax

        def read(source: Source, call: OpenCall) -> Reading[None]:
            if (yield from peek(source)) != "{":
                raise source.error("'{'")
            yield from read_literal(source, call.write, syntax)

        return read

    def giveaways(self, names: Sequence[str]) -> tuple[str, ...]:
        """None: the name stands elsewhere."""
        return ()

    def claim(self, names: Part) -> tuple[Part, ...]:
        """A brace."""
        return (SPACE, "{")

    def shape(self, tool: ToolDefinition, rules: dict[str, Shape], *, around: Around) -> Shape:
        """Every argument at most once, sorted by name; those that the schema requires, once."""
        notation = self._notation()
        members = ValueShapes(notation, tool.input_schema, rules).members()
        parts = [
            (InOrder((Exact(notation.key(member.name), token=True), member.value)), member.is_required)
            for member in members
        ]
        return InOrder((Exact("{"), in_order(parts, Exact(",")), Exact("}")))

    def _notation(self) -> ValueNotation:
        return ValueNotation(
            name="object",
            constant=self._written,
            string=lambda least, most: self._string_shape(),
            key=self._key,
            any_key=InOrder((OneOf((_ANY_KEY, self._string_shape())), Exact(":"))),
            comma=",",
            order=_sorted,
        )

    def _string_shape(self) -> Shape:
        quote = Exact(self.quote.text, token=self.quote.token)
        return InOrder((quote, TextWithout((self.quote.text,)), quote))


def _sorted(names: Sequence[str]) -> list[str]:
    """As the templates of the family sort: upper and lower case alike, names that are then equal as they came."""
    return sorted(names, key=str.lower)


class _ObjectSyntax:
    """How the notation is read with one kind of quotes."""

    def __init__(self, quote: str) -> None:
        self._quote = Pattern((quote,))
        self._scanner = Scanner((quote,))
        self._size = len(quote)
        self.syntax = LiteralSyntax(
            containers={"{": "object", "[": "array"},
            read_string=self._read_string,
            read_key=self._read_key,
            wanted="a string in its marks, a number, true, false, null, an array or an object",
        )

    def _read_string(self, source: Source, out: Out) -> Reading[bool]:
        if (yield from self._quote.look(source)):
            out('"')
            source.take(source.at + self._size)
            yield from self._read_text(source, out)
            out('"')
            return True
        return (yield from read_python_string(source, out))

    def _read_text(self, source: Source, out: Out) -> Reading[None]:
        while True:
            end, begins = self._scanner.find(source, source.at)
            if end > source.at:
                out(escaped(source.take(end)))
            if begins:
                source.take(source.at + self._size)
                return
            if source.ended:
                raise source.error("the end of a string")
            yield

    def _read_key(self, source: Source) -> Reading[str]:
        yield from peek(source)
        pieces: list[str] = []
        if (yield from self._read_string(source, pieces.append)):
            if (yield from peek(source)) != ":":
                raise source.error("':'")
            source.take(source.at + 1)
            return json.loads("".join(pieces))
        found = yield from _KEY.look(source)
        if not found:
            raise source.error("a member's name and ':'")
        source.take(found.end())
        return found.group("key").strip()
