"""An offering as an OpenAPI document: one operation for each tool, with the schemas that the tools have.

Law: a tool without references within its schema has just that schema in the document; references are only moved, to
where the schema stands. Pure. Deliberately not here: answering requests (`rest`).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from wieldy.schema.rewrite import rewritten

if TYPE_CHECKING:
    from wieldy.connect.serving.offering import About, Offered
    from wieldy.core.json import JsonObject, JsonValue

OUTPUT: Final = "_output"
"""What the name of an output schema ends in; a tool of such a name has its schemas under it and what follows."""

_ERROR: Final[JsonObject] = {
    "type": "object",
    "required": ["error"],
    "properties": {
        "error": {
            "type": "object",
            "required": ["kind", "message"],
            "properties": {"kind": {"type": "string"}, "message": {"type": "string"}},
        }
    },
}


def path_of(name: str) -> str:
    """Where the tool of that name is called."""
    return f"/tools/{quote(name, safe='')}"


def document_of(about: About, offered: Iterable[Offered], *, has_keys: bool) -> JsonObject:
    """The document.

    Args:
        about: The service.
        offered: Its tools.
        has_keys: Whether whoever calls needs a key.
    """
    paths: JsonObject = {}
    inputs: JsonObject = {}
    outputs: JsonObject = {}
    for each in offered:
        definition = each.tool.definition
        paths[path_of(definition.name)] = {"post": _operation(each)}
        inputs[definition.name] = _moved(definition.input_schema, f"#/components/schemas/{definition.name}")
        if definition.output_schema is not None:
            place = definition.name + OUTPUT
            outputs[place] = _moved(definition.output_schema, f"#/components/schemas/{place}")
    components: JsonObject = {"schemas": {**inputs, **outputs}}
    document: JsonObject = {
        "openapi": "3.1.0",
        "info": {
            "title": about.name,
            "version": about.version or "0",
            **({"description": about.instructions} if about.instructions else {}),
        },
        "servers": [{"url": "/"}],
        "paths": paths,
        "components": components,
    }
    if has_keys:
        components["securitySchemes"] = {"key": {"type": "http", "scheme": "bearer"}}
        document["security"] = [{"key": []}]
    return document


def _operation(offered: Offered) -> JsonObject:
    definition = offered.tool.definition
    takes: JsonObject = {"schema": {"$ref": f"#/components/schemas/{definition.name}"}}
    if definition.examples:
        takes["examples"] = {
            f"example {number}": {"value": example} for number, example in enumerate(definition.examples, 1)
        }
    operation: JsonObject = {"operationId": definition.name}
    if offered.title:
        operation["summary"] = offered.title
    operation["description"] = definition.prompt_description
    if definition.input_schema.get("properties") != {}:  # a tool without parameters is called without a body
        operation["requestBody"] = {"required": True, "content": {"application/json": takes}}
    gives: JsonObject = (
        {"text/plain": {"schema": {"type": "string"}}}
        if definition.output_schema is None
        else {"application/json": {"schema": {"$ref": f"#/components/schemas/{definition.name}{OUTPUT}"}}}
    )
    operation["responses"] = {
        "200": {"description": "What the tool returned.", "content": gives},
        "default": {"description": "Why it returned nothing.", "content": {"application/json": {"schema": _ERROR}}},
    }
    return operation


def _moved(schema: JsonObject, place: str) -> JsonObject:
    """The schema as it stands at this place of a larger document."""

    def move(part: JsonObject) -> JsonObject:
        reference: JsonValue = part.get("$ref")
        if not isinstance(reference, str) or not reference.startswith("#"):
            return part
        return {**part, "$ref": place + reference[1:]}

    return rewritten(schema, move)
