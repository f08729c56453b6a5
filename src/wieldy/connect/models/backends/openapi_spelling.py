"""A written schema in the spelling of OpenAPI 3.0, as Gemini's `Schema` has it. Pure.

Types are in capitals, null is a flag (`nullable`), and instead of a reference stands what it leads to. A list of
alternatives stands alone, so what is said of all of them is said of each. Deliberately not here: which keywords are
written at all (`strict_writer`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from wieldy.connect.models.backends.parts import Refusal
from wieldy.core.json import JsonObject, JsonValue

MOST_PARTS: Final = 10_000
"""Schemas within one, when all references are unfolded."""
_NULL: Final = "null"


def spelled(schema: JsonObject) -> JsonObject:
    """The schema, which `strict_writer` wrote and which does not contain itself.

    Raises:
        Refusal: It is too large without references.
    """
    return _Speller(schema.get("$defs")).written({name: part for name, part in schema.items() if name != "$defs"})


class _Speller:
    def __init__(self, definitions: JsonValue) -> None:
        self._definitions = definitions if isinstance(definitions, dict) else {}
        self._parts = 0

    def written(self, schema: JsonObject) -> JsonObject:
        self._parts += 1
        if self._parts > MOST_PARTS:
            raise Refusal((), "$ref", f"without references it has more than {MOST_PARTS:,} parts")
        schema = self._unfolded(schema)
        if "anyOf" in schema:
            return self._alternatives(schema)
        written: JsonObject = {}
        for keyword, value in schema.items():
            match keyword, value:
                case "type", str():
                    written[keyword] = value.upper()
                case "properties", dict():
                    written[keyword] = {name: self.written(part) for name, part in _schemas(value)}
                case "items", dict():
                    written[keyword] = self.written(value)
                case "required", []:
                    pass
                case "enum", list():
                    written |= {"format": "enum", keyword: value}
                case _:
                    written[keyword] = value
        return written

    def _alternatives(self, schema: JsonObject) -> JsonObject:
        options = list(self._flat(schema, ""))
        values = [self.written(option) for option in options if option.get("type") != _NULL]
        if not values:
            return self.written(options[0])
        if len(values) < len(options):
            values[0] |= {"nullable": True}
        return values[0] if len(values) == 1 else {"anyOf": list[JsonValue](values)}

    def _flat(self, schema: JsonObject, said: str) -> Iterator[JsonObject]:
        """The alternatives that hold no further ones, each with what is said of it and of those around it."""
        schema = self._unfolded(schema)
        words = " ".join(filter(None, [said, str(schema.get("description", ""))]))
        options = schema.get("anyOf")
        if isinstance(options, list):
            for option in options:
                if isinstance(option, dict):
                    yield from self._flat(option, words)
        else:
            yield schema | ({"description": words} if words else {})

    def _unfolded(self, schema: JsonObject) -> JsonObject:
        """The schema that a reference stands for."""
        while isinstance(reference := schema.get("$ref"), str):
            found = self._definitions[reference.rpartition("/")[2]]
            schema = found if isinstance(found, dict) else {}
        return schema


def _schemas(properties: JsonObject) -> Iterator[tuple[str, JsonObject]]:
    return ((name, part) for name, part in properties.items() if isinstance(part, dict))
