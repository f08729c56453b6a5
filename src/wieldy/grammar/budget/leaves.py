"""The plainest parts: nothing, a literal, one character of a class."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import TypeAlias

from typing_extensions import override

from wieldy.grammar.budget.parts import IMPOSSIBLE, Leaf, Range


class Empty(Leaf):
    """Nothing."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__(0)

    @property
    @override
    def may_end(self) -> bool:
        return True

    @property
    @override
    def ranges(self) -> Iterable[Range]:
        return ()

    @property
    @override
    def lasts(self) -> Iterable[Range]:
        return ()

    @property
    @override
    def spelling(self) -> bytes:
        return b""

    @override
    def after(self, byte: int) -> Leaf | None:
        return None


EMPTY = Empty()


class Literal(Leaf):
    """Exactly these bytes, of which there is at least one."""

    __slots__ = ("_following", "_start", "_text")

    def __init__(self, text: bytes, start: int = 0) -> None:
        super().__init__(len(text) - start)
        self._text, self._start = text, start
        self._following: Leaf | None = None

    @property
    @override
    def ranges(self) -> Iterable[Range]:
        byte = self._text[self._start]
        return ((byte, byte),)

    @property
    @override
    def lasts(self) -> Iterable[Range]:
        return ((self._text[-1], self._text[-1]),)

    @override
    def rises(self) -> Mapping[Range, int]:
        return dict.fromkeys(self.ranges, -1)

    @property
    @override
    def spelling(self) -> bytes:
        return self._text[self._start :]

    @override
    def after(self, byte: int) -> Leaf | None:
        if byte != self._text[self._start]:
            return None
        if self._following is None:
            is_last = self._start + 1 == len(self._text)
            self._following = EMPTY if is_last else Literal(self._text, self._start + 1)
        return self._following


Sequences: TypeAlias = tuple[tuple[Range, ...], ...]
"""Ways to write one character: each a range for every byte of it."""

NICE = b"a0An1 "
"""Where any byte of a class will do, the first of these that is in it: a filler that one can read."""


class Character(Leaf):
    """One character of a class, as a choice of byte sequences; or what is left of it after its first bytes."""

    __slots__ = ("_sequences", "_spelling")

    def __init__(self, sequences: Sequences) -> None:
        super().__init__(min(map(len, sequences), default=IMPOSSIBLE))
        self._sequences = sequences
        self._spelling = _readable([sequence for sequence in sequences if len(sequence) == self.cost])

    @property
    @override
    def ranges(self) -> Iterable[Range]:
        return (sequence[0] for sequence in self._sequences)

    @property
    @override
    def lasts(self) -> Iterable[Range]:
        return (sequence[-1] for sequence in self._sequences)

    @property
    @override
    def spelling(self) -> bytes:
        return self._spelling

    @override
    def rises(self) -> Mapping[Range, int]:
        return dict.fromkeys(self.ranges, -self.cost)

    @override
    def after(self, byte: int) -> Leaf | None:
        rests = tuple(sequence[1:] for sequence in self._sequences if sequence[0][0] <= byte <= sequence[0][1])
        if not rests:
            return None
        # No sequence is the beginning of another one: either all of them end here or none does.
        return character(rests) if rests[0] else EMPTY


def _readable(shortest: Sequence[tuple[Range, ...]]) -> bytes:
    """One of the sequences, spelled with a byte that is nice to read if there is such a one."""
    singles = [sequence[0] for sequence in shortest if len(sequence) == 1]
    for byte in NICE:
        if any(low <= byte <= high for low, high in singles):
            return bytes([byte])
    return bytes(low for low, _ in shortest[0]) if shortest else b""


@lru_cache(maxsize=4096)
def character(sequences: Sequences) -> Character:
    """The part for one character; the same object for the same sequences."""
    return Character(sequences)
