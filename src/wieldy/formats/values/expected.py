"""What a tool's schema expects at one place of the arguments, asked while a reply is read or written.

`Expected` leads from the arguments into their members and items, through references and through alternatives. What it
says is the careful reading: never fewer values than the schema accepts, and anything where the schema says nothing.
Deliberately not here: what a text then means (`values`, `trees`), and validation, which comes later and has the last
word. All answers are worked out once per schema and kept with it, in `_Schema`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import reduce
from typing import TypeAlias

from wieldy.core.errors import UsageError
from wieldy.core.json import JsonObject, JsonValue
from wieldy.schema.compiled import CompiledSchema, PartsExhaustedError
from wieldy.schema.resolve import (
    ALL_TYPES,
    NO_TYPES,
    Location,
    at,
    chain,
    item_locations,
    member_locations,
    type_of,
)

_MAX_NESTING = 50
"""Alternatives within alternatives that are followed; what lies deeper counts as anything."""


@dataclass(frozen=True, slots=True)
class _Every:
    """Several places that hold at once."""

    places: tuple[_Place, ...]


@dataclass(frozen=True, slots=True)
class _Any:
    """Several places of which one holds; none at all is "nothing fits"."""

    places: tuple[_Place, ...]


_Place: TypeAlias = "Location | _Every | _Any"
_ROOT: Location = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Admitted:
    """The values that a schema lets through, as far as types and listed values go.

    Attributes:
        types: Every value of these types.
        values: And these, which `enum` or `const` lists.
        named: The types that the schema names; a schema that names none lets all through.
    """

    types: frozenset[str] = NO_TYPES
    values: tuple[JsonValue, ...] = ()
    named: frozenset[str] = NO_TYPES

    def admits(self, value: JsonValue) -> bool:
        """Whether the value is of one of the types or is listed."""
        return type_of(value) in self.types or any(is_same(value, listed) for listed in self.values)

    @property
    def all_types(self) -> frozenset[str]:
        """The types, with those of the listed values."""
        return self.types.union(map(type_of, self.values)) if self.values else self.types

    @property
    def is_any_text(self) -> bool:
        """Whether every text can only mean itself, as a string.

        Types that are written as scalars do not matter beside a string, because the string wins over them; null does
        where it is named, and so do objects and arrays.
        """
        if "string" in self.types:
            return not ("null" in self.named or self.all_types & {"array", "object"})
        return not (self.values or self.types & ALL_TYPES)

    def both(self, other: Admitted) -> Admitted:
        """What both let through."""
        values = [value for value in self.values if other.admits(value)]
        values += [value for value in other.values if type_of(value) in self.types]
        both = Admitted(types=self.types & other.types, values=tuple(values))
        return Admitted(types=both.types, values=both.values, named=(self.named | other.named) & both.all_types)

    def either(self, other: Admitted) -> Admitted:
        """What at least one of them lets through."""
        return Admitted(
            types=self.types | other.types, values=self.values + other.values, named=self.named | other.named
        )


_ANYTHING = Admitted(types=ALL_TYPES)
_NOTHING = Admitted()


@dataclass(frozen=True, slots=True)
class Expected:
    """A place in a tool's schema; `Expected.of` is the whole of it.

    Equal only to what was reached in the same way from the same `Expected.of`.

    Keywords that JSON Schema does not have say nothing, as to the validator: `"nullable": true` of OpenAPI 3.0 beside a
    type admits no null, because the validator would refuse a null that was read because of it. Whoever brings in such
    schemas writes `"type": ["string", "null"]` instead.
    """

    _schema: _Schema
    _place: _Place

    @classmethod
    def of(cls, schema: JsonObject | bool) -> Expected:
        """What the schema expects as a whole. Make it once per tool: what is found out is kept in it.

        A boolean says nothing about members, so both are taken as "anything"; a validator refuses what `false` refuses.
        """
        return cls(_Schema(schema if isinstance(schema, dict) else {}), _ROOT)

    @property
    def document(self) -> JsonObject:
        """The whole schema, to which references relate."""
        return self._schema.document

    @property
    def admitted(self) -> Admitted:
        """The values that may stand here."""
        return self._schema.admitted(self._place)

    @property
    def types(self) -> frozenset[str]:
        """The JSON types of which a value may stand here; `number` brings `integer`."""
        return self.admitted.all_types

    @property
    def takes_any_text(self) -> bool:
        """Whether every text that may stand here is the string it shows, so that it can be passed on as it comes."""
        return self.admitted.is_any_text

    @property
    def names(self) -> tuple[str, ...]:
        """The declared members of an object here, those of all alternatives, in the schema's order."""
        return self._schema.names(self._place)

    @property
    def required(self) -> frozenset[str]:
        """The members that an object here must have, whichever alternative it fits."""
        return self._schema.required(self._place, set(), 0)

    @property
    def schema(self) -> JsonObject:
        """A schema for the values here that stands by itself, with the definitions that it may refer to."""
        shared = {key: self.document[key] for key in ("$defs", "definitions") if key in self.document}
        return {**shared, **self._schema.alone(self._place)}

    def names_for(self, value: JsonValue) -> tuple[str, ...]:
        """The declared members, in the order of those alternatives that accept the value; of all if none does."""
        return self._schema.names_for(self._place, value)

    def is_declared(self, name: str) -> bool:
        """Whether the schema has a property of exactly this name; patterns and additional properties do not count."""
        return name in self.names

    def member(self, name: str) -> Expected:
        """What is expected of a member; where alternatives declare it differently, either; undeclared: anything."""
        place = self._schema.member(self._place, name)
        return ANYTHING if place is None else Expected(self._schema, place)

    def item(self, index: int) -> Expected:
        """What is expected of the item at this index of an array; undeclared: anything."""
        place = self._schema.item(self._place, index)
        return ANYTHING if place is None else Expected(self._schema, place)

    def accepts(self, value: JsonValue) -> bool:
        """Whether a well-formed value fits here, by the validator; True where the schema is not in order or too large.

        Cost: the first time at a place, compiling its schema.
        """
        return self._schema.accepts(self._place, value)


