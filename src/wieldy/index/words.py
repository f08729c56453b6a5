"""Words of a text or an identifier, in stems: `getHTTPStatus`, `get_http_status` and "Get HTTP status" have the same.

English endings are cut by a short list of rules. That joins what a person would join (cities and city, sending and
send); some stems are no words, which does no harm as long as both sides have the same.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Final

_PARTS: Final = re.compile(r"[^\W\d_]+|\d+")
_CASE: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_ENDINGS: Final = (
    ("ies", "y"),
    ("sses", "ss"),
    ("ss", "ss"),
    ("ing", ""),
    ("edly", ""),
    ("ed", ""),
    ("ly", ""),
    ("es", "e"),
    ("s", ""),
)
_SHORTEST_STEM: Final = 3
_EMPTY_WORDS: Final = (
    "a an the of to for in on at by with and or is are be this that it i me my you your we our from as can please "
    "would like s t"
)
_EMPTY: Final = frozenset(_EMPTY_WORDS.split())


def split(text: str) -> list[str]:
    """The words, in small letters, in order; identifiers are taken apart."""
    text = unicodedata.normalize("NFKC", text)
    return [part.casefold() for part in _PARTS.findall(_CASE.sub(" ", text))]


def terms(text: str) -> list[str]:
    """The stems of the words that say something, in order."""
    return [stem(word) for word in split(text) if word not in _EMPTY]


@lru_cache(maxsize=1 << 16)
def stem(word: str) -> str:
    """The word without its ending.

    Args:
        word: In small letters.
    """
    if len(word) <= _SHORTEST_STEM:
        return word
    for ending, instead in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST_STEM:
            word = word[: len(word) - len(ending)] + instead
            break
    return word[:-1] if word.endswith("e") and len(word) > _SHORTEST_STEM + 1 else word
