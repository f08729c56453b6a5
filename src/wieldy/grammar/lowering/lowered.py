"""One JSON Schema lowered: what the mask enforces of it, and who enforces the rest.

Laws: the lowered schema allows every value that its source allows, but for what the report names; it allows no other,
but for keywords that the report leaves to the validator; and the report has every keyword of every subschema once.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from wieldy.core.json import JsonObject, JsonValue
from wieldy.grammar.enforcement import Enforcement
from wieldy.grammar.lowering.meaning import Meaning, RefusedError
from wieldy.grammar.lowering.notes import note
from wieldy.grammar.lowering.printed import Printer, TooLargeError
from wieldy.grammar.lowering.records import Goal, Origin
from wieldy.grammar.lowering.vocabulary import ENFORCED, subschemas
from wieldy.schema.resolve import Location, at

NOTHING_FITS: Final = "no value fits it"
"""Why a schema is refused under which nothing could be written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lowered:
    """A schema that engines enforce, and what became of every keyword of its source.

    Attributes:
        schema: The lowered schema; `{}` where something is refused.
        enforcement: One entry for every keyword of every subschema but annotations, in the order of the source.
    """

    schema: JsonObject
    enforcement: tuple[Enforcement, ...]

    @property
    def refused(self) -> tuple[Enforcement, ...]:
        """Why no constraint can be made from the schema; empty where one can."""
        return tuple(entry for entry in self.enforcement if entry.by == "refused")


def lowered(schema: JsonObject, *, without: Iterable[Origin] = ()) -> Lowered:
    """The schema as engines enforce it, with a report of every keyword.

    Args:
        schema: JSON Schema (2020-12, or what older drafts and OpenAPI write otherwise).
        without: Keywords that are to be left to the validator, by the place of their subschema.
    """
    return _lowered(json.dumps(schema), tuple(without))


@lru_cache(maxsize=1_000)
def _lowered(text: str, without: tuple[Origin, ...]) -> Lowered:
    # The text is the key: equal schemas of different tools are lowered once.
    schema: JsonObject = json.loads(text)
    try:
        return _of_document(schema, without)
    except RecursionError:
        return _refusal(schema, ((), ""), "it is nested too deeply")


def _of_document(document: JsonObject, without: tuple[Origin, ...]) -> Lowered:
    try:
        meaning = Meaning(document, without)
        root = meaning.goal((), document)
        printer = Printer(meaning)
        written = printer.document(root)
    except RefusedError as error:
        return _refusal(document, error.origin, error.reason)
    except TooLargeError:
        return _refusal(document, ((), ""), "its parts combine in too many ways")
    if written is None:
        place, keyword = _culprit(document, printer.impossible_member(root))
        return _refusal(document, (place, keyword), NOTHING_FITS)
    if not _is_text(json.dumps(written, ensure_ascii=False)):
        return _refusal(document, ((), ""), "it holds half of a surrogate pair, which is no text")
    return Lowered(schema=written, enforcement=tuple(_report(document, meaning)))


def pointer(place: Location) -> str:
    """The place as a JSON pointer behind a `#`: `#/$defs/Order`."""
    return "#" + "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in place)


def _is_text(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _report(document: JsonObject, meaning: Meaning) -> Iterable[Enforcement]:
    for place, subschema in _all_subschemas(document, meaning.parts, meaning.used):
        where = pointer(place)
        for keyword in subschema:
            if keyword not in ENFORCED:
                continue
            left = meaning.left.get((place, keyword))
            if left is None:
                yield Enforcement(pointer=where, keyword=keyword, by="mask", reason=note(subschema, keyword))
            else:
                yield Enforcement(pointer=where, keyword=keyword, by="validator", reason=left)


def _all_subschemas(
    document: JsonObject, parts: Iterable[tuple[Location, JsonObject]], used: Iterable[Location] = ()
) -> Iterable[tuple[Location, JsonObject]]:
    """Every subschema once: those that keywords hold, and those that references lead to elsewhere."""
    found = dict(parts)
    for place in used:
        if place not in found and isinstance(at(document, place), dict):
            found |= {inner: one for inner, one in subschemas(at(document, place), place) if inner not in found}
    return found.items()


def _refusal(document: JsonObject, origin: Origin, reason: str) -> Lowered:
    """A report in which one keyword is refused and no other is enforced by a mask, since there is none."""
    place, keyword = origin
    refused = Enforcement(pointer=pointer(place), keyword=keyword, by="refused", reason=reason)
    others = [
        Enforcement(
            pointer=pointer(inner), keyword=name, by="validator", reason="no mask is made, since one part is refused"
        )
        for inner, subschema in _all_subschemas(document, subschemas(document), (place,))
        for name in subschema
        if name in ENFORCED and (inner, name) != origin
    ]
    return Lowered(schema={}, enforcement=(refused, *others))


def _culprit(document: JsonValue, goal: Goal) -> Origin:
    place = goal[0][0] if goal else ()
    schema = at(document, place)
    keywords = [keyword for keyword in schema if keyword in ENFORCED] if isinstance(schema, dict) else []
    wanted = ("const", "enum", "minimum", "maximum", "minLength", "maxLength", "pattern", "minItems", "required")
    return place, next((keyword for keyword in wanted if keyword in keywords), keywords[0] if keywords else "")


def taken_by(is_taken: Callable[[JsonObject], bool], schema: JsonObject) -> Lowered:
    """The schema lowered so far that an engine takes it: what it refuses is left to the validator, and nothing else.

    Args:
        is_taken: Whether the engine takes a lowered schema.
        schema: The schema.

    Returns:
        The schema without the keywords at fault; as it is if the engine does not take it whatever is left out.
    """
    places = [place for place, _ in subschemas(schema)]
    origins = [(place, keyword) for place in places for keyword in _keywords(schema, place) if keyword in OMITTED]
    found: list[Origin] = []
    trials = 0
    while not is_taken((done := lowered(schema, without=found)).schema):
        trials += 2 + len(origins).bit_length()
        if done.refused or trials > _MAX_TRIALS or not is_taken(lowered(schema, without=[*found, *origins]).schema):
            return lowered(schema)
        # With all keywords from `low` on left out it is taken, with all from `high` on it is not.
        low, high = 0, len(origins)
        while high - low > 1:
            middle = (low + high) // 2
            is_enough = is_taken(lowered(schema, without=[*found, *origins[middle:]]).schema)
            low, high = (middle, high) if is_enough else (low, middle)
        found.append(origins.pop(low))
    return done


_MAX_TRIALS = 100
"""Schemas that are shown to the engine to find out what it does not take."""
OMITTED = frozenset(
    {"pattern", "format", "patternProperties", "propertyNames", "multipleOf", "minLength", "maxLength", "not", "if"}
    | {"oneOf", "anyOf", "minItems", "maxItems", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"}
    | {"minProperties", "maxProperties", "dependentRequired", "dependentSchemas", "dependencies", "contains"}
)
"""Keywords that may be left to the validator one by one."""


def _keywords(document: JsonObject, place: Location) -> Iterable[str]:
    schema = at(document, place)
    return schema if isinstance(schema, dict) else ()
