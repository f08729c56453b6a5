"""The keywords of JSON Schema, old drafts' included: which refuse values, which hold subschemas, and what they expect.

2020-12 is what is meant by a schema; what older drafts wrote otherwise (`definitions`, `dependencies`, `items` as a
list, `additionalItems`, a boolean `exclusiveMinimum`, `id`) and OpenAPI's `nullable` is known here too.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import TypeAlias

from wieldy.core.json import JsonObject, JsonValue
from wieldy.schema.resolve import ALL_TYPES, Location
from wieldy.schema.violations import nearest

_OF_ONE = frozenset(
    {"additionalItems", "additionalProperties", "contains", "else", "if", "items", "not", "propertyNames", "then"}
    | {"unevaluatedItems", "unevaluatedProperties"}
)
_OF_LIST = frozenset({"allOf", "anyOf", "items", "oneOf", "prefixItems"})
_OF_NAMED = frozenset({"$defs", "definitions", "dependencies", "dependentSchemas", "patternProperties", "properties"})
_HOLDERS = _OF_ONE | _OF_LIST | _OF_NAMED

_REFERENCES = frozenset({"$ref", "$dynamicRef", "$recursiveRef"})


def _is_count(value: JsonValue) -> bool:
    return isinstance(value, int | float) and _is_number(value) and value >= 0 and value == int(value)


def _is_number(value: JsonValue) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    return isinstance(value, int) and not isinstance(value, bool)


def _is_schema(value: JsonValue) -> bool:
    return isinstance(value, bool | dict)


def _are_schemas(value: JsonValue) -> bool:
    return isinstance(value, list) and bool(value) and all(map(_is_schema, value))


def _are_named_schemas(value: JsonValue) -> bool:
    return isinstance(value, dict) and all(map(_is_schema, value.values()))


def _are_names(value: JsonValue) -> bool:
    return isinstance(value, list) and all(isinstance(name, str) for name in value)


def _are_named_names(value: JsonValue) -> bool:
    return isinstance(value, dict) and all(map(_are_names, value.values()))


def _are_types(value: JsonValue) -> bool:
    names = value if isinstance(value, list) else [value]
    return bool(names) and all(isinstance(name, str) and name in ALL_TYPES for name in names)


_Expected: TypeAlias = tuple[Callable[[JsonValue], bool], str]
_COUNT: _Expected = (_is_count, "a whole number from 0 on")
_NUMBER: _Expected = (_is_number, "a number")
_BOUND: _Expected = (lambda value: _is_number(value) or isinstance(value, bool), "a number")
_TRUTH: _Expected = (lambda value: isinstance(value, bool), "true or false")
_TEXT: _Expected = (lambda value: isinstance(value, str), "a text")
_SCHEMA: _Expected = (_is_schema, "a schema")
_SCHEMAS: _Expected = (_are_schemas, "a list of schemas, at least one")
_NAMED_SCHEMAS: _Expected = (_are_named_schemas, "schemas by name")

_EXPECTED: dict[str, _Expected] = {
    "type": (_are_types, f"one or more of {', '.join(sorted(ALL_TYPES))}"),
    "enum": (lambda value: isinstance(value, list), "a list of values"),
    "const": (lambda _: True, "a value"),
    **dict.fromkeys(("minimum", "maximum"), _NUMBER),
    **dict.fromkeys(("exclusiveMinimum", "exclusiveMaximum"), _BOUND),
    "multipleOf": (lambda value: _is_number(value) and value != 0, "a number other than 0"),
    **dict.fromkeys(("minLength", "maxLength", "minItems", "maxItems", "minContains", "maxContains"), _COUNT),
    **dict.fromkeys(("minProperties", "maxProperties"), _COUNT),
    "pattern": (lambda _: True, "a regular expression"),
    "format": _TEXT,
    "uniqueItems": _TRUTH,
    "nullable": _TRUTH,
    "items": (lambda value: _is_schema(value) or _are_schemas(value) or value == [], "a schema"),
    "prefixItems": (lambda value: _are_schemas(value) or value == [], "a list of schemas"),
    "required": (_are_names, "a list of names"),
    "dependentRequired": (_are_named_names, "lists of names by name"),
    "dependencies": (
        lambda value: isinstance(value, dict) and all(_is_schema(one) or _are_names(one) for one in value.values()),
        "schemas or lists of names by name",
    ),
    **dict.fromkeys(("properties", "patternProperties", "dependentSchemas"), _NAMED_SCHEMAS),
    **dict.fromkeys(("allOf", "anyOf", "oneOf"), _SCHEMAS),
    **dict.fromkeys(_OF_ONE - {"items"}, _SCHEMA),
    **dict.fromkeys(_REFERENCES, _TEXT),
}
ENFORCED = frozenset(_EXPECTED)
"""The keywords that refuse values; all others are annotations, names of places, or unknown."""


def mistake(keyword: str, value: JsonValue) -> str:
    """What is wrong with the keyword's value; empty if nothing is."""
    accepts, expected = _EXPECTED[keyword]
    if accepts(value):
        return ""
    hint = ""
    if keyword == "type" and isinstance(value, str) and (known := _TYPES_ELSEWHERE.get(value.lower())):
        hint = f"; write {known}"
    elif keyword == "type" and isinstance(value, str) and (close := nearest(value, ALL_TYPES)):
        hint = f'; was "{close}" meant?'
    return f"expected {expected}, found {_short(value)}{hint}"


_TYPES_ELSEWHERE = {
    **dict.fromkeys(("dict", "map", "mapping", "hashmap", "struct"), '"object"'),
    **dict.fromkeys(("list", "tuple", "set", "arraylist"), '"array"'),
    **dict.fromkeys(("float", "double", "decimal"), '"number"'),
    **dict.fromkeys(("int", "long", "short", "byte", "bigint"), '"integer"'),
    **dict.fromkeys(("str", "char", "text"), '"string"'),
    **dict.fromkeys(("any", "mixed", "unknown"), "no type, which allows anything"),
    **dict.fromkeys(("bool",), '"boolean"'),
    **dict.fromkeys(("none", "void", "nil"), '"null"'),
}


def _short(value: JsonValue) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:80]}..."


def subschemas(schema: JsonValue, place: Location = ()) -> Iterator[tuple[Location, JsonObject]]:
    """The schema and every schema within it, outermost first, each with its place."""
    waiting: list[tuple[Location, JsonValue]] = [(place, schema)]
    while waiting:
        place, schema = waiting.pop()
        if isinstance(schema, dict):
            yield place, schema
            holders = [keyword for keyword in schema if keyword in _HOLDERS]
            waiting += reversed([part for keyword in holders for part in parts_of(keyword, schema[keyword], place)])


def parts_of(keyword: str, value: JsonValue, place: Location) -> Iterator[tuple[Location, JsonValue]]:
    """The subschemas that a keyword holds, each with its place."""
    if keyword in _OF_LIST and isinstance(value, list):
        yield from (((*place, keyword, index), part) for index, part in enumerate(value))
    elif keyword in _OF_NAMED and isinstance(value, dict):
        yield from (((*place, keyword, name), part) for name, part in value.items() if _is_schema(part))
    elif keyword in _OF_ONE:
        yield (*place, keyword), value
