"""Whether a text says what was wanted of it, whatever its layout.

A number is said only as itself: not as a part of a longer one, and not where it has another sign. How numbers stand
in texts has no grammar, so where one has two readings (`40 000`, `- 40`) the rule is in `says`. Deliberately not here:
when two values are equal (`equality`).
"""

from __future__ import annotations

import re
from typing import Final

from wieldy.evals.verdicts.equality import layout_free

_DASHES: Final = str.maketrans(dict.fromkeys("\u2010\u2011\u2012\u2013\u2212\ufe63\uff0d", "-"))
"""All that people and models write for a minus; the long dash between clauses is none."""
_CURRENCIES: Final = "$\u20ac\u00a3\u00a5\u20b9"
_POINT_FIRST: Final = re.compile(r"(?<![\d.])\.(?=\d)")
_GROUPED: Final = re.compile(r"(?<![\d.,])(?<!\d )\d{1,3}(?: \d{3})+(?! ?\d)")
"""Digits in groups of three, and not one group in a longer row of numbers."""

_NUMBER_AT_START: Final = re.compile(rf"[+-]?[{_CURRENCIES}]?\d")
_SAME_NUMBER_BEFORE: Final = re.compile(r"(?:\d[.,\"_]?|\d\.?e[+-]?|0x[0-9a-f]*)$")
_SAME_NUMBER_AFTER: Final = re.compile(r"\d|,\d|\.\d*[1-9]|[\"_]\d|e[+-]?\d")
_SAME_DECIMAL_AFTER: Final = re.compile(r"0*+(?:\d|[\"_]\d|e[+-]?\d)")
"""Behind a number with a point further zeros change nothing. Apostrophes between digits have become `"`."""
_MINUS_BEFORE: Final = re.compile(rf"-[{_CURRENCIES}]?$")
_LOOKED_AT: Final = 40
"""Characters before a number."""


def says(text: str, wanted: str) -> bool:
    """Whether a text contains another, layout aside. Words may be parts of others, numbers may not.

    A dash before a number is its sign, unless a word, a number, or the end of a sentence stands before it, as in
    `20-40`, or a space stands between them, as in a list. Digits in groups of three (`40 000`, `40'000`, `40_000`) are
    one number. Zeros behind the point, and one before it, change nothing.
    """
    text, wanted = _plain(text), _plain(wanted)
    starts, ends = _NUMBER_AT_START.match(wanted) is not None, wanted[-1:].isdigit()
    grouped = [each.span() for each in _GROUPED.finditer(text)] if starts or ends else []
    for found in re.finditer(f"(?={re.escape(wanted)})", text):
        start, end = found.start(), found.start() + len(wanted)
        if starts and not _begins_at(text, start):
            continue
        if ends and not _ends_at(text, end, is_decimal=re.search(r"\.\d+$", wanted) is not None):
            continue
        if not any(first < start < last or first < end < last for first, last in grouped):
            return True
    return False


def _plain(text: str) -> str:
    return _POINT_FIRST.sub("0.", layout_free(text).translate(_DASHES))


def _begins_at(text: str, place: int) -> bool:
    """Whether the number there begins there, with the sign that it begins with or none."""
    before = text[max(0, place - _LOOKED_AT) : place]
    if _SAME_NUMBER_BEFORE.search(before):
        return False
    if text[place] == "-":
        return _is_sign(before)
    minus = _MINUS_BEFORE.search(before)
    return minus is None or not _is_sign(before[: minus.start()])


def _is_sign(before: str) -> bool:
    """Whether a dash behind this is the sign of what follows."""
    return not (before and (before[-1].isalnum() or before[-1] in ".!?%\u00b0"))


def _ends_at(text: str, place: int, *, is_decimal: bool) -> bool:
    return (_SAME_DECIMAL_AFTER if is_decimal else _SAME_NUMBER_AFTER).match(text, place) is None
