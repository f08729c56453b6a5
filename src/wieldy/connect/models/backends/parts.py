"""What a JSON Schema says of one place, gathered from everywhere it says it: beside a `$ref`, and within `allOf`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from wieldy.core.json import JsonObject, JsonValue
from wieldy.grammar.enforcement import Enforcement
from wieldy.schema.resolve import ANNOTATIONS, Location, at, conjunction, pointer

ARRAY_ASSERTIONS: Final = ("minItems", "maxItems", "uniqueItems", "contains")
STRING_ASSERTIONS: Final = ("pattern", "format", "minLength", "maxLength")
NUMBER_ASSERTIONS: Final = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")
COUNTS_OF_PROPERTIES: Final = ("minProperties", "maxProperties")
KEYWORDS_OF: Final = {
    "object": ("properties", "required", "additionalProperties", "patternProperties", *COUNTS_OF_PROPERTIES),
    "array": ("items", "prefixItems", *ARRAY_ASSERTIONS),
    "string": STRING_ASSERTIONS,
    "number": NUMBER_ASSERTIONS,
}
"""The keywords that speak of values of one type."""
NEVER_TAKEN: Final = (
    *("not", "if", "then", "else", "propertyNames", "dependentRequired", "dependentSchemas", "dependencies"),
    *("unevaluatedProperties", "unevaluatedItems", "minContains", "maxContains"),
)
ASSERTIONS: Final = frozenset({*NEVER_TAKEN, *(keyword for keywords in KEYWORDS_OF.values() for keyword in keywords)})

_HINT_CHARACTERS: Final = 100


class Refusal(Exception):  # noqa: N818  it never leaves this package: it ends one translation
    """The schema has no counterpart in the dialect."""

    def __init__(self, location: Location, keyword: str, reason: str) -> None:
        super().__init__(reason)
        self.entry = Enforcement(pointer=pointer(location), keyword=keyword, by="refused", reason=reason)


@dataclass(slots=True)
class Part:
    """The keywords that hold at one place.

    Attributes:
        values: The keywords, annotations among them.
        places: Where each assertion stands.
        repeated: Where else it stands, in the same words.
        properties: Where each property is described.
        required: The properties that must be there.
        left: The keywords that are left to the validator.
    """

    location: Location
    values: JsonObject = field(default_factory=dict[str, JsonValue])
    places: dict[str, Location] = field(default_factory=dict[str, Location])
    repeated: dict[str, list[Location]] = field(default_factory=dict[str, list[Location]])
    properties: dict[str, Location] = field(default_factory=dict[str, Location])
    required: set[str] = field(default_factory=set[str])
    left: list[str] = field(default_factory=list[str])

    def having(self, keywords: Iterable[str]) -> list[str]:
        """Those of the keywords that are said here."""
        wanted = set(keywords)
        return [keyword for keyword in self.values if keyword in wanted]

    def words(self) -> JsonObject:
        """Title and description, with what is not enforced in words: the model may keep to it all the same."""
        words: JsonObject = {name: self.values[name] for name in ("title", "description") if name in self.values}
        hints = ", ".join(self._hints())
        if hints:
            words["description"] = f"{words.get('description', '')} ({hints})".lstrip()
        return words

    def _hints(self) -> Iterator[str]:
        for keyword in self.left:
            text = json.dumps(self.values[keyword], ensure_ascii=False)
            if len(text) <= _HINT_CHARACTERS:
                yield f"{keyword}: {text}"


def part_at(document: JsonObject, location: Location) -> Part:
    """What the document says of this place.

    Raises:
        Refusal: It says two different things in one keyword.
    """
    part = Part(location)
    together = conjunction(document, location)
    for place, schema in together:
        for keyword, value in schema.items():
            match keyword, value:
                case "properties", dict():
                    _add_properties(part, document, (*place, keyword), value)
                case "required", list():
                    part.required |= {str(name) for name in value}
                case (("$ref" | "allOf"), _):
                    continue
                case _ if keyword in ANNOTATIONS:
                    part.values.setdefault(keyword, value)
                    continue
                case _ if keyword in part.values and part.values[keyword] != value:
                    raise Refusal(place, keyword, "it is said twice, and differently, of one value")
                case _:
                    pass
            part.values[keyword] = value
            if part.places.setdefault(keyword, place) != place:
                part.repeated.setdefault(keyword, []).append(place)
    for place, schema in together:
        _refuse_strangers(part, place, schema)
    return part


def _refuse_strangers(part: Part, place: Location, schema: JsonObject) -> None:
    """What a schema says of further properties is of all but its own, so also of those that are described elsewhere."""
    own = schema.get("properties")
    strangers = part.properties.keys() - (own.keys() if isinstance(own, dict) else set())
    if schema.get("additionalProperties") not in (None, True, {}) and strangers:
        names = ", ".join(sorted(strangers))
        raise Refusal(place, "additionalProperties", f"it speaks of {names} as well, described elsewhere")


def _add_properties(part: Part, document: JsonObject, place: Location, properties: JsonObject) -> None:
    for name, schema in properties.items():
        known = part.properties.setdefault(name, (*place, name))
        if at(document, known) != schema:
            raise Refusal(place, "properties", f"the property {name!r} is described twice, and differently")
