"""The keywords of one schema object that hold no subschemas, in JSON Schema 2020-12, whatever version they come from.

Law: what comes out is well formed, and refuses nothing that the document allows; a keyword that makes no sense is left
out. Pure.
"""

from __future__ import annotations

import math
import re
from typing import Final

from wieldy.connect.rest.reading import list_of, text_of, texts_of
from wieldy.core.json import JsonObject, JsonValue, canonical_json
from wieldy.schema.resolve import type_of

_TYPES: Final = {
    **{name: name for name in ("null", "boolean", "integer", "number", "string", "array", "object")},
    **{"bool": "boolean", "int": "integer", "long": "integer", "float": "number", "double": "number"},
    **{"file": "string", "text": "string", "str": "string", "list": "array", "dict": "object", "map": "object"},
    **{"date": "string", "datetime": "string", "timestamp": "string", "uuid": "string", "binary": "string"},
}
"""Every type that documents have, as JSON Schema names it; `any` and others say nothing."""
_FORMATS: Final = frozenset({"date", "date-time", "uuid", "email", "ipv4", "ipv6", "byte", "binary"})
"""Those that tell a model something, and that documents use for nothing else."""
_COUNTS: Final = ("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties")
_BOUNDS: Final = (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum"))
_MAX_PATTERN: Final = 200
_MAX_DEFAULT: Final = 200


def scalar_keywords(schema: JsonObject) -> JsonObject:
    """The keywords, those that describe first."""
    types = _types(schema)
    kept: JsonObject = {}
    if types:
        kept["type"] = types[0] if len(types) == 1 else list[JsonValue](types)
    description = text_of(schema.get("description")) or text_of(schema.get("title"))
    if description:
        kept["description"] = description
    choices = _choices(schema, types)
    if choices:
        kept["enum"] = choices
    named = text_of(schema.get("format"))
    if named in _FORMATS and _may_be("string", types):
        kept["format"] = named
    pattern = schema.get("pattern")
    if isinstance(pattern, str) and len(pattern) <= _MAX_PATTERN and _may_be("string", types):
        kept["pattern"] = pattern
    if "default" in schema and _fits_types(schema["default"], types):
        default = schema["default"]
        if default is not None and len(canonical_json(default)) <= _MAX_DEFAULT:
            kept["default"] = default
    return kept | _numbers(schema)


def _types(schema: JsonObject) -> list[str]:
    named = [name.lower() for name in texts_of(schema.get("type"))]
    if not named or any(name not in _TYPES for name in named):
        return []
    return list(dict.fromkeys(_TYPES[name] for name in named))


def _may_be(kind: str, types: list[str]) -> bool:
    return not types or kind in types


def _choices(schema: JsonObject, types: list[str]) -> list[JsonValue]:
    """What `enum` and `const` list, in the schema's own types; nothing where that cannot be."""
    listed = [schema["const"]] if "const" in schema else list_of(schema.get("enum"))
    found: dict[str, JsonValue] = {}
    for choice in listed:
        for value in (choice, _as_text(choice), _as_number(choice)):
            if _fits_types(value, types):
                found.setdefault(canonical_json(value), value)
                break
    return list(found.values())


def with_null(keywords: JsonObject) -> None:
    """Null fits as well: version 3.0 says so beside the type, and perhaps beside a reference to it."""
    types, choices = texts_of(keywords.get("type")), keywords.get("enum")
    if types and "null" not in types:
        keywords["type"] = [*types, "null"]
    if isinstance(choices, list) and None not in choices:
        keywords["enum"] = [*choices, None]


def _as_text(value: JsonValue) -> JsonValue:
    return value if isinstance(value, str | dict | list | None) else canonical_json(value)


def _as_number(value: JsonValue) -> JsonValue:
    if isinstance(value, str) and re.fullmatch(r"-?[0-9]{1,15}(\.[0-9]{1,15})?", value):
        return float(value) if "." in value else int(value)
    return {"true": True, "false": False}.get(value, value) if isinstance(value, str) else value


def _fits_types(value: JsonValue, types: list[str]) -> bool:
    kind = type_of(value)
    return not types or kind in types or (kind == "integer" and "number" in types)


def _numbers(schema: JsonObject) -> JsonObject:
    kept: JsonObject = {}
    for name in _COUNTS:
        value = schema.get(name)
        if (
            isinstance(value, int | float)
            and not isinstance(value, bool)
            and 0 <= value < 2**53
            and value == int(value)
        ):
            kept[name] = int(value)
    for name, exclusive in _BOUNDS:
        bound, beyond = _number(schema.get(name)), schema.get(exclusive)
        if bound is not None:
            # Up to version 3.0 a flag, from 3.1 on a bound of its own.
            kept[exclusive if beyond is True else name] = bound
        if (limit := _number(beyond)) is not None:
            kept[exclusive] = limit
    step = _number(schema.get("multipleOf"))
    if step is not None and step >= 1:  # fractions are a matter of how numbers are held
        kept["multipleOf"] = step
    if schema.get("uniqueItems") is True:
        kept["uniqueItems"] = True
    return kept


def _number(value: JsonValue) -> int | float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value if math.isfinite(value) and abs(value) < 2**63 else None
