"""The ways on which a subschema does *not* hold: what `not`, `else` and the other branches of a `oneOf` ask for.

A schema fails where one of its keywords fails, so each keyword gives its own ways. All or nothing: where one of them
cannot be said exactly, there is no answer, because a `not` that allows too little would forbid what the schema allows.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, TypeAlias, cast

from wieldy.core.errors import GrammarError
from wieldy.core.json import JsonObject, JsonValue
from wieldy.grammar.lowering.expressions import language_of
from wieldy.grammar.lowering.languages import either, literal, other
from wieldy.grammar.lowering.own import named_types
from wieldy.grammar.lowering.records import (
    ALWAYS,
    ANY_WAY,
    NEVER,
    NO_WAY,
    Arrays,
    Goal,
    Numbers,
    Objects,
    Origin,
    Texts,
    Way,
    exact,
)
from wieldy.grammar.lowering.vocabulary import ENFORCED
from wieldy.schema.resolve import Location

if TYPE_CHECKING:
    from wieldy.grammar.lowering.meaning import Meaning


class Against:
    """One subschema that is not to hold.

    Attributes:
        because: The keyword that asks for it.
    """

    def __init__(self, meaning: Meaning, place: Location, schema: JsonObject, because: Origin) -> None:
        self.meaning, self.place, self.schema, self.because = meaning, place, schema, because

    def goal(self, *below: str | int, schema: JsonValue, holds: bool) -> Goal:
        """That a subschema of this one holds, or does not."""
        goal = self.meaning.goal((*self.place, *below), schema)
        return goal if holds else self.meaning.opposite(goal, self.because)

    def count(self, keyword: str) -> int:
        """The whole number of a keyword."""
        return int(cast("float", self.schema[keyword]))


_Ways: TypeAlias = Sequence[Way] | None


def against(meaning: Meaning, place: Location, schema: JsonValue, because: Origin) -> _Ways:
    """The ways on which the subschema does not hold; None where they cannot be said exactly."""
    if not isinstance(schema, dict):
        return (ANY_WAY,) if schema is False else ()
    one = Against(meaning, place, schema, because)
    found: list[Way] = []
    for keyword in schema:
        if keyword not in ENFORCED:
            continue
        ways = _AGAINST[keyword](one) if keyword in _AGAINST else None
        if ways is None:
            return None
        found += ways
    return found


def _type(one: Against) -> _Ways:
    types = named_types(one.schema)
    numbers = Numbers(is_broken=True, origins=(one.because,)) if "integer" in types else Numbers()
    return (
        Way(
            "null" not in types,
            frozenset(() if "boolean" in types else (True, False)),
            None if "number" in types else numbers,
            None if "string" in types else Texts(),
            None if "array" in types else Arrays(),
            None if "object" in types else Objects(),
        ),
    )


def _const(one: Against) -> _Ways:
    return _without_values([one.schema["const"]], one.because)


def _enum(one: Against) -> _Ways:
    return _without_values(cast("list[JsonValue]", one.schema["enum"]), one.because)


def _without_values(values: list[JsonValue], origin: Origin) -> _Ways:
    if any(isinstance(value, list | dict) and value for value in values):
        return None
    texts = [literal(value) for value in values if isinstance(value, str)]
    numbers = sorted(exact(value) for value in values if isinstance(value, int | float) and not isinstance(value, bool))
    way = replace(
        ANY_WAY,
        is_null=None not in values,
        booleans=frozenset(truth for truth in (True, False) if not any(value is truth for value in values)),
        texts=Texts(languages={other(either(texts)): origin}) if texts else Texts(),
        arrays=Arrays(least=1) if [] in values else Arrays(),
        objects=Objects(least=1, origins=(origin,)) if {} in values else Objects(),
    )
    if not numbers:
        return (way,)
    return (replace(way, numbers=None), *(replace(NO_WAY, numbers=gap) for gap in _gaps(numbers)))


def _gaps(numbers: list[Fraction]) -> Iterator[Numbers]:
    """The numbers below, between and above those given."""
    yield Numbers(most=numbers[0], is_most_open=True)
    for least, most in itertools.pairwise(numbers):
        yield Numbers(least, most, is_least_open=True, is_most_open=True)
    yield Numbers(least=numbers[-1], is_least_open=True)


def _minimum(one: Against) -> _Ways:
    bound, is_open = one.schema["minimum"], one.schema.get("exclusiveMinimum") is not True
    return (replace(NO_WAY, numbers=Numbers(most=exact(cast("float", bound)), is_most_open=is_open)),)


def _maximum(one: Against) -> _Ways:
    bound, is_open = one.schema["maximum"], one.schema.get("exclusiveMaximum") is not True
    return (replace(NO_WAY, numbers=Numbers(least=exact(cast("float", bound)), is_least_open=is_open)),)


def _exclusive_minimum(one: Against) -> _Ways:
    bound = one.schema["exclusiveMinimum"]
    return () if isinstance(bound, bool) else (replace(NO_WAY, numbers=Numbers(most=exact(cast("float", bound)))),)


def _exclusive_maximum(one: Against) -> _Ways:
    bound = one.schema["exclusiveMaximum"]
    return () if isinstance(bound, bool) else (replace(NO_WAY, numbers=Numbers(least=exact(cast("float", bound)))),)


def _min_length(one: Against) -> _Ways:
    least = one.count("minLength")
    return (replace(NO_WAY, texts=Texts(most=least - 1)),) if least else ()


def _max_length(one: Against) -> _Ways:
    return (replace(NO_WAY, texts=Texts(least=one.count("maxLength") + 1)),)


def _pattern(one: Against) -> _Ways:
    pattern = one.schema["pattern"]
    try:
        language = language_of(pattern, is_wide=True) if isinstance(pattern, str) else None
    except GrammarError:
        return None
    if language is None:
        return None
    return (replace(NO_WAY, texts=Texts(languages={other(language): one.because})),)


def _min_items(one: Against) -> _Ways:
    least = one.count("minItems")
    return (replace(NO_WAY, arrays=Arrays(most=least - 1)),) if least else ()


def _max_items(one: Against) -> _Ways:
    return (replace(NO_WAY, arrays=Arrays(least=one.count("maxItems") + 1)),)


def _first_items(one: Against, keyword: str) -> list[Way]:
    parts = cast("list[JsonValue]", one.schema[keyword])
    goals = [one.goal(keyword, index, schema=part, holds=False) for index, part in enumerate(parts)]
    return [
        replace(NO_WAY, arrays=Arrays(least=index + 1, first=(*(ALWAYS,) * index, goal)))
        for index, goal in enumerate(goals)
        if goal is not NEVER
    ]


def _prefix_items(one: Against) -> _Ways:
    return _first_items(one, "prefixItems")


def _items(one: Against) -> _Ways:
    if isinstance(one.schema["items"], list):
        return _first_items(one, "items")
    first = one.schema.get("prefixItems")
    return _more_items(one.schema["items"], len(first) if isinstance(first, list) else 0)


def _additional_items(one: Against) -> _Ways:
    first = one.schema.get("items")
    return _more_items(one.schema["additionalItems"], len(first)) if isinstance(first, list) else ()


def _more_items(schema: JsonValue, first: int) -> _Ways:
    if schema is True:
        return ()
    return (replace(NO_WAY, arrays=Arrays(least=first + 1)),) if schema is False else None


def _contains(one: Against) -> _Ways:
    if one.schema.get("minContains", 1) != 1 or "maxContains" in one.schema:
        return None
    goal = one.goal("contains", schema=one.schema["contains"], holds=False)
    return (replace(NO_WAY, arrays=Arrays(rest=goal).shortened),)


def _required(one: Against) -> _Ways:
    names = cast("list[str]", one.schema["required"])
    return [replace(NO_WAY, objects=Objects(named={name: NEVER})) for name in names]


def _properties(one: Against) -> _Ways:
    parts = cast("JsonObject", one.schema["properties"])
    goals = {name: one.goal("properties", name, schema=part, holds=False) for name, part in parts.items()}
    return [
        replace(NO_WAY, objects=Objects(named={name: goal}, required=(name,)))
        for name, goal in goals.items()
        if goal is not NEVER
    ]


def _min_properties(one: Against) -> _Ways:
    least = one.count("minProperties")
    origin = (one.place, "minProperties")
    return (replace(NO_WAY, objects=Objects(most=least - 1, origins=(origin,))),) if least else ()


def _max_properties(one: Against) -> _Ways:
    origin = (one.place, "maxProperties")
    return (replace(NO_WAY, objects=Objects(least=one.count("maxProperties") + 1, origins=(origin,))),)


def _dependent_required(one: Against) -> _Ways:
    asked = cast("dict[str, list[str]]", one.schema["dependentRequired"])
    pairs = [(name, needed) for name, names in asked.items() for needed in names if needed != name]
    return [replace(NO_WAY, objects=Objects(named={needed: NEVER}, required=(name,))) for name, needed in pairs]


def _ref(one: Against) -> _Ways:
    goal = one.meaning.target_goal(one.place, "$ref", str(one.schema["$ref"]))
    return one.meaning.ways_against(goal, one.because)


def _all_of(one: Against) -> _Ways:
    found: list[Way] = []
    for index, part in enumerate(cast("list[JsonValue]", one.schema["allOf"])):
        ways = one.meaning.ways_against(one.goal("allOf", index, schema=part, holds=True), one.because)
        if ways is None:
            return None
        found += ways
    return found


def _any_of(one: Against) -> _Ways:
    found: _Ways = (ANY_WAY,)
    for index, part in enumerate(cast("list[JsonValue]", one.schema["anyOf"])):
        ways = one.meaning.ways_against(one.goal("anyOf", index, schema=part, holds=True), one.because)
        found = None if ways is None else one.meaning.combined(found, ways)
        if found is None:
            return None
    return found


def _not(one: Against) -> _Ways:
    return one.meaning.ways(one.goal("not", schema=one.schema["not"], holds=True))


def _if(one: Against) -> _Ways:
    found: list[Way] = []
    condition = one.goal("if", schema=one.schema["if"], holds=True)
    if "then" in one.schema:
        then = one.meaning.ways_against(one.goal("then", schema=one.schema["then"], holds=True), one.because)
        ways = None if then is None else one.meaning.combined(one.meaning.ways(condition), then)
        if ways is None:
            return None
        found += ways
    if "else" in one.schema:
        fails = one.meaning.ways_against(condition, one.because)
        otherwise = one.meaning.ways_against(one.goal("else", schema=one.schema["else"], holds=True), one.because)
        ways = None if fails is None or otherwise is None else one.meaning.combined(fails, otherwise)
        if ways is None:
            return None
        found += ways
    return found


def _nothing(_: Against) -> _Ways:
    return ()


_AGAINST: dict[str, Callable[[Against], _Ways]] = {
    "type": _type,
    "const": _const,
    "enum": _enum,
    "minimum": _minimum,
    "maximum": _maximum,
    "exclusiveMinimum": _exclusive_minimum,
    "exclusiveMaximum": _exclusive_maximum,
    "minLength": _min_length,
    "maxLength": _max_length,
    "pattern": _pattern,
    "minItems": _min_items,
    "maxItems": _max_items,
    "prefixItems": _prefix_items,
    "items": _items,
    "additionalItems": _additional_items,
    "contains": _contains,
    "required": _required,
    "properties": _properties,
    "minProperties": _min_properties,
    "maxProperties": _max_properties,
    "dependentRequired": _dependent_required,
    "$ref": _ref,
    "allOf": _all_of,
    "anyOf": _any_of,
    "not": _not,
    "if": _if,
    **dict.fromkeys(("then", "else", "minContains", "nullable"), _nothing),
}
