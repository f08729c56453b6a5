"""Whether a text says what was wanted of it, whatever its layout.

A number is said only as itself: not as a part of a longer one, and not where it has another sign. How numbers stand
in texts has no grammar, so where one has two readings (`40 000`, `- 40`) the rule is in `says`. Deliberately not here:
when two values are equal (`equality`).
"""

from __future__ import annotations

import re
from typing import Final

from wieldy.evals.verdicts.equality import layout_free

_DASHES: Final = str.maketrans(dict.fromkeys("\u2010\u2011\u2012\u2013", "-"))
_MINUSES: Final = str.maketrans(dict.fromkeys("\ufe63\uff0d", "\u2212"))
"""All that people and models write for a minus; the long dash between clauses is none."""
_CURRENCY: Final = r"(?:[a-z]{0,3}[$\u00a2-\u00a5\u0e3f\u20a0-\u20cf\ufe69\uff04\uffe0\uffe1\uffe5\uffe6] ?)"
_LIST: Final = re.compile(r"(?m)^([ \t]*)[-\u2013] (?=\S)")
_LIST_BEHIND_COLON: Final = re.compile(r":\s*\n\s*[-\u2013] ")
_DASH_AND_NUMBER: Final = re.compile(rf"\s*[-\u2013]\s+(?={_CURRENCY}?[\d.,]+\W*$)", re.IGNORECASE)
_MINUS_WORD: Final = re.compile(rf"\b(?:minus|negative) (?={_CURRENCY}?\d)")
_SPACED_MINUS: Final = re.compile(rf"(?<![\w)%\u00b0])\u2212 (?={_CURRENCY}?\d)")
_DIFFERENCE: Final = re.compile(rf"(?<=[\d)%\u00b0]) ?\u2212 (?={_CURRENCY}?\d)")
_POINT_FIRST: Final = re.compile(r"(?<![\d.])\.(?=\d)")
_GROUPED: Final = re.compile(r"(?<![\d.,])(?<!\d )\d{1,3}(?: \d{3})+(?! ?\d)")
"""Digits in groups of three, and not one group in a longer row of numbers."""

_NUMBER_AT_START: Final = re.compile(rf"[+-]?{_CURRENCY}?\d")
_SAME_NUMBER_BEFORE: Final = re.compile(r"(?:\d[.,\"_]?|\d\.?e[+-]?|0x[0-9a-f]*)$")
_POWER: Final = (
    r"\^|[\u00b2\u00b3\u00b9\u00bc-\u00be\u2070-\u2079]|\u00b7\d| ?[\u00d7*x] ?10(?:\^|[\u00b2-\u00b9\u2070-\u207b])"
)
_SAME_NUMBER_AFTER: Final = re.compile(rf"\d|,\d|\.\d*[1-9]|[\"_]\d|e[+-]?\d|{_POWER}")
_SAME_DECIMAL_AFTER: Final = re.compile(rf"0*(?:[1-9]|[\"_]\d|e[+-]?\d|{_POWER})")
"""Behind a number with a point further zeros change nothing. Apostrophes between digits have become `"`."""
_MINUS_BEFORE: Final = re.compile(rf"-(?:{_CURRENCY}|[a-z]{{3}} )?$")
_LOOKED_AT: Final = 40
"""Characters before a number."""


def says(text: str, wanted: str) -> bool:
    """Whether a text contains another, layout aside. Words may be parts of others, numbers may not.

    A dash before a number is its sign, unless a word, a number, or the end of a sentence stands before it, as in
    `20-40` and `Total - 40`, or a space stands between them, as in a list; but a dash and a number alone are one.
    A minus sign (U+2212), or the word, is a sign unless a number stands before it. Digits in groups of three (`40 000`,
    `40'000`, `40_000`) are one number, as is one with a power (`40^2`). Zeros behind the point, and one before it,
    change nothing.
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
    """The text without layout, each minus as a hyphen that adjoins its number."""
    if len(_LIST.findall(text)) > 1 or _LIST_BEHIND_COLON.search(text):
        text = _LIST.sub(r"\1* ", text)
    elif _DASH_AND_NUMBER.match(text):
        text = _DASH_AND_NUMBER.sub("\u2212", text)
    plain = _MINUS_WORD.sub("\u2212 ", layout_free(text.translate(_DASHES)).translate(_MINUSES))
    plain = _DIFFERENCE.sub("-", plain)
    return _POINT_FIRST.sub("0.", _SPACED_MINUS.sub("-", plain).replace("\u2212", "-"))


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
