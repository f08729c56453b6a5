"""Numbers and texts written as lowered schemas, within what engines can count and match."""

from __future__ import annotations

import math
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

from wieldy.core.json import JsonObject, JsonValue
from wieldy.grammar.lowering.meaning import Meaning
from wieldy.grammar.lowering.records import MAX_LANGUAGES, Numbers, Texts, common_multiple
from wieldy.grammar.lowering.written import patterns

_MOST_BOUND = 9 * 10**18
"""Engines keep bounds in 64 bits."""
_MOST_DIGITS = 40
"""Digits behind the point that a bound may have: engines nest a group for each."""
_MOST_STEP = 10_000
"""Engines keep a state for every remainder, and look through all of them for the first number within bounds."""


def numbers_schemas(meaning: Meaning, numbers: Numbers) -> list[JsonObject]:
    """The numbers as lowered schemas, of which one is to fit; bounds that engines cannot keep are left.

    Engines want as many digits behind the point as the step has, or none: 1.50 for steps of 0.25. That 1.5 can be
    written, too, there are schemas for fewer digits.
    """
    steps = [numbers.step]
    if numbers.step is not None:
        steps += [common_multiple(numbers.step, Fraction(1, 10**digits)) for digits in range(1, _digits(numbers.step))]
    return [_numbers_schema(meaning, replace(numbers, step=step)) for step in dict.fromkeys(steps)]


def _digits(step: Fraction) -> int:
    """How many digits the step has behind the point."""
    return next((digits for digits in range(_MOST_DIGITS) if (step * 10**digits).denominator == 1), 0)


def _numbers_schema(meaning: Meaning, numbers: Numbers) -> JsonObject:
    schema: JsonObject = {"type": "integer" if numbers.is_whole else "number"}
    if numbers.is_broken:
        _leave(meaning, numbers, {"not", "oneOf", "if"}, "whether a number is whole cannot be told while it is written")
    if numbers.least is not None:
        if (least := _bound(numbers.least, math.inf)) is None:
            _leave(meaning, numbers, {"minimum", "exclusiveMinimum"}, "engines keep bounds of up to 18 digits")
        else:
            schema["exclusiveMinimum" if numbers.is_least_open else "minimum"] = least
    if numbers.most is not None:
        if (most := _bound(numbers.most, -math.inf)) is None:
            _leave(meaning, numbers, {"maximum", "exclusiveMaximum"}, "engines keep bounds of up to 18 digits")
        else:
            schema["exclusiveMaximum" if numbers.is_most_open else "maximum"] = most
    if numbers.step is not None:
        if (step := _step(numbers.step)) is None:
            _leave(meaning, numbers, {"multipleOf"}, "engines count steps of up to 10,000 units of their last digit")
        else:
            schema["multipleOf"] = step
    return schema


def _leave(meaning: Meaning, numbers: Numbers, keywords: set[str], reason: str) -> None:
    for origin in numbers.origins:
        if origin[1] in keywords:
            meaning.leave(origin, reason)


def _bound(bound: Fraction, inwards: float) -> JsonValue:
    """The bound as engines keep it, which is as a float: never outside of what was asked; None if they cannot."""
    if abs(bound) >= _MOST_BOUND:
        return None
    kept = float(bound)
    if -int(Decimal(str(kept)).as_tuple().exponent) > _MOST_DIGITS:
        return None
    if not kept.is_integer():
        return kept
    if int(kept) != bound and bound.denominator == 1 and (int(kept) < bound) == (inwards > 0):
        kept = math.nextafter(kept, inwards)
    return int(kept)


def _step(step: Fraction) -> JsonValue:
    """The step, if an engine finds its decimal digits by multiplying a float by ten until nothing is left."""
    value, digits = float(step), 0
    scaled = value
    while not scaled.is_integer():
        scaled *= 10
        digits += 1
    if scaled > _MOST_STEP or Fraction(int(scaled), 10**digits) != step:
        return None
    return int(value) if value.is_integer() else value


def texts_schema(meaning: Meaning, texts: Texts) -> JsonObject:
    """The texts as a lowered schema; what no regular expression catches is left to the validator."""
    schema: JsonObject = {"type": "string"}
    if texts.least:
        schema["minLength"] = texts.least
    if texts.most is not None:
        schema["maxLength"] = texts.most
    found: dict[str, None] = {}
    for language, origin in texts.languages.items():
        written, is_exact = patterns(language) if len(found) < MAX_LANGUAGES else ((), False)
        if len(found) == MAX_LANGUAGES or len(found.keys() | written) > MAX_LANGUAGES:
            meaning.leave(origin, f"engines hold a text to {MAX_LANGUAGES} expressions at most")
            continue
        if not is_exact:
            meaning.leave(origin, "no regular expression of a reasonable size catches it all")
        found |= dict.fromkeys(written)
    if len(found) == 1:
        schema["pattern"] = next(iter(found))
    elif found:
        schema["allOf"] = [{"type": "string", "pattern": pattern} for pattern in found]
    return schema
