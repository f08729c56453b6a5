"""Repairs of values that can be read in only one way, driven by the schema; each is noted, none is silent.

Laws: a value that fits comes back equal (3.0 may come back as 3); what a note says was repaired fits the schema at its
place; no type appears that the schema does not name; where a string is allowed, text stays text.

What is repaired: text that spells a JSON number, boolean, null, object or array, where that fits and no string does; a
whole number spelled as a fraction (3.0) where only integers fit; null for an optional property that takes no null (it
is left out). What deliberately is not: numbers into text, words such as "yes" into booleans, a single value into an
array, the spelling of names and choices. Each of these has a second reading, and the model can be asked.
"""

from __future__ import annotations

import re
from typing import TypeAlias

from wieldy.core.json import JsonObject, JsonValue, canonical_json, parse_json
from wieldy.schema.compiled import CompiledSchema, PartsExhaustedError
from wieldy.schema.resolve import Location, accepted_types, alternatives, conjunction, type_of
from wieldy.schema.violations import Path, render_path
from wieldy.schema.wellformed import MAX_DEPTH, is_wellformed

_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
_WORDS: dict[str, JsonValue] = {"true": True, "True": True, "false": False, "False": False, "null": None, "None": None}
MAX_NOTES = 20
"""Repairs that are told one by one; of a long array with one mistake in each item, the rest is only counted."""
_EXACT = 2**53
"""Fractions are whole numbers for certain only below this."""
_Places: TypeAlias = "list[tuple[Location, JsonObject]]"
_MAX_NESTING = 2 * MAX_DEPTH + 12
"""An alternative at each level of the deepest value, and some more; alternatives may lead to themselves."""
_MAX_STEPS = 20_000
"""Subschemas looked at before repairing stops: alternatives within alternatives can multiply without end."""


def may_change(schema: CompiledSchema, value: JsonValue) -> bool:
    """Whether `coerce` has to be asked: of a value that fits, as most do, it changes nothing but fractions.

    Cost: a tenth of what asking costs.
    """
    return not schema.accepts(value) or _has_fraction(value)


def coerce(schema: CompiledSchema, value: JsonValue) -> tuple[JsonValue, tuple[str, ...]]:
    """The value with everything repaired that can be, and one note per repair; the value itself if there was none."""
    if not is_wellformed(value):
        return value, ()
    repair = _Repair(schema)
    try:
        repaired = repair.value((), value, ())
    except PartsExhaustedError:
        return value, ()
    if not repair.notes:
        return value, ()
    more = len(repair.notes) - MAX_NOTES
    return repaired, (*repair.notes[:MAX_NOTES], *([f"and {more} more of this kind"] if more > 0 else []))


