"""Tools as Python stubs: the shape in which a model that was trained on code reads them best, and the shortest.

Pure. The stub is for reading; what a call may contain is decided by the schema's grammar.
"""

from __future__ import annotations

import json
from typing import Final, cast

from wieldy.core.calls import ToolDefinition
from wieldy.core.json import JsonObject, JsonValue
from wieldy.schema.resolve import at, target

_TYPES: Final = {
    "string": "str",
    "integer": "int",
    "number": "float",
    "boolean": "bool",
    "null": "None",
    "array": "list",
    "object": "dict",
}
_MOST_LEVELS: Final = 4


def stub(definition: ToolDefinition) -> str:
    """The tool as a function without a body: signature, description, parameters, when to use it, examples."""
    schema = definition.input_schema
    properties = _object(schema.get("properties"))
    required = schema.get("required") or ()
    names = cast("list[str]", required) if isinstance(required, list) else []
    parameters = ", ".join(
        _parameter(name, _object(part), schema, is_required=name in names) for name, part in properties.items()
    )
    return f'def {definition.name}({parameters}):\n    """{_indented(_documentation(definition, properties))}\n    """'


def _documentation(definition: ToolDefinition, properties: JsonObject) -> str:
    described = [
        f"{name}: {part['description']}"
        for name, part in properties.items()
        if isinstance(part, dict) and part.get("description")
    ]
    blocks = [
        definition.description,
        "\n".join(described),
        f"Use when {definition.use_when}" if definition.use_when else "",
        f"Avoid when {definition.avoid_when}" if definition.avoid_when else "",
        "\n".join(f">>> {definition.name}({json.dumps(one, ensure_ascii=False)})" for one in definition.examples),
    ]
    return "\n".join(block for block in blocks if block)


def _parameter(name: str, part: JsonObject, root: JsonObject, *, is_required: bool) -> str:
    annotated = f"{name}: {_type(part, root, _MOST_LEVELS)}"
    if is_required:
        return annotated
    return f"{annotated} = {part['default']!r}" if "default" in part else f"{annotated} = ..."


def _type(part: JsonObject, root: JsonObject, levels: int) -> str:
    part = _resolved(part, root)
    if "const" in part:
        return repr(part["const"])
    if isinstance(values := part.get("enum"), list):
        return " | ".join(map(repr, values))
    for keyword in ("anyOf", "oneOf"):
        if isinstance(options := part.get(keyword), list):
            return " | ".join(dict.fromkeys(_type(_object(option), root, levels - 1) for option in options))
    kind = part.get("type")
    if isinstance(kind, list):
        return " | ".join(_TYPES.get(str(one), "Any") for one in kind)
    if levels <= 0:
        return _TYPES.get(str(kind), "Any")
    if kind == "array" and isinstance(items := part.get("items"), dict):
        return f"list[{_type(items, root, levels - 1)}]"
    if kind == "object" and (properties := _object(part.get("properties"))):
        fields = (f"{name!r}: {_type(_object(one), root, levels - 1)}" for name, one in properties.items())
        return "{" + ", ".join(fields) + "}"
    return _TYPES.get(str(kind), "Any")


def _resolved(part: JsonObject, root: JsonObject) -> JsonObject:
    location = target(part.get("$ref"), root)
    return part if location is None else _object(at(root, location))


def _object(value: JsonValue) -> JsonObject:
    return value if isinstance(value, dict) else {}


def _indented(text: str) -> str:
    return text.replace("\n", "\n    ")
