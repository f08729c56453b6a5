"""Nulls that stand for what was left out, taken out again.

Where a provider demands every property, a model writes null for one that it would leave out. Such a null is dropped
exactly where the schema itself allows no null, so that what remains is what the schema means.
"""

from __future__ import annotations

from wieldy.core.json import JsonObject, JsonValue
from wieldy.schema import CompiledSchema
from wieldy.schema.compiled import PartsExhaustedError
from wieldy.schema.resolve import (
    Location,
    accepted_types,
    alternatives,
    conjunction,
    item_locations,
    member_locations,
)


def restored(value: JsonValue, schema: CompiledSchema, location: Location = ()) -> JsonValue:
    """The value without the nulls that stand for nothing."""
    if not isinstance(value, dict | list):
        return value
    places = conjunction(schema.document, location)
    if not any(keyword in part for _, part in places for keyword in ("properties", "items")):
        return _in_branch(value, schema, location)
    if isinstance(value, list):
        return [_within(item, schema, _items_at(places, index)) for index, item in enumerate(value)]
    kept: JsonObject = {}
    for name, member in value.items():
        inner = [found for place, part in places for found in member_locations(place, part, name)]
        if member is not None or not inner or all(_takes_null(schema.document, found) for found in inner):
            kept[name] = _within(member, schema, inner)
    return kept


def _in_branch(value: JsonValue, schema: CompiledSchema, location: Location) -> JsonValue:
    """The value as the alternative has it that it fits; else as the first that names all its properties."""
    named: list[JsonValue] = []
    for branch in alternatives(schema.document, location):
        candidate = restored(value, schema, branch)
        try:
            if schema.part_accepts(branch, candidate):
                return candidate
        except PartsExhaustedError:
            return candidate
        if _names_all(value, schema.document, branch):
            named.append(candidate)
    return named[0] if named else value


def _names_all(value: JsonValue, document: JsonObject, location: Location) -> bool:
    places = conjunction(document, location)
    names = value if isinstance(value, dict) else ()
    return all(any(member_locations(place, part, name) for place, part in places) for name in names)


def _within(value: JsonValue, schema: CompiledSchema, places: list[Location]) -> JsonValue:
    return restored(value, schema, places[0]) if places else value


def _items_at(places: list[tuple[Location, JsonObject]], index: int) -> list[Location]:
    return [found for place, part in places for found in item_locations(place, part, index)]


def _takes_null(document: JsonObject, location: Location) -> bool:
    return "null" in accepted_types(document, location)