class _Repair:
    """One walk through a value beside its schema; builds a new value and collects notes."""

    def __init__(self, schema: CompiledSchema) -> None:
        self.schema = schema
        self.document = schema.document
        self.notes: list[str] = []
        self.steps = 0
        self.nesting = 0

    def value(self, location: Location, value: JsonValue, path: Path) -> JsonValue:
        self.steps += 1
        if self.steps > _MAX_STEPS or self.nesting > _MAX_NESTING:
            return value
        self.nesting += 1
        repaired = self._value(location, value, path)
        self.nesting -= 1
        return repaired

    def _value(self, location: Location, value: JsonValue, path: Path) -> JsonValue:
        if isinstance(value, float):
            return self._fraction(location, value, path)
        if isinstance(value, str):
            return self._text(location, value, path)
        if isinstance(value, dict | list):
            return self._alternative(location, self._inside(location, value, path), path)
        return value

    def _fraction(self, location: Location, value: float, path: Path) -> JsonValue:
        if not value.is_integer() or "number" in accepted_types(self.document, location):
            return value
        if not self.schema.part_accepts(location, int(value)):
            return value
        self._note(path, f"{value} was written as {int(value)}")
        return int(value)

    def _text(self, location: Location, value: str, path: Path) -> JsonValue:
        types = accepted_types(self.document, location)
        if "string" in types:
            return value
        reading = _read(value, whole="number" not in types)
        # `_read` gives the text back where it spells nothing; no string fits here.
        if type_of(reading) not in types:
            return value
        mark = len(self.notes)
        self._note(path, f"the text {_shown(value)} was read as {_shown(reading)}")
        repaired = self.value(location, reading, path) if isinstance(reading, dict | list) else reading
        if self.schema.part_accepts(location, repaired):
            return repaired
        del self.notes[mark:]
        return value

    def _inside(self, location: Location, value: dict[str, JsonValue] | list[JsonValue], path: Path) -> JsonValue:
        places = conjunction(self.document, location)
        if isinstance(value, list):
            return [self._part(_item(places, index), item, (*path, index)) for index, item in enumerate(value)]
        kept: dict[str, JsonValue] = {}
        for name, item in value.items():
            schemas = _property(places, name)
            if item is None and self._is_absent(places, schemas, name):
                self._note((*path, name), "null was left out: it is optional and takes no null")
            else:
                kept[name] = self._part(schemas, item, (*path, name))
        return kept

    def _part(self, locations: list[Location], value: JsonValue, path: Path) -> JsonValue:
        repaired, mark = value, len(self.notes)
        for location in locations:
            repaired = self.value(location, repaired, path)
        # What one of several schemas made of it has to suit the others.
        if len(locations) > 1 and not all(self.schema.part_accepts(location, repaired) for location in locations):
            del self.notes[mark:]
            return value
        return repaired

    def _is_absent(self, places: _Places, schemas: list[Location], name: str) -> bool:
        required = any(name in names for _, schema in places if isinstance(names := schema.get("required"), list))
        return not required and any(not self.schema.part_accepts(schema, None) for schema in schemas)

    def _alternative(self, location: Location, value: JsonValue, path: Path) -> JsonValue:
        """The value as the one alternative has it that can be meant; unchanged where that is none or several."""
        branches = alternatives(self.document, location)
        if not branches:
            return value
        fitting = [branch for branch in branches if self.schema.part_accepts(branch, value)]
        outcomes: dict[str, tuple[JsonValue, list[str]]] = {}
        mark = len(self.notes)
        for branch in fitting or branches:
            repaired = self.value(branch, value, path)
            if self.schema.part_accepts(branch, repaired) and self.schema.part_accepts(location, repaired):
                outcomes[canonical_json(repaired)] = repaired, self.notes[mark:]
            del self.notes[mark:]
        if len(outcomes) != 1:
            return value
        repaired, notes = next(iter(outcomes.values()))
        self.notes += notes
        return repaired

    def _note(self, path: Path, text: str) -> None:
        self.notes.append(f"`{render_path(path)}`: {text}" if path else f"The whole: {text}")


def _has_fraction(value: JsonValue) -> bool:
    if isinstance(value, dict):
        return any(map(_has_fraction, value.values()))
    if isinstance(value, list):
        return any(map(_has_fraction, value))
    return isinstance(value, float)


def _property(places: _Places, name: str) -> list[Location]:
    """The subschemas that a property of this name must fit."""
    found: list[Location] = []
    for place, schema in places:
        own: list[Location] = []
        named, patterns = schema.get("properties"), schema.get("patternProperties")
        if isinstance(named, dict) and name in named:
            own.append((*place, "properties", name))
        if isinstance(patterns, dict):
            own += [(*place, "patternProperties", pattern) for pattern in patterns if _matches(pattern, name)]
        if not own and isinstance(schema.get("additionalProperties"), dict):
            own.append((*place, "additionalProperties"))
        found += own
    return found


def _item(places: _Places, index: int) -> list[Location]:
    """The subschemas that an item at this index must fit."""
    found: list[Location] = []
    for place, schema in places:
        first = schema.get("prefixItems")
        if isinstance(first, list) and index < len(first):
            found.append((*place, "prefixItems", index))
        elif "items" in schema:
            found.append((*place, "items"))
    return found


def _matches(pattern: str, name: str) -> bool:
    # Schemas use ECMAScript's expressions; one that Python cannot read matches nothing here, so nothing is repaired.
    try:
        return re.search(pattern, name) is not None
    except re.error:
        return False


def _read(text: str, *, whole: bool) -> JsonValue:
    """What the text spells as JSON (or as Python's True, False, None); the text itself where it spells nothing.

    `whole`: a number must be whole, and is returned as an integer.
    """
    stripped = text.strip()
    if stripped in _WORDS:
        return _WORDS[stripped]
    if not (stripped[:1] in {"{", "["} or _NUMBER.fullmatch(stripped)):
        return text
    try:
        value = parse_json(stripped)
    except (ValueError, RecursionError):
        return text
    if not is_wellformed(value):
        return text
    if isinstance(value, float) and whole:
        return int(value) if value.is_integer() and abs(value) < _EXACT else text
    return value


def _shown(value: JsonValue) -> str:
    text = canonical_json(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
