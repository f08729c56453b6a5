"""The terminals of llguidance's Lark: runs of characters and text without markers, as regular expressions."""

from __future__ import annotations

import json

from wieldy.core.errors import GrammarError
from wieldy.grammar.notation.markers import texts_of
from wieldy.grammar.reading.character_class import character_class
from wieldy.grammar.shape import WHITE_SPACE, Characters, Marker


def literal(text: str) -> str:
    """Exactly this text."""
    # The engine's lexer takes JSON's escapes and, unlike JSON, no bare DEL.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def characters(shape: Characters) -> str:
    """A run of characters.

    Raises:
        GrammarError: Its bounds contradict each other.
    """
    most = "" if shape.at_most is None else shape.at_most
    if shape.at_most is not None and shape.at_most < shape.at_least:
        raise GrammarError(f"A run cannot have at least {shape.at_least} and at most {most} characters.")
    return f"/{character_class(shape.allowed).text(_escaped)}{{{shape.at_least},{most}}}/"


def text_without(markers: tuple[Marker, ...]) -> str:
    """Any text without the markers.

    Raises:
        GrammarError: A marker is empty.
    """
    if not markers:
        return "/(?s:.*)/"
    spelled = "|".join(_marker(marker) for marker in dict.fromkeys(markers))
    # The first half is there because a complement alone also accepts bytes that are no UTF-8.
    return f"/(?s:.*)/ & ~(/(?s:.*)({spelled})/ {_ANY_BYTES})"


def _marker(marker: Marker) -> str:
    return _GAP.join("".join(map(_escaped, text)) for text in texts_of(marker))


def _escaped(character: str) -> str:
    is_plain = character.isascii() and (character.isalnum() or character in "_<> =\"',:;!@%")
    return character if is_plain else f"\\x{{{ord(character):X}}}"


_ANY_BYTES = r"~/[^\x00-\u{10FFFF}]/"
"""Any bytes, as the complement of nothing: behind a marker, the engine sees at once that its complement is empty.

With any text instead it does not, takes what stands behind the marker for something that may still go on, and fails
where a special token has to follow.
"""

_GAP = f"[{''.join(map(_escaped, WHITE_SPACE))}]*"
