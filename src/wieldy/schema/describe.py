"""What a schema accepts, as a short English noun phrase for a model: "an integer from 1 to 10", "one of "a", "b"".

Words only, and not all of them: a phrase names the type, the choices, the format and the bounds. Nothing is validated.
"""

from __future__ import annotations

import json
from typing import TypeAlias

from wieldy.core.json import JsonObject, JsonValue
from wieldy.schema.resolve import Location, alternatives, at, conjunction, merged

FORMATS: dict[str, tuple[str, str]] = {
    "date-time": ("a date and time", "2026-01-31T09:30:00Z"),
    "date": ("a date", "2026-01-31"),
    "time": ("a time", "09:30:00Z"),
    "duration": ("an ISO 8601 duration", "PT1H30M"),
    "uuid": ("a UUID", "123e4567-e89b-42d3-a456-426614174000"),
    "email": ("an e-mail address", "name@example.com"),
    "uri": ("a URL", "https://example.com/"),
    "hostname": ("a host name", "example.com"),
    "ipv4": ("an IPv4 address", "192.0.2.1"),
    "ipv6": ("an IPv6 address", "2001:db8::1"),
    "regex": ("a regular expression", "^a+$"),
    "json-pointer": ("a JSON pointer", "/items/0"),
    "path": ("a file path", "folder/file.txt"),
    "base64": ("base64 text", "dGV4dA=="),
}
"""The words for a format, and a value of it."""

Bounds: TypeAlias = "tuple[tuple[str, str], ...]"

_NUMBER_BOUNDS: Bounds = (
    ("minimum", "at least {}"),
    ("exclusiveMinimum", "greater than {}"),
    ("maximum", "at most {}"),
    ("exclusiveMaximum", "less than {}"),
    ("multipleOf", "a multiple of {}"),
)
_BOUNDS: dict[str, Bounds] = {
    "integer": _NUMBER_BOUNDS,
    "number": _NUMBER_BOUNDS,
    "string": (
        ("minLength", "at least {} characters"),
        ("maxLength", "at most {} characters"),
        ("pattern", "matching {}"),
    ),
    "array": (("minItems", "at least {} items"), ("maxItems", "at most {} items"), ("uniqueItems", "no item twice")),
    "object": (("minProperties", "at least {} properties"), ("maxProperties", "at most {} properties")),
}
_NOUNS = {
    "integer": "an integer",
    "number": "a number",
    "string": "a string",
    "boolean": "a boolean (true or false)",
    "null": "null",
    "array": "an array",
    "object": "an object",
}
_MAX_CHOICES = 30
_MAX_NESTING = 3
_MAX_BRANCHES = 8


def describe(document: JsonObject, location: Location, *, nesting: int = 0) -> str:
    """A noun phrase for what the schema at the location accepts."""
    if at(document, location) is False:
        return "nothing"
    if nesting > _MAX_NESTING:
        return "a value"
    branches = alternatives(document, location)
    if branches:
        phrases = [describe(document, branch, nesting=nesting + 1) for branch in branches[:_MAX_BRANCHES]]
        return " or ".join(dict.fromkeys(phrases))
    schema = merged(document, location)
    if "const" in schema:
        return _literal(schema["const"])
    choices = schema.get("enum")
    if isinstance(choices, list):
        return choices_in_words(choices)
    named = schema.get("type")
    if isinstance(named, list):
        return " or ".join(_noun(str(name), schema, document, location, nesting) for name in named)
    return _noun(named, schema, document, location, nesting) if isinstance(named, str) else "a value"


def _noun(name: str, schema: JsonObject, document: JsonObject, location: Location, nesting: int) -> str:
    noun = _NOUNS.get(name, "a value")
    if name == "string":
        noun = _formatted(schema.get("format"))
    elif name == "array" and isinstance(schema.get("items"), dict):
        items = next(place for place, part in conjunction(document, location) if isinstance(part.get("items"), dict))
        phrase = describe(document, (*items, "items"), nesting=nesting + 1)
        noun = f"an array, each item {phrase}" if phrase != "a value" else noun
    elif name == "object":
        noun = _object(schema)
    bounds = [
        words.format(_literal(schema[keyword], quoted=False))
        for keyword, words in _BOUNDS.get(name, ())
        if keyword in schema and schema[keyword] is not False
    ]
    return f"{noun} ({', '.join(bounds)})" if bounds else noun


def _formatted(format_name: JsonValue) -> str:
    words = FORMATS.get(format_name) if isinstance(format_name, str) else None
    return f"{words[0]} such as {words[1]}" if words else "a string"


def _object(schema: JsonObject) -> str:
    required = schema.get("required")
    if isinstance(required, list) and required:
        return "an object with " + ", ".join(f"`{name}`" for name in required)
    return "an object"


def choices_in_words(choices: list[JsonValue]) -> str:
    """What one of these values is, as a noun phrase: one of "a", "b"."""
    shown = [_literal(choice) for choice in choices[:_MAX_CHOICES]]
    if len(choices) > _MAX_CHOICES:
        shown.append(f"or one of {len(choices) - _MAX_CHOICES} more")
    return shown[0] if len(shown) == 1 else "one of " + ", ".join(shown)


def _literal(value: JsonValue, *, quoted: bool = True) -> str:
    if isinstance(value, str) and not quoted:
        return value
    return json.dumps(value, ensure_ascii=False)
