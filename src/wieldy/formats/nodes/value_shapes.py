"""What a grammar allows for values that a schema describes, in a notation that is no JSON.

For JSON itself the engines know schemas; for Python's literals and a family's own notation this makes shapes of what
tools' schemas are made of. A keyword that it does not know widens what is allowed and never narrows it: `pattern`,
`not` and conditions are left to the validator. Members come in the notation's order, those that may be missing left
out at will.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from wieldy.core.json import JsonObject, JsonValue
from wieldy.grammar.shape import Characters, Exact, InOrder, Json, Named, OneOf, Repeated, Shape, in_order, maybe
from wieldy.schema.resolve import (
    ALL_TYPES,
    ANNOTATIONS,
    NO_TYPES,
    Location,
    accepted_types,
    alternatives,
    chain,
    conjunction,
    merged,
)

_BOUNDS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")
_MAX_DIGITS = 100
"""A number of more digits, or with an exponent of three, may be too large for any reader of JSON."""
_DIGITS = Characters("0-9", at_most=20)
_MORE_DIGITS = Characters("0-9", at_least=0, at_most=_MAX_DIGITS)
_INTEGER = InOrder((maybe(Exact("-")), OneOf((Exact("0"), InOrder((Characters("1-9", at_most=1), _MORE_DIGITS))))))
_EXPONENT = Characters("0-9", at_most=2)
_NUMBER = InOrder(
    (
        _INTEGER,
        maybe(InOrder((Exact("."), _DIGITS))),
        maybe(InOrder((Characters("eE", at_most=1), maybe(Characters("+\\-", at_most=1)), _EXPONENT))),
    )
)
_INSIDE = frozenset({"properties", "items", "prefixItems"})


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueNotation:
    """How values are written.

    Attributes:
        name: Tells this notation's named shapes from those of others.
        constant: A value as it is written.
        string: Any string of at least and at most so many characters.
        key: The name of a member, with what stands between it and the value.
        any_key: The same for a name that no schema knows.
        comma: What stands between two values.
        order: The order of members.
    """

    name: str
    constant: Callable[[JsonValue], str]
    string: Callable[[int, int | None], Shape]
    key: Callable[[str], str]
    any_key: Shape
    comma: str
    order: Callable[[Sequence[str]], Sequence[str]] = tuple

    def exact(self, value: JsonValue) -> Shape:
        """Exactly this value."""
        return Exact(self.constant(value), token=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """A member of an object: its value's shape, and whether it must be there."""

    name: str
    value: Shape
    is_required: bool


