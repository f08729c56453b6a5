"""Keywords about the same value as the schema they stand in: references, combinations, conditions, dependencies.

Each gives the ways that hold beside the rest of the schema; None where it asks nothing or has been left.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias, cast

from wieldy.core.json import JsonObject, JsonValue
from wieldy.grammar.lowering.languages import ANYTHING, NOTHING, either, literal
from wieldy.grammar.lowering.records import (
    ALWAYS,
    ANY_WAY,
    NEVER,
    NO_WAY,
    Arrays,
    Goal,
    Objects,
    Region,
    Way,
    together,
)
from wieldy.grammar.lowering.values import distinct
from wieldy.schema.resolve import Location

if TYPE_CHECKING:
    from wieldy.grammar.lowering.meaning import Meaning

Ways: TypeAlias = Sequence[Way] | None
META_SCHEMAS: tuple[str, ...] = ("http://json-schema.org/draft-", "https://json-schema.org/draft/")
_MAX_LISTED = 5_000
"""Alternatives that are listed, where nothing else is asked of the value."""
_MAX_BRANCHES = 40
"""Up to so many branches of a `oneOf` are compared with one another."""


def _reference(meaning: Meaning, place: Location, schema: JsonObject, keyword: str) -> Ways:
    reference = str(schema[keyword])
    if keyword == "$dynamicRef" and not meaning.references.is_only_anchor(reference):
        meaning.leave((place, keyword), "where it leads depends on who refers to this schema")
        return None
    if reference.startswith(META_SCHEMAS):
        meaning.leave((place, keyword), "the schema of schemas, which the validator knows")
        return None
    return meaning.ways(meaning.target_goal(place, keyword, reference))


def _all_of(meaning: Meaning, place: Location, schema: JsonObject, keyword: str) -> Ways:
    return meaning.ways(together(*_branches(meaning, place, schema, keyword)))


def _any_of(meaning: Meaning, place: Location, schema: JsonObject, keyword: str) -> Ways:
    branches = list(dict.fromkeys(_branches(meaning, place, schema, keyword)))
    found = [way for goal in branches for way in meaning.ways(goal)]
    if len(found) > _MAX_LISTED:
        meaning.leave((place, keyword), f"it comes to more than {_MAX_LISTED:,} alternatives")
        return None
    if meaning.counts_seen:
        # What several branches have looked at counts together.
        pairs = [(one, two) for index, one in enumerate(branches) for two in branches[index + 1 :]]
        found += [way for pair in pairs for way in meaning.ways(together(*pair))]
        found += meaning.ways(together(*branches)) if len(branches) > 2 else ()
    return found


def _branches(meaning: Meaning, place: Location, schema: JsonObject, keyword: str) -> list[Goal]:
    parts = cast("list[JsonValue]", schema[keyword])
    return [meaning.goal((*place, keyword, index), part) for index, part in enumerate(parts)]


def _one_of(meaning: Meaning, place: Location, schema: JsonObject, keyword: str) -> Ways:
    branches = _branches(meaning, place, schema, keyword)
    if len(branches) > _MAX_BRANCHES:
        meaning.leave_only((place, keyword), "has too many alternatives to be compared; any of them may be written")
        return _any_of(meaning, place, schema, keyword)
    found: list[Way] = []
    for index, goal in enumerate(branches):
        ways: Ways = meaning.ways(goal)
        for other_index, other in enumerate(branches):
            if index == other_index or ways is None:
                continue
            if index < other_index and meaning.are_apart(goal, other):
                continue
            if index > other_index and meaning.are_apart(other, goal):
                continue
            against = meaning.ways_against(other, (place, keyword))
            ways = None if against is None else meaning.combined(ways, against)
        if ways is None:
            meaning.leave_only((place, keyword), "its alternatives overlap; any of them may be written")
            return _any_of(meaning, place, schema, keyword)
        found += ways
    return found


def _not(meaning: Meaning, place: Location, schema: JsonObject, keyword: str) -> Ways:
    found = meaning.ways_against(meaning.goal((*place, keyword), schema[keyword]), (place, keyword))
    if found is None:
        meaning.leave((place, keyword), "what it forbids cannot be told while it is written")
        return None
    return [_unseen(way) for way in found]


def _unseen(way: Way) -> Way:
    """The way as if no member and no item had been looked at: under a `not`, nothing counts as seen."""
    objects = None if way.objects is None else replace(way.objects, seen=NOTHING)
    arrays = None if way.arrays is None else replace(way.arrays, seen=0)
    return replace(way, objects=objects, arrays=arrays)


def _if(meaning: Meaning, place: Location, schema: JsonObject, keyword: str) -> Ways:
    condition = meaning.goal((*place, keyword), schema[keyword])
    then = meaning.goal((*place, "then"), schema.get("then", True))
    otherwise = meaning.goal((*place, "else"), schema.get("else", True))
    if then == otherwise == ALWAYS and not meaning.counts_seen:
        return None
    against = meaning.ways_against(condition, (place, keyword))
    if against is None:
        for name in ("if", "then", "else"):
            meaning.leave((place, name), "whether its condition holds cannot be told while the value is written")
        return None
    holds = meaning.ways(together(condition, then))
    fails = meaning.combined([_unseen(way) for way in against], meaning.ways(otherwise))
    return None if fails is None else [*holds, *fails]


def _dependencies(meaning: Meaning, place: Location, schema: JsonObject, keyword: str) -> Ways:
    found: Ways = (ANY_WAY,)
    for name, asked in cast("JsonObject", schema[keyword]).items():
        present = replace(NO_WAY, objects=Objects(required=(name,)))
        if isinstance(asked, list):
            following: Ways = [replace(NO_WAY, objects=Objects(required=tuple(map(str, (name, *asked)))))]
        else:
            goal = meaning.goal((*place, keyword, name), asked)
            if goal == ALWAYS:
                continue
            following = meaning.combined((present,), meaning.ways(goal))
        absent = replace(ANY_WAY, objects=Objects(named={name: NEVER}))
        combined = None if following is None else meaning.combined(found, (absent, *following))
        if combined is None:
            meaning.leave((place, keyword), "too many alternatives come together here")
            return None
        found = combined
    return found


def _property_names(meaning: Meaning, place: Location, schema: JsonObject, keyword: str) -> Ways:
    goal = meaning.goal((*place, keyword), schema[keyword])
    ways = meaning.ways(goal)
    if goal == ALWAYS:
        return None
    if all(way.values is not None for way in ways):
        names = [value for way in ways for value in way.values or () if isinstance(value, str)]
        objects = Objects(named=dict.fromkeys(names, ALWAYS), rest=NEVER, origins=((place, keyword),))
    else:
        listed = [literal(value) for way in ways for value in way.values or () if isinstance(value, str)]
        names = either([*listed, *(way.texts.language for way in ways if way.values is None and way.texts is not None)])
        if names == ANYTHING:
            return None
        region = Region(names, ALWAYS, (place, keyword))
        objects = Objects(regions=(region,), rest=NEVER, origins=((place, keyword),))
    return [replace(ANY_WAY, objects=objects)]


IN_PLACE_KEYWORDS: dict[str, Callable[[Meaning, Location, JsonObject, str], Ways]] = {
    "$ref": _reference,
    "$dynamicRef": _reference,
    "$recursiveRef": _reference,
    "allOf": _all_of,
    "anyOf": _any_of,
    "oneOf": _one_of,
    "not": _not,
    "if": _if,
    "dependentRequired": _dependencies,
    "dependentSchemas": _dependencies,
    "dependencies": _dependencies,
    "propertyNames": _property_names,
}


# Keywords that look at what the rest of the schema says

_LISTED = "what of a listed value has been looked at is not followed"


def _unevaluated_properties(meaning: Meaning, place: Location, schema: JsonObject, way: Way) -> Sequence[Way]:
    keyword = "unevaluatedProperties"
    if any(isinstance(value, dict) and value for value in way.values or ()):
        meaning.leave((place, keyword), _LISTED)
    if way.objects is None or way.values is not None or way.objects.seen == ANYTHING:
        return (way,)
    goal = meaning.goal((*place, keyword), schema[keyword])
    seen = Region(way.objects.seen, ALWAYS, (place, keyword))
    objects = way.objects.met(Objects(regions=(seen,), rest=goal, seen=ANYTHING, origins=((place, keyword),)))
    return (replace(way, objects=objects),)


def _unevaluated_items(meaning: Meaning, place: Location, schema: JsonObject, way: Way) -> Sequence[Way]:
    keyword = "unevaluatedItems"
    if any(isinstance(value, list) and value for value in way.values or ()):
        meaning.leave((place, keyword), _LISTED)
    if way.arrays is None or way.values is not None or way.arrays.seen is None:
        return (way,)
    goal = meaning.goal((*place, keyword), schema[keyword])
    arrays = way.arrays.met(Arrays(first=(ALWAYS,) * way.arrays.seen, rest=goal, seen=None))
    return (replace(way, arrays=arrays),)


_MAX_DISTINCT = 4
_MAX_POSITIONS = 4
"""Up to so many different items, or places of one item, are written out as alternatives."""


def _unique_items(meaning: Meaning, place: Location, schema: JsonObject, way: Way) -> Sequence[Way]:
    arrays = way.arrays
    if schema["uniqueItems"] is True and way.values is not None:
        return (replace(way, values=tuple(filter(_has_no_repeated_item, way.values))),)
    if schema["uniqueItems"] is not True or arrays is None:
        return (way,)
    if arrays.most is not None and arrays.most <= 1:
        return (way,)
    items = [goal for goal in (*arrays.first, arrays.rest) if goal is not NEVER]
    values = meaning.finite(items)
    if values is None or len(values) > _MAX_DISTINCT:
        meaning.leave((place, "uniqueItems"), "the mask does not remember which items have been written")
        if values is None:
            return (way,)
        return (replace(way, arrays=arrays.met(Arrays(most=len(values)))),)
    listed: tuple[JsonValue, ...] = tuple(row for row in _rows(values) if meaning.values.fits(row, way))
    return (replace(way, arrays=None), Way(values=listed))


def _has_no_repeated_item(value: JsonValue) -> bool:
    return not isinstance(value, list) or len(distinct(value)) == len(value)


def _rows(values: list[JsonValue]) -> list[list[JsonValue]]:
    """Every array of different values of these, the shorter ones first."""
    found: list[list[JsonValue]] = [[]]
    for row in found:
        found += [[*row, value] for value in values if not any(value is one for one in row)]
    return found


def _contains(meaning: Meaning, place: Location, schema: JsonObject, way: Way) -> Sequence[Way]:
    arrays = way.arrays
    if way.values is not None:
        for keyword in ("contains", "minContains", "maxContains"):
            meaning.leave((place, keyword), "values that are listed are not looked into for it")
        return (way,)
    if arrays is None:
        return (way,)
    goal = meaning.goal((*place, "contains"), schema["contains"])
    least = int(cast("float", schema.get("minContains", 1)))
    most = None if "maxContains" not in schema else int(cast("float", schema["maxContains"]))
    rest = replace(way, arrays=None)
    if goal == ALWAYS:
        return (replace(way, arrays=arrays.met(Arrays(least, most))),)
    if least == 0 and most is None:
        return (way,)
    if (least, most) == (1, None) and arrays.most is not None and arrays.most <= _MAX_POSITIONS:
        places = [Arrays(least=index + 1, first=(*(ALWAYS,) * index, goal)) for index in range(arrays.most)]
        return (rest, *(replace(NO_WAY, arrays=arrays.met(one)) for one in places))
    for keyword in ("contains", "minContains", "maxContains"):
        meaning.leave((place, keyword), "the mask does not remember which items have been written")
    return (replace(way, arrays=arrays.met(Arrays(least=least))),)


LATE_KEYWORDS: dict[str, Callable[[Meaning, Location, JsonObject, Way], Sequence[Way]]] = {
    "contains": _contains,
    "uniqueItems": _unique_items,
    "unevaluatedItems": _unevaluated_items,
    "unevaluatedProperties": _unevaluated_properties,
}