class _Schema:
    """One document and everything that was found out about its places."""

    __slots__ = ("_admitted", "_compiled", "_is_in_order", "_members", "_names", "document")

    def __init__(self, document: JsonObject) -> None:
        self.document = document
        self._admitted: dict[_Place, Admitted] = {}
        self._names: dict[_Place, tuple[str, ...]] = {}
        self._members: dict[tuple[_Place, str], _Place | None] = {}
        self._compiled: CompiledSchema | None = None
        self._is_in_order = True

    def admitted(self, place: _Place) -> Admitted:
        if place not in self._admitted:
            self._admitted[place] = self._admitted_at(place, {}, 0)
        return self._admitted[place]

    def names(self, place: _Place) -> tuple[str, ...]:
        if place not in self._names:
            self._names[place] = tuple(dict.fromkeys(self._names_at(place, None, set(), 0)))
        return self._names[place]

    def names_for(self, place: _Place, value: JsonValue) -> tuple[str, ...]:
        return tuple(dict.fromkeys(self._names_at(place, (value,), set(), 0)))

    def required(self, place: _Place, seen: set[_Place], nesting: int) -> frozenset[str]:
        if place in seen or nesting > _MAX_NESTING:
            return frozenset()
        seen.add(place)
        match place:
            case _Every(places):
                found = [self.required(part, seen, nesting + 1) for part in places]
                return frozenset[str]().union(*found)
            case _Any(places):
                found = [self.required(part, set(seen), nesting + 1) for part in places]
                return found[0].intersection(*found) if found else frozenset()
            case _:
                names = frozenset[str]()
                for location, schema in chain(self.document, place):
                    own = schema.get("required")
                    names |= frozenset(map(str, own)) if isinstance(own, list) else names
                    parts = _parts(location, schema)
                    names = names.union(*(self.required(part, seen, nesting + 1) for part in parts))
                return names

    def alone(self, place: _Place) -> JsonObject:
        match place:
            case _Every(places):
                return {"allOf": [self.alone(part) for part in places]}
            case _Any(places):
                return {"anyOf": [self.alone(part) for part in places]}
            case _:
                schema = at(self.document, place)
                return schema if isinstance(schema, dict) else {}

    def member(self, place: _Place, name: str) -> _Place | None:
        # Only declared names are kept: a model can invent any number of others.
        key = place, name
        if key in self._members:
            return self._members[key]
        found = self._inner(place, lambda part, schema: member_locations(part, schema, name), {}, 0)
        if name in self.names(place):
            self._members[key] = found
        return found

    def item(self, place: _Place, index: int) -> _Place | None:
        return self._inner(place, lambda part, schema: item_locations(part, schema, index), {}, 0)

    def accepts(self, place: _Place, value: JsonValue) -> bool:
        match place:
            case _Every(places):
                return all(self.accepts(part, value) for part in places)
            case _Any(places):
                return any(self.accepts(part, value) for part in places)
            case _:
                return self._part_accepts(place, value)

    def _part_accepts(self, location: Location, value: JsonValue) -> bool:
        if not self._is_in_order:
            return True
        try:
            if self._compiled is None:
                self._compiled = CompiledSchema(self.document)
            return self._compiled.part_accepts(location, value)
        except (UsageError, PartsExhaustedError, ValueError, RecursionError):
            self._is_in_order = False
            return True

    def _admitted_at(self, place: _Place, known: dict[Location, Admitted], nesting: int) -> Admitted:
        match place:
            case _Every(places):
                return reduce(Admitted.both, (self._admitted_at(part, known, nesting) for part in places), _ANYTHING)
            case _Any(places):
                return reduce(Admitted.either, (self._admitted_at(part, known, nesting) for part in places), _NOTHING)
            case _:
                pass
        # Each location is worked out once, so that branches which share references, or refer to themselves, stay cheap.
        if place not in known:
            known[place] = _ANYTHING
            known[place] = self._admitted_by(place, known, nesting)
        return known[place]

    def _admitted_by(self, location: Location, known: dict[Location, Admitted], nesting: int) -> Admitted:
        if at(self.document, location) is False:
            return _NOTHING
        found = _ANYTHING
        for place, schema in chain(self.document, location) if nesting < _MAX_NESTING else ():
            found = found.both(_own(schema))
            for part in _parts(place, schema):
                found = found.both(self._admitted_at(part, known, nesting + 1))
        return found

    def _inner(self, place: _Place, own: _Inside, known: dict[Location, _Place | None], nesting: int) -> _Place | None:
        """What every place, or any, has inside; a place that says nothing does not count; None if none says a thing."""
        match place:
            case _Every(places):
                return _joined(_Every, (self._inner(part, own, known, nesting) for part in places))
            case _Any(places):
                return _joined(_Any, (self._inner(part, own, known, nesting) for part in places))
            case _:
                pass
        if place not in known:
            known[place] = None
            known[place] = self._inner_of(place, own, known, nesting)
        return known[place]

    def _inner_of(
        self, location: Location, own: _Inside, known: dict[Location, _Place | None], nesting: int
    ) -> _Place | None:
        found: list[_Place | None] = []
        for place, schema in chain(self.document, location) if nesting < _MAX_NESTING else ():
            found += own(place, schema)
            found += [self._inner(part, own, known, nesting + 1) for part in _parts(place, schema)]
        return _joined(_Every, found)

    def _names_at(
        self, place: _Place, value: tuple[JsonValue] | None, seen: set[_Place], nesting: int
    ) -> Iterator[str]:
        if place in seen or nesting > _MAX_NESTING:
            return
        seen.add(place)
        match place:
            case _Every(places):
                parts: Iterable[_Place] = places
            case _Any(places):
                # With a single branch there is nothing to choose.
                chosen = [part for part in places if len(places) > 1 and value and self.accepts(part, value[0])]
                parts = chosen or places
            case _:
                parts = []
                for location, schema in chain(self.document, place):
                    named = schema.get("properties")
                    yield from named if isinstance(named, dict) else ()
                    parts += _parts(location, schema)
        for part in parts:
            yield from self._names_at(part, value, seen, nesting + 1)


