"""Finding one's way in a JSON Schema: local references, alternatives, and the JSON types that a schema lets through.

Only references within the document (`#...`) are followed; a foreign one counts as "anything", which is the careful
reading for everything built on this: nothing is guessed where anything may fit. Validation is `compiled`'s work.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import quote, unquote

from wieldy.core.json import JsonObject, JsonValue

Location = tuple[str | int, ...]
"""Where a subschema lies in its document."""

ALL_TYPES = frozenset({"null", "boolean", "integer", "number", "string", "array", "object"})
NO_TYPES = frozenset[str]()
ANNOTATIONS = frozenset(
    {"title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly", "$comment"}
)
"""Keywords that say something about a value and refuse none."""

_MAX_REFERENCES = 50


def at(document: JsonValue, location: Location) -> JsonValue:
    """What lies at the location; True (the schema that accepts everything) where nothing does."""
    for part in location:
        if isinstance(document, dict) and part in document:
            document = document[str(part)]
        elif isinstance(document, list) and isinstance(part, int) and part < len(document):
            document = document[part]
        else:
            return True
    return document


def pointer(location: Location) -> str:
    """The location as a URI fragment: `#/$defs/Order`."""
    return "#" + "".join("/" + quote(str(part).replace("~", "~0").replace("/", "~1"), safe="~") for part in location)


def target(reference: JsonValue, document: JsonObject) -> Location | None:
    """The location that a `$ref` names; None where it leaves the document or leads nowhere."""
    if not isinstance(reference, str) or not (reference == "#" or reference.startswith("#/")):
        return None
    location: list[str | int] = []
    for part in reference.split("/")[1:]:
        name = unquote(part).replace("~1", "/").replace("~0", "~")
        container = at(document, tuple(location))
        if isinstance(container, list):
            if not (name.isdecimal() and int(name) < len(container)):
                return None
            location.append(int(name))
        elif isinstance(container, dict) and name in container:
            location.append(name)
        else:
            return None
    return tuple(location)


def chain(document: JsonObject, location: Location) -> Iterator[tuple[Location, JsonObject]]:
    """The schema at the location and those that its `$ref`s lead to, nearest first; boolean schemas yield nothing."""
    for _ in range(_MAX_REFERENCES):
        schema = at(document, location)
        if not isinstance(schema, dict):
            return
        yield location, schema
        following = target(schema.get("$ref"), document)
        if following is None:
            return
        location = following


def conjunction(document: JsonObject, location: Location) -> list[tuple[Location, JsonObject]]:
    """All schemas that hold at once at the location: itself, what it refers to, and the parts of their `allOf`."""
    found: dict[Location, JsonObject] = {}
    waiting = [location]
    while waiting:
        for place, schema in chain(document, waiting.pop()):
            if place not in found:
                found[place] = schema
                waiting += [(*place, "allOf", index) for index in range(_length(schema.get("allOf")))]
    return list(found.items())


def merged(document: JsonObject, location: Location) -> JsonObject:
    """The keywords of all schemas that hold at once at the location, as one; of a repeated one the nearest is kept.

    Good enough for words and proposals, not for deciding what fits.
    """
    together: JsonObject = {}
    for _, schema in reversed(conjunction(document, location)):
        together |= schema
    return together


def alternatives(document: JsonObject, location: Location) -> tuple[Location, ...]:
    """The branches of the schema's `anyOf` and `oneOf`, through references."""
    return tuple(
        (*place, keyword, index)
        for place, schema in chain(document, location)
        for keyword in ("anyOf", "oneOf")
        for index in range(_length(schema.get(keyword)))
    )


def accepted_types(document: JsonObject, location: Location) -> frozenset[str]:
    """The JSON types of which the schema may accept some value; never fewer than it does. `number` brings `integer`."""
    return _accepted_types(document, location, {}, 0)


def _accepted_types(
    document: JsonObject, location: Location, known: dict[Location, frozenset[str]], nesting: int
) -> frozenset[str]:
    # Each location is worked out once, so that branches which share references, or refer to themselves, stay cheap.
    if location in known:
        return known[location]
    known[location] = types = ALL_TYPES
    if nesting > _MAX_REFERENCES:
        return types
    for place, schema in chain(document, location):
        types &= _named_types(schema)
        for keyword in ("anyOf", "oneOf", "allOf"):
            branches = [
                _accepted_types(document, (*place, keyword, index), known, nesting + 1)
                for index in range(_length(schema.get(keyword)))
            ]
            if branches and keyword == "allOf":
                types &= ALL_TYPES.intersection(*branches)
            elif branches:
                types &= NO_TYPES.union(*branches)
    known[location] = types
    return types


def member_locations(place: Location, schema: JsonObject, name: str) -> list[Location]:
    """The subschemas that this schema alone, without what it refers to, has for a property of this name."""
    found: list[Location] = []
    named, patterns = schema.get("properties"), schema.get("patternProperties")
    if isinstance(named, dict) and name in named:
        found.append((*place, "properties", name))
    if isinstance(patterns, dict):
        found += [(*place, "patternProperties", pattern) for pattern in patterns if _matches(pattern, name)]
    if not found and isinstance(schema.get("additionalProperties"), dict):
        found.append((*place, "additionalProperties"))
    return found


def item_locations(place: Location, schema: JsonObject, index: int) -> list[Location]:
    """The subschema that this schema alone, without what it refers to, has for the item at this index."""
    first = schema.get("prefixItems")
    if isinstance(first, list) and index < len(first):
        return [(*place, "prefixItems", index)]
    return [(*place, "items")] if isinstance(schema.get("items"), dict) else []


def type_of(value: object) -> str:
    """The JSON type of a value; `integer` for whole numbers however they are spelled."""
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int():
            return "integer"
        case float():
            return "integer" if value.is_integer() else "number"
        case str():
            return "string"
        case list():
            return "array"
        case _:
            return "object"


def _named_types(schema: JsonObject) -> frozenset[str]:
    named = schema.get("type")
    if isinstance(named, str):
        types = frozenset({named})
    elif isinstance(named, list):
        types = frozenset(str(name) for name in named)
    else:
        types = ALL_TYPES
    if "number" in types:
        types |= {"integer"}
    values = schema.get("enum")
    if isinstance(values, list):
        types &= {type_of(value) for value in values}
    if "const" in schema:
        types &= {type_of(schema["const"])}
    return types


def _matches(pattern: str, name: str) -> bool:
    # Schemas use ECMAScript's expressions; one that Python cannot read matches nothing here, so nothing is guessed.
    try:
        return re.search(pattern, name) is not None
    except (re.error, RecursionError, OverflowError):
        return False


def _length(branches: JsonValue) -> int:
    return len(branches) if isinstance(branches, list) else 0
