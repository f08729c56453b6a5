"""Objects written as lowered schemas.

Engines write the named members in order, each once, and count members only where all named ones must be there. Other
bounds are written out as variants: which of the optional members are there. What additional members are called is said
by a pattern, since that is read more strictly than `additionalProperties`: no escapes spell a name that is taken.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

from wieldy.core.json import JsonObject, JsonValue
from wieldy.grammar.lowering.languages import ANYTHING, Language, both, contains, either, is_empty, literal, other
from wieldy.grammar.lowering.records import ALWAYS, NEVER, Goal, Objects, Region
from wieldy.grammar.lowering.written import pattern

if TYPE_CHECKING:
    from wieldy.grammar.lowering.meaning import Meaning

_MAX_VARIANTS = 64
_COUNTING = {"minProperties", "maxProperties"}


class _Schemas(Protocol):
    """How goals are written."""

    def schema(self, goal: Goal) -> JsonObject: ...

    def possible(self, goal: Goal) -> Goal: ...


class ObjectWriter:
    """Writes the objects of one document."""

    def __init__(self, meaning: Meaning, schemas: _Schemas) -> None:
        self._meaning, self._schemas = meaning, schemas

    def schemas(self, objects: Objects) -> Iterator[JsonObject]:
        """The objects as lowered schemas, of which one is to fit; none if no object can."""
        for variant in self.variants(objects):
            yield self._schema(variant)

    # How many members

    def variants(self, objects: Objects) -> list[Objects]:
        """The same objects, so that members are counted only where all named ones are required."""
        optional = [name for name in objects.named if self._is_optional(objects, name)]
        if any(self._schemas.possible(objects.member(name)) is NEVER for name in objects.required):
            return []
        is_open = self._has_more(objects)
        least = max(objects.least - len(objects.required), 0)
        most = None if objects.most is None else objects.most - len(objects.required)
        if not is_open:
            most = len(optional) if most is None else min(most, len(optional))
            if least > most:
                return []
        is_limited = most is not None and (is_open or most < len(optional))
        if not least and not is_limited:
            return [replace(objects, least=0, most=None)]
        if not optional:
            return [objects]
        found = _limited(objects, optional, least, most, is_open=is_open) if is_limited else None
        found = _at_least(objects, optional, least, is_open=is_open) if found is None and not is_limited else found
        variants = None if found is None else list(itertools.islice(found, _MAX_VARIANTS + 1))
        if variants is None or len(variants) > _MAX_VARIANTS:
            self._leave(objects, _COUNTING, "too many of its members may be there or not")
            return [replace(objects, least=0, most=None)]
        return variants

    def _is_optional(self, objects: Objects, name: str) -> bool:
        return name not in objects.required and self._schemas.possible(objects.named[name]) is not NEVER

    def _has_more(self, objects: Objects) -> bool:
        goals = [objects.rest, *(region.goal for region in objects.regions)]
        return any(self._schemas.possible(goal) is not NEVER for goal in goals)

    def _leave(self, objects: Objects, keywords: set[str], reason: str) -> None:
        for origin in objects.origins:
            if origin[1] in keywords:
                self._meaning.leave(origin, reason)

    # One variant

    def _schema(self, objects: Objects) -> JsonObject:
        named = dict.fromkeys((*objects.named, *objects.required))
        properties: JsonObject = {name: self._member(objects.member(name)) for name in named}
        schema: JsonObject = {"type": "object"}
        if properties:
            schema["properties"] = properties
        if objects.required:
            schema["required"] = list(objects.required)
        schema |= self._further(objects, list(named))
        if objects.least:
            schema["minProperties"] = objects.least
            if objects.least > len(objects.required) + 1:
                reason = "the mask does not remember names that have been written, and a repeated one counts twice"
                self._leave(objects, {"minProperties"}, reason)
        if objects.most is not None:
            schema["maxProperties"] = objects.most
        return schema

    def _member(self, goal: Goal) -> JsonValue:
        goal = self._schemas.possible(goal)
        return False if goal is NEVER else self._schemas.schema(goal)

    def _further(self, objects: Objects, named: list[str]) -> JsonObject:
        """The keywords about members that are not named."""
        if objects.is_coarse:
            return self._any_names(objects, "patterns overlap in too many ways")
        rest = self._schemas.possible(objects.rest)
        regions = [replace(region, goal=self._schemas.possible(region.goal)) for region in objects.regions]
        if not regions and rest is NEVER:
            return {"additionalProperties": False}
        if not regions and not named:
            return {} if rest == ALWAYS else {"additionalProperties": self._schemas.schema(rest)}
        if not regions and rest == ALWAYS:
            return {"patternProperties": {"": {}}, "additionalProperties": False}
        if rest is not NEVER:
            taken = either(region.names for region in regions)
            regions.append(Region(other(taken), rest, ((), "")))
        patterns: JsonObject = {}
        for region in regions:
            names = self._names(region, named)
            if region.goal is NEVER or is_empty(names):
                continue
            written = "" if names == ANYTHING else pattern(names)
            if written is None:
                return self._any_names(objects, "no regular expression of a reasonable size catches the names")
            patterns[written] = self._schemas.schema(region.goal)
        return (
            {"patternProperties": patterns, "additionalProperties": False}
            if patterns
            else {"additionalProperties": False}
        )

    def _any_names(self, objects: Objects, reason: str) -> JsonObject:
        keywords = {"patternProperties", "additionalProperties", "propertyNames", "unevaluatedProperties"}
        self._leave(objects, keywords, reason)
        return {"patternProperties": {"": {}}, "additionalProperties": False}

    def _names(self, region: Region, named: list[str]) -> Language:
        """A region's names but for those of named members; if anything fits them, it matters only whether any are left.

        Engines have what fits a member and what fits its name hold at once, and cannot do that with all schemas.
        """
        inside = [literal(name) for name in named if contains(region.names, name)]
        free = both(region.names, other(either(inside))) if inside else region.names
        return region.names if region.goal == ALWAYS and not is_empty(free) else free


def _at_least(objects: Objects, optional: list[str], least: int, *, is_open: bool) -> Iterator[Objects]:
    """Variants with at least so many of the optional members, or of others: the first ones that are there."""
    for chosen in itertools.combinations(range(len(optional)), least):
        absent = [name for index, name in enumerate(optional[: chosen[-1]]) if index not in chosen]
        yield _variant(objects, [optional[index] for index in chosen], absent, None, None)
    if is_open:
        for count in range(least):
            for present in itertools.combinations(optional, count):
                absent = [name for name in optional if name not in present]
                yield _variant(objects, list(present), absent, objects.least, None)


def _limited(
    objects: Objects, optional: list[str], least: int, most: int | None, *, is_open: bool
) -> Iterator[Objects] | None:
    """Variants with exactly these of the optional members."""
    if most is None:
        return None
    counts = range(0 if is_open else least, min(most, len(optional)) + 1)
    bounds = (objects.least, objects.most) if is_open else (None, None)
    return (
        _variant(objects, list(present), [name for name in optional if name not in present], *bounds)
        for count in counts
        for present in itertools.combinations(optional, count)
    )


def _variant(objects: Objects, present: list[str], absent: list[str], least: int | None, most: int | None) -> Objects:
    named = {**objects.named, **dict.fromkeys(absent, NEVER)}
    required = (*objects.required, *present)
    return replace(objects, named=named, required=required, least=least or 0, most=most)
