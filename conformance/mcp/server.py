"""Tools of Wieldy as the official MCP conformance suite wants to find them, served over HTTP; writes the URL.

    python conformance/mcp/server.py

What the suite asks for beside tools (resources, prompts, completion, logging, sampling, roots) a server of Wieldy does
not have. `run_server.py` runs the suite against it.
"""

from __future__ import annotations

import base64
import sys
from typing import Any

from wieldy import Context, FilePart, ImagePart, ToolError, tool
from wieldy.connect import mcp_server
from wieldy.connect.serving.listening import listening
from wieldy.core.calls import ToolDefinition
from wieldy.tools.from_schema import tool_from_schema

PICTURE = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
SOUND = b"RIFF\x24\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00@\x1f\x00\x00\x80>\x00\x00\x02\x00\x10\x00data"
SCHEMA: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}


@tool(effect="read")
def test_simple_text() -> str:
    """Return a text."""
    return "This is a simple text response for testing."


@tool(effect="read")
def test_image_content() -> ImagePart:
    """Return an image."""
    return ImagePart.from_bytes(PICTURE)


@tool(effect="read")
def test_audio_content() -> FilePart:
    """Return a sound."""
    return FilePart.from_bytes(SOUND, name="sound.wav")


@tool(effect="read")
def test_embedded_resource() -> FilePart:
    """Return a file."""
    return FilePart.from_bytes(b"This is an embedded resource content.", name="note.txt")


@tool(effect="read")
def test_multiple_content_types() -> list[str | ImagePart | FilePart]:
    """Return a text, an image and a file."""
    return [
        "Multiple content types test:",
        ImagePart.from_bytes(PICTURE),
        FilePart.from_bytes(b'{"test":"data","value":123}', name="data.json"),
    ]


@tool(effect="read")
def test_error_handling() -> str:
    """Fail."""
    raise ToolError("This tool intentionally returns an error for testing")


@tool(effect="read")
def test_tool_with_progress(ctx: Context) -> str:
    """Say how far it is."""
    for fraction in (0.0, 0.5, 1.0):
        ctx.progress(f"{fraction:.0%}", fraction=fraction)
    return "done"


def described(name: str, schema: dict[str, Any]) -> Any:
    """A tool with this schema that repeats its arguments."""

    async def repeat(arguments: Any, context: object) -> Any:
        del context
        return arguments

    definition = ToolDefinition(name=name, description="Say it again.", input_schema=schema)
    return tool_from_schema(definition, repeat, origin=name, effect="read")


TOOLS = [
    test_simple_text,
    test_image_content,
    test_audio_content,
    test_embedded_resource,
    test_multiple_content_types,
    test_error_handling,
    test_tool_with_progress,
    described("json_schema_2020_12_tool", SCHEMA),
    described(
        "test_x_mcp_header",
        {
            "type": "object",
            "properties": {
                "region": {"type": "string", "x-mcp-header": "Region"},
                "priority": {"type": "integer", "x-mcp-header": "Priority"},
                "verbose": {"type": "boolean", "x-mcp-header": "Verbose"},
                "query": {"type": "string"},
            },
        },
    ),
]


def main() -> None:
    """Serve until asked to end."""
    import uvicorn

    with listening() as place:
        print(f"http://127.0.0.1:{place.getsockname()[1]}/mcp", flush=True)
        app = mcp_server(TOOLS, name="conformance", version="1").asgi()
        uvicorn.Server(uvicorn.Config(app, log_level="error", access_log=False)).run(sockets=[place])


if __name__ == "__main__":
    sys.exit(main())
