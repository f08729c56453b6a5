"""Bytes cut into the fewest tokens of a vocabulary."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Container, Iterable, Iterator, Sequence
from functools import cached_property, lru_cache

from wieldy.grammar.budget.parts import Piece, joined
from wieldy.grammar.tokenizer import Tokenizer

_MAX_KNOWN = 20_000


class Cutter:
    """Cuts texts into tokens of one vocabulary.

    Args:
        tokens: The bytes of every token.
        special: Tokens that no text is made of.
    """

    def __init__(self, tokens: Sequence[bytes], special: Container[int]) -> None:
        self._ids: dict[bytes, int] = {}
        lengths: dict[bytes, set[int]] = {}
        for index, token in enumerate(tokens):
            if token and index not in special and token not in self._ids:
                self._ids[token] = index
                lengths.setdefault(token[:2], set()).add(len(token))
        self._lengths = {start: sorted(found, reverse=True) for start, found in lengths.items()}
        self._known: dict[bytes, tuple[int, ...] | None] = {}

    def cut(self, pieces: Iterable[Piece]) -> tuple[int, ...] | None:
        """The fewest tokens that spell the pieces; None if the vocabulary cannot spell them."""
        found: list[int] = []
        for piece in joined(piece for piece in pieces if piece is not None):
            tokens = self._cut(piece) if isinstance(piece, bytes) else piece if piece is None else (piece,)
            if tokens is None:
                return None
            found += tokens
        return tuple(found)

    def id_of(self, text: bytes) -> int | None:
        """The token that is exactly this text."""
        return self._ids.get(text)

    def begins_one(self, text: bytes) -> bool:
        """Whether some token begins with this text."""
        index = bisect_left(self._sorted, text)
        return index < len(self._sorted) and self._sorted[index].startswith(text)

    @cached_property
    def _sorted(self) -> list[bytes]:
        return sorted(self._ids)

    def weights(self, of_bytes: Sequence[int]) -> Iterator[tuple[int, bytes]]:
        """Every token that a text is made of, with the sum of its bytes' weights. Cost: linear in the vocabulary."""
        if max(of_bytes) < 256:
            table = bytes(of_bytes)
            return ((sum(token.translate(table)), token) for token in self._ids)
        return ((sum(of_bytes[byte] for byte in token), token) for token in self._ids)

    def _cut(self, text: bytes) -> tuple[int, ...] | None:
        if text not in self._known:
            if len(self._known) >= _MAX_KNOWN:
                self._known.clear()
            self._known[text] = self._new_cut(text)
        return self._known[text]

    def _new_cut(self, text: bytes) -> tuple[int, ...] | None:
        """Cost: linear in the text, times the lengths that tokens with the same first bytes have."""
        size = len(text)
        # From the end: of how many tokens the rest is, and the length of the first; longer ones first where equal.
        counts = [size + 1] * size + [0]
        steps = [0] * size
        for start in range(size - 1, -1, -1):
            pair = text[start : start + 2]
            lengths = (*self._lengths.get(pair, ()), *((1,) if len(pair) == 2 and pair[:1] in self._ids else ()))
            for length in lengths:
                end = start + length
                if end <= size and counts[end] + 1 < counts[start] and text[start:end] in self._ids:
                    counts[start], steps[start] = counts[end] + 1, length
        if counts[0] > size:
            return None
        found: list[int] = []
        start = 0
        while start < size:
            found.append(self._ids[text[start : start + steps[start]]])
            start += steps[start]
        return tuple(found)


@lru_cache(maxsize=4)
def cutter_of(tokenizer: Tokenizer) -> Cutter:
    """What cuts texts into the tokens of a vocabulary."""
    return Cutter(tokenizer.tokens, tokenizer.special_ids)
