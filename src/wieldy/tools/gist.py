"""What a description comes to in a few characters: its first sentences, as plain words. Pure."""

from __future__ import annotations

import re
from typing import Final

_LINK: Final = re.compile(r"!?\[([^\[\]]*)\]\((?:[^()\s]|\([^()\s]*\))*\)")
_SENTENCE_END: Final = re.compile(r"(?<=\w{3}[.!?`)])\s+(?=[^a-z])")
_WORD: Final = re.compile(r"[^\W_]{2,}")
_CASE: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_LITTLE: Final = re.compile(r"an?|and|be|by|for|from|in|is|its?|of|on|or|that|the|this|to|which|will|with")
"""Words that say nothing alone."""


def gist(text: str, most: int) -> str:
    """The first sentences that fit into so many characters; of one that does not, its beginning.

    Of links their words are left, and line breaks are spaces.
    """
    text = " ".join(_LINK.sub(r"\1", text).split())
    if len(text) <= most:
        return text
    end = sentences_within(text, most)
    return text[:end] if end else f"{text[: most - 3].rstrip()}..."


def sentences_within(text: str, most: int) -> int:
    """Where the last sentence ends that is whole within so many characters; 0 if none is."""
    if len(text) <= most:
        return len(text)
    return max((end.start() for end in _SENTENCE_END.finditer(text) if end.start() <= most), default=0)


def is_said_by(names: str, text: str) -> bool:
    """Whether the text says nothing that the names do not, such as `The title of the issue.` of `title`."""
    return _words(text) <= _words(names)


def _words(text: str) -> set[str]:
    """The words that carry meaning, in the singular as far as an `s` says it."""
    words = _WORD.findall(_CASE.sub(" ", text).lower())
    return {word.removesuffix("s") for word in words if not _LITTLE.fullmatch(word)}
