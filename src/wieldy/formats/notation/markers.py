"""Text without markers as a finite automaton, for engines that know no complement.

Source: Aho and Corasick 1975. States are beginnings of markers: the longest that the text so far ends with.
Cost: linear in the markers' length, times the number of different characters in them.
"""

from __future__ import annotations

from dataclasses import dataclass

from wieldy.core.errors import GrammarError


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """Where a text stands with respect to the markers.

    Attributes:
        following: The state after each of the markers' characters that may come next; state 0 is the beginning.
        forbidden: The characters that would complete a marker. After any other character the state is 0.
    """

    following: dict[str, int]
    forbidden: frozenset[str]


def states_without(markers: tuple[str, ...]) -> list[State]:
    """The states of a text in which none of the markers occurs, the beginning first.

    Raises:
        GrammarError: A marker is empty; the empty text occurs everywhere.
    """
    if not all(markers):
        raise GrammarError("The empty text occurs in every text: a marker needs at least one character.")
    beginnings = dict.fromkeys(marker[:end] for marker in markers for end in range(len(marker)))
    alphabet = list(dict.fromkeys("".join(markers)))
    seen = sorted(beginnings or {"": None}, key=len)
    numbers = {text: index for index, text in enumerate(seen)}
    return [_state(text, alphabet, numbers, markers) for text in seen]


def _state(text: str, alphabet: list[str], numbers: dict[str, int], markers: tuple[str, ...]) -> State:
    following: dict[str, int] = {}
    forbidden: set[str] = set()
    for character in alphabet:
        grown = text + character
        if grown.endswith(markers):
            forbidden.add(character)
        else:
            start = next(start for start in range(len(grown) + 1) if grown[start:] in numbers)
            following[character] = numbers[grown[start:]]
    return State(following=following, forbidden=frozenset(forbidden))
