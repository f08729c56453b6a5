"""What a schema may mean, kind by kind: the records that lowering works on, and how two of them hold at once.

A `Way` is one alternative: for each kind of JSON value what it must be, or that there is none. A schema is any of its
ways. What lies inside arrays and objects is not looked at here: it is a `Goal`, the subschemas that must hold there.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction
from typing import TypeAlias, TypeVar

from wieldy.core.json import JsonValue
from wieldy.grammar.lowering.languages import ANYTHING, Language, both, contains, either, is_empty, length, other
from wieldy.schema.resolve import Location

Claim: TypeAlias = tuple[Location, bool]
"""That the subschema at a place holds, or that it does not."""
Goal: TypeAlias = tuple[Claim, ...] | None
"""All of the claims: without any, everything fits; None where nothing does."""
Origin: TypeAlias = tuple[Location, str]
"""A keyword of a subschema: who is to blame."""

ALWAYS: Goal = ()
NEVER: Goal = None


def together(*goals: Goal) -> Goal:
    """All of the goals at once."""
    found: dict[Claim, None] = {}
    for goal in goals:
        if goal is None:
            return NEVER
        found |= dict.fromkeys(goal)
    return tuple(found)


@dataclass(frozen=True, slots=True)
class Numbers:
    """Numbers within bounds; an open bound is not itself allowed. `step`: what they are multiples of.

    Attributes:
        is_whole: Only whole numbers.
        is_broken: Only numbers that are not whole; engines cannot tell them, so `origins` has who asked for it.
    """

    least: Fraction | None = None
    most: Fraction | None = None
    is_least_open: bool = False
    is_most_open: bool = False
    is_whole: bool = False
    step: Fraction | None = None
    origins: tuple[Origin, ...] = ()
    is_broken: bool = False

    def met(self, with_: Numbers) -> Numbers | None:
        """The numbers of both; None if there are none."""
        least, is_least_open = self.least, self.is_least_open
        if with_.least is not None and (least is None or (with_.least, with_.is_least_open) > (least, is_least_open)):
            least, is_least_open = with_.least, with_.is_least_open
        most, is_most_open = self.most, self.is_most_open
        if with_.most is not None and (most is None or (with_.most, not with_.is_most_open) < (most, not is_most_open)):
            most, is_most_open = with_.most, with_.is_most_open
        steps = [step for step in (self.step, with_.step) if step is not None]
        step = common_multiple(steps[0], steps[1]) if len(steps) == 2 else steps[0] if steps else None
        origins = tuple(dict.fromkeys((*self.origins, *with_.origins)))
        is_whole, is_broken = self.is_whole or with_.is_whole, self.is_broken or with_.is_broken
        found = Numbers(least, most, is_least_open, is_most_open, is_whole, step, origins, is_broken)
        return None if found.is_empty else found

    @property
    def is_empty(self) -> bool:
        """Whether there is no such number."""
        if self.is_broken and (self.is_whole or (self.step is not None and self.step.denominator == 1)):
            return True
        if self.least is None or self.most is None:
            return False
        step = self.step
        if self.is_whole:
            step = common_multiple(step, Fraction(1)) if step else Fraction(1)
        if step is None:
            is_open = self.is_least_open or self.is_most_open
            return self.least > self.most or (self.least == self.most and is_open)
        first = math.ceil(self.least / step)
        first += first * step == self.least and self.is_least_open
        last = math.floor(self.most / step)
        last -= last * step == self.most and self.is_most_open
        return first > last

    def has(self, value: float) -> bool:
        """Whether the number is among them."""
        number = exact(value)
        if (number.denominator != 1 and self.is_whole) or (number.denominator == 1 and self.is_broken):
            return False
        if self.step is not None and (number / self.step).denominator != 1:
            return False
        point = Numbers(number, number)
        return Numbers(self.least, self.most, self.is_least_open, self.is_most_open).met(point) is not None


MAX_LANGUAGES = 4
"""So many languages are looked at together: engines, too, hold a text only to a few expressions at once."""


@dataclass(frozen=True, slots=True)
class Texts:
    """Strings of a length, in characters, that are in all of the languages."""

    least: int = 0
    most: int | None = None
    languages: Mapping[Language, Origin] = field(default_factory=dict[Language, Origin])

    def met(self, with_: Texts) -> Texts | None:
        """The texts of both; None if there are none."""
        found = Texts(
            max(self.least, with_.least), lesser(self.most, with_.most), {**self.languages, **with_.languages}
        )
        return None if found.is_empty else found

    @property
    def language(self) -> Language:
        """All that is asked of the text, as one language."""
        bounds = length(self.least, self.most) if self.least or self.most is not None else ANYTHING
        return both(*self.languages, bounds)

    @property
    def is_empty(self) -> bool:
        """Whether it is certain that there is no such text."""
        if self.most is not None and self.most < self.least:
            return True
        return 0 < len(self.languages) <= MAX_LANGUAGES and is_empty(self.language) is True


@dataclass(frozen=True, slots=True)
class Arrays:
    """Arrays of so many items: the first ones, and what all others are.

    Attributes:
        seen: How many items at the beginning a subschema has looked at, for `unevaluatedItems`; None for all.
    """

    least: int = 0
    most: int | None = None
    first: tuple[Goal, ...] = ()
    rest: Goal = ALWAYS
    seen: int | None = 0

    def item(self, index: int) -> Goal:
        """What must hold for the item at the index."""
        return self.first[index] if index < len(self.first) else self.rest

    def met(self, with_: Arrays) -> Arrays | None:
        """The arrays of both; None if it is certain that there are none."""
        count = max(len(self.first), len(with_.first))
        return Arrays(
            max(self.least, with_.least),
            lesser(self.most, with_.most),
            tuple(together(self.item(index), with_.item(index)) for index in range(count)),
            together(self.rest, with_.rest),
            None if self.seen is None or with_.seen is None else max(self.seen, with_.seen),
        ).shortened

    @property
    def shortened(self) -> Arrays | None:
        """The same arrays without the items that can never be; None if too few are left."""
        never = next((index for index, goal in enumerate(self.first) if goal is NEVER), None)
        if never is None and self.rest is NEVER:
            never = len(self.first)
        most = lesser(self.most, never)
        if most is not None and most < self.least:
            return None
        return replace(self, most=most, first=self.first if most is None else self.first[:most])


@dataclass(frozen=True, slots=True)
class Region:
    """Names that are in a language, and what must hold for the members that are called so."""

    names: Language
    goal: Goal
    origin: Origin


MAX_OVERLAPS = 16
"""So many more groups of names than patterns are told apart where patterns overlap."""


@dataclass(frozen=True, slots=True)
class Objects:
    """Objects of so many members: the named ones, those whose names are in a region, and all others.

    Attributes:
        regions: No two share a name.
        origins: The keywords that say how many members there are, or which names they have.
        is_coarse: There would be too many regions; of members that are not named nothing is said.
        seen: The names that a subschema has looked at, for `unevaluatedProperties`; `ANYTHING` for all.
    """

    named: Mapping[str, Goal] = field(default_factory=dict[str, Goal])
    regions: tuple[Region, ...] = ()
    rest: Goal = ALWAYS
    required: tuple[str, ...] = ()
    least: int = 0
    most: int | None = None
    origins: tuple[Origin, ...] = ()
    seen: Language = field(default_factory=lambda: either(()))
    is_coarse: bool = False

    def member(self, name: str) -> Goal:
        """What must hold for the member of this name."""
        if name in self.named:
            return self.named[name]
        for region in self.regions:
            if contains(region.names, name):
                return region.goal
        return self.rest

    def met(self, with_: Objects) -> Objects | None:
        """The objects of both; None if it is certain that there are none."""
        names = dict.fromkeys((*self.named, *with_.named))
        named = {name: together(self.member(name), with_.member(name)) for name in names}
        is_coarse = self.is_coarse or with_.is_coarse or len(self.regions) * len(with_.regions) > MAX_OVERLAPS
        return Objects(
            named,
            () if is_coarse else _shared(self, with_),
            ALWAYS if is_coarse else together(self.rest, with_.rest),
            tuple(dict.fromkeys((*self.required, *with_.required))),
            max(self.least, with_.least),
            lesser(self.most, with_.most),
            tuple(dict.fromkeys((*self.origins, *with_.origins))),
            either((self.seen, with_.seen)),
            is_coarse,
        ).filled

    @property
    def filled(self) -> Objects | None:
        """The same objects; None if one that is required can never be, or they cannot have so many members."""
        if any(self.member(name) is NEVER for name in self.required):
            return None
        least = max(self.least, len(self.required))
        if self.most is not None and self.most < least:
            return None
        if self.rest is NEVER and not any(region.goal is not NEVER for region in self.regions):
            possible = sum(goal is not NEVER for goal in self.named.values())
            if possible < least:
                return None
        return self


def _shared(one: Objects, two: Objects) -> tuple[Region, ...]:
    """The regions of both, cut where they overlap."""
    found: list[Region] = []
    for region in one.regions:
        left = region.names
        for cutting in two.regions:
            common = both(region.names, cutting.names)
            if region.names != cutting.names and is_empty(common):
                continue
            found.append(Region(common, together(region.goal, cutting.goal), cutting.origin))
            left = both(left, other(cutting.names))
        found.append(Region(left, together(region.goal, two.rest), region.origin))
    taken = either(region.names for region in one.regions)
    for region in two.regions:
        left = region.names if is_empty(both(region.names, taken)) else both(region.names, other(taken))
        found.append(Region(left, together(region.goal, one.rest), region.origin))
    rest = together(one.rest, two.rest)
    return tuple(region for region in found if region.goal != rest and is_empty(region.names) is not True)


@dataclass(frozen=True, slots=True)
class Way:
    """One alternative: what a value of each kind must be, None where there is no such value.

    Attributes:
        values: Only these, whatever the kinds say; they have been looked at already.
    """

    is_null: bool = True
    booleans: frozenset[bool] = frozenset({True, False})
    numbers: Numbers | None = field(default_factory=Numbers)
    texts: Texts | None = field(default_factory=Texts)
    arrays: Arrays | None = field(default_factory=Arrays)
    objects: Objects | None = field(default_factory=Objects)
    values: tuple[JsonValue, ...] | None = None

    @property
    def is_empty(self) -> bool:
        """Whether it is certain that no value goes this way."""
        if self.values is not None:
            return not self.values
        kinds = (self.numbers, self.texts, self.arrays, self.objects)
        return not self.is_null and not self.booleans and all(kind is None for kind in kinds)


ANY_WAY = Way()
NO_WAY = Way(False, frozenset(), None, None, None, None)

_Kind = TypeVar("_Kind", Numbers, Texts, Arrays, Objects)


def kinds_met(one: Way, two: Way) -> Way:
    """The values of both ways, where neither has only certain values."""
    return Way(
        one.is_null and two.is_null,
        one.booleans & two.booleans,
        _met(one.numbers, two.numbers),
        _met(one.texts, two.texts),
        _met(one.arrays, two.arrays),
        _met(one.objects, two.objects),
    )


def _met(one: _Kind | None, two: _Kind | None) -> _Kind | None:
    return None if one is None or two is None else one.met(two)


def lesser(one: int | None, two: int | None) -> int | None:
    """The smaller bound; None is no bound."""
    return two if one is None else one if two is None else min(one, two)


def exact(number: float | Decimal) -> Fraction:
    """The number as it is written: 0.1 is a tenth."""
    return Fraction(number) if isinstance(number, int) else Fraction(str(number))


def common_multiple(one: Fraction, two: Fraction) -> Fraction:
    """The least number that is a multiple of both."""
    return Fraction(math.lcm(one.numerator, two.numerator), math.gcd(one.denominator, two.denominator))
