"""A small value that fits a schema, to show what good arguments look like.

Proposals come from the schema's own constants, examples, defaults and choices, else from types, formats and bounds;
each is checked against the schema before it is shown, so an example that does not fit is never given. Not a generator
of test data: one plain value is enough, and for schemas that constrain in unusual ways there may be none.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Iterable, Iterator

from wieldy.core.json import JsonObject, JsonValue, canonical_json
from wieldy.schema.compiled import CompiledSchema, PartsExhaustedError
from wieldy.schema.describe import FORMATS
from wieldy.schema.patterns import text_matching
from wieldy.schema.resolve import Location, alternatives, conjunction, merged

_MAX_NESTING = 12
_MAX_PROPOSALS = 60
"""Looked at for one place before giving up on it."""
_DEEP = 3
_MAX_STEPS = 2_000
"""Places visited for one example; recursive alternatives could go on without end."""
_MAX_LENGTH = 1_000
"""Items or characters; nobody reads a longer example."""


def example(schema: CompiledSchema, *, include: Collection[str] = ()) -> JsonValue:
    """A value that fits; None where none was found.

    Args:
        schema: What it must fit.
        include: Optional properties of the whole that the example should show.
    """
    try:
        found = _Proposals(schema, frozenset(include)).fitting((), 1)
    except PartsExhaustedError:
        return None
    return found[0] if found else None


class _Proposals:
    """Proposes values for the places of one schema and keeps those that fit."""

    def __init__(self, schema: CompiledSchema, include: frozenset[str]) -> None:
        self.schema = schema
        self.document = schema.document
        self.include = include
        self.steps = 0

    def fitting(self, location: Location, count: int, nesting: int = 0) -> list[JsonValue]:
        """Up to `count` different values that fit the schema at the location."""
        self.steps += 1
        found: dict[str, JsonValue] = {}
        if nesting > _MAX_NESTING or self.steps > _MAX_STEPS:
            return []
        for value in itertools.islice(self._proposals(location, nesting), _MAX_PROPOSALS + count):
            if self.schema.part_accepts(location, value):
                found.setdefault(canonical_json(value), value)
            if len(found) == count:
                break
        return list(found.values())

    def _proposals(self, location: Location, nesting: int) -> Iterator[JsonValue]:
        schema = merged(self.document, location)
        if "const" in schema:
            yield schema["const"]
        for keyword in ("examples", "enum"):
            values = schema.get(keyword)
            yield from values if isinstance(values, list) else ()
        if schema.get("default") not in (None, [], {}, ""):
            yield schema["default"]
        yield from self._of_alternatives(location, nesting)
        for name in _types(schema):
            yield from self._of_type(name, schema, location, nesting)

    def _of_alternatives(self, location: Location, nesting: int) -> Iterator[JsonValue]:
        branches = alternatives(self.document, location)
        values = [value for branch in branches for value in self.fitting(branch, 1, nesting + 1)]
        for value in sorted(values, key=lambda value: value is None):
            if isinstance(value, dict):
                for own in self._objects(location, nesting):
                    yield {**own, **value}
            yield value

    def _of_type(self, name: str, schema: JsonObject, location: Location, nesting: int) -> Iterator[JsonValue]:
        match name:
            case "object":
                yield from self._objects(location, nesting)
            case "array":
                yield from self._arrays(schema, location, nesting)
            case "string":
                yield from _texts(schema)
            case "boolean":
                yield from (True, False)
            case "null":
                yield None
            case _:
                yield from _numbers(schema, whole=name == "integer")

    def _objects(self, location: Location, nesting: int) -> Iterator[dict[str, JsonValue]]:
        places: dict[str, list[Location]] = {}
        required: list[str] = []
        for place, schema in conjunction(self.document, location):
            named, needed = schema.get("properties"), schema.get("required")
            for name in named if isinstance(named, dict) else ():
                places.setdefault(name, []).append((*place, "properties", name))
            required += [str(name) for name in needed] if isinstance(needed, list) else []
        wanted = [*dict.fromkeys(required), *(name for name in places if not location and name in self.include)]
        if not location and not wanted:
            wanted = list(places)[:1]
        if not places:
            yield from self._mappings(location, nesting)
        yield from self._filled(dict.fromkeys(wanted), places, nesting)
        yield from self._filled(dict.fromkeys(places), places, nesting)

    def _mappings(self, location: Location, nesting: int) -> Iterator[dict[str, JsonValue]]:
        for place, schema in conjunction(self.document, location):
            if isinstance(schema.get("additionalProperties"), dict):
                for value in self.fitting((*place, "additionalProperties"), 1, nesting + 1):
                    yield {"key": value}

    def _filled(
        self, names: Iterable[str], places: dict[str, list[Location]], nesting: int
    ) -> Iterator[dict[str, JsonValue]]:
        filled: dict[str, JsonValue] = {}
        for name in names:
            value = next(self._suiting(places.get(name, []), nesting), None)
            if value is None:
                return
            filled[name] = value[0]
        yield filled

    def _suiting(self, places: list[Location], nesting: int) -> Iterator[tuple[JsonValue]]:
        """Values that fit at all places at once, each in a tuple of its own, because null is a value too."""
        if not places:
            yield ("text",)
        for place in places:
            for value in self.fitting(place, 1 if len(places) == 1 else _MAX_PROPOSALS, nesting + 1):
                if all(self.schema.part_accepts(other, value) for other in places):
                    yield (value,)

    def _arrays(self, schema: JsonObject, location: Location, nesting: int) -> Iterator[JsonValue]:
        first, rest = schema.get("prefixItems"), schema.get("items", True)
        holders = conjunction(self.document, location)
        fixed = [
            self.fitting((*place, "prefixItems", index), 1, nesting + 1)
            for place, part in holders
            if part.get("prefixItems") == first and isinstance(first, list)
            for index in range(len(first))
        ]
        items = [value for values in fixed for value in values]
        # Deep inside, the shortest array says enough.
        more = max(int(_number(schema, "minItems") or 0), int(nesting < _DEEP)) - len(items)
        if rest is not False and 0 < more <= _MAX_LENGTH:
            place = next((place for place, part in holders if part.get("items") == rest), None)
            values = self.fitting((*place, "items"), more, nesting + 1) if place is not None else ["text"]
            yield [*items, *values]
            if values:
                yield [*items, *itertools.islice(itertools.cycle(values), more)]
        yield items
        yield []


def _types(schema: JsonObject) -> list[str]:
    """The types to propose, null last; without a named type the one that the other keywords are about."""
    named = schema.get("type")
    if isinstance(named, str):
        return [named]
    if isinstance(named, list):
        return sorted((str(name) for name in named), key=lambda name: name == "null")
    if "properties" in schema or "required" in schema:
        return ["object"]
    return ["array"] if "items" in schema or "prefixItems" in schema else ["string", "integer", "object"]


def _texts(schema: JsonObject) -> Iterator[str]:
    named, pattern = schema.get("format"), schema.get("pattern")
    if isinstance(named, str) and named in FORMATS:
        yield FORMATS[named][1]
    if isinstance(pattern, str):
        yield from text_matching(pattern)
    least, longest = int(_number(schema, "minLength") or 0), _number(schema, "maxLength")
    most = _MAX_LENGTH if longest is None else int(longest)
    if least > _MAX_LENGTH:
        return
    yield "text"[:most].ljust(least, "x")
    for number in itertools.count(2):
        yield f"{'text'[: max(most - len(str(number)), 0)]}{number}".ljust(least, "x")


def _numbers(schema: JsonObject, *, whole: bool) -> Iterator[float | int]:
    low, high = _number(schema, "minimum"), _number(schema, "maximum")
    above, below, step = (
        _number(schema, keyword) for keyword in ("exclusiveMinimum", "exclusiveMaximum", "multipleOf")
    )
    yield from (1, 10, 0) if whole else (1, 1.5, 0)
    unit = step or 1
    for bound in (low, above):
        if bound is not None:
            yield from (_tidy(math.ceil(bound / unit) * unit + unit * count) for count in range(20))
    for bound in (high, below):
        if bound is not None:
            yield from (_tidy(math.floor(bound / unit) * unit - unit * count) for count in range(3))
    edges = [edge for edge in (low, above, high, below) if edge is not None]
    if edges and not whole:
        yield (min(edges) + max(edges)) / 2
    yield from (_tidy(unit * count) for count in range(1, _MAX_PROPOSALS))


def _number(schema: JsonObject, keyword: str) -> float | int | None:
    value = schema.get(keyword)
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _tidy(number: float) -> float | int:
    return int(number) if isinstance(number, float) and number.is_integer() else number
