"""What is shown of a long result: its beginning and its end, and how the rest can be read.

Offsets count characters, so that no cut falls inside one; limits count UTF-8 bytes, as models and wires do.
"""

from __future__ import annotations

from dataclasses import dataclass

READ_RESULT = "read_result"
"""The tool that reads what was left out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """A long text without its middle.

    Attributes:
        start: The first character that is left out, counted from 0.
        end: The first one after that which is shown again.
        length: How many characters the whole text has.
    """

    head: str
    tail: str
    start: int
    end: int
    length: int

    def sentence(self, handle: str) -> str:
        """What the model is told in place of the middle."""
        return (
            f"[Characters {self.start} to {self.end} of {self.length} are left out here. To read them, call "
            f'`{READ_RESULT}` with handle "{handle}" and offset {self.start}.]'
        )


def cut(text: str, *, limit_bytes: int) -> Cut | None:
    """The beginning and the end that fit; None if all of it does.

    Cost: linear in the limit, and for texts that are not ASCII in the text.
    """
    if not _is_longer(text, limit_bytes):
        return None
    tail_bytes = limit_bytes // 4
    head, tail = beginning(text, limit_bytes - tail_bytes), _ending(text, tail_bytes)
    return Cut(head=head, tail=tail, start=len(head), end=len(text) - len(tail), length=len(text))


def beginning(text: str, limit_bytes: int) -> str:
    """As many of the first characters as fit."""
    # A character that is cut in two at the edge is left out.
    return _encoded(text[:limit_bytes])[:limit_bytes].decode("utf-8", "ignore")


def _ending(text: str, limit_bytes: int) -> str:
    return _encoded(text[-limit_bytes:])[-limit_bytes:].decode("utf-8", "ignore")


def _is_longer(text: str, limit_bytes: int) -> bool:
    if len(text) <= limit_bytes // 4:  # no character takes more than four bytes
        return False
    return len(text) > limit_bytes or (not text.isascii() and len(_encoded(text)) > limit_bytes)


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "replace")


def with_note(content: str, note: str) -> str:
    """The content, and below it a remark of the runtime, in brackets to set it apart from the tool's words."""
    return f"{content}\n\n[{note}]" if content else f"[{note}]"
