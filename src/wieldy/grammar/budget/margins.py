"""How far a single token can lead away from the end: where there is more than that to spare, no token need be refused.

A byte may begin something that could have been left out, and then has to be completed. How much dearer that makes a
text is known for every part, by the bytes that it begins with and the bytes that may stand before it; a token leads no
further away than the sum of that over its bytes. A coarse bound, found once for a grammar and a vocabulary: where it
holds, single tokens need not be looked at.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise

from wieldy.grammar.budget.cutting import Cutter
from wieldy.grammar.budget.network import Network
from wieldy.grammar.budget.parts import (
    IMPOSSIBLE,
    Call,
    Chain,
    Choice,
    FreeText,
    Leaf,
    Part,
    Range,
    Repetition,
    SpecialToken,
    inner_first,
)

_MAX_ROUNDS = 8
"""Rules that call one another at their beginnings are gone through so often; if that is not enough, there is no bound.
"""
_LEAST = 64
"""A margin need not be told more exactly than this."""
_UNFINISHED = 5
"""What an unfinished character at the end of a token costs at most: most of an escape in a JSON string."""
_ANY_BYTE = (1 << 256) - 1

_Begun = dict[Range | None, int]
"""By the bytes that something begins with, how much dearer it becomes than it could be; None for special tokens."""


@lru_cache(maxsize=64)
def margin(network: Network, cutter: Cutter) -> int:
    """How many bytes more than at its peak a text may cost after one more token. Cost: a tenth of a second at most."""
    begun = _Beginnings(Call(network.start))
    if not begun.is_settled:
        return IMPOSSIBLE
    weights = [max((rise for _, rise in rises), default=0) for rises in begun.by_byte]
    if max(begun.of_token, *weights) >= IMPOSSIBLE:
        return IMPOSSIBLE
    most = max(begun.of_token, _LEAST)
    for bound, token in cutter.weights(weights):
        if bound > most:
            most = max(most, begun.weight(token, weights))
    return most + _UNFINISHED


class _Beginnings:
    """What may begin in a network.

    Attributes:
        by_byte: For every byte, how much dearer a text may become by it, and the set of bytes behind which it may.
        of_token: How much dearer it may become by a special token.
        is_settled: Whether all was found.
    """

    def __init__(self, root: Part) -> None:
        order = list(inner_first(root))
        self._begun: dict[Part, _Begun] = {}
        self._last: dict[Part, int] = {}
        self.is_settled = any(self._is_known(order) for _ in range(_MAX_ROUNDS))
        self.of_token = max((begun.get(None, 0) for begun in self._begun.values()), default=0)
        found: dict[tuple[Range, int], int] = {}
        for last, begun in self._behind_one_another(root, order):
            for beginning, rise in begun.items():
                if beginning is not None and rise > found.get((beginning, last), 0):
                    found[beginning, last] = rise
        self.by_byte: list[list[tuple[int, int]]] = [[] for _ in range(256)]
        for ((low, high), last), rise in sorted(found.items(), key=lambda entry: -entry[1]):
            for byte in range(low, high + 1):
                self.by_byte[byte].append((last, rise))

    def weight(self, token: bytes, weights: Sequence[int]) -> int:
        """How much dearer a text may become by the bytes of the token."""
        total = weights[token[0]]
        for before, byte in pairwise(token):
            total += next((rise for last, rise in self.by_byte[byte] if last >> before & 1), 0)
        return total

    def _is_known(self, order: Sequence[Part]) -> bool:
        """Goes through all parts once; whether nothing new was found."""
        is_settled = True
        for part in order:
            begun, last = self._begun_by(part), self._last_of(part)
            if (begun, last) != (self._begun.get(part), self._last.get(part)):
                self._begun[part], self._last[part] = begun, last
                is_settled = False
        return is_settled

    def _begun_by(self, part: Part) -> _Begun:
        match part:
            case Leaf():
                return {**part.rises()}
            case SpecialToken():
                return {None: 0}
            case Chain(parts=parts):
                return _most(self._begun.get(first, {}) for first in _until_one_is_needed(parts))
            case Choice(options=options):
                return _most(
                    _dearer(self._begun.get(option, {}), option.cost - part.cost)
                    for option in options
                    if option.cost < IMPOSSIBLE
                )
            case Repetition(part=inner, least=least):
                return _dearer(self._begun.get(inner, {}), 0 if least else inner.cost)
            case FreeText(part=inner):
                return self._begun.get(inner, {})
            case Call(rule=rule):
                return self._begun.get(rule.part, {})
            case _:
                return {}

    def _last_of(self, part: Part) -> int:
        """The bytes that it may end with, as a set."""
        match part:
            case Leaf():
                return _ANY_BYTE if part.lasts is None else _set_of(part.lasts)
            case Chain(parts=parts):
                return _union(self._last.get(last, 0) for last in _until_one_is_needed(parts[::-1]))
            case _:
                return _union(self._last.get(inner, 0) for inner in part.inner())

    def _behind_one_another(self, root: Part, order: Iterable[Part]) -> Iterator[tuple[int, _Begun]]:
        """What may begin behind which bytes."""
        yield 0, self._begun[root]
        for part in order:
            if isinstance(part, Repetition):
                # Every further one is its own to leave out, also where the first ones are needed.
                yield self._last[part.part], _dearer(self._begun[part.part], part.part.cost)
            if isinstance(part, Chain):
                for index in range(1, len(part.parts)):
                    before = _until_one_is_needed(part.parts[index - 1 :: -1])
                    yield _union(self._last[one] for one in before), self._begun[part.parts[index]]


def _until_one_is_needed(parts: Iterable[Part]) -> Iterator[Part]:
    """The parts up to the first that cannot be left out."""
    for part in parts:
        yield part
        if part.cost:
            return


def _dearer(begun: _Begun, cost: int) -> _Begun:
    return {beginning: min(rise + cost, IMPOSSIBLE) for beginning, rise in begun.items()}


def _most(several: Iterable[_Begun]) -> _Begun:
    found: _Begun = {}
    for one in several:
        for beginning, rise in one.items():
            found[beginning] = max(found.get(beginning, -IMPOSSIBLE), rise)
    return found


def _set_of(ranges: Iterable[Range]) -> int:
    return _union((1 << high + 1) - (1 << low) for low, high in ranges)


def _union(sets: Iterable[int]) -> int:
    found = 0
    for one in sets:
        found |= one
    return found
