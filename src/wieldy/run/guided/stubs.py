"""Tools as Python stubs: the shape in which a model that was trained on code reads them best, and the shortest.

Pure. The stub is for reading; what a call may contain is decided by the schema's grammar. A schema and its texts may
come from anywhere, so whatever they are, a stub is made, it is not endless, and its only lines that look like calls are
the tool's own examples.
"""

from __future__ import annotations

import json
from typing import Final, cast

from wieldy.core.calls import ToolDefinition
from wieldy.core.json import JsonObject, JsonValue
from wieldy.run.guided.quoting import quoted, unbroken
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
_MOST_TYPES: Final = 200
"""Parts of one parameter's type that are written out: nobody reads more, and types within themselves grow fast."""


def stub(definition: ToolDefinition) -> str:
    """The tool as a function without a body: signature, description, parameters, when to use it, examples."""
    schema = definition.input_schema
    properties = _object(schema.get("properties"))
    required = schema.get("required") or ()
    names = cast("list[str]", required) if isinstance(required, list) else []
    parameters = ", ".join(
        _parameter(unbroken(name), _object(part), schema, is_required=name in names)
        for name, part in properties.items()
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
    ]
    examples = [f">>> {definition.name}({unbroken(_json(one))})" for one in definition.examples]
    return "\n".join([*(_text(block) for block in blocks if block), *examples])


def _text(block: str) -> str:
    return quoted(block.replace('"""', "'''"))


def _parameter(name: str, part: JsonObject, root: JsonObject, *, is_required: bool) -> str:
    annotated = f"{name}: {_Types(root).written(part)}"
    if is_required:
        return annotated
    return f"{annotated} = {part['default']!r}" if "default" in part else annotated


class _Types:
    """The type of one parameter, written out as far as is worth reading."""

    def __init__(self, root: JsonObject) -> None:
        self._root = root
        self._left = _MOST_TYPES

    def written(self, part: JsonObject, levels: int = _MOST_LEVELS) -> str:
        part = _resolved(part, self._root)
        self._left -= 1
        if "const" in part:
            return repr(part["const"])
        if isinstance(values := part.get("enum"), list) and values:
            more = ["..."] if len(values) > _MOST_TYPES else []
            return " | ".join([*map(repr, values[:_MOST_TYPES]), *more])
        kind = part.get("type")
        kinds = cast("list[JsonValue]", kind) if isinstance(kind, list) else [kind]
        plain = " | ".join(dict.fromkeys(_TYPES.get(str(one), "Any") for one in kinds)) or "Any"
        if levels <= 0 or self._left <= 0:
            return plain
        return self._union(part, levels) or self._container(part, kind, levels) or plain

    def _union(self, part: JsonObject, levels: int) -> str:
        options = part.get("anyOf") or part.get("oneOf")
        if not isinstance(options, list):
            return ""
        return " | ".join(dict.fromkeys(self.written(_object(option), levels - 1) for option in options))

    def _container(self, part: JsonObject, kind: JsonValue, levels: int) -> str:
        if kind == "array" and isinstance(items := part.get("items"), dict):
            return f"list[{self.written(items, levels - 1)}]"
        if kind == "object" and (properties := _object(part.get("properties"))):
            fields = (f"{name!r}: {self.written(_object(one), levels - 1)}" for name, one in properties.items())
            return "{" + ", ".join(fields) + "}"
        return ""


def _resolved(part: JsonObject, root: JsonObject) -> JsonObject:
    location = target(part.get("$ref"), root)
    return part if location is None else _object(at(root, location))


def _object(value: JsonValue) -> JsonObject:
    return value if isinstance(value, dict) else {}


def _json(value: JsonObject) -> str:
    return json.dumps(value, ensure_ascii=False)


def _indented(text: str) -> str:
    return text.replace("\n", "\n    ")
