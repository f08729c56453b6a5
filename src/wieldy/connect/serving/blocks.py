"""Texts, images, files and resources as blocks of content in the words of MCP. Pure."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias
from urllib.parse import quote

from wieldy.core.errors import UsageError
from wieldy.core.media import FilePart, ImagePart, read_data_url

if TYPE_CHECKING:
    from wieldy.core.json import JsonObject

DEFAULT_TEXT_TYPE = "text/plain"
DEFAULT_DATA_TYPE = "application/octet-stream"


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceContent:
    """What stands under an address.

    Attributes:
        uri: The address.
        content: Text, or bytes.
        media_type: Such as `text/markdown`; plain text, or bytes of an unknown kind if left out.
    """

    uri: str
    content: str | bytes
    media_type: str | None = None

    def to_wire(self) -> JsonObject:
        """As an item of `contents`, and within a block."""
        if isinstance(self.content, str):
            return {"uri": self.uri, "mimeType": self.media_type or DEFAULT_TEXT_TYPE, "text": self.content}
        encoded = base64.b64encode(self.content).decode("ascii")
        return {"uri": self.uri, "mimeType": self.media_type or DEFAULT_DATA_TYPE, "blob": encoded}


Content: TypeAlias = str | ImagePart | FilePart | ResourceContent


def block_of(content: Content) -> JsonObject:
    """One block.

    Raises:
        UsageError: It is none of these.
    """
    match content:
        case str():
            return {"type": "text", "text": content}
        case ResourceContent():
            return {"type": "resource", "resource": content.to_wire()}
        case ImagePart() | FilePart():
            return part_block(content)
        case _:
            kind = type(content).__name__
            raise UsageError(f"Expected text, an image, a file or the content of a resource, found {kind}.")


def part_block(part: ImagePart | FilePart) -> JsonObject:
    """An image or a file."""
    name = part.name if isinstance(part, FilePart) else "image"
    kind = part.media_type or "image/*"
    data = read_data_url(part.url)
    if data is None:
        return {"type": "resource_link", "uri": part.url, "name": name, "mimeType": kind}
    encoded = base64.b64encode(data).decode("ascii")
    if isinstance(part, ImagePart):
        return {"type": "image", "data": encoded, "mimeType": kind}
    if kind.startswith("audio/"):
        return {"type": "audio", "data": encoded, "mimeType": kind}
    return {"type": "resource", "resource": {"uri": f"attachment:///{quote(name)}", "mimeType": kind, "blob": encoded}}
