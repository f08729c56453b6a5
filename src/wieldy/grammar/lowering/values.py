"""Values against ways: whether one fits, which are common to two ways, and whether there can be any at all."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import TYPE_CHECKING

from wieldy.core.json import JsonObject, JsonValue
from wieldy.grammar.lowering.languages import contains
from wieldy.grammar.lowering.records import ANY_WAY, Arrays, Goal, Objects, Way, kinds_met

if TYPE_CHECKING:
    from wieldy.grammar.lowering.meaning import Meaning

_MAX_DEPTH = 3
"""Levels of required members that are looked into to find that an alternative can never be."""


def key(value: JsonValue) -> Hashable:
    """The same for values that are equal as JSON has it: 1 is 1.0, and no number is true."""
    match value:
        case bool():
            return str(value), bool
        case list():
            return tuple(map(key, value))
        case dict():
            return frozenset((name, key(part)) for name, part in value.items())
        case _:
            return value


def distinct(values: Iterable[JsonValue]) -> list[JsonValue]:
    """The values, each once."""
    found: dict[Hashable, JsonValue] = {}
    for value in values:
        found.setdefault(key(value), value)
    return list(found.values())


class Values:
    """Values and ways of one document."""

    def __init__(self, meaning: Meaning) -> None:
        self._meaning = meaning
        self._keys: dict[int, tuple[tuple[JsonValue, ...], frozenset[Hashable]]] = {}

    def met(self, one: Way, two: Way) -> Way:
        """The values of both ways."""
        if one is ANY_WAY or two is ANY_WAY:
            return two if one is ANY_WAY else one
        if one.values is not None:
            return Way(values=tuple(value for value in one.values if self.fits(value, two)))
        if two.values is not None:
            return Way(values=tuple(value for value in two.values if self.fits(value, one)))
        return kinds_met(one, two)

    def listed(self, way: Way) -> list[JsonValue] | None:
        """The values that go this way, if they are certain ones."""
        if way.values is not None:
            return list(way.values)
        if way.numbers is not None or way.texts is not None or way.arrays is not None or way.objects is not None:
            return None
        return [*([None] if way.is_null else []), *(truth for truth in (True, False) if truth in way.booleans)]

    def is_never(self, way: Way, depth: int = 0) -> bool:
        """Whether it is certain that no value goes this way, looking a few levels deep."""
        if way.is_empty:
            return True
        if way.values is not None or way.is_null or way.booleans or way.numbers is not None or way.texts is not None:
            return False
        return self._is_never_array(way.arrays, depth) and self._is_never_object(way.objects, depth)

    def _is_never_array(self, arrays: Arrays | None, depth: int) -> bool:
        if arrays is None:
            return True
        needed = [arrays.item(index) for index in range(min(arrays.least, len(arrays.first) + 1))]
        return any(self._is_never_goal(goal, depth) for goal in needed)

    def _is_never_object(self, objects: Objects | None, depth: int) -> bool:
        return objects is None or any(self._is_never_goal(objects.member(name), depth) for name in objects.required)

    def _is_never_goal(self, goal: Goal, depth: int) -> bool:
        if not goal or depth >= _MAX_DEPTH:
            return goal is None
        ways = self._meaning.peeked(goal)
        return ways is not None and all(self.is_never(way, depth + 1) for way in ways)

    def fits(self, value: JsonValue, way: Way) -> bool:
        """Whether the value goes this way."""
        if way.values is not None:
            return key(value) in self._keys_of(way.values)
        match value:
            case None:
                return way.is_null
            case bool():
                return value in way.booleans
            case int() | float():
                return way.numbers is not None and way.numbers.has(value)
            case str():
                return way.texts is not None and contains(way.texts.language, value)
            case list():
                return way.arrays is not None and self._fits_array(value, way.arrays)
            case _:
                return way.objects is not None and self._fits_object(value, way.objects)

    def _keys_of(self, values: tuple[JsonValue, ...]) -> frozenset[Hashable]:
        if id(values) not in self._keys:
            self._keys[id(values)] = (values, frozenset(map(key, values)))  # the first keeps the identity taken
        return self._keys[id(values)][1]

    def _fits_goal(self, value: JsonValue, goal: Goal) -> bool:
        if not goal:
            return goal is not None
        ways = self._meaning.peeked(goal)
        if ways is None:
            for place, _ in goal:
                self._meaning.leave_all(place, "it leads back to values that are listed")
            return True
        return any(self.fits(value, way) for way in ways)

    def _fits_array(self, value: list[JsonValue], arrays: Arrays) -> bool:
        if len(value) < arrays.least or (arrays.most is not None and len(value) > arrays.most):
            return False
        return all(self._fits_goal(item, arrays.item(index)) for index, item in enumerate(value))

    def _fits_object(self, value: JsonObject, objects: Objects) -> bool:
        if len(value) < objects.least or (objects.most is not None and len(value) > objects.most):
            return False
        if not value.keys() >= set(objects.required):
            return False
        return all(self._fits_goal(item, objects.member(name)) for name, item in value.items())
