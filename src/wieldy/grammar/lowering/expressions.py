r"""What a `pattern` allows, as a language: regular expressions as `reading` knows them, and look-ahead.

A look-ahead is an "and" with the rest of the text, a negative one an "and not", wherever it stands outside of groups.
Of what dialects read differently (`\s`, `\S`) the narrow reading has what all of them match, the wide one what any of
them does: under a `not` the wide one is the careful one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from wieldy.core.errors import GrammarError
from wieldy.grammar.lowering.languages import ANYTHING, Language, both, either, of_shape, other, row
from wieldy.grammar.reading.character_class import SETS, complement, inside
from wieldy.grammar.reading.regex import searched, whole

_LOOK_AHEAD = re.compile(r"\(\?([=!])")
_ESCAPE = re.compile(r"\\.", re.DOTALL)
_ANY_SPACE = inside(complement(SETS["S"]))
_ANY_NON_SPACE = inside(complement(SETS["s"]))


@lru_cache(maxsize=1000)
def language_of(pattern: str, *, is_wide: bool = False) -> Language:
    """The texts in which the expression matches somewhere, as JSON Schema's `pattern` does.

    Raises:
        GrammarError: It is no regular expression, or uses what cannot be enforced.
    """
    try:
        return _language(_widened(pattern) if is_wide else pattern, is_wide)
    except RecursionError:
        raise GrammarError("The regular expression is nested too deeply.") from None


def _language(pattern: str, is_wide: bool) -> Language:
    if _LOOK_AHEAD.search(pattern) is None:
        return of_shape(searched(pattern))
    return either(_alternative(option, is_wide) for option in _alternatives(pattern))


def _alternative(pattern: str, is_wide: bool) -> Language:
    if _LOOK_AHEAD.search(pattern) is None:
        return of_shape(searched(pattern))
    if not pattern.startswith("^"):
        return row(ANYTHING, _from_here(pattern, is_wide))
    return _from_here(pattern.removeprefix("^"), is_wide)


def _from_here(pattern: str, is_wide: bool) -> Language:
    """The rest of a text that begins with a match of one alternative."""
    found = next((place for place in _outside(pattern) if _LOOK_AHEAD.match(pattern, place)), None)
    if found is None:
        return of_shape(searched(f"^{pattern}"))
    end = next((place for place in _outside(pattern, found + 1) if pattern[place] == ")"), None)
    if end is None:
        raise GrammarError("A look-ahead has no end.")
    if pattern[end + 1 : end + 2] in {"*", "+", "?", "{"}:
        raise GrammarError("A look-ahead is repeated.")
    # What is looked ahead for under a "not" is read the other way: narrow where the whole is wide.
    is_negative = pattern[found + 2] == "!"
    inner = _widened(pattern[found + 3 : end]) if is_negative and not is_wide else pattern[found + 3 : end]
    ahead = either(_from_here(option, is_wide != is_negative) for option in _alternatives(inner))
    rest = _from_here(pattern[end + 1 :], is_wide)
    return row(of_shape(whole(pattern[:found])), both(other(ahead) if is_negative else ahead, rest))


def _alternatives(pattern: str) -> list[str]:
    """The expression cut at every `|` that stands outside of groups."""
    bars = [place for place in _outside(pattern) if pattern[place] == "|"]
    return [pattern[start + 1 : end] for start, end in zip([-1, *bars], [*bars, len(pattern)], strict=True)]


def _outside(pattern: str, start: int = 0) -> Iterator[int]:
    """The places of the characters that stand outside of groups and classes, and are not escaped."""
    depth, place = 0, start
    while place < len(pattern):
        character = pattern[place]
        if character == "\\":
            place += 2
            continue
        if depth == 0:
            yield place
        depth += (character == "(") - (character == ")" and depth > 0)
        place = _behind_class(pattern, place) if character == "[" else place + 1


def _behind_class(pattern: str, start: int) -> int:
    place = start + 1 + pattern.startswith("^", start + 1)
    while place < len(pattern) and pattern[place] != "]":
        place += 2 if pattern[place] == "\\" else 1
    return place + 1


def _widened(pattern: str) -> str:
    r"""The expression with `\s` and `\S` written out as all that any dialect matches."""
    found: list[str] = []
    place = 0
    while place < len(pattern):
        if pattern[place] == "[":
            end = _behind_class(pattern, place)
            found.append(_ESCAPE.sub(_wide, pattern[place:end]))
            place = end
        elif (escape := _ESCAPE.match(pattern, place)) is not None:
            wide = _wide(escape)
            found.append(wide if wide == escape[0] else f"[{wide}]")
            place = escape.end()
        else:
            found.append(pattern[place])
            place += 1
    return "".join(found)


def _wide(escape: re.Match[str]) -> str:
    return {"\\s": _ANY_SPACE, "\\S": _ANY_NON_SPACE}.get(escape[0], escape[0])
