"""Calls whose arguments are JSON: after a name of their own, or in one JSON object together with the name."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from wieldy.core.calls import ToolDefinition
from wieldy.core.json import JsonValue
from wieldy.formats.nodes.flat import Around, Reader, WrittenCall
from wieldy.formats.reading.json_text import peek, read_string, read_value
from wieldy.formats.reading.mending import Meant
from wieldy.formats.reading.pattern import SPACE, Either, Part, Pattern
from wieldy.formats.reading.sink import OpenCall
from wieldy.formats.reading.source import Reading, Source
from wieldy.formats.values.values import in_schema_order
from wieldy.grammar.shape import Characters, Exact, InOrder, Json, Shape

Role: TypeAlias = Literal["name", "arguments", "id"]
NINE = Characters("a-zA-Z0-9", at_least=9, at_most=9)
_WRAPPER = "function"
"""The member in which OpenAI-style calls have name and arguments: templates that print their input write it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JsonArguments:
    """A JSON object, the name standing elsewhere; no object at all means no arguments."""

    def write(self, call: WrittenCall) -> str:
        """The object."""
        return written_json(call)

    def reader(self, around: Around) -> Reader:
        """Passes the object on as it comes."""
        nothing = Pattern((SPACE, *around.end)) if around.end else None

        def read(source: Source, call: OpenCall) -> Reading[None]:
            if nothing and (yield from nothing.look(source)):
                return
            yield from read_arguments(source, call)

        return read

    def giveaways(self, names: Sequence[str]) -> tuple[str, ...]:
        """None: the name stands elsewhere."""
        return ()

    def claim(self, names: Part) -> tuple[Part, ...]:
        """A brace."""
        return (SPACE, "{")

    def meant(self, value: JsonValue) -> Meant | None:
        """The arguments."""
        return Meant(name=None, arguments=value) if isinstance(value, dict) else None

    def shape(self, tool: ToolDefinition, rules: dict[str, Shape], *, around: Around) -> Shape:
        """JSON that fits the tool's schema."""
        return Json(tool.input_schema)


@dataclass(frozen=True, slots=True, kw_only=True)
class JsonCall:
    """One JSON object with the name, the arguments and perhaps an id.

    An OpenAI-style object, which has name and arguments within its member `function`, is read as well.

    Attributes:
        fields: Role and key of each member, in the order in which they are written.
        also: Other keys that are read.
        id: What grammars allow for an id.
        indent: How far the object is indented, if its members stand on lines of their own; None for one line.
    """

    fields: tuple[tuple[Role, str], ...] = (("name", "name"), ("arguments", "arguments"))
    also: tuple[tuple[Role, str], ...] = (("arguments", "arguments"), ("arguments", "parameters"), ("id", "id"))
    id: Characters = NINE
    indent: int | None = None

    def write(self, call: WrittenCall) -> str:
        """The object."""
        values: dict[Role, JsonValue] = {
            "name": call.name,
            "arguments": in_schema_order(call.arguments, call.expected),
            "id": call.wire_id,
        }
        members = {key: values[role] for role, key in self.fields}
        if self.indent is None:
            return _json(members)
        return json.dumps(members, ensure_ascii=False, indent=4).replace("\n", "\n" + " " * self.indent)

    def reader(self, around: Around) -> Reader:
        """Takes the members in any order; arguments that come before the name are held back until it is known."""
        roles: dict[str, Role] = {key: role for role, key in (*self.also, *self.fields)}

        def read(source: Source, call: OpenCall) -> Reading[None]:
            yield from _read_members(source, call, roles)

        return read

    def giveaways(self, names: Sequence[str]) -> tuple[str, ...]:
        """The key of the name."""
        return tuple(_json(key) for role, key in (*self.fields, *self.also) if role == "name")

    def claim(self, names: Part) -> tuple[Part, ...]:
        """A brace and the member with the name, perhaps after one that says that this is a function."""
        keys = tuple((_json(key),) for role, key in (*self.fields, *self.also) if role == "name")
        kind = ('"type"', SPACE, ":", SPACE, '"function"', SPACE, ",", SPACE)
        return ("{", SPACE, Either((kind, ())), Either(keys), SPACE, ":", SPACE, '"', names, '"')

    def meant(self, value: JsonValue) -> Meant | None:
        """The call, if there is one name among the members; without arguments, one with none."""
        if not isinstance(value, dict):
            return None
        roles: dict[str, Role] = {key: role for role, key in (*self.also, *self.fields)}
        found: dict[Role, JsonValue] = {}
        wrapped = value.get(_WRAPPER)
        for key, item in (*(wrapped.items() if isinstance(wrapped, dict) else ()), *value.items()):
            role = roles.get(key)
            if role is not None and role in found:
                return None
            if role is not None:
                found[role] = item
        name, arguments, provider_id = found.get("name"), found.get("arguments"), found.get("id")
        if not isinstance(name, str) or not isinstance(arguments, dict | None):
            return None
        return Meant(
            name=name, arguments=arguments or {}, provider_id=None if provider_id is None else str(provider_id)
        )

    def shape(self, tool: ToolDefinition, rules: dict[str, Shape], *, around: Around) -> Shape:
        """The object as it is written."""
        parts: list[Shape] = []
        line = "" if self.indent is None else "\n" + " " * (self.indent + 4)
        for index, (role, key) in enumerate(self.fields):
            begin = "," + (line or " ") if index else "{" + line
            parts.append(Exact(f"{begin}{_json(key)}: "))
            match role:
                case "name":
                    parts.append(Exact(_json(tool.name)))
                case "arguments":
                    parts.append(Json(tool.input_schema))
                case "id":
                    parts += [Exact('"'), self.id, Exact('"')]
        return InOrder((*parts, Exact("}" if self.indent is None else "\n" + " " * self.indent + "}")))


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyedJsonCall:
    """One JSON object whose only key is the name and whose value is the arguments."""

    def write(self, call: WrittenCall) -> str:
        """The object on one line."""
        return f"{{{_json(call.name)}: {written_json(call)}}}"

    def reader(self, around: Around) -> Reader:
        """Takes the one member."""
        return _read_only_member

    def giveaways(self, names: Sequence[str]) -> tuple[str, ...]:
        """The names in quotes."""
        return tuple(map(_json, names))

    def claim(self, names: Part) -> tuple[Part, ...]:
        """A brace and the name as a key."""
        return ("{", SPACE, '"', names, '"', SPACE, ":")

    def meant(self, value: JsonValue) -> Meant | None:
        """The call: the only member."""
        if not isinstance(value, dict) or len(value) != 1:
            return None
        ((name, arguments),) = value.items()
        return Meant(name=name, arguments=arguments) if isinstance(arguments, dict) else None

    def shape(self, tool: ToolDefinition, rules: dict[str, Shape], *, around: Around) -> Shape:
        """The object as it is written."""
        return InOrder((Exact(f"{{{_json(tool.name)}: "), Json(tool.input_schema), Exact("}")))


