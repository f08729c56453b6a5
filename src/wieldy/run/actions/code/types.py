"""JSON Schema as Python annotations: what a model that writes code reads of arguments and results.

Objects become `TypedDict` classes, choices `Literal`. Pure, and for reading only: what fits is decided by the schema.
A schema may come from anywhere, so whatever it is, the types are valid Python and not endless.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final, cast

from wieldy.core.json import JsonObject, JsonValue
from wieldy.run.actions.code.names import parameter_identifiers
from wieldy.run.guided.quoting import unbroken
from wieldy.schema.resolve import Location, alternatives, chain, conjunction, merged

_PLAIN: Final = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}
MOST_LEVELS: Final = 6
_TAKEN: Final = frozenset({"Any", "Literal", "TypedDict", "NotRequired", "Required", "None", "True", "False"})
_MOST_TYPES: Final = 300
_MOST_CHOICES: Final = 40
_MOST_REMARK: Final = 100
MOST_LITERAL: Final = 1000
"""Characters of choices that are written out."""


class TypeWriter:
    """Writes the annotations of several schemas and collects the classes that they need.

    Attributes:
        classes: The text of each class, by its name, in the order in which they were met.
    """

    def __init__(self) -> None:
        self.classes: dict[str, str] = {}

    def written(
        self,
        document: JsonObject,
        location: Location = (),
        *,
        name: str,
        levels: int = MOST_LEVELS,
        choices: int = MOST_LITERAL,
        has_remarks: bool = True,
    ) -> str:
        """The annotation for what the schema at the location accepts.

        Args:
            document: Holds the schema and what it refers to.
            location: Where it lies.
            name: For a class, where the schema has no title.
            levels: How deep types are written out; what lies deeper is `dict` or `Any`.
            choices: Characters of choices that are written out; longer ones are told by their type.
            has_remarks: Whether it is said what the fields are.
        """
        writing = _Writing(document, self.classes, choices=choices, has_remarks=has_remarks)
        return writing.annotation(location, name, levels)


class _Writing:
    """One document's types; a class within itself is named by its name."""

    def __init__(self, document: JsonObject, classes: dict[str, str], *, choices: int, has_remarks: bool) -> None:
        self._has_remarks = has_remarks
        self._choices = choices
        self._document = document
        self._classes = classes
        self._named: dict[Location, str] = {}
        self._left = _MOST_TYPES

    def annotation(self, location: Location, name: str, levels: int) -> str:
        self._left -= 1
        if levels <= 0 or self._left <= 0:
            return "Any"
        schema = merged(self._document, location)
        if "const" in schema:
            return self._literal([schema["const"]]) or self._typed(schema, location, name, levels)
        if isinstance(values := schema.get("enum"), list) and values:
            return self._literal(values) or self._typed(schema, location, name, levels)
        if branches := alternatives(self._document, location):
            return _union(self.annotation(branch, name, levels - 1) for branch in branches)
        return self._typed(schema, location, name, levels)

    def _literal(self, values: list[JsonValue]) -> str | None:
        shown = [repr(value) for value in values[:_MOST_CHOICES] if value is None or isinstance(value, str | int)]
        if len(shown) < min(len(values), _MOST_CHOICES):
            return None  # numbers with a fraction and containers are no literals
        more = " | Any" if len(values) > _MOST_CHOICES else ""
        text = ", ".join(shown)
        return f"Literal[{text}]{more}" if len(text) <= self._choices else None

    def _typed(self, schema: JsonObject, location: Location, name: str, levels: int) -> str:
        named = schema.get("type")
        if named is None and "properties" in schema:
            named = "object"
        kinds = cast("list[JsonValue]", named) if isinstance(named, list) else [named]
        return _union(self._one(str(kind), schema, location, name, levels) for kind in kinds)

    def _one(self, kind: str, schema: JsonObject, location: Location, name: str, levels: int) -> str:
        if kind == "array":
            return self._array(schema, location, name, levels)
        if kind == "object":
            return self._object(schema, location, name, levels)
        return _PLAIN.get(kind, "Any")

    def _array(self, schema: JsonObject, location: Location, name: str, levels: int) -> str:
        if not isinstance(schema.get("items"), dict):
            return "list"
        place = self._place_of("items", location)
        return f"list[{self.annotation((*place, 'items'), f'{name}Item', levels - 1)}]"

    def _object(self, schema: JsonObject, location: Location, name: str, levels: int) -> str:
        properties = schema.get("properties")
        if isinstance(properties, dict) and properties and levels > 1:
            return self._class(schema, properties, location, name, levels)
        if isinstance(schema.get("additionalProperties"), dict):
            place = self._place_of("additionalProperties", location)
            return f"dict[str, {self.annotation((*place, 'additionalProperties'), f'{name}Value', levels - 1)}]"
        return "dict"

    def _class(self, schema: JsonObject, properties: JsonObject, location: Location, name: str, levels: int) -> str:
        end = [place for place, _ in chain(self._document, location)][-1]
        if end in self._named:
            return self._named[end]
        title = schema.get("title")
        wanted = class_name(title if isinstance(title, str) else str(end[-1]) if len(end) > 1 else name, or_else=name)
        taken = {*self._classes, *self._named.values()}
        self._named[end] = chosen = _free(wanted, taken)
        fields = [
            self._field(key, part, (*self._place_of_property(key, location), "properties", key), chosen, levels)
            for key, part in properties.items()
        ]
        required = schema.get("required")
        text = _class_text(chosen, fields, set(map(str, required)) if isinstance(required, list) else set())
        same = next((other for other, known in self._classes.items() if known == _renamed(text, chosen, other)), None)
        if same is not None:
            self._named[end] = same
            return same
        self._classes[chosen] = text
        return chosen

    def _field(self, key: str, part: JsonValue, place: Location, owner: str, levels: int) -> tuple[str, str, str]:
        kind = self.annotation(place, owner + class_name(key, or_else="Field"), levels - 1)
        described = part.get("description") if isinstance(part, dict) else None
        return key, kind, remark(described) if isinstance(described, str) and self._has_remarks else ""

    def _place_of(self, keyword: str, location: Location) -> Location:
        return next((place for place, schema in conjunction(self._document, location) if keyword in schema), location)

    def _place_of_property(self, key: str, location: Location) -> Location:
        for place, schema in conjunction(self._document, location):
            properties = schema.get("properties")
            if isinstance(properties, dict) and key in properties:
                return place
        return location


