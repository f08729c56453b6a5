"""Ways written as a lowered schema: what can be said with its few keywords; the rest is left to the validator.

Goals become subschemas. One that contains itself, or is used more than once, is a definition; what no value fits is
left out wherever something else may stand.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from wieldy.core.json import JsonObject, JsonValue, canonical_json
from wieldy.grammar.lowering.meaning import Meaning
from wieldy.grammar.lowering.printed_kinds import numbers_schemas, texts_schema
from wieldy.grammar.lowering.printed_objects import ObjectWriter
from wieldy.grammar.lowering.records import ALWAYS, NEVER, Arrays, Goal, Objects, Way
from wieldy.grammar.lowering.values import distinct

_SMALL_CHARACTERS = 60
"""A subschema up to this size is repeated where it is used."""
_MAX_GOALS = 2_000
_MAX_GOALS_EACH = 4
"""Different sets of subschemas that hold somewhere: so many, and so many for each subschema."""
_FREE: tuple[JsonObject, ...] = tuple(
    {"type": name} for name in ("null", "boolean", "number", "string", "array", "object")
)


class TooLargeError(Exception):
    """The document means more different things than are written out."""


class Printer:
    """Writes the goals of one document."""

    def __init__(self, meaning: Meaning) -> None:
        self._meaning = meaning
        self._objects = ObjectWriter(meaning, self)
        self._ways: dict[Goal, tuple[Way, ...]] = {}
        self._uses: Counter[Goal] = Counter()
        self._possible: set[Goal] = set()
        self._written: dict[Goal, JsonObject] = {}
        self._names: dict[Goal, str] = {}
        self._open: set[Goal] = set()
        self._definitions: dict[str, JsonValue] = {}

    def document(self, root: Goal) -> JsonObject | None:
        """The lowered schema; None if nothing fits the goal."""
        self._collect(root)
        self._find_possible()
        if self.possible(root) is NEVER:
            return None
        written = self.schema(root)
        return {**written, "$defs": self._definitions} if self._definitions else written

    # Which goals there are, and which of them a value can reach

    def _collect(self, root: Goal) -> None:
        waiting = [root]
        most = _MAX_GOALS + _MAX_GOALS_EACH * len(self._meaning.parts)
        while waiting:
            goal = waiting.pop()
            self._uses[goal] += 1
            if not goal or goal in self._ways:
                continue
            if len(self._ways) > most:
                raise TooLargeError
            self._ways[goal] = self._meaning.ways(goal)
            waiting += [inner for way in self._ways[goal] for inner in _inside(way)]

    def _find_possible(self) -> None:
        """The goals that some value of finite size fits: found from the leaves on until no more are."""
        count = -1
        while count < len(self._possible):
            count = len(self._possible)
            for goal, ways in self._ways.items():
                if goal not in self._possible and any(map(self._is_possible, ways)):
                    self._possible.add(goal)

    def possible(self, goal: Goal) -> Goal:
        """The goal; NEVER if no value fits it."""
        return goal if goal == ALWAYS or goal in self._possible else NEVER

    def _is_possible(self, way: Way) -> bool:
        if way.values is not None:
            return bool(way.values)
        if way.is_null or way.booleans or way.numbers is not None or way.texts is not None:
            return True
        return self._is_possible_array(way.arrays) or self._is_possible_object(way.objects)

    def _is_possible_array(self, arrays: Arrays | None) -> bool:
        if arrays is None:
            return False
        needed = [arrays.item(index) for index in range(min(arrays.least, len(arrays.first) + 1))]
        return all(self.possible(goal) is not NEVER for goal in needed)

    def _is_possible_object(self, objects: Objects | None) -> bool:
        return objects is not None and bool(self._objects.variants(objects))

    def impossible_member(self, goal: Goal) -> Goal:
        """The innermost required member or item because of which nothing fits the goal."""
        seen: set[Goal] = set()
        while goal not in seen:
            seen.add(goal)
            needed = [inner for way in self._ways.get(goal, ()) for inner in _needed(way)]
            goal = next((inner for inner in needed if inner and inner not in self._possible), goal)
        return goal

    # Writing

    def schema(self, goal: Goal) -> JsonObject:
        """The subschema of a goal that some value fits."""
        if not goal:
            return {}
        if goal in self._written:
            return self._written[goal]
        if goal in self._open:
            return self._reference(goal)
        self._open.add(goal)
        body = self._body(self._ways[goal])
        self._open.remove(goal)
        is_large = self._uses[goal] > 1 and len(canonical_json(body)) > _SMALL_CHARACTERS
        if is_large or goal in self._names:
            reference = self._reference(goal)
            self._definitions[self._names[goal]] = body
            body = reference
        self._written[goal] = body
        return body

    def _reference(self, goal: Goal) -> JsonObject:
        if goal not in self._names:
            place = goal[0][0] if goal else ()
            said = str(place[-1]) if len(place) > 1 and place[-2] in ("$defs", "definitions", "properties") else "part"
            name = re.sub(r"\W", "_", said, flags=re.ASCII) or "part"
            taken = set(self._names.values())
            numbered = (f"{name}_{number}" for number in range(2, len(taken) + 3))
            self._names[goal] = next(one for one in (name, *numbered) if one not in taken)
        return {"$ref": f"#/$defs/{self._names[goal]}"}

    def _body(self, ways: Sequence[Way]) -> JsonObject:
        values: list[JsonValue] = []
        found: list[JsonObject] = []
        for way in ways:
            if way.values is None:
                found += self._options(way)
            else:
                values += way.values
        values = distinct(values)
        if len(found) > 1:
            found = list({canonical_json(option): option for option in found}.values())
        if len(found) >= len(_FREE) and all(free in found for free in _FREE):
            return {}
        options: list[JsonValue] = [*([{"enum": values}] if values else ()), *found]
        return {"anyOf": options} if len(options) > 1 else {"enum": values} if values else found[0]

    def _options(self, way: Way) -> Iterator[JsonObject]:
        if way.is_null:
            yield {"type": "null"}
        if way.booleans:
            yield {"type": "boolean"} if len(way.booleans) == 2 else {"enum": list(way.booleans)}
        if way.numbers is not None:
            yield from numbers_schemas(self._meaning, way.numbers)
        if way.texts is not None:
            yield texts_schema(self._meaning, way.texts)
        if self._is_possible_array(way.arrays):
            yield from self._array(way.arrays)
        if way.objects is not None:
            yield from self._objects.schemas(way.objects)

    def _array(self, arrays: Arrays | None) -> Iterator[JsonObject]:
        if arrays is None:
            return
        first = [self.possible(goal) for goal in arrays.first]
        shortened = Arrays(arrays.least, arrays.most, tuple(first), self.possible(arrays.rest)).shortened
        if shortened is None:
            return
        schema: JsonObject = {"type": "array"}
        if shortened.first:
            schema["prefixItems"] = [self.schema(goal) for goal in shortened.first]
        if shortened.rest is NEVER or shortened.most == len(shortened.first):
            schema["items"] = False
        elif shortened.rest != ALWAYS:
            schema["items"] = self.schema(shortened.rest)
        if shortened.least:
            schema["minItems"] = shortened.least
        if shortened.most is not None and schema.get("items") is not False:
            schema["maxItems"] = shortened.most
        yield schema


def _inside(way: Way) -> Iterator[Goal]:
    """The goals of all members and items."""
    if way.values is not None:
        return
    if way.arrays is not None:
        yield from (*way.arrays.first, way.arrays.rest)
    if way.objects is not None:
        yield from way.objects.named.values()
        yield from (region.goal for region in way.objects.regions)
        yield way.objects.rest


def _needed(way: Way) -> Iterator[Goal]:
    """The goals of the members and items that there must be."""
    if way.values is None and way.arrays is not None:
        yield from (way.arrays.item(index) for index in range(min(way.arrays.least, len(way.arrays.first) + 1)))
    if way.values is None and way.objects is not None:
        yield from (way.objects.member(name) for name in way.objects.required)
