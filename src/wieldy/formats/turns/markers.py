"""Foreign words between markup: what others say is defused, so that it never becomes markup itself.

The rule: wherever a marker stands in foreign text, a space is put after its first character; where foreign text would
complete a marker together with what stands beside it, a space is put between. Everything else stays as it is.
Deliberately not here: which texts are markers (`turns`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A piece of a conversation.

    Attributes:
        text: What it says.
        markers: What it must not say; None for markup, which is ours.
        is_reply: Written by the format; what stands before it does not depend on it.
    """

    text: str
    markers: tuple[str, ...] | None = None
    is_reply: bool = False


def plain(text: str, markers: Sequence[str]) -> str:
    """The text with a space after the first character of every marker in it, within another one too.

    Halves of surrogate pairs, which are no text and which no engine takes, become question marks.

    Cost: linear in the text.
    """
    text = text.encode("utf-8", "replace").decode()
    longer = [re.escape(marker) for marker in markers if len(marker) > 1]
    # The module `re` keeps compiled patterns, and a family's markers are always the same.
    return re.sub(f"(?=(?:{'|'.join(longer)}))(?s:.)", r"\g<0> ", text) if longer else text


def joined(pieces: Sequence[Piece]) -> str:
    """The pieces as one text, the foreign ones defused against all that stands beside them.

    Cost: linear in the text.
    """
    return "".join(written(pieces))


def written(pieces: Sequence[Piece]) -> list[str]:
    """The text of each piece, as `joined` puts them together."""
    texts: list[str] = []
    before = ""
    for index, piece in enumerate(pieces):
        text = piece.text
        if piece.markers is not None and text:
            after = _following(pieces, index + 1, max(map(len, piece.markers), default=0))
            text = _apart(before, plain(text, piece.markers), after, piece.markers)
        texts.append(text)
        before = (before + text)[-_TAIL:] if len(text) < _TAIL else text[-_TAIL:]
    return texts


_TAIL = 80
"""Longer than any marker."""


def _following(pieces: Sequence[Piece], start: int, reach: int) -> str:
    """What comes next, as far as a marker could reach into it; a reply is not looked at."""
    text = ""
    for index in range(start, len(pieces)):
        if pieces[index].is_reply or len(text) >= reach:
            break
        text += pieces[index].text[:reach]
    return text


def _apart(before: str, text: str, after: str, markers: Sequence[str]) -> str:
    if _straddles(before, text + after, markers):
        text = f" {text}"
    return f"{text} " if _straddles(text, after, markers) else text


def _straddles(left: str, right: str, markers: Sequence[str]) -> bool:
    """Whether a marker begins in the one and ends in the other."""
    return any(
        left.endswith(marker[:cut]) and right.startswith(marker[cut:])
        for marker in markers
        for cut in range(1, len(marker))
    )
