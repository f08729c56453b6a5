"""Whether a value stands in a text as a word of its own, so that the text can be said to name it.

Stricter than `provenance`, which looks for hints: here a match lets a call run. So a part of a longer name, address or
number does not count, and nothing is forgiven but capitals of plain letters, white space, and a leading `https://`.
Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

_SCHEME: Final = re.compile(r"https?://", re.IGNORECASE)
_LINK: Final = re.compile(
    r"""(?:https?://|www\.)[^\s<>"'()\[\]{}]+"""
    r"|[\w.+-]+@[\w-]+(?:\.[\w-]+)+"
    r"|(?<![\w.@-])[a-z0-9-]+(?:\.[a-z0-9-]+)*\.(?:com|org|net|io|info|biz|co|me|app|dev|ai|xyz|ru|cn|site|online)"
    r"""(?![\w-])(?:/[^\s<>"'()\[\]{}]*)?""",
    re.IGNORECASE,
)
_NUMBER: Final = re.compile(r"(?<![\w-])(?:[^\W\d]|-)*(?:\d(?:[^\W\d]|-)*){6,}(?![\w-])")
_DATE: Final = re.compile(r"\d{4}-\d\d-\d\d(?:T\d+)?")
_BEFORE: Final = r"(?<![\w@+\-/:])(?<!\w[.,])"
# A capital after a full stop begins a sentence whose space was forgotten.
_AFTER: Final = r"(?![\w@+\-/])(?!:\w)(?![.,](?-i:[a-z0-9_]))"


def stands_in(value: str, texts: Iterable[str]) -> bool:
    """Whether the value is in one of the texts, with neither letters nor digits nor parts of addresses around it."""
    return next(_found(value, texts), None) is not None


def times_in(value: str, texts: Iterable[str]) -> int:
    """How often the value stands in the texts."""
    return sum(1 for _ in _found(value, texts))


def begins_in(words: Iterable[str], texts: Iterable[str]) -> bool:
    """Whether a word of one of the texts begins with one of these; one with a space behind it is meant whole."""
    pattern = re.compile("|".join(map(_beginning, words)), re.IGNORECASE)
    return any(pattern.search(text) for text in texts)


def links_in(text: str) -> Iterator[str]:
    """The web and mail addresses in a text, without the punctuation behind them."""
    return (found.group().rstrip(".,;:!?") for found in _LINK.finditer(text))


def numbers_in(text: str) -> Iterator[str]:
    """The words of a text that have six digits or more and are no dates: accounts, cards, passports, codes."""
    return (found.group() for found in _NUMBER.finditer(text) if not _DATE.fullmatch(found.group()))


def _found(value: str, texts: Iterable[str]) -> Iterator[re.Match[str]]:
    wanted = _plain(value)
    if wanted:
        # A letter beyond ASCII may fold to one that it only looks like.
        flags = re.IGNORECASE if wanted.isascii() else re.NOFLAG
        pattern = re.compile(f"{_BEFORE}{re.escape(wanted)}{_AFTER}", flags)
        for text in texts:
            yield from pattern.finditer(_plain(text))


def _beginning(word: str) -> str:
    whole = word.rstrip()
    return rf"(?<!\w){re.escape(whole)}" + ("" if whole == word else r"(?!\w)")


def _plain(text: str) -> str:
    return " ".join(_SCHEME.sub("", text).split())
