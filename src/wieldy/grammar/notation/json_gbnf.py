"""JSON that fits a schema, as GBNF rules.

llama.cpp has a converter of its own, but not every build of it lets one reach it, and one built with llguidance gives
no GBNF. So this converts what schemas of tools are made of; a keyword that it does not know widens what is accepted,
and never narrows it. Properties come in the order of the schema, then further ones where they are allowed.
"""

from __future__ import annotations

import json
from typing import cast

from wieldy.core.json import JsonObject, JsonValue, canonical_json
from wieldy.grammar.notation.gbnf_text import Lines, counts, quoted
from wieldy.schema.resolve import (
    ALL_TYPES,
    NO_TYPES,
    Location,
    accepted_types,
    alternatives,
    chain,
    conjunction,
    merged,
)

_SPACE = "json-space"
_SIMPLE = {
    "json-space": r'(" " | "\x0D"? "\x0A" [\x20\x09]*)?',
    "json-char": r'[^\x22\x5C\x00-\x1F] | "\x5C" (["\x5C/bfnrt] | "u" [0-9a-fA-F]{4})',
    "json-string": r'"\x22" json-char* "\x22"',
    "json-integer": '"-"? ("0" | [1-9] [0-9]*)',
    "json-number": r'json-integer ("." [0-9]+)? ([eE] [\x2D+]? [0-9]+)?',
    "json-boolean": '"true" | "false"',
    "json-null": '"null"',
    "json-member": 'json-string json-space ":" json-space json-value',
    "json-object": '"{" json-space (json-member (json-space "," json-space json-member)* json-space)? "}"',
    "json-array": '"[" json-space (json-value (json-space "," json-space json-value)* json-space)? "]"',
    "json-value": "json-object | json-array | json-string | json-number | json-boolean | json-null",
}
_UNBOUNDED = {"string": "json-string", "integer": "json-integer", "number": "json-number", "boolean": "json-boolean"}


