r"""Characters as bytes: ranges of code points as ranges of UTF-8 bytes, plain and as they stand within JSON strings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import TypeAlias

from wieldy.grammar.budget.leaves import Character, Sequences, character
from wieldy.grammar.budget.parts import Range
from wieldy.grammar.reading.character_class import CharacterClass

CodePoints: TypeAlias = tuple[tuple[int, int], ...]
"""Ranges of code points, both ends included."""

_LENGTHS = (0x7F, 0x7FF, 0xFFFF, 0x10FFFF)
"""The last code points that one, two, three and four bytes are enough for."""
_SHORT_ESCAPES = {0x08: "b", 0x09: "t", 0x0A: "n", 0x0C: "f", 0x0D: "r", 0x22: '"', 0x5C: "\\"}
_ESCAPED = (*range(0x20), 0x22, 0x5C, 0x7F)
"""What a JSON string has only as an escape (DEL is the engine's own choice)."""


def one_of(allowed: CharacterClass, *, in_json: bool) -> Character:
    """One character of the class; within a JSON string as it is written there."""
    points = tuple((ord(first), ord(last)) for first, last in allowed.included)
    return character(_in_json(points) if in_json else tuple(sequences(points)))


def sequences(points: CodePoints) -> Iterator[tuple[Range, ...]]:
    """The characters as sequences of ranges of bytes. Source: Unicode 17, table 3-7."""
    start = 0
    for end in _LENGTHS:
        for first, last in points:
            if max(first, start) <= min(last, end):
                yield from _of_one_length(max(first, start), min(last, end))
        start = end + 1


def _of_one_length(first: int, last: int) -> Iterator[tuple[Range, ...]]:
    low, high = chr(first).encode(), chr(last).encode()
    # The trailing bytes must be full ranges wherever the bytes before them vary.
    for trailing in range(1, len(low)):
        block = 1 << 6 * trailing
        if first // block != last // block:
            if first % block:
                yield from _of_one_length(first, first | (block - 1))
                yield from _of_one_length((first | (block - 1)) + 1, last)
                return
            if (last + 1) % block:
                yield from _of_one_length(first, (last & ~(block - 1)) - 1)
                yield from _of_one_length(last & ~(block - 1), last)
                return
    yield tuple(zip(low, high, strict=True))


@lru_cache(maxsize=1000)
def _in_json(points: CodePoints) -> Sequences:
    plain = _without(points, _ESCAPED)
    escapes = [
        sequence
        for code in _ESCAPED
        if any(first <= code <= last for first, last in points)
        for sequence in _escapes(code)
    ]
    return (*sequences(plain), *escapes)


def _without(points: CodePoints, codes: Iterable[int]) -> CodePoints:
    found = list(points)
    for code in codes:
        found = [
            part
            for first, last in found
            for part in ((first, min(last, code - 1)), (max(first, code + 1), last))
            if part[0] <= part[1]
        ]
    return tuple(found)


def _escapes(code: int) -> Iterator[tuple[Range, ...]]:
    if code in _SHORT_ESCAPES:
        yield tuple((byte, byte) for byte in f"\\{_SHORT_ESCAPES[code]}".encode())
    if code not in (0x22, 0x5C):
        digits = f"{code:04x}"
        spellings = [(ord(digit), ord(digit)) for digit in f"\\u{digits[:3]}"]
        for last in {digits[3], digits[3].upper()}:
            yield (*spellings, (ord(last), ord(last)))
