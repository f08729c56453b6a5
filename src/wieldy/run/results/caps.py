"""What a model reads of a result: not more than fits, and what it should know about it.

Deliberately not here: paging through the rest, images, and hiding secrets.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

CONTENT_LIMIT_BYTES: Final = 16 * 1024
"""How much of one result a model is shown, in UTF-8 bytes."""

_TAIL_BYTES: Final = CONTENT_LIMIT_BYTES // 4
_HEAD_BYTES: Final = CONTENT_LIMIT_BYTES - _TAIL_BYTES


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """Content as a model is shown it.

    Attributes:
        whole: All of it, if it was capped.
    """

    content: str
    whole: str | None = None


def show(content: str) -> Shown:
    """The content if it is short enough, else its beginning and end and a sentence that says how much is left out."""
    if len(content) <= CONTENT_LIMIT_BYTES // 4:  # no character takes more than four bytes
        return Shown(content=content)
    encoded = content.encode("utf-8", "replace")
    if len(encoded) <= CONTENT_LIMIT_BYTES:
        return Shown(content=content)
    # A character cut in two at the edge is dropped.
    head = encoded[:_HEAD_BYTES].decode("utf-8", "ignore")
    tail = encoded[-_TAIL_BYTES:].decode("utf-8", "ignore")
    left_out = len(encoded) - _HEAD_BYTES - _TAIL_BYTES
    sentence = (
        f"[{left_out} of {len(encoded)} bytes are left out here: only the beginning and the end are shown. "
        "Ask for a smaller part if you need what is between.]"
    )
    return Shown(content=f"{head}\n{sentence}\n{tail}", whole=content)


def with_note(content: str, note: str) -> str:
    """The content, and below it a remark of the runtime, in brackets to set it apart from the tool's words."""
    return f"{content}\n\n[{note}]" if content else f"[{note}]"
