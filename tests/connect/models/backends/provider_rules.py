"""The rules by which providers refuse schemas, written from their documentation alone: no code of ours is used.

Sources: OpenAI's guide "Structured Outputs" and Microsoft's to the same on Azure (supported schemas); Anthropic's guide
"Structured outputs" (JSON Schema limitations); Gemini's API reference (`responseJsonSchema`, `Schema`) and guide
"Structured outputs"; llama.cpp's `grammars/README.md` (what its converter takes, and that patterns are anchored).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

Schema = dict[str, Any]
WORDS = {"title", "description"}
FORMATS = {"date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"}
TYPES = {"string", "number", "integer", "boolean", "object", "array", "null"}


def broken(schema: Schema, dialect: str) -> list[str]:
    """What the provider would say of the schema; nothing if it takes it."""
    return list(RULES[dialect](schema))


def parts(schema: Any) -> Iterator[Schema]:
    """The schema and all within it."""
    if not isinstance(schema, dict):
        return
    yield schema
    for keyword in ("properties", "$defs"):
        for part in schema.get(keyword, {}).values():
            yield from parts(part)
    for keyword in ("anyOf", "allOf", "prefixItems"):
        for part in schema.get(keyword, []):
            yield from parts(part)
    for keyword in ("items", "additionalProperties"):
        yield from parts(schema.get(keyword))


def types_of(part: Schema) -> list[str]:
    named = part.get("type", [])
    return [named] if isinstance(named, str) else named


def unknown(part: Schema, known: set[str]) -> Iterator[str]:
    yield from (f"{keyword} is not permitted" for keyword in part.keys() - known)


def references(part: Schema, root: Schema) -> Iterator[str]:
    reference = part.get("$ref")
    if reference is None:
        return
    if part.keys() != {"$ref"}:
        yield "$ref with other keywords"
    if not reference.startswith("#/$defs/") or reference.removeprefix("#/$defs/") not in root.get("$defs", {}):
        yield f"{reference} leads nowhere"


def depth(part: Any, root: Schema, seen: frozenset[str] = frozenset()) -> int:
    """Objects in one another; a definition is entered once."""
    if not isinstance(part, dict):
        return 0
    if "$ref" in part:
        name = part["$ref"].removeprefix("#/$defs/")
        return 0 if name in seen else depth(root["$defs"][name], root, seen | {name})
    inner = [*part.get("properties", {}).values(), *part.get("anyOf", []), part.get("items")]
    return ("properties" in part) + max((depth(each, root, seen) for each in inner), default=0)


@dataclass(frozen=True)
class OpenAi:
    keywords: set[str] = field(
        default_factory=lambda: (
            {"pattern", "format", "multipleOf", "maximum", "exclusiveMaximum", "minimum"}
            | {"exclusiveMinimum", "minItems", "maxItems"}
        )
    )
    levels: int = 10
    properties: int = 5000
    values: int = 1000
    characters: int = 120_000
    characters_of_enum: int = 15_000

    def __call__(self, schema: Schema) -> Iterator[str]:
        if schema.get("type") != "object" or "anyOf" in schema:
            yield "the root must be an object and not use anyOf"
        for part in parts(schema):
            yield from self.of_part(part)
            yield from references(part, schema)
        yield from self.of_all(schema)

    def of_part(self, part: Schema) -> Iterator[str]:
        own = {"type", "properties", "required", "additionalProperties", "items", "enum", "const", "anyOf", "$ref"}
        yield from unknown(part, own | WORDS | {"$defs"} | self.keywords)
        if "object" in types_of(part):
            if part.get("additionalProperties") is not False:
                yield "additionalProperties must be false"
            if set(part.get("required", [])) != part.get("properties", {}).keys():
                yield "every property must be required"
        if "format" in part and part["format"] not in FORMATS:
            yield f"format {part['format']} is not supported"
        if len(part.get("enum", [])) > 250 and characters(part["enum"]) > self.characters_of_enum:
            yield "an enum of more than 250 values is too long"

    def of_all(self, schema: Schema) -> Iterator[str]:
        properties = [name for part in parts(schema) for name in part.get("properties", {})]
        values = [value for part in parts(schema) for value in part.get("enum", [])]
        if depth(schema, schema) > self.levels:
            yield "too many levels"
        if len(properties) > self.properties or len(values) > self.values:
            yield "too many properties or values"
        if characters([*properties, *schema.get("$defs", {}), *values]) > self.characters:
            yield "names and values are too long"


def characters(values: list[Any]) -> int:
    return sum(len(value) for value in values if isinstance(value, str))


def anthropic(schema: Schema) -> Iterator[str]:
    own = {"type", "properties", "required", "additionalProperties", "items", "enum", "const", "anyOf", "allOf", "$ref"}
    yield from unavoidable_cycles(schema.get("$defs", {}), even_optional=True)
    for part in parts(schema):
        yield from unknown(part, own | WORDS | {"$defs", "default", "format", "minItems"})
        yield from references(part, schema)
        if "object" in types_of(part) and part.get("additionalProperties") is not False:
            yield "additionalProperties must be false"
        if part.get("minItems", 0) not in (0, 1):
            yield "minItems must be 0 or 1"
        if "format" in part and part["format"] not in FORMATS | {"uri"}:
            yield f"format {part['format']} is not supported"
        if any(isinstance(value, dict | list) for value in part.get("enum", [])):
            yield "an enum has values that are not simple"


def used(part: Any, *, even_optional: bool) -> Iterator[str]:
    """The definitions that a value of this schema holds something of."""
    if not isinstance(part, dict):
        return
    if "$ref" in part:
        yield part["$ref"].removeprefix("#/$defs/")
    members = part.get("properties", {})
    inner = [members[name] for name in members if even_optional or name in part.get("required", [])]
    inner += [*part.get("anyOf", []), *part.get("prefixItems", []), part.get("items"), part.get("additionalProperties")]
    for each in inner:
        yield from used(each, even_optional=even_optional)


def unavoidable_cycles(definitions: Schema, *, even_optional: bool = False) -> Iterator[str]:
    """Definitions that contain themselves other than within a property that may be left out."""
    for name in definitions:
        reached: set[str] = set()
        waiting = [*used(definitions[name], even_optional=even_optional)]
        while waiting:
            following = waiting.pop()
            if following not in reached and following in definitions:
                reached.add(following)
                waiting += used(definitions[following], even_optional=even_optional)
        if name in reached:
            yield f"{name} contains itself"


def gemini(schema: Schema) -> Iterator[str]:
    own = {"$id", "$defs", "$ref", "$anchor", "type", "format", "title", "description", "enum", "items", "prefixItems"}
    own |= {"minItems", "maxItems", "minimum", "maximum", "anyOf", "oneOf", "properties", "additionalProperties"}
    yield from unavoidable_cycles(schema.get("$defs", {}))
    if schema.get("type") != "object":
        yield "parameters must describe an object"
    for part in parts(schema):
        yield from unknown(part, own | {"required", "propertyOrdering"})
        yield from references(part, schema)
        yield from (f"{name} is no type" for name in set(types_of(part)) - TYPES)
        if any(isinstance(value, bool) or not isinstance(value, str | int | float) for value in part.get("enum", [])):
            yield "enum is for strings and numbers"
        if "format" in part and part["format"] not in {"date-time", "date", "time"}:
            yield f"format {part['format']} is not named"


FIELDS_OF = {
    "STRING": {"format", "enum", "minLength", "maxLength", "pattern"},
    "NUMBER": {"format", "minimum", "maximum"},
    "INTEGER": {"format", "minimum", "maximum"},
    "BOOLEAN": set[str](),
    "NULL": set[str](),
    "ARRAY": {"items", "minItems", "maxItems"},
    "OBJECT": {"properties", "required", "propertyOrdering", "minProperties", "maxProperties"},
}


def gemini_openapi(schema: Schema) -> Iterator[str]:
    if schema.get("type") != "OBJECT":
        yield "parameters must be of type OBJECT"
    for part in parts(schema):
        if "anyOf" in part:
            yield from (f"{keyword} beside anyOf" for keyword in part.keys() - {"anyOf"})
            continue
        kind = part.get("type")
        if kind not in FIELDS_OF:
            yield f"{kind} is no Type"
            continue
        yield from unknown(part, {"type", "nullable", "default", "example"} | WORDS | FIELDS_OF[kind])
        if any(not isinstance(value, str) for value in part.get("enum", [])):
            yield "enum is a list of strings"
        if ("enum" in part) != (part.get("format") == "enum"):
            yield "the format of an enum is enum"
        if part.get("format", "enum") not in {"enum", "date-time"}:
            yield f"format {part['format']} is not supported"
        if kind == "ARRAY" and "items" not in part:
            yield "items: missing field"
        strangers = set(part.get("required", [])) - part.get("properties", {}).keys()
        yield from (f"{name} is not defined" for name in strangers)


def llama_cpp(schema: Schema) -> Iterator[str]:
    own = {"type", "properties", "required", "additionalProperties", "items", "prefixItems", "enum", "anyOf", "allOf"}
    own |= {"$ref", "$defs", "minItems", "maxItems", "minLength", "maxLength", "minimum", "maximum", "pattern"}
    passed_over = {"exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minProperties", "maxProperties"}
    for part in parts(schema):
        yield from unknown(part, own | passed_over)
        yield from references(part, schema)
        yield from (f"{name} is no type" for name in set(types_of(part)) - TYPES)
        pattern = part.get("pattern")
        if pattern is not None and not (pattern.startswith("^") and pattern.endswith("$")):
            yield "Pattern must start with '^' and end with '$'"
        if pattern is not None and re.search(r"\(\?[^:]|\\[bBA-Z]", pattern):
            yield f"the pattern {pattern} has what the converter does not know"


RULES: dict[str, Callable[[Schema], Iterator[str]]] = {
    "openai-strict": OpenAi(),
    "azure-strict": OpenAi(
        keywords=set(), levels=5, properties=100, values=500, characters=15_000, characters_of_enum=7_500
    ),
    "anthropic": anthropic,
    "gemini": gemini,
    "gemini-openapi": gemini_openapi,
    "llama.cpp": llama_cpp,
}


def as_json_schema(part: Schema) -> Schema:
    """A `Schema` of Gemini's, as JSON Schema says the same."""
    if "anyOf" in part:
        return {"anyOf": [as_json_schema(option) for option in part["anyOf"]]}
    said: Schema = {name: value for name, value in part.items() if name not in {"nullable", "type"}}
    if said.get("format") == "enum":
        del said["format"]
    said["type"] = part["type"].lower()
    if "properties" in part:
        said["properties"] = {name: as_json_schema(inner) for name, inner in part["properties"].items()}
    if "items" in part:
        said["items"] = as_json_schema(part["items"])
    return {"anyOf": [said, {"type": "null"}]} if part.get("nullable") else said
