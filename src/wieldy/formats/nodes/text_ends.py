"""What raw text must do without in a grammar: everything by which a parser would see it end.

A pattern as the markers of a text. Where it goes on with something that is no literal, such as a name, the marker ends
before that, so that the grammar may be stricter than the parser and never wider.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TypeAlias

from wieldy.formats.reading.pattern import SPACE, Either, End, Group, Part
from wieldy.grammar.shape import Marker

_BETWEEN = "\u3000"
"""Stands for the white space between two texts: no mark of any family has it."""

_Spelled: TypeAlias = tuple[str, ...]
"""Texts with white space between them; an empty one at the end where white space comes next."""


def ends_of_text(*patterns: Sequence[Part]) -> tuple[Marker, ...]:
    """The markers of a text that none of the patterns matches anywhere but at its end."""
    found = {texts for pattern in patterns for texts in _spelled(tuple(pattern), ("",))}
    kept: dict[_Spelled, re.Pattern[str]] = {}
    for texts in sorted(
        (tuple(filter(None, texts)) for texts in found), key=lambda texts: (sum(map(len, texts)), texts)
    ):
        # A marker within another one makes that one needless.
        if texts and not any(within.search(_BETWEEN.join(texts)) for within in kept.values()):
            kept[texts] = re.compile(f"{_BETWEEN}?".join(map(re.escape, texts)))
    return tuple(texts[0] if len(texts) == 1 else texts for texts in kept)


def _spelled(parts: tuple[Part, ...], begun: _Spelled) -> Iterator[_Spelled]:
    if not parts:
        yield begun
        return
    first, *rest = parts
    match first:
        case str():
            yield from _spelled(tuple(rest), (*begun[:-1], begun[-1] + first))
        case Group(parts=inner):
            yield from _spelled((*inner, *rest), begun)
        case Either(options=options):
            for option in options:
                yield from _spelled((*option, *rest), begun)
        case End():
            return
        case _ if first == SPACE:
            yield from _spelled(tuple(rest), (*begun, "") if begun[-1] else begun)
        case _:
            yield begun