_Inside: TypeAlias = Callable[[Location, JsonObject], list[Location]]


def _parts(place: Location, schema: JsonObject) -> Iterator[_Place]:
    """What else holds where the schema does: each part of its `allOf`, and its alternatives, one list as one place."""
    for keyword, together in (("allOf", _Every), ("anyOf", _Any), ("oneOf", _Any)):
        branches = schema.get(keyword)
        if isinstance(branches, list) and branches:
            yield together(tuple((*place, keyword, index) for index in range(len(branches))))


def _joined(together: type[_Every] | type[_Any], places: Iterable[_Place | None]) -> _Place | None:
    found = tuple(dict.fromkeys(place for place in places if place is not None))
    return found[0] if len(found) == 1 else together(found) if found else None


def _own(schema: JsonObject) -> Admitted:
    """What the schema's own `type`, `enum` and `const` let through."""
    named = schema.get("type")
    admitted = _ANYTHING
    if isinstance(named, str | list):
        types = frozenset([named] if isinstance(named, str) else map(str, named))
        types |= {"integer"} if "number" in types else NO_TYPES
        admitted = Admitted(types=types, named=types)
    listed = schema.get("enum")
    if isinstance(listed, list):
        admitted = admitted.both(_listed(listed))
    if "const" in schema:
        admitted = admitted.both(_listed([schema["const"]]))
    return admitted


def _listed(values: list[JsonValue]) -> Admitted:
    return Admitted(values=tuple(values), named=frozenset(map(type_of, values)))


def is_same(one: JsonValue, other: JsonValue) -> bool:
    """Whether both are the same JSON value: 1 and 1.0 are, 1 and true are not; the order of members says nothing."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(is_same(value, other[name]) for name, value in one.items())
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(is_same, one, other))
    return isinstance(one, bool) == isinstance(other, bool) and one == other


ANYTHING = Expected.of({})
"""Where no schema says a thing."""
