"""What one subschema says by itself, without alternatives: one way, its keywords for each kind put together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, cast

from wieldy.core.errors import GrammarError
from wieldy.core.json import JsonObject, JsonValue
from wieldy.grammar.lowering.expressions import language_of
from wieldy.grammar.lowering.formats import CHECKED, FORMATS
from wieldy.grammar.lowering.languages import ANYTHING, Language, both, contains, either, is_empty, literal, other
from wieldy.grammar.lowering.records import (
    ALWAYS,
    MAX_OVERLAPS,
    Arrays,
    Goal,
    Numbers,
    Objects,
    Origin,
    Region,
    Texts,
    Way,
    exact,
    lesser,
    together,
)
from wieldy.grammar.lowering.values import key
from wieldy.schema.resolve import ALL_TYPES, Location

if TYPE_CHECKING:
    from wieldy.grammar.lowering.meaning import Meaning

KEYWORDS = frozenset(
    {"type", "enum", "const", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"}
    | {"minLength", "maxLength", "pattern", "format", "minItems", "maxItems", "prefixItems", "items"}
    | {"additionalItems", "properties", "patternProperties", "additionalProperties", "required"}
    | {"minProperties", "maxProperties"}
)
"""The keywords that are read here."""

UNKNOWN_FORMAT = "a format that is not known here: only a validator that was told of it looks at it"


_MOST_EXACT = 2**53
_ABOUT_NAMES = ("minProperties", "maxProperties", "patternProperties", "additionalProperties")


def own_way(meaning: Meaning, place: Location, schema: JsonObject) -> Way:
    """The way of a subschema's own keywords."""
    types = named_types(schema)
    numbers, texts, arrays, objects = None, None, None, None
    if types & {"integer", "number"}:
        numbers = _numbers(place, schema, Numbers(is_whole="number" not in types))
    if "string" in types:
        texts = _texts(meaning, place, schema)
    elif "format" in schema and schema["format"] not in FORMATS:
        meaning.leave((place, "format"), UNKNOWN_FORMAT)
    if "array" in types:
        arrays = _arrays(meaning, place, schema)
    if "object" in types:
        objects = _objects(meaning, place, schema)
    booleans = frozenset({True, False} if "boolean" in types else ())
    way = Way("null" in types, booleans, numbers, texts, arrays, objects)
    return _of_values(meaning, place, schema, way)


def named_types(schema: JsonObject) -> frozenset[str]:
    """The types that `type` names; all where there is none."""
    named = schema.get("type", list(ALL_TYPES))
    return frozenset(map(str, named)) if isinstance(named, list) else frozenset({str(named)})


def _of_values(meaning: Meaning, place: Location, schema: JsonObject, way: Way) -> Way:
    values: list[JsonValue] | None = None
    if isinstance(listed := schema.get("enum"), list):
        values = listed
    if "const" in schema:
        constant = schema["const"]
        values = [constant] if values is None or key(constant) in set(map(key, values)) else []
    if values is None:
        return way
    if not all(map(_can_be_written, values)):
        for keyword in schema.keys() & {"enum", "const"}:
            meaning.leave((place, keyword), "engines round whole numbers of more than 15 digits")
        return way
    return replace(way, values=tuple(value for value in values if meaning.values.fits(value, way)))


def _can_be_written(value: JsonValue) -> bool:
    """Whether an engine that keeps numbers as floats writes the value as it is."""
    match value:
        case bool() | None | str():
            return True
        case int():
            return abs(value) <= _MOST_EXACT or value == Fraction(str(float(value)))
        case float():
            return True
        case list():
            return all(map(_can_be_written, value))
        case dict():
            return all(map(_can_be_written, value.values()))


def count(schema: JsonObject, keyword: str) -> int | None:
    """The whole number of a keyword; None where there is none."""
    value = schema.get(keyword)
    return None if value is None else int(cast("float", value))


def _numbers(place: Location, schema: JsonObject, found: Numbers | None) -> Numbers | None:
    for asked in _asked_numbers(place, schema):
        found = None if found is None else found.met(asked)
    return found


def _asked_numbers(place: Location, schema: JsonObject) -> Iterator[Numbers]:
    least, most = schema.get("minimum"), schema.get("maximum")
    above, below, step = schema.get("exclusiveMinimum"), schema.get("exclusiveMaximum"), schema.get("multipleOf")
    if isinstance(least, int | float):
        yield Numbers(least=exact(least), is_least_open=above is True, origins=((place, "minimum"),))
    if isinstance(most, int | float):
        yield Numbers(most=exact(most), is_most_open=below is True, origins=((place, "maximum"),))
    if isinstance(above, int | float) and not isinstance(above, bool):
        yield Numbers(least=exact(above), is_least_open=True, origins=((place, "exclusiveMinimum"),))
    if isinstance(below, int | float) and not isinstance(below, bool):
        yield Numbers(most=exact(below), is_most_open=True, origins=((place, "exclusiveMaximum"),))
    if isinstance(step, int | float):
        yield Numbers(step=abs(exact(step)), origins=((place, "multipleOf"),))


