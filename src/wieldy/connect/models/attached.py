"""Images and files on the wire: which of them a provider takes, and what a model is told of the others.

Pure. A result names its images and files in its text; here is what goes with it. Files of text need nothing more: their
words stand in the text already.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

from wieldy.core.calls import ToolResult
from wieldy.core.media import FilePart, ImagePart

Attachment: TypeAlias = ImagePart | FilePart

_IMAGE_TYPES: Final = ("image/png", "image/jpeg", "image/gif", "image/webp")
_PDF: Final = "application/pdf"


def is_common_image(part: Attachment) -> bool:
    """Whether providers that take images take this one; what an address leads to is for them to find out."""
    if not isinstance(part, ImagePart):
        return False
    return _is_address(part.url) or (part.media_type in _IMAGE_TYPES and _is_base64(part.url))


def is_pdf(part: Attachment, *, by_address: bool) -> bool:
    """Whether this is a PDF that travels as bytes, or by its address where that is taken."""
    if not isinstance(part, FilePart) or part.media_type.partition(";")[0].strip().lower() != _PDF:
        return False
    return _is_base64(part.url) or (by_address and _is_address(part.url))


def sent_with(result: ToolResult, takes: Callable[[Attachment], bool]) -> tuple[str, Sequence[Attachment]]:
    """The text of the result and what goes with it; the text says so if something cannot."""
    if not result.parts:
        return result.content, ()
    sent = [part for part in result.parts if takes(part)]
    words = [part for part in result.parts if isinstance(part, FilePart) and part.plain_text is not None]
    unseen = len(result.parts) - len(sent) - len([part for part in words if part not in sent])
    if not unseen:
        return result.content, sent
    return f"{result.content}\n\n[{unseen} of the images and files named here cannot be shown to you.]", sent


def _is_address(url: str) -> bool:
    return url.startswith(("https://", "http://"))


def _is_base64(url: str) -> bool:
    head, comma, payload = url.partition(",")
    return bool(comma and payload) and head.startswith("data:") and head.endswith(";base64")
