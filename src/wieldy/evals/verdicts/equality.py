"""When two JSON values are the same, and which of several fit which.

Law: values are equal only if JSON Schema cannot tell them apart (5 and 5.0 are, 1 and true are not), or if they are
texts that differ in layout alone: whitespace, the form of quotes, Unicode's two ways to write one letter, and case,
which lists of answers do not settle. Every other sign counts. Deliberately not here: what a task means (`bfcl.values`).
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Any, Final, cast

_QUOTES: Final = str.maketrans("‘’“”'", '"""""')
_AROUND_SIGNS: Final = re.compile(r"\s*([+*/^=<>()\[\]{}:;])\s*")
_COMMA: Final = re.compile(r"\s*,\s*")
_MINUS: Final = re.compile(r"\s+-\s+")
_SPACES: Final = re.compile(r"\s+")


@lru_cache(maxsize=16_384)
def layout_free(text: str) -> str:
    """The text without what is layout only."""
    text = unicodedata.normalize("NFC", text).translate(_QUOTES).casefold()
    if not text.isalnum():
        text = _MINUS.sub("-", _AROUND_SIGNS.sub(r"\1", _SPACES.sub(" ", text).strip()))
        text = _COMMA.sub(_comma, text)
    return unicodedata.normalize("NFC", text)


def _comma(found: re.Match[str]) -> str:
    """Without spaces, but between digits, where they tell two numbers from one."""
    text, start, end = found.string, found.start(), found.end()
    is_between = start > 0 and end < len(text) and text[start - 1].isdigit() and text[end].isdigit()
    return ", " if is_between and end - start > 1 else ","


def is_equal(value: Any, other: Any, *, exact: bool = False) -> bool:
    """Whether two JSON values are the same; with `exact` also in the layout of their texts."""
    if isinstance(value, bool) or isinstance(other, bool):
        return value is other
    if isinstance(value, str) and isinstance(other, str):
        return value == other or (not exact and layout_free(value) == layout_free(other))
    if isinstance(value, int | float) and isinstance(other, int | float):
        return value == other
    if isinstance(value, list) and isinstance(other, list):
        ones, others = cast("list[Any]", value), cast("list[Any]", other)
        return len(ones) == len(others) and all(
            is_equal(member, another, exact=exact) for member, another in zip(ones, others, strict=True)
        )
    if isinstance(value, dict) and isinstance(other, dict):
        one, another = cast("dict[str, Any]", value), cast("dict[str, Any]", other)
        return one.keys() == another.keys() and all(
            is_equal(member, another[key], exact=exact) for key, member in one.items()
        )
    return value is None and other is None


def matched(fits: list[list[bool]]) -> dict[int, int]:
    """For as many rows as can be served at once, a column of their own that fits: column to row.

    Source: augmenting paths, H. W. Kuhn (1955). Cost: rows times columns times rows.
    """
    row_of = dict[int, int]()

    def serve(row: int, seen: set[int]) -> bool:
        for column, is_fit in enumerate(fits[row]):
            if not is_fit or column in seen:
                continue
            seen.add(column)
            if column not in row_of or serve(row_of[column], seen):
                row_of[column] = row
                return True
        return False

    for row in range(len(fits)):
        serve(row, set())
    return row_of
