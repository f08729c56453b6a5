"""The part of a schema that the mask alone is answerable for: the schema without what is left to the validator."""

from __future__ import annotations

from collections.abc import Iterable

from wieldy.core.json import JsonObject, JsonValue
from wieldy.grammar.enforcement import Enforcement
from wieldy.grammar.lowering.lowered import pointer
from wieldy.grammar.lowering.vocabulary import parts_of
from wieldy.schema.resolve import Location


def masked_part(schema: JsonObject, enforcement: Iterable[Enforcement]) -> JsonObject:
    """The schema as the report says that the mask enforces it; a `oneOf` that is left counts as an `anyOf`."""
    left = {(entry.pointer, entry.keyword) for entry in enforcement if entry.by != "mask"}
    return _part(schema, (), left) if left else schema


def _part(schema: JsonObject, place: Location, left: set[tuple[str, str]]) -> JsonObject:
    found: JsonObject = {}
    for keyword, value in schema.items():
        is_left = (pointer(place), keyword) in left
        if is_left and keyword != "oneOf":
            continue
        inner = {deeper: _of_any(part, deeper, left) for deeper, part in parts_of(keyword, value, place)}
        if isinstance(value, list) and inner:
            value = [inner.get((*place, keyword, index), part) for index, part in enumerate(value)]  # noqa: PLW2901
        elif isinstance(value, dict) and (*place, keyword) in inner:
            value = inner[*place, keyword]  # noqa: PLW2901
        elif isinstance(value, dict) and inner:
            value = {name: inner.get((*place, keyword, name), part) for name, part in value.items()}  # noqa: PLW2901
        if is_left:
            found["allOf"] = [*_list(found.get("allOf")), {"anyOf": value}]
        elif keyword == "allOf":
            found["allOf"] = [*_list(found.get("allOf")), *_list(value)]
        else:
            found[keyword] = value
    return found


def _of_any(schema: JsonValue, place: Location, left: set[tuple[str, str]]) -> JsonValue:
    return _part(schema, place, left) if isinstance(schema, dict) else schema


def _list(value: JsonValue) -> list[JsonValue]:
    return value if isinstance(value, list) else []
