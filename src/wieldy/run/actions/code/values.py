"""A recorded result as the value that code gets for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wieldy.tools.present import NOTHING

if TYPE_CHECKING:
    from wieldy.core.calls import ToolResult
    from wieldy.core.json import JsonObject, JsonValue
    from wieldy.core.media import FilePart, ImagePart


def value_of(result: ToolResult) -> JsonValue:
    """What the tool returned: JSON, text or nothing; with images and files, an object of `value` and `parts`.

    Args:
        result: Of a run whose results are data.
    """
    value = result.structured_content
    if value is None and result.content not in (NOTHING, "null"):
        value = result.content
    if not result.parts:
        return value
    return {"value": value, "parts": [_part(part) for part in result.parts]}


def _part(part: ImagePart | FilePart) -> JsonObject:
    name, media_type = getattr(part, "name", None), getattr(part, "media_type", None)
    return {"url": part.url, "name": name, "media_type": media_type}
