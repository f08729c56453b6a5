r"""Where a value lies in a call's arguments: `amount`, `order.lines.0.price`; and arguments with their defaults.

A dot leads into an object or a list, a number is a place in a list, and `\.` is a dot within a name. Null and nothing
are the same here: there is no value. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import TYPE_CHECKING, TypeAlias

from wieldy.core.errors import UsageError
from wieldy.schema.resolve import (
    Location,
    accepted_types,
    alternatives,
    conjunction,
    item_locations,
    member_locations,
    merged,
)

if TYPE_CHECKING:
    from wieldy.core.json import JsonObject, JsonValue

Path: TypeAlias = tuple[str, ...]

_NAME = re.compile(r"(?:[^.\\]|\\.?)*", re.DOTALL)
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)


def read_path(text: object) -> Path:
    """The names and places, one after the other.

    Raises:
        UsageError: It is no text, or a name in it is empty.
    """
    path = tuple(_split(text)) if isinstance(text, str) else ()
    if all(path) and path:
        return path
    raise UsageError(
        r"expected the path of an argument, such as 'amount' or 'order.lines.0.price' (a dot within a name is "
        rf"written '\.'), found {text!r}."
    )


def render_path(path: Path) -> str:
    """The path as `read_path` reads it."""
    return ".".join(re.sub(r"([.\\])", r"\\\1", part) for part in path)


def _split(text: str) -> Iterator[str]:
    position = 0
    while position <= len(text):
        name = _NAME.match(text, position)
        end = position if name is None else name.end()
        yield _ESCAPED.sub(r"\1", text[position:end])
        position = end + 1


def value_at(value: JsonValue, path: Path) -> JsonValue:
    """What lies there; None if nothing does."""
    for part in path:
        if isinstance(value, dict):
            value = value.get(part)
        elif isinstance(value, list) and part.isdecimal() and len(part) < 10 and int(part) < len(value):
            value = value[int(part)]
        else:
            return None
    return value


def leaves(value: JsonValue) -> Iterator[tuple[Path, str | int | float]]:
    """Every text and number in a value with its path, in order; booleans and nulls say nothing about their origin."""
    waiting: list[tuple[Path, JsonValue]] = [((), value)]
    while waiting:
        path, found = waiting.pop()
        if isinstance(found, dict):
            waiting += [((*path, name), member) for name, member in reversed(found.items())]
        elif isinstance(found, list):
            waiting += [((*path, str(index)), item) for index, item in reversed([*enumerate(found)])]
        elif found is not None and not isinstance(found, bool):
            yield path, found


def with_defaults(arguments: JsonObject, document: JsonObject) -> JsonObject:
    """A copy of the arguments in which what was left out stands with the default that the tool will use.

    Where a value may be read in several ways, as of unions, nothing is filled in. Cost: linear in both.
    """
    filled = _filled(arguments, document, [()])
    return filled if isinstance(filled, dict) else arguments


def _filled(value: JsonValue, document: JsonObject, locations: list[Location]) -> JsonValue:
    if isinstance(value, dict):
        schemas = _schemas(document, locations, "object")
        complete = _defaults(document, schemas) | value
        return {
            name: _filled(member, document, _each(member_locations(*place, name) for place in schemas))
            if isinstance(member, dict | list)
            else member
            for name, member in complete.items()
        }
    if isinstance(value, list):
        schemas = _schemas(document, locations, "array")
        return [
            _filled(item, document, _each(item_locations(*place, index) for place in schemas))
            if isinstance(item, dict | list)
            else item
            for index, item in enumerate(value)
        ]
    return value


def _each(locations: Iterable[list[Location]]) -> list[Location]:
    return list(dict.fromkeys(chain.from_iterable(locations)))


def _schemas(document: JsonObject, locations: list[Location], kind: str) -> list[tuple[Location, JsonObject]]:
    """Everything that holds at the locations, into a union only where one branch alone takes this kind of value."""
    found: list[tuple[Location, JsonObject]] = []
    for location in locations:
        found += conjunction(document, location)
        fitting = [branch for branch in alternatives(document, location) if kind in accepted_types(document, branch)]
        if len(fitting) == 1:
            found += conjunction(document, fitting[0])
    return found


def _defaults(document: JsonObject, schemas: list[tuple[Location, JsonObject]]) -> JsonObject:
    return {
        name: whole["default"]
        for place, holder in schemas
        if isinstance(properties := holder.get("properties"), dict)
        for name, schema in properties.items()
        if isinstance(schema, dict) and "default" in (whole := _whole(schema, document, (*place, "properties", name)))
    }


def _whole(schema: JsonObject, document: JsonObject, location: Location) -> JsonObject:
    """The schema with what it refers to; of a repeated keyword the nearest is kept."""
    return merged(document, location) if "$ref" in schema or "allOf" in schema else schema
