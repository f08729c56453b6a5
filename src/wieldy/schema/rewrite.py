"""Rewriting a JSON Schema from the inside out, and making one small: the steps are plain functions over single schemas.

Knows which keywords hold subschemas and which hold data, so that a property called "title" is never taken for a title.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import TypeAlias

from wieldy.core.json import JsonObject, JsonValue, canonical_json
from wieldy.schema.resolve import ANNOTATIONS, Location, target

Change: TypeAlias = Callable[[JsonObject], JsonObject]

_OF_ONE = frozenset({"items", "additionalProperties", "contains", "propertyNames", "not", "if", "then", "else"})
_OF_LIST = frozenset({"anyOf", "oneOf", "allOf", "prefixItems"})
_OF_NAMED = frozenset({"properties", "patternProperties", "$defs", "dependentSchemas"})
_FIRST = ("$ref", "type", "description", "const", "enum", "format", "pattern")
_LAST = ("default", "examples", "anyOf", "oneOf", "allOf", "prefixItems", "items", "properties", "required")
_SMALL_CHARACTERS = 120
"""A definition up to this size is repeated where it is used: a small model then need not look it up."""


def rewritten(schema: JsonObject, change: Change) -> JsonObject:
    """The schema with `change` applied to every subschema, innermost first, and to itself last."""
    return change({keyword: _rewritten_keyword(keyword, value, change) for keyword, value in schema.items()})


def _rewritten_keyword(keyword: str, value: JsonValue, change: Change) -> JsonValue:
    if keyword in _OF_ONE:
        return _rewritten_any(value, change)
    if keyword in _OF_LIST and isinstance(value, list):
        return [_rewritten_any(part, change) for part in value]
    if keyword in _OF_NAMED and isinstance(value, dict):
        return {name: _rewritten_any(part, change) for name, part in value.items()}
    return value


def _rewritten_any(value: JsonValue, change: Change) -> JsonValue:
    return rewritten(value, change) if isinstance(value, dict) else value


def subschemas(schema: JsonValue, location: Location = ()) -> Iterator[tuple[Location, JsonObject]]:
    """The schema and every schema within it, with their places."""
    if not isinstance(schema, dict):
        return
    yield location, schema
    for keyword, value in schema.items():
        if keyword in _OF_ONE:
            yield from subschemas(value, (*location, keyword))
        elif keyword in _OF_LIST and isinstance(value, list):
            for index, part in enumerate(value):
                yield from subschemas(part, (*location, keyword, index))
        elif keyword in _OF_NAMED and isinstance(value, dict):
            for name, part in value.items():
                yield from subschemas(part, (*location, keyword, name))


def ordered(schema: JsonObject) -> JsonObject:
    """The schema with its keywords in the order in which one reads them: type first, definitions last."""
    last = (*_LAST, "additionalProperties", "$defs")
    middle = [keyword for keyword in schema if keyword not in _FIRST and keyword not in last]
    return {keyword: schema[keyword] for keyword in (*_FIRST, *middle, *last) if keyword in schema}


def inlined(document: JsonObject) -> JsonObject:
    """The document with definitions put where they are used, if once or if small; of the rest those in use are kept."""
    definitions = document.get("$defs")
    if not isinstance(definitions, dict):
        return document
    uses = {name: list(_references(schema, document)) for name, schema in definitions.items()}
    root = {keyword: value for keyword, value in document.items() if keyword != "$defs"}
    counts = Counter([*_references(root, document), *(name for names in uses.values() for name in names)])
    inline = {
        name
        for name, schema in definitions.items()
        if name not in _reachable(uses[name], uses) and (counts[name] == 1 or _is_small(schema, uses[name]))
    }

    def put(schema: JsonObject) -> JsonObject:
        name = _definition_name(schema, document)
        definition = definitions[name] if name in inline else None
        beside = {keyword: value for keyword, value in schema.items() if keyword != "$ref"}
        if not isinstance(definition, dict) or not beside.keys() <= ANNOTATIONS:
            return schema
        return rewritten(definition, put) | beside

    result = rewritten(root, put)
    kept: JsonObject = {name: _rewritten_any(schema, put) for name, schema in definitions.items()}
    kept_uses = {name: list(_references(schema, document)) for name, schema in kept.items()}
    needed = _reachable(list(_references(result, document)), kept_uses)
    if needed:
        result["$defs"] = {name: kept[name] for name in kept if name in needed}
    return result


def _references(schema: JsonValue, document: JsonObject) -> Iterator[str]:
    """The names of the definitions that the schema refers to, as often as it does."""
    for _, part in subschemas(schema):
        name = _definition_name(part, document)
        if name is not None:
            yield name


def _definition_name(schema: JsonObject, document: JsonObject) -> str | None:
    place = target(schema.get("$ref"), document)
    return str(place[1]) if place is not None and len(place) == 2 and place[0] == "$defs" else None


def _reachable(names: list[str], uses: dict[str, list[str]]) -> set[str]:
    found: set[str] = set()
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += uses[name]
    return found


def _is_small(schema: JsonValue, references: list[str]) -> bool:
    return not references and len(canonical_json(schema)) <= _SMALL_CHARACTERS