def _texts(meaning: Meaning, place: Location, schema: JsonObject) -> Texts | None:
    languages: dict[Language, Origin] = {}
    least, most = count(schema, "minLength") or 0, count(schema, "maxLength")
    pattern = schema.get("pattern", "")
    if not isinstance(pattern, str):
        meaning.leave((place, "pattern"), f"expected a regular expression, found {pattern!r}")
    elif pattern:
        try:
            languages[language_of(pattern)] = (place, "pattern")
        except GrammarError as error:
            meaning.leave((place, "pattern"), str(error))
    named = schema.get("format")
    if isinstance(named, str) and named in FORMATS:
        languages[FORMATS[named].language] = (place, "format")
        most = lesser(most, FORMATS[named].most)
    elif named is not None:
        meaning.leave((place, "format"), "no expression catches it" if named in CHECKED else UNKNOWN_FORMAT)
    found = Texts(least, most, languages)
    return None if found.is_empty else found


def _arrays(meaning: Meaning, place: Location, schema: JsonObject) -> Arrays | None:
    keyword = "items" if isinstance(schema.get("items"), list) else "prefixItems"
    listed, rest = schema.get(keyword), "additionalItems" if keyword == "items" else "items"
    first = listed if isinstance(listed, list) else []
    return Arrays(
        count(schema, "minItems") or 0,
        count(schema, "maxItems"),
        tuple(meaning.goal((*place, keyword, index), part) for index, part in enumerate(first)),
        meaning.goal((*place, rest), schema.get(rest, True)),
        None if rest in schema else len(first),
    ).shortened


def _objects(meaning: Meaning, place: Location, schema: JsonObject) -> Objects | None:
    properties = cast("JsonObject", schema.get("properties", {}))
    regions = _regions(meaning, place, cast("JsonObject", schema.get("patternProperties", {})))
    named: dict[str, Goal] = {}
    for name, part in properties.items():
        goals = [region.goal for region in regions if contains(region.names, name)]
        named[name] = together(meaning.goal((*place, "properties", name), part), *goals)
    required = tuple(map(str, cast("list[JsonValue]", schema.get("required", []))))
    least, most = count(schema, "minProperties"), count(schema, "maxProperties")
    origins = tuple((place, keyword) for keyword in _ABOUT_NAMES if keyword in schema)
    rest = meaning.goal((*place, "additionalProperties"), schema.get("additionalProperties", True))
    seen = ANYTHING
    if "additionalProperties" not in schema:
        seen = either([*map(literal, properties), *(region.names for region in regions)])
    return Objects(named, regions, rest, required, least or 0, most, origins, seen).filled


def _regions(meaning: Meaning, place: Location, patterns: JsonObject) -> tuple[Region, ...]:
    """The names that match the patterns, cut where patterns overlap."""
    origin = (place, "patternProperties")
    found: list[Region] = []
    for count, (pattern, part) in enumerate(patterns.items()):
        goal = meaning.goal((*place, "patternProperties", pattern), part)
        try:
            names = language_of(pattern)
        except GrammarError as error:
            return _unread_regions(meaning, origin, str(error))
        cut: list[Region] = []
        for region in found:
            common = both(region.names, names)
            if is_empty(common) is True:
                cut.append(region)
                continue
            cut += [
                Region(common, together(region.goal, goal), origin),
                Region(both(region.names, other(names)), region.goal, origin),
            ]
            names = both(names, other(region.names))
        found = [region for region in (*cut, Region(names, goal, origin)) if is_empty(region.names) is not True]
        if len(found) > count + MAX_OVERLAPS:
            return _unread_regions(meaning, origin, "its patterns overlap in too many ways")
    return tuple(found)


def _unread_regions(meaning: Meaning, origin: Origin, reason: str) -> tuple[Region, ...]:
    """One region of all names, in which everything fits: nobody knows which are meant."""
    place, keyword = origin
    meaning.leave(origin, reason)
    meaning.leave(
        (place, "additionalProperties"), f"`{keyword}` is left to the validator, which says what is additional"
    )
    return (Region(ANYTHING, ALWAYS, origin),)