def written_json(call: WrittenCall) -> str:
    """The arguments as JSON on one line, in the order of the schema."""
    return json.dumps(in_schema_order(call.arguments, call.expected), ensure_ascii=False)


def read_arguments(source: Source, call: OpenCall) -> Reading[None]:
    """Takes an object, the same as JSON text within a string, or null for none."""
    character = yield from peek(source)
    match character:
        case "{":
            yield from read_value(source, call.write)
        case '"':
            text = json.loads((yield from collected(source, read_string)))
            call.write(text if text.strip() else "{}")
        case "n":
            if (yield from collected(source, read_value)) != "null":
                raise source.error("a JSON object")
            call.write("{}")
        case _:
            raise source.error("a JSON object")


def collected(source: Source, read: Callable[[Source, Callable[[str], object]], Reading[None]]) -> Reading[str]:
    """The text that a reader would have passed on."""
    pieces: list[str] = []
    yield from read(source, pieces.append)
    return "".join(pieces)


def _read_members(source: Source, call: OpenCall, roles: dict[str, Role]) -> Reading[None]:
    yield from _take_members(source, call, roles)
    if call.name is None:
        raise source.error("a member with the name of a tool")
    yield from _expect(source, "}")


def _take_members(source: Source, call: OpenCall, roles: dict[str, Role], *, is_inner: bool = False) -> Reading[None]:
    """Takes an object up to its closing brace, which is not taken; an inner one holds no others."""
    yield from _expect(source, "{")
    while True:
        key = yield from _read_key(source)
        match roles.get(key):
            case None if key == _WRAPPER and not is_inner and source.text.startswith("{", source.at):
                yield from _take_members(source, call, roles, is_inner=True)
                yield from _expect(source, "}")
            case "name":
                _check_once(source, key, is_new=call.name is None)
                call.named((yield from _read_text(source, "the name of a tool")))
            case "arguments":
                _check_once(source, key, is_new=not call.has_arguments)
                yield from read_arguments(source, call)
            case "id" if call.provider_id is None:
                call.provider_id = _text_of(json.loads((yield from collected(source, read_value))))
            case _:
                yield from collected(source, read_value)
        if (yield from peek(source)) == "}":
            break
        yield from _expect(source, ",")


def _check_once(source: Source, key: str, *, is_new: bool) -> None:
    """A call that says twice what it is has two readings.

    Raises:
        WireError: It does.
    """
    if not is_new:
        raise source.error(f"the name and the arguments once, but '{key}' says one of them again")


def _text_of(value: JsonValue) -> str | None:
    return value if isinstance(value, str | None) else _json(value)


def _read_only_member(source: Source, call: OpenCall) -> Reading[None]:
    yield from _expect(source, "{")
    call.named((yield from _read_key(source)))
    yield from read_arguments(source, call)
    yield from _expect(source, "}")


def _read_key(source: Source) -> Reading[str]:
    key = yield from _read_text(source, "a member's name")
    yield from _expect(source, ":")
    yield from peek(source)
    return key


def _read_text(source: Source, what: str) -> Reading[str]:
    if (yield from peek(source)) != '"':
        raise source.error(f"{what} in double quotes")
    return json.loads((yield from collected(source, read_string)))


def _expect(source: Source, character: str) -> Reading[None]:
    if (yield from peek(source)) != character:
        raise source.error(repr(character))
    source.take(source.at + 1)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
