"""How large a schema is, in what providers count."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from wieldy.connect.models.backends.dialects import SchemaDialect
from wieldy.core.json import JsonObject, JsonValue
from wieldy.schema.resolve import Location, chain
from wieldy.schema.rewrite import subschemas

_MANY: Final = 250
"""An `enum` with more values may be only so long."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """What a schema holds in all, its definitions included.

    Attributes:
        levels: How deep objects lie in one another.
        characters: Of the names of properties and definitions and the texts in `enum`.
        largest_enum: Characters of the longest `enum` with many values.
        optional: Properties that may be left out.
        unions: Parts that are one of several schemas.
    """

    properties: int
    levels: int
    enum_values: int
    characters: int
    largest_enum: int
    optional: int
    unions: int

    def beyond(self, dialect: SchemaDialect) -> str:
        """Which limit of the dialect the schema goes beyond; empty if none."""
        limits = (
            (self.properties, dialect.most_properties, "properties"),
            (self.levels, dialect.most_levels, "levels of objects"),
            (self.enum_values, dialect.most_enum_values, "values of enums"),
            (self.characters, dialect.most_characters, "characters of names and enums"),
            (self.largest_enum, dialect.most_characters_of_enum, f"characters in an enum of more than {_MANY} values"),
        )
        return "; ".join(
            f"it has {size} {what}, and {dialect.name} takes at most {most}"
            for size, most, what in limits
            if most is not None and size > most
        )


def measured(schema: JsonObject) -> Sizes:
    """The sizes of a schema that `strict_writer` wrote."""
    parts = [part for _, part in subschemas(schema)]
    names = [list(_names(part.get("properties"))) for part in parts]
    enums = [_items(part.get("enum")) for part in parts]
    values = [value for enum in enums for value in enum]
    texts = [*_names(schema.get("$defs")), *(name for inner in names for name in inner)]
    return Sizes(
        properties=sum(map(len, names)),
        levels=_levels(schema, (), {}),
        enum_values=len(values),
        characters=sum(map(len, texts)) + _characters(values),
        largest_enum=max((_characters(enum) for enum in enums if len(enum) > _MANY), default=0),
        optional=sum(
            len(set(inner) - set(_items(part.get("required")))) for inner, part in zip(names, parts, strict=True)
        ),
        unions=sum("anyOf" in part for part in parts),
    )


def _levels(document: JsonObject, location: Location, known: dict[Location, int]) -> int:
    """How many objects lie in one another from here; within a schema that contains itself, once around."""
    if location not in known:
        known[location] = 0
        below: list[Location] = []
        is_object = False
        for place, schema in chain(document, location):
            is_object = is_object or "properties" in schema
            below += [(*place, "properties", name) for name in _names(schema.get("properties"))]
            below += [(*place, "anyOf", index) for index in range(len(_items(schema.get("anyOf"))))]
            below += [(*place, "items")] if "items" in schema else []
        known[location] = is_object + max((_levels(document, part, known) for part in below), default=0)
    return known[location]


def _characters(values: list[JsonValue]) -> int:
    return sum(len(value) for value in values if isinstance(value, str))


def _names(value: JsonValue) -> list[str]:
    return list(value) if isinstance(value, dict) else []


def _items(value: JsonValue) -> list[JsonValue]:
    return value if isinstance(value, list) else []
