"""Tools and results in the words of the protocol.

Law: a schema is passed on as it is. Revisions with a handshake know only objects as structured results: what is none
is left out for them, and stands in the text. Pure. Deliberately not here: the SDK (`server`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from wieldy.connect.serving.blocks import part_block

if TYPE_CHECKING:
    from wieldy.connect.serving.offering import Offered
    from wieldy.core.calls import ToolResult
    from wieldy.core.json import JsonObject, JsonValue
    from wieldy.tools import Tool

_HINTS: Final = (
    ("readOnlyHint", "read_only"),
    ("destructiveHint", "destructive"),
    ("idempotentHint", "idempotent"),
    ("openWorldHint", "open_world"),
)
_DERIVED: Final[dict[str, dict[str, bool]]] = {
    "read": {"readOnlyHint": True},
    "idempotent": {"readOnlyHint": False, "idempotentHint": True},
    "keyed": {"readOnlyHint": False},
    "reconcile": {"readOnlyHint": False},
    "unsafe": {"readOnlyHint": False},
}


def tool_to_wire(offered: Offered, *, is_modern: bool) -> JsonObject:
    """The tool as `tools/list` has it.

    Args:
        offered: The tool.
        is_modern: Whether the client speaks a revision without a handshake.
    """
    definition = offered.tool.definition
    described: JsonObject = {"name": definition.name}
    if offered.title:
        described["title"] = offered.title
    if definition.prompt_description:
        described["description"] = definition.prompt_description
    described["inputSchema"] = definition.input_schema
    if _tells_output(offered.tool, is_modern=is_modern):
        described["outputSchema"] = definition.output_schema
    hints: JsonObject = {**annotations_of(offered.tool)}
    if hints:
        described["annotations"] = hints
    return described


def annotations_of(tool: Tool) -> dict[str, bool]:
    """The hints: as its author gives them, and where they say nothing, as the effect says that somebody declared."""
    said = {wire: value for wire, name in _HINTS if (value := getattr(tool.definition.annotations, name)) is not None}
    return (_DERIVED[tool.effect] if tool.effect_declared else {}) | said


def result_to_wire(result: ToolResult, tool: Tool | None, *, is_modern: bool) -> JsonObject:
    """The result as `tools/call` gives it.

    Args:
        result: Of the call.
        tool: That was called; None if there was none.
        is_modern: As above.
    """
    content: list[JsonValue] = [{"type": "text", "text": result.content}, *map(part_block, result.parts)]
    wire: JsonObject = {"content": content, "isError": result.is_error}
    data = result.structured_content
    promises = tool is not None and _tells_output(tool, is_modern=is_modern)
    if not result.is_error and (promises or isinstance(data, dict)):
        wire["structuredContent"] = data
    return wire


def _tells_output(tool: Tool, *, is_modern: bool) -> bool:
    schema = tool.definition.output_schema
    return schema is not None and (is_modern or schema.get("type") == "object")
