"""Images and files on the wire: which of them a provider takes, and what a model is told of the others.

Pure. A result names its images and files in its text; here is what goes with it. Files of text need nothing more: their
words stand in the text already.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

from wieldy.core.calls import ToolResult
from wieldy.core.media import FilePart, ImagePart, is_base64

Attachment: TypeAlias = ImagePart | FilePart

_PDF: Final = "application/pdf"


def is_pdf(part: Attachment, *, by_address: bool) -> bool:
    """Whether this is a PDF that travels as bytes, or by its address where that is taken."""
    if not isinstance(part, FilePart) or part.media_type.partition(";")[0].strip().lower() != _PDF:
        return False
    return is_base64(part.url) or (by_address and part.url.startswith(("https://", "http://")))


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
