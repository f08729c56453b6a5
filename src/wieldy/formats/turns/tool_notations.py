"""Schemas in notations that are not JSON Schema: Python types, TypeScript types, Gemma's declarations.

They say names, types, choices and descriptions; bounds and patterns have no words there. References are followed, and
below `MAX_NESTING` and beyond `MAX_PARTS` stands "anything", so that a schema which contains itself ends. Nothing is
validated, and no schema, however odd, raises.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from wieldy.core.json import JsonObject, JsonValue
from wieldy.schema.resolve import Location, alternatives, at, conjunction, merged

MAX_NESTING = 4
"""How deep a schema is followed."""

MAX_PARTS = 1000
"""How many parts of one tool's schema are followed: references make large trees of small documents."""

PYTHON = {
    "string": "str",
    "integer": "int",
    "number": "float",
    "boolean": "bool",
    "array": "list",
    "object": "dict",
    "null": "None",
}
"""The classes of Python."""

TYPING = {**PYTHON, "array": "List", "object": "Dict"}
"""The same in the spelling of the `typing` module, with what arrays hold."""

_TYPESCRIPT = {
    "string": "string",
    "integer": "number",
    "number": "number",
    "boolean": "boolean",
    "array": "any[]",
    "object": "object",
    "null": "null",
}


def json_text(value: object, *, indent: int | None = None) -> str:
    """JSON with a space after commas and colons, and no escapes beyond what JSON requires."""
    return json.dumps(value, ensure_ascii=False, indent=indent)


def words(value: JsonValue) -> str:
    """Text as it is, nothing as nothing, everything else as JSON."""
    return value if isinstance(value, str) else "" if value is None else json_text(value)


def properties(document: JsonObject, location: Location = ()) -> Iterator[tuple[str, Location, JsonObject]]:
    """Name, place and schema of each member of the object at the location; each name once."""
    seen: set[str] = set()
    for place, schema in conjunction(document, location):
        members = schema.get("properties")
        for name in members if isinstance(members, dict) else ():
            if name not in seen:
                seen.add(name)
                where = (*place, "properties", name)
                yield name, where, merged(document, where)


def required_names(schema: JsonObject) -> frozenset[str]:
    """The members that must be there."""
    required = schema.get("required")
    return frozenset(name for name in required if isinstance(name, str)) if isinstance(required, list) else frozenset()


class Parts:
    """Counts the parts of one schema that were followed."""

    def __init__(self) -> None:
        self._left = MAX_PARTS

    def may_follow(self, nesting: int) -> bool:
        """Whether one more part may be followed, so deep down; it then counts."""
        self._left -= 1
        return nesting <= MAX_NESTING and self._left >= 0


def _types(schema: JsonObject) -> list[str]:
    kinds = schema.get("type")
    return [kind for kind in (kinds if isinstance(kinds, list) else [kinds]) if isinstance(kind, str)]


def _item_place(document: JsonObject, location: Location) -> Location | None:
    """Where the items of the array at the location are described."""
    return next(
        ((*place, "items") for place, part in conjunction(document, location) if isinstance(part.get("items"), dict)),
        None,
    )


def python_type(
    document: JsonObject, location: Location, parts: Parts, *, nesting: int = 0, word: Mapping[str, str] = PYTHON
) -> str:
    """The type as an annotation."""
    if not parts.may_follow(nesting):
        return "Any"
    branches = alternatives(document, location)
    kinds = [python_type(document, branch, parts, nesting=nesting + 1, word=word) for branch in branches]
    schema = merged(document, location)
    kinds = kinds or [
        _python_word(document, location, parts, kind, nesting=nesting, word=word) for kind in _types(schema)
    ]
    kinds = list(dict.fromkeys(kinds)) or ["Any"]
    return kinds[0] if len(kinds) == 1 else f"Union[{', '.join(kinds)}]"


def _python_word(
    document: JsonObject, location: Location, parts: Parts, kind: str, *, nesting: int, word: Mapping[str, str]
) -> str:
    name = word.get(kind, "Any")
    if word is PYTHON:
        return name
    if kind == "object":
        return "Dict[str, Any]"
    if kind != "array":
        return name
    items = _item_place(document, location)
    return f"List[{python_type(document, items, parts, nesting=nesting + 1, word=word) if items else 'Any'}]"


def comment(text: str) -> str:
    """The lines as comments of TypeScript."""
    return "".join(f"// {line}\n" for line in text.splitlines())


