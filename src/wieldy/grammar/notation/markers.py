"""Text without markers: where a marker occurs, and the finite automaton for engines that know no complement.

A marker is a text, or several with any white space between them. States are the places in markers that the text so far
may have reached: for plain texts that is what Aho and Corasick built in 1975.
Cost: about linear in the markers' length, times the number of different characters in them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from wieldy.core.errors import GrammarError
from wieldy.grammar.shape import WHITE_SPACE, Marker

_Place = tuple[int, int, int]
"""Which marker, which of its texts, and how many characters of that."""


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """Where a text stands with respect to the markers.

    Attributes:
        following: The state after each of the markers' characters that may come next; state 0 is the beginning.
        forbidden: The characters that would complete a marker. After any other character the state is 0.
    """

    following: dict[str, int]
    forbidden: frozenset[str]


def texts_of(marker: Marker) -> tuple[str, ...]:
    """The texts of a marker.

    Raises:
        GrammarError: One is empty; the empty text occurs everywhere.
    """
    texts = (marker,) if isinstance(marker, str) else marker
    if not texts or not all(texts):
        raise GrammarError("The empty text occurs in every text: a marker needs at least one character.")
    return texts


@lru_cache(maxsize=1000)
def occurrence(markers: tuple[Marker, ...]) -> re.Pattern[str]:
    """What finds where the first of the markers occurs."""
    between = f"[{re.escape(WHITE_SPACE)}]*"
    spelled = (between.join(map(re.escape, texts_of(marker))) for marker in markers)
    return re.compile("|".join(spelled) or "(?!)")


def states_without(markers: Sequence[Marker]) -> list[State]:
    """The states of a text in which none of the markers occurs, the beginning first.

    Raises:
        GrammarError: A marker is empty; the empty text occurs everywhere.
    """
    texts = [texts_of(marker) for marker in dict.fromkeys(markers)]
    alphabet = list(dict.fromkeys("".join(text for marker in texts for text in marker)))
    if any(len(marker) > 1 for marker in texts):
        alphabet = list(dict.fromkeys([*alphabet, *WHITE_SPACE]))
    begin = frozenset((number, 0, 0) for number in range(len(texts)))
    numbers, waiting, states = {begin: 0}, [begin], list[State]()
    for places in waiting:
        following: dict[str, int] = {}
        forbidden: set[str] = set()
        for character in alphabet:
            reached = _after(places, character, texts)
            if reached is None:
                forbidden.add(character)
                continue
            reached |= begin
            if reached not in numbers:
                numbers[reached] = len(numbers)
                waiting.append(reached)
            following[character] = numbers[reached]
        states.append(State(following=following, forbidden=frozenset(forbidden)))
    return states


def _after(places: frozenset[_Place], character: str, texts: Sequence[tuple[str, ...]]) -> frozenset[_Place] | None:
    """The places after one more character; None if it completes a marker."""
    reached: set[_Place] = set()
    for number, index, length in places:
        marker = texts[number]
        if marker[index][length] == character:
            if length + 1 < len(marker[index]):
                reached.add((number, index, length + 1))
            elif index + 1 < len(marker):
                reached.add((number, index + 1, 0))
            else:
                return None
        if index and not length and character in WHITE_SPACE:
            reached.add((number, index, 0))
    return frozenset(reached)
