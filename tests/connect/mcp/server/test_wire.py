"""What tools and results look like in the words of the protocol."""

from __future__ import annotations

import base64
from typing import Any

import mcp_types as types
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp_types.methods import serialize_server_result

from wieldy.connect.mcp.server.wire import result_to_wire, tool_to_wire
from wieldy.connect.serving.offering import Offered
from wieldy.core.calls import ToolAnnotations, ToolDefinition, ToolResult
from wieldy.core.media import FilePart, ImagePart
from wieldy.tools import Tool
from wieldy.tools.from_schema import tool_from_schema

json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=("Cs",))),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("abc", max_size=3), inner, max_size=3),
    max_leaves=8,
)


def a_tool(output_schema: Any = None, annotations: ToolAnnotations | None = None, **more: Any) -> Tool:
    async def code(arguments: object, context: object) -> object:
        del arguments, context

    definition = ToolDefinition(
        name="t",
        description="T.",
        input_schema={"type": "object"},
        output_schema=output_schema,
        annotations=annotations or ToolAnnotations(),
    )
    return tool_from_schema(definition, code, origin="test", **more)


@given(data=json_values, is_modern=st.booleans(), is_object=st.booleans())
def test_every_result_is_one_that_the_protocol_has(data: Any, is_modern: bool, is_object: bool) -> None:
    tool = a_tool({"type": "object"} if is_object else {})
    result = ToolResult(tool_call_id="c", content="text", structured_content=data)
    wire = result_to_wire(result, tool, is_modern=is_modern)
    if is_modern:
        assert wire["structuredContent"] == data
    else:
        assert not is_object or wire["structuredContent"] == data
        assert is_object or isinstance(data, dict) or "structuredContent" not in wire
    if is_modern or not is_object or isinstance(data, dict):
        version = "2026-07-28" if is_modern else "2025-11-25"
        serialize_server_result("tools/call", version, {"resultType": "complete", **wire})


@pytest.mark.parametrize("effect", ["read", "idempotent", "keyed", "unsafe"])
@given(said=st.builds(ToolAnnotations, read_only=st.none() | st.booleans(), destructive=st.none() | st.booleans()))
def test_what_the_author_says_stands_above_what_the_effect_says(effect: Any, said: ToolAnnotations) -> None:
    tool = a_tool(annotations=said, effect=effect, effect_declared=True)
    wire = tool_to_wire(Offered(tool=tool), is_modern=True)
    hints = types.ToolAnnotations.model_validate(wire["annotations"])
    assert hints.read_only_hint == (effect == "read" if said.read_only is None else said.read_only)
    assert hints.destructive_hint == said.destructive


def test_an_effect_that_nobody_has_declared_is_no_hint() -> None:
    assert "annotations" not in tool_to_wire(Offered(tool=a_tool(effect_declared=False)), is_modern=True)


def test_parts_keep_their_bytes_and_kinds() -> None:
    parts = (
        ImagePart.from_bytes(b"\x89PNG\r\n\x1a\nrest"),
        FilePart.from_bytes(b"RIFFsound", name="a b.wav"),
        FilePart.from_bytes(b"%PDF-1", name="a b.pdf"),
        FilePart(name="far", media_type="text/csv", url="https://example.org/far.csv"),
    )
    wire = result_to_wire(ToolResult(tool_call_id="c", content="t", parts=parts), None, is_modern=True)
    text, image, audio, file, link = types.CallToolResult.model_validate(wire).content
    assert isinstance(text, types.TextContent)
    assert isinstance(image, types.ImageContent)
    assert isinstance(audio, types.AudioContent)
    assert isinstance(file, types.EmbeddedResource)
    assert isinstance(file.resource, types.BlobResourceContents)
    assert isinstance(link, types.ResourceLink)
    assert base64.b64decode(image.data) == b"\x89PNG\r\n\x1a\nrest"
    assert (base64.b64decode(audio.data), audio.mime_type) == (b"RIFFsound", "audio/wav")
    assert (str(file.resource.uri), base64.b64decode(file.resource.blob)) == ("attachment:///a%20b.pdf", b"%PDF-1")
    assert str(link.uri) == "https://example.org/far.csv"


def test_a_failure_carries_no_data() -> None:
    result = ToolResult(tool_call_id="c", content="no", is_error=True, structured_content={"a": 1})
    assert result_to_wire(result, a_tool({}), is_modern=True) == {
        "content": [{"type": "text", "text": "no"}],
        "isError": True,
    }