def typescript_members(document: JsonObject, location: Location, parts: Parts, *, nesting: int = 0) -> str:
    """The members of an object in TypeScript, a line each, with their comments."""
    required = required_names(merged(document, location))
    lines: list[str] = []
    for name, place, schema in properties(document, location):
        key = name if name.isidentifier() else json_text(name)
        default = f" // default: {json_text(schema['default'])}" if "default" in schema else ""
        kind = _typescript(document, place, parts, nesting + 1)
        need = "" if name in required else "?"
        lines.append(f"{comment(words(schema.get('description')))}{key}{need}: {kind},{default}\n")
    return "".join(lines)


def _typescript(document: JsonObject, location: Location, parts: Parts, nesting: int) -> str:
    if not parts.may_follow(nesting) or isinstance(at(document, location), bool):
        return "any"
    branches = alternatives(document, location)
    schema = merged(document, location)
    choices = [schema["const"]] if "const" in schema else schema.get("enum")
    if branches:
        kinds = [_typescript(document, branch, parts, nesting + 1) for branch in branches]
    elif isinstance(choices, list) and choices:
        kinds = [json_text(choice) for choice in choices]
    else:
        kinds = [_typescript_word(document, location, parts, kind, nesting=nesting) for kind in _types(schema)]
    return " | ".join(dict.fromkeys(kinds)) or "any"


def _typescript_word(document: JsonObject, location: Location, parts: Parts, kind: str, *, nesting: int) -> str:
    if kind == "object":
        members = typescript_members(document, location, parts, nesting=nesting)
        return f"{{\n{members}}}" if members else "object"
    items = _item_place(document, location) if kind == "array" else None
    if items is None:
        return _TYPESCRIPT.get(kind, "any")
    item = _typescript(document, items, parts, nesting + 1)
    return f"({item})[]" if " | " in item else f"{item}[]"


@dataclass(frozen=True, slots=True, kw_only=True)
class GemmaNotation:
    """Writes one schema in the notation of Gemma; keywords that the notation lacks are left out."""

    document: JsonObject
    quote: str
    always_described: bool
    parts: Parts

    def parameters(self) -> str:
        """The tool's arguments."""
        return ",".join(self._shape((), {**merged(self.document, ()), "type": "object"}, 0))

    def _schema(self, location: Location, nesting: int, *, always_described: bool = False) -> str:
        if not self.parts.may_follow(nesting):
            return ""
        schema = merged(self.document, location)
        branches = alternatives(self.document, location)
        named = [place for place in branches if merged(self.document, place).get("type") != "null"]
        if len(named) == 1:
            location = named[0]
            schema = {**merged(self.document, location), **schema}
        fields: list[str] = []
        description = words(schema.get("description"))
        if description or always_described:
            fields.append(f"description:{self.value(description)}")
        if len(named) > 1:
            fields.append("anyOf:[" + ",".join(f"{{{self._schema(place, nesting + 1)}}}" for place in named) + "]")
        choices = [schema["const"]] if "const" in schema else schema.get("enum")
        if isinstance(choices, list):
            fields.append(f"enum:{self.value(choices)}")
        if len(named) < len(branches) or "null" in _types(schema) or schema.get("nullable") is True:
            fields.append("nullable:true")
        return ",".join(sorted([*fields, *self._shape(location, schema, nesting)]))

    def _shape(self, location: Location, schema: JsonObject, nesting: int) -> list[str]:
        """What the value is made of, and its type."""
        kinds: list[JsonValue] = [kind.upper() for kind in _types(schema) if kind != "null"]
        items = _item_place(self.document, location) if "ARRAY" in kinds else None
        fields = [f"items:{{{self._schema(items, nesting + 1)}}}"] if items else []
        if "OBJECT" in kinds:
            shown = sorted(
                f"{name}:{{{self._schema(place, nesting + 1, always_described=self.always_described)}}}"
                for name, place, _ in properties(self.document, location)
            )
            fields += [f"properties:{{{','.join(shown)}}}"] if shown else []
            required = schema.get("required")
            fields += [f"required:{self.value(required)}"] if isinstance(required, list) and required else []
        if kinds:
            fields.append(f"type:{self.value(kinds[0] if len(kinds) == 1 else kinds)}")
        return fields

    def value(self, value: JsonValue) -> str:
        """A JSON value in the notation of Gemma."""
        if isinstance(value, str):
            return f"{self.quote}{value}{self.quote}"
        if isinstance(value, list):
            return f"[{','.join(map(self.value, value))}]"
        if isinstance(value, dict):
            return "{" + ",".join(f"{self.value(key)}:{self.value(item)}" for key, item in sorted(value.items())) + "}"
        return json_text(value)
