"""Characters that are the same but for their case.

Those that dialects agree on are ASCII's letters. Python's `re` takes more of them for the same, such as U+212A and `k`:
a text that it must not find is free of all of these.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from string import ascii_letters

from wieldy.grammar.reading.character_class import CharacterClass, Range, complement


def ignoring_case(ranges: Sequence[Range], *, is_widest: bool) -> Sequence[Range]:
    """The characters with those that are the same but for their case.

    Args:
        ranges: The characters.
        is_widest: Whether with all that Python's `re` takes for the same in Unicode; else with ASCII's only.
    """
    if not ranges:
        return ranges
    named = CharacterClass(ranges=tuple(ranges), is_negated=False)
    if is_widest:
        found: Iterable[str] = re.findall(named.text(lambda bound: f"\\U{ord(bound):08x}"), _cased(), re.IGNORECASE)
    else:
        found = (letter for letter in ascii_letters if letter.swapcase() in named)
    more = [(character, character) for character in found]
    return complement(complement((*ranges, *more))) if more else ranges


@lru_cache(maxsize=1)
def _cased() -> str:
    """Every character that has another one with which it is the same but for its case. Cost: a quarter of a second."""
    characters = map(chr, (*range(0xD800), *range(0xE000, 0x110000)))
    return "".join(found for found in characters if not found.lower() == found == found.upper())
