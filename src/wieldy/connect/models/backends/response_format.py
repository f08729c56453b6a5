"""The `response_format` of chat-completions servers."""

from __future__ import annotations

from wieldy.core.json import JsonObject
from wieldy.core.outputs import JsonOutput, Output


def json_schema_format(output: Output, schema: JsonObject, *, strict: bool) -> JsonObject:
    """The field for an answer that is JSON under the schema."""
    named: JsonObject = {"name": output.name if isinstance(output, JsonOutput) else "answer"}
    if isinstance(output, JsonOutput) and output.description:
        named["description"] = output.description
    return {"response_format": {"type": "json_schema", "json_schema": {**named, "schema": schema, "strict": strict}}}