class JsonRules:
    """The rules for JSON in one grammar, each written once."""

    def __init__(self, lines: Lines) -> None:
        self._lines = lines
        self._documents: dict[str, JsonObject] = {}
        self._known: dict[tuple[int, Location], str] = {}

    def rule(self, schema: JsonObject) -> str:
        """The name of the rule for the schema, which is written if it is new."""
        if not self._documents:
            for name, expression in _SIMPLE.items():
                self._lines.add(name, expression)
        return self._rule(self._documents.setdefault(canonical_json(schema), schema), ())

    def _rule(self, document: JsonObject, location: Location) -> str:
        places = list(chain(document, location))
        if not places:
            return "json-value"
        place = places[-1][0] if all(set(schema) <= {"$ref"} for _, schema in places[:-1]) else location
        key = (id(document), place)  # `_documents` keeps it alive
        if key not in self._known:
            self._known[key] = name = self._lines.fresh("json")
            self._lines.add(name, self._expression(document, place))
        return self._known[key]

    def _expression(self, document: JsonObject, location: Location) -> str:
        schema = merged(document, location)
        if "const" in schema:
            return self._constant(schema["const"])
        if isinstance(values := schema.get("enum"), list) and values:
            return " | ".join(map(self._constant, values))
        branches = alternatives(document, location)
        if branches and not schema.keys() & {"properties", "items", "prefixItems"}:
            return " | ".join(self._rule(document, branch) for branch in branches)
        types = accepted_types(document, location)
        types -= {"integer"} if "number" in types else NO_TYPES
        if types == ALL_TYPES - {"integer"} and not schema.keys() & {"properties", "items", "prefixItems"}:
            return "json-value"
        return " | ".join(self._of_type(kind, document, location, schema) for kind in sorted(types)) or "json-value"

    def _constant(self, value: JsonValue) -> str:
        match value:
            case dict():
                members = [f"{self._key(name)} {self._constant(part)}" for name, part in value.items()]
                return _enclosed("{", members, "}")
            case list():
                return _enclosed("[", [self._constant(part) for part in value], "]")
            case _:
                plain, escaped = json.dumps(value, ensure_ascii=False), json.dumps(value)
                return quoted(plain) if plain == escaped else f"({quoted(plain)} | {quoted(escaped)})"

    def _key(self, name: str) -> str:
        return f'{self._constant(name)} {_SPACE} ":" {_SPACE}'

    def _of_type(self, kind: str, document: JsonObject, location: Location, schema: JsonObject) -> str:
        match kind:
            case "object":
                return self._object(document, location, schema)
            case "array":
                return self._array(document, location, schema)
            case "string":
                return _string(schema)
            case _:
                return _UNBOUNDED.get(kind, f"json-{kind}")

    def _object(self, document: JsonObject, location: Location, schema: JsonObject) -> str:
        places = dict(conjunction(document, location))
        members: dict[str, str] = {}
        required: set[str] = set()
        for place, part in places.items():
            properties = part.get("properties")
            for name in properties if isinstance(properties, dict) else ():
                members.setdefault(name, f"{self._key(name)} {self._rule(document, (*place, 'properties', name))}")
            names = part.get("required")
            required |= {name for name in names if isinstance(name, str)} if isinstance(names, list) else set()
        for name in sorted(required - members.keys()):
            members[name] = f"{self._key(name)} json-value"
        return self._members(members, required, self._further(document, places, schema))

    def _further(self, document: JsonObject, places: dict[Location, JsonObject], schema: JsonObject) -> str | None:
        """The rule for a member that no property names; None where there is none."""
        if "patternProperties" in schema:
            return "json-member"
        for place, part in places.items():
            if part.get("additionalProperties") is False or part.get("unevaluatedProperties") is False:
                return None
            if isinstance(part.get("additionalProperties"), dict):
                value = self._rule(document, (*place, "additionalProperties"))
                return f'json-string {_SPACE} ":" {_SPACE} {value}'
        return "json-member"

    def _members(self, members: dict[str, str], required: set[str], further: str | None) -> str:
        """Rules from the last member to the first: what may follow once a member has been written, and before that."""
        comma = f'{_SPACE} "," {_SPACE}'
        more = '""' if further is None else f"({comma} {further})*"
        first = '""' if further is None else f"({further} {more})?"
        for name, member in reversed(members.items()):
            following, beginning = self._lines.fresh("json-more"), self._lines.fresh("json-first")
            is_optional = name not in required
            self._lines.add(following, f"{comma} {member} {more}" + (f" | {more}" if is_optional else ""))
            self._lines.add(beginning, f"{member} {more}" + (f" | {first}" if is_optional else ""))
            more, first = following, beginning
        return f'"{{" {_SPACE} {first} {_SPACE} "}}"'

    def _array(self, document: JsonObject, location: Location, schema: JsonObject) -> str:
        if isinstance(schema.get("prefixItems"), list) or not isinstance(schema.get("items", {}), dict):
            return "json-array"
        places = [place for place, part in conjunction(document, location) if "items" in part]
        item = self._rule(document, (*places[0], "items")) if places else "json-value"
        least, most = _count(schema, "minItems") or 0, _count(schema, "maxItems")
        if most == 0:
            return f'"[" {_SPACE} "]"'
        rest = (
            f'({_SPACE} "," {_SPACE} {item}){counts(max(least - 1, 0), None if most is None else max(most, least) - 1)}'
        )
        inside = f"({item} {rest} {_SPACE})" + ("" if least else "?")
        return f'"[" {_SPACE} {inside} "]"'


def _enclosed(opening: str, members: list[str], closing: str) -> str:
    comma = f' {_SPACE} "," {_SPACE} '
    return f'"{opening}" {_SPACE} {comma.join(members)} {_SPACE} "{closing}"'


def _string(schema: JsonObject) -> str:
    least, most = _count(schema, "minLength") or 0, _count(schema, "maxLength")
    if not least and most is None:
        return "json-string"
    return f'"\\x22" json-char{counts(least, None if most is None else max(most, least))} "\\x22"'


def _count(schema: JsonObject, keyword: str) -> int | None:
    value = cast("object", schema.get(keyword))
    return int(value) if isinstance(value, int | float) and value >= 0 else None