def class_name(words: str, *, or_else: str) -> str:
    """Words as the name of a class."""
    parts = [part for part in re.split(r"[^A-Za-z0-9]+", words) if part]
    name = "".join(part[:1].upper() + part[1:] for part in parts)[:60]
    if not name or not name[:1].isalpha():
        return or_else
    return (
        f"{name}_"
        if name in {"Any", "Literal", "TypedDict", "NotRequired", "Required", "None", "True", "False"}
        else name
    )


def remark(text: str) -> str:
    """The beginning of a text on one line, fit to stand in a comment."""
    line = unbroken(text).strip()
    return line if len(line) <= _MOST_REMARK else f"{line[: _MOST_REMARK - 3]}..."


def _class_text(name: str, fields: list[tuple[str, str, str]], required: set[str]) -> str:
    known = [key for key, _, _ in fields]
    is_total = 2 * len(required & {*known}) >= len(known)
    total, mark = ("", "NotRequired") if is_total else (", total=False", "Required")
    fields = [(key, kind if (key in required) == is_total else f"{mark}[{kind}]", said) for key, kind, said in fields]
    identifiers = parameter_identifiers(key for key, _, _ in fields)
    if all(key == identifier for key, identifier in identifiers.items()):
        lines = [f"    {key}: {kind}{f'  # {said}' if said else ''}" for key, kind, said in fields]
        return "\n".join([f"class {name}(TypedDict{total}):", *lines])
    inside = ", ".join(f"{key!r}: {kind}" for key, kind, _ in fields)
    return f"{name} = TypedDict({name!r}, {{{inside}}}{total})"


def _renamed(text: str, old: str, new: str) -> str:
    return re.sub(rf"\b{re.escape(old)}\b", new, text)


def _free(wanted: str, taken: set[str]) -> str:
    name, number = wanted, 1
    while name in taken:
        number += 1
        name = f"{wanted}{number}"
    return name


def _union(kinds: Iterable[str]) -> str:
    found = list(dict.fromkeys(kinds))
    if "Any" in found:
        return "Any"
    return " | ".join(sorted(found, key=lambda kind: kind == "None"))