class ValueShapes:
    """The shapes of the values in one schema; those that have names are added to `rules`."""

    def __init__(self, notation: ValueNotation, document: JsonObject, rules: dict[str, Shape]) -> None:
        self._notation, self._document, self._rules = notation, document, rules
        self._known: dict[Location, str] = {}

    def members(self, location: Location = ()) -> list[Member]:
        """The declared members of the object there, in the notation's order."""
        found: dict[str, Location] = {}
        required: set[str] = set()
        for place, part in self._parts(location):
            properties, names = part.get("properties"), part.get("required")
            for name in properties if isinstance(properties, dict) else ():
                found.setdefault(name, (*place, "properties", name))
            required |= {name for name in names if isinstance(name, str)} if isinstance(names, list) else set()
        return [
            Member(name=name, value=self.at(found[name]), is_required=name in required)
            for name in self._notation.order(list(found))
        ]

    def at(self, location: Location) -> Shape:
        """What may stand at this place of the schema."""
        places = list(chain(self._document, location))
        if not places:
            return self.anything()
        if len(places) == 1:
            return self._shape(location)
        refers_only = all(set(schema) <= {"$ref", "$defs"} | ANNOTATIONS for _, schema in places[:-1])
        place = places[-1][0] if refers_only else location
        if place not in self._known:
            self._known[place] = name = f"{self._notation.name}_{len(self._rules)}"
            self._rules[name] = InOrder(())
            self._rules[name] = self._shape(place)
        return Named(self._known[place])

    def anything(self) -> Shape:
        """Any value."""
        name = f"{self._notation.name}_any"
        if name not in self._rules:
            self._rules[name] = InOrder(())
            kinds = sorted(ALL_TYPES - {"integer"})
            self._rules[name] = OneOf(tuple(self._of_type(kind, (), {}) for kind in kinds))
        return Named(name)

    def _parts(self, location: Location) -> list[tuple[Location, JsonObject]]:
        first, *rest = conjunction(self._document, location) or [(location, {})]
        return [first, *reversed(rest)]

    def _shape(self, location: Location) -> Shape:
        schema = merged(self._document, location)
        if "const" in schema:
            return self._notation.exact(schema["const"])
        listed = schema.get("enum")
        if isinstance(listed, list) and listed:
            return _one_of([self._notation.exact(value) for value in listed])
        branches = alternatives(self._document, location)
        if branches and not schema.keys() & _INSIDE:
            return _one_of([self.at(branch) for branch in branches])
        types = accepted_types(self._document, location)
        if types == ALL_TYPES and not schema.keys() & _INSIDE:
            return self.anything()
        types -= {"integer"} if "number" in types else NO_TYPES
        return _one_of([self._of_type(kind, location, schema) for kind in sorted(types)]) if types else self.anything()

    def _of_type(self, kind: str, location: Location, schema: JsonObject) -> Shape:
        exact = self._notation.exact
        match kind:
            case "object":
                return self._object(location, schema) if schema else self._free_object(self.anything())
            case "array":
                return self._array(location, schema)
            case "string":
                return self._notation.string(_count(schema, "minLength") or 0, _count(schema, "maxLength"))
            case "boolean":
                return OneOf((exact(True), exact(False)))
            case "null":
                return exact(None)
            case _:
                bounds = {bound: schema[bound] for bound in _BOUNDS if bound in schema}
                return Json({"type": kind, **bounds}) if bounds else _INTEGER if kind == "integer" else _NUMBER

    def _object(self, location: Location, schema: JsonObject) -> Shape:
        members = self.members(location)
        if not members:
            return self._free_object(self._further(location))
        key = self._notation.key
        parts = [
            (InOrder((Exact(key(member.name), token=True), member.value)), member.is_required) for member in members
        ]
        return InOrder((Exact("{"), in_order(parts, Exact(self._notation.comma)), Exact("}")))

    def _further(self, location: Location) -> Shape | None:
        """What a member that is not declared may be; None where there must be none."""
        for place, part in self._parts(location):
            further = part.get("additionalProperties")
            if further is False:
                return None
            if isinstance(further, dict):
                return self.at((*place, "additionalProperties"))
        return self.anything()

    def _free_object(self, value: Shape | None) -> Shape:
        if value is None:
            return Exact("{}")
        member = InOrder((self._notation.any_key, value))
        return InOrder((Exact("{"), Repeated(member, between=Exact(self._notation.comma)), Exact("}")))

    def _array(self, location: Location, schema: JsonObject) -> Shape:
        places = [place for place, part in self._parts(location) if isinstance(part.get("items"), dict)]
        plain = places and schema and "prefixItems" not in schema
        item = self.at((*places[0], "items")) if plain else self.anything()
        least, most = _count(schema, "minItems") or 0, _count(schema, "maxItems")
        most = None if most is None else max(most, least)
        if most == 0:
            return Exact("[]")
        items = Repeated(item, at_least=least, at_most=most, between=Exact(self._notation.comma))
        return InOrder((Exact("["), items, Exact("]")))


def _one_of(options: list[Shape]) -> Shape:
    distinct = [option for index, option in enumerate(options) if option not in options[:index]]
    return distinct[0] if len(distinct) == 1 else OneOf(tuple(distinct))


def _count(schema: JsonObject, keyword: str) -> int | None:
    value: JsonValue = schema.get(keyword)
    return int(value) if isinstance(value, int | float) and value >= 0 else None
