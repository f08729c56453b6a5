"""Arguments as Python writes them in a call: `(city='Paris', days=2)`.

Literals only, in Python's spelling or in JSON's. Arguments without a name get the names of the tool's schema in order.
A text that stands there without quotes is an error, or where a format says so it is read to the end of the argument and
decoded by the schema. Never is it an expression, which nobody here evaluates: with parentheses, or where the schema
takes no text and it spells nothing else, it is an error in every format.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from wieldy.core.calls import ToolDefinition
from wieldy.core.json import JsonValue
from wieldy.formats.nodes.flat import Around, Reader, WrittenCall
from wieldy.formats.nodes.tagged import argument_schema
from wieldy.formats.nodes.value_shapes import ValueNotation, ValueShapes
from wieldy.formats.reading.json_text import Out, peek
from wieldy.formats.reading.literals import LiteralSyntax, read_literal, scalar_json
from wieldy.formats.reading.pattern import SPACE, Either, Group, Part, Pattern, Run
from wieldy.formats.reading.python_strings import python_string_shape, read_python_string, write_python_string
from wieldy.formats.reading.sink import OpenCall
from wieldy.formats.reading.source import Reading, Source, WireError
from wieldy.formats.values.expected import Expected
from wieldy.formats.values.values import decode, in_schema_order
from wieldy.grammar.shape import Exact, InOrder, Json, Shape, in_order

BareText: TypeAlias = Literal["refused", "text"]
"""What a text without quotes is: an error, or a text that the schema decodes, if it has no parentheses."""

_NAME = Run(r"^()=,'\"\[\]{}\n", at_most=100)
_BARE = re.compile(r"[^,()]*")
_SHOWN = 24
"""How many characters of a text that was not expected are shown."""


def _read_key(source: Source) -> Reading[str]:
    pieces: list[str] = []
    if not (yield from read_python_string(source, pieces.append)):
        raise source.error("a member's name in quotes")
    if (yield from peek(source)) != ":":
        raise source.error("':'")
    source.take(source.at + 1)
    return json.loads("".join(pieces))


_SYNTAX = LiteralSyntax(
    containers={"{": "object", "[": "array", "(": "group"},
    read_string=read_python_string,
    read_key=_read_key,
    wanted="a string in quotes, a number, True, False, None, a list or a dictionary",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PythonArguments:
    """Arguments in parentheses.

    Attributes:
        spelling: How values are written: as Python does, in single quotes, or as JSON. Both are read.
        bare: What a text without quotes is.
    """

    spelling: Literal["python", "json"] = "python"
    bare: BareText = "refused"

    def write(self, call: WrittenCall) -> str:
        """All arguments by name, in the order of the schema."""
        arguments = in_schema_order(call.arguments, call.expected)
        return "(" + ", ".join(f"{name}={self._written(value)}" for name, value in arguments.items()) + ")"

    def _written(self, value: JsonValue) -> str:
        return json.dumps(value, ensure_ascii=False) if self.spelling == "json" else write_python(value)

    def reader(self, around: Around) -> Reader:
        """Takes the arguments one by one; strings are passed on as they come."""
        return _PythonReader(self.bare).read

    def giveaways(self, names: Sequence[str]) -> tuple[str, ...]:
        """A name with the parenthesis."""
        return tuple(f"{name}(" for name in names)

    def claim(self, names: Part) -> tuple[Part, ...]:
        """A parenthesis."""
        return ("(",)

    def shape(self, tool: ToolDefinition, rules: dict[str, Shape], *, around: Around) -> Shape:
        """Every argument at most once, in the order of the schema; those that it requires, once."""
        members = ValueShapes(_NOTATION, tool.input_schema, {} if self.spelling == "json" else rules).members()
        parts: list[tuple[Shape, bool]] = []
        for member in members:
            value = member.value if self.spelling == "python" else Json(argument_schema(tool, member.name))
            parts.append((InOrder((Exact(f"{member.name}="), value)), member.is_required))
        return InOrder((Exact("("), in_order(parts, Exact(", ")), Exact(")")))


def write_python(value: JsonValue) -> str:
    """The value as a Python literal, strings in single quotes."""
    match value:
        case str():
            return write_python_string(value)
        case dict():
            return "{" + ", ".join(f"{write_python(key)}: {write_python(item)}" for key, item in value.items()) + "}"
        case list():
            return "[" + ", ".join(map(write_python, value)) + "]"
        case _:
            return repr(value)


_NOTATION = ValueNotation(
    name="python",
    constant=write_python,
    string=python_string_shape,
    key=lambda name: f"{write_python(name)}: ",
    any_key=InOrder((python_string_shape(0, None), Exact(": "))),
    comma=", ",
)


class _PythonReader:
    """Reads arguments; made once per parser."""

    def __init__(self, bare: BareText) -> None:
        self._bare = bare
        self._names: dict[tuple[str, ...], Pattern] = {}
        self._next = Pattern((",", SPACE, Either(((_NAME, "="), (")",)))))

    def read(self, source: Source, call: OpenCall) -> Reading[None]:
        """Takes everything from one parenthesis to the other."""
        expected, seen = call.expected, list[str]()
        opening = self._opening(expected.names)
        if (yield from peek(source)) != "(":
            raise source.error("'('")
        source.take(source.at + 1)
        call.write("{")
        while (yield from peek(source)) != ")":
            is_named = yield from opening.look(source)
            name = self._name(source, is_named, expected, seen)
            call.write((", " if seen else "") + json.dumps(name, ensure_ascii=False) + ": ")
            seen.append(name)
            takes_bare = self._bare == "text" and is_named is not None
            yield from self._read_value(source, call.write, expected.member(name), takes_bare=takes_bare)
            yield from self._read_behind(source, opening)
        source.take(source.at + 1)
        call.write("}")

    def _opening(self, names: tuple[str, ...]) -> Pattern:
        """Where an argument's name stands: one that the schema knows, however it is spelled, or another."""
        if names not in self._names:
            known = tuple((name,) for name in sorted(names, key=len, reverse=True) if name)
            self._names[names] = Pattern((Group("name", (Either((*known, (_NAME,))),)), SPACE, "="))
        return self._names[names]

    def _name(self, source: Source, found: re.Match[str] | None, expected: Expected, seen: list[str]) -> str:
        if found:
            name = found.group("name")
            name = name if name in expected.names else name.strip()
            if name in seen:
                raise source.error(f"each argument once, not {name!r} again")
            source.take(found.end())
            return name
        if len(seen) < len(expected.names) and (name := expected.names[len(seen)]) not in seen:
            return name
        raise source.error("the name of an argument and '='")

    def _read_value(self, source: Source, out: Out, expected: Expected, *, takes_bare: bool) -> Reading[None]:
        character = yield from peek(source)
        if takes_bare and character not in _SYNTAX.containers:
            if not (yield from read_python_string(source, out)):
                start = source.position
                out(_decoded((yield from self._read_bare(source)), expected, start))
            return
        yield from read_literal(source, out, _SYNTAX)

    def _read_bare(self, source: Source) -> Reading[str]:
        """Takes a text without quotes, up to the next argument or the end of the call."""
        pieces: list[str] = []
        start = source.position
        while True:
            found = _BARE.match(source.text, source.at)
            pieces.append(source.take(found.end()) if found else "")
            if source.at == len(source.text):
                if source.ended:
                    raise source.error("the end of the call")
                yield
                continue
            character = source.text[source.at]
            if character == "(":
                raise WireError(start, expected=_SYNTAX.wanted, found=_shown("".join(pieces) + character))
            if character == ")" or (yield from self._next.look(source)):
                break
            pieces.append(source.take(source.at + 1))
        text = "".join(pieces).rstrip()
        if not text:
            raise source.error("a value")
        return text

    def _read_behind(self, source: Source, opening: Pattern) -> Reading[None]:
        """Takes the comma; it may be missing before a name."""
        character = yield from peek(source)
        if character == ",":
            source.take(source.at + 1)
        elif character != ")" and not (character and (yield from opening.look(source))):
            raise source.error("',' or ')'")


def _decoded(text: str, expected: Expected, position: int) -> str:
    """A text without quotes as JSON: a literal where the schema takes such a value, otherwise what the schema reads.

    Raises:
        WireError: The schema takes no text, and this spells nothing else.
    """
    scalar = scalar_json(text)
    if scalar is not None and expected.admitted.admits(json.loads(scalar)):
        return scalar
    value = decode(text, expected)
    if isinstance(value, str) and "string" not in expected.types:
        if scalar is not None:
            return scalar
        wanted = f"a value of type {' or '.join(sorted(expected.types)) or 'none, for nothing fits'}"
        raise WireError(position, expected=wanted, found=_shown(text))
    return json.dumps(value, ensure_ascii=False)


def _shown(text: str) -> str:
    return repr(text[:_SHOWN])
