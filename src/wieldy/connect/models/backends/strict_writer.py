"""Writes one schema in a strict dialect, keyword by keyword, and reports what becomes of each.

Schemas that hold at once are written as one (`parts`). What a `$ref` alone stands for becomes a definition, so that a
schema may contain itself.
"""

from __future__ import annotations

from typing import Final

from wieldy.connect.models.backends.definitions import Definitions
from wieldy.connect.models.backends.dialects import SchemaDialect
from wieldy.connect.models.backends.parts import (
    ARRAY_ASSERTIONS,
    ASSERTIONS,
    COUNTS_OF_PROPERTIES,
    KEYWORDS_OF,
    NEVER_TAKEN,
    NUMBER_ASSERTIONS,
    STRING_ASSERTIONS,
    Part,
    Refusal,
    part_at,
)
from wieldy.core.errors import GrammarError
from wieldy.core.json import JsonObject, JsonValue
from wieldy.grammar.enforcement import By, Enforcement
from wieldy.grammar.reading.regex import searched
from wieldy.schema import CompiledSchema
from wieldy.schema.resolve import ANNOTATIONS, Location, accepted_types, at, pointer, target, type_of

MEMBER: Final = "answer"
"""The property in which a schema lies whose root is no object."""


class StrictWriter:
    """One translation; `report`, `is_wrapped` and `adds_nulls` tell of it when `document` has been called."""

    def __init__(self, source: CompiledSchema, dialect: SchemaDialect) -> None:
        self.report: list[Enforcement] = []
        self.is_wrapped = False
        self.adds_nulls = False
        self._source, self._dialect = source, dialect
        self._document = source.document
        self._definitions = Definitions()
        self._open: set[Location] = set()

    def document(self) -> JsonObject:
        """The whole translation.

        Raises:
            Refusal: There is none.
        """
        root = self._schema(())
        definitions: JsonObject = {}
        while (missing := self._definitions.missing(definitions)) is not None:
            place, name = missing
            with self._definitions.within(name):
                definitions[name] = self._schema(place)
        self._definitions.refuse_recursion(self._dialect)
        if root.keys() == {"$ref"}:
            root = self._unfolded(root, definitions)
        if root.get("type") != "object":
            self.is_wrapped = True
            root = self._closed({MEMBER: root}, [MEMBER])
        return {**root, "$defs": definitions} if definitions else root

    def _unfolded(self, root: JsonObject, definitions: JsonObject) -> JsonObject:
        """The definition that the root stands for; kept as a definition only where others refer to it, too."""
        name = str(root["$ref"]).rpartition("/")[2]
        is_used = self._definitions.is_used_by_others(name)
        definition = definitions[name] if is_used else definitions.pop(name)
        return definition if isinstance(definition, dict) else root

    def _schema(self, location: Location) -> JsonObject:
        schema = at(self._document, location)
        if not isinstance(schema, dict):
            raise Refusal(location, "", "it allows any value, or none, and a strict schema names what it allows")
        if schema.keys() - ANNOTATIONS == {"$ref"}:
            return self._reference(location, schema["$ref"])
        if location in self._open:
            raise Refusal(location, "$ref", "it contains itself beside other keywords")
        self._open.add(location)
        part = part_at(self._document, location)
        written = self._written(part)
        self._open.remove(location)
        return written | part.words()

    def _reference(self, location: Location, reference: JsonValue) -> JsonObject:
        place = target(reference, self._document)
        if place is None:
            raise Refusal(location, "$ref", f"{reference!r} leads out of the schema")
        return self._definitions.reference(place)

    def _written(self, part: Part) -> JsonObject:
        for keyword in part.having(NEVER_TAKEN):
            if part.values[keyword] is not False or not keyword.startswith("unevaluated"):
                self._leave(part, keyword)
        if part.having(("enum", "const")):
            return self._constants(part)
        branches = part.having(("anyOf", "oneOf"))
        if branches and not part.having(ASSERTIONS):
            for keyword in branches[1:]:
                self._leave(part, keyword)
            return self._branches(part, branches[0])
        for keyword in branches:
            self._leave(part, keyword)
        return _any_of([self._of_type(name, part) for name in self._types(part)])

    def _constants(self, part: Part) -> JsonObject:
        listed = part.values.get("enum")
        values = listed if isinstance(listed, list) else [part.values["const"]]
        fitting = [value for value in values if self._source.part_accepts(part.location, value)]
        if not fitting:
            raise Refusal(part.location, "enum", "no value fits it")
        if any(isinstance(value, dict | list) for value in fitting):
            raise Refusal(part.location, "enum", "values that are objects or arrays have no strict form")
        if any(type_of(value) not in self._dialect.constants for value in fitting):
            return self._constants_by_type(part, fitting)
        if not self._dialect.types_constants:
            return {"enum": fitting}
        types: list[JsonValue] = list(dict.fromkeys(map(type_of, fitting)))
        return {"type": types[0] if len(types) == 1 else types, "enum": fitting}

    def _constants_by_type(self, part: Part, values: list[JsonValue]) -> JsonObject:
        """The values of each type apart; those that cannot be listed as the type, with all else that holds there."""
        by_type: dict[str, list[JsonValue]] = {}
        for value in values:
            by_type.setdefault(type_of(value), []).append(value)
        options: list[JsonObject] = []
        is_left = False
        for name, listed in by_type.items():
            is_listed = name in self._dialect.constants
            options.append({"type": name, "enum": listed} if is_listed else self._of_type(name, part))
            is_left = is_left or not (is_listed or name == "null" or set(map(str, listed)) == {"False", "True"})
        for keyword in part.having(("enum", "const", "anyOf", "oneOf")) if is_left else ():
            self._leave(part, keyword)
        return _any_of(options)

    def _branches(self, part: Part, keyword: str) -> JsonObject:
        branches = part.values[keyword]
        if not isinstance(branches, list) or not branches:
            raise Refusal(part.location, keyword, "it lists no schemas")
        places = [(*part.places[keyword], keyword, index) for index in range(len(branches))]
        if keyword == "oneOf" and len(places) > 1:
            self._note(part, keyword, "validator", "that no second one of them fits is not enforced")
        if "type" in part.values:
            allowed = {*self._types(part), *(("integer",) if "number" in self._types(part) else ())}
            if any(accepted_types(self._document, place) - allowed for place in places):
                self._leave(part, "type")
        return _any_of([self._schema(place) for place in places])

    def _types(self, part: Part) -> tuple[str, ...]:
        named = part.values.get("type")
        if isinstance(named, str):
            return (named,)
        if isinstance(named, list) and named:
            return tuple(dict.fromkeys(map(str, named)))
        meant = tuple(name for name, keywords in KEYWORDS_OF.items() if part.having(keywords))
        if len(meant) != 1:
            raise Refusal(part.location, "type", "it names no type, and a strict schema has to")
        self._note(part, "type", "mask", f"it names no type; only a value of the type {meant[0]} is written")
        return meant

    def _of_type(self, name: str, part: Part) -> JsonObject:
        match name:
            case "object":
                return self._object(part)
            case "array":
                return self._array(part)
            case "string":
                return {"type": name} | self._taken(part, STRING_ASSERTIONS)
            case "number" | "integer":
                return {"type": name} | self._taken(part, NUMBER_ASSERTIONS)
            case _:
                return {"type": name}

    def _object(self, part: Part) -> JsonObject:
        others = self._others(part)
        for name in sorted(part.required - part.properties.keys()):
            raise Refusal(part.location, "required", f"it demands {name!r}, of which nothing is said")
        properties: JsonObject = {name: self._property(part, name) for name in part.properties}
        required = [name for name in properties if self._dialect.is_all_required or name in part.required]
        return self._closed(properties, required) | self._taken(part, COUNTS_OF_PROPERTIES) | others

    def _closed(self, properties: JsonObject, required: list[str]) -> JsonObject:
        closing: JsonObject = {} if self._dialect.is_openapi else {"additionalProperties": False}
        return {"type": "object", "properties": properties, "required": list[JsonValue](required), **closing}

    def _others(self, part: Part) -> JsonObject:
        """What is said of further properties, where it is more than that there are none."""
        for keyword in part.having(("patternProperties", "additionalProperties", "unevaluatedProperties")):
            if not isinstance(part.values[keyword], dict) or not part.values[keyword]:
                continue
            place = part.places[keyword]
            if not (self._dialect.has_maps and keyword == "additionalProperties"):
                raise Refusal(place, keyword, "a map with free keys has no strict form")
            return {keyword: self._schema((*place, keyword))}
        closing = [name for name in ("additionalProperties", "unevaluatedProperties") if part.values.get(name) is False]
        if "properties" not in part.values and not closing:
            raise Refusal(part.location, "type", "an object of which no property is named has no strict form")
        for keyword in closing if self._dialect.is_openapi else ():
            self._note(part, keyword, "validator", f"{self._dialect.name} closes no object")
        if not closing and not self._dialect.is_openapi:
            self._note(part, "additionalProperties", "mask", "further properties are not written")
        return {}

    def _property(self, part: Part, name: str) -> JsonObject:
        location = part.properties[name]
        with self._definitions.within_property(is_optional=name not in part.required):
            schema = self._schema(location)
        if name in part.required or not self._dialect.is_all_required:
            return schema
        if "null" in accepted_types(self._document, location):
            return schema
        self.adds_nulls = True
        words: JsonObject = {"description": schema.pop("description")} if "description" in schema else {}
        return _any_of([schema, {"type": "null"}]) | words

    def _array(self, part: Part) -> JsonObject:
        if "prefixItems" in part.values:
            return self._tuple(part)
        if "items" not in part.values:
            raise Refusal(part.location, "items", "an array of which the items are not described has no strict form")
        items: JsonObject = {"type": "array", "items": self._schema((*part.places["items"], "items"))}
        return items | self._taken(part, ARRAY_ASSERTIONS)

    def _tuple(self, part: Part) -> JsonObject:
        place, first = part.places["prefixItems"], part.values["prefixItems"]
        if not self._dialect.has_tuples or not isinstance(first, list):
            raise Refusal(place, "prefixItems", "items by their places have no strict form")
        if part.places.get("items", place) != place:
            raise Refusal(place, "prefixItems", "items are described by their places, and all of them elsewhere")
        items: list[JsonValue] = [self._schema((*place, "prefixItems", index)) for index in range(len(first))]
        written: JsonObject = {"type": "array", "prefixItems": items, **self._taken(part, ARRAY_ASSERTIONS)}
        if isinstance(part.values.get("items"), dict) and part.values["items"]:
            written["items"] = self._schema((*place, "items"))
            return written
        least = part.values.get("minItems", 0)
        if isinstance(least, int) and least > len(items):
            raise Refusal(place, "minItems", f"it demands {least} items and describes {len(items)}")
        if part.values.get("items") is not False:
            self._note(part, "prefixItems", "mask", "further items are not written")
        most = written.get("maxItems")
        written["maxItems"] = min(len(items), most) if isinstance(most, int) else len(items)
        return written

    def _taken(self, part: Part, keywords: tuple[str, ...]) -> JsonObject:
        """Those of the keywords that the dialect has; the others are left to the validator."""
        taken: JsonObject = {}
        for keyword in part.having(keywords):
            if self._takes(keyword, part.values[keyword]):
                taken[keyword] = part.values[keyword]
            else:
                self._leave(part, keyword)
        return taken

    def _takes(self, keyword: str, value: JsonValue) -> bool:
        if keyword not in self._dialect.keywords:
            return False
        match keyword, value:
            case "format", str():
                return value in self._dialect.formats
            case "minItems", int() if self._dialect.most_min_items is not None:
                return value <= self._dialect.most_min_items
            case "pattern", str():
                return _is_plain(value)
            case _:
                return True

    def _leave(self, part: Part, keyword: str) -> None:
        part.left.append(keyword)
        self._note(part, keyword, "validator", f"{self._dialect.name} does not take it here")

    def _note(self, part: Part, keyword: str, by: By, reason: str) -> None:
        for place in (part.places.get(keyword, part.location), *part.repeated.get(keyword, ())):
            self.report.append(Enforcement(pointer=pointer(place), keyword=keyword, by=by, reason=reason))


def _any_of(options: list[JsonObject]) -> JsonObject:
    return options[0] if len(options) == 1 else {"anyOf": list[JsonValue](options)}


def _is_plain(pattern: str) -> bool:
    """Whether the expression has no look-around, back references and the like, which no provider takes."""
    try:
        searched(pattern)
    except GrammarError:
        return False
    return True
