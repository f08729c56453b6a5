r"""The inside of a regular expression's character class, read once and printed for each engine.

Read are single characters, ranges, a leading `^`, and the escapes that do not mean different things to different
engines: `\d`, `\w` and `\s` (ASCII), `\n`, `\t`, `\r`, a character by its number and any escaped punctuation mark.
`\D` and `\W` are all that `\d` and `\w` are not, as ECMA-262 says; `\S` is all that nobody counts as white space.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from wieldy.core.errors import GrammarError
from wieldy.grammar.shape import WHITE_SPACE

Range = tuple[str, str]
_Item: TypeAlias = str | tuple[Range, ...] | None
_DASH = None
"""A dash that was not escaped: it makes a range where it stands between two characters."""

_ITEM = re.compile(
    r"\\[xu]\{([0-9a-fA-F]+)\}|\\x([0-9a-fA-F]{2})|\\u([0-9a-fA-F]{4})|\\U([0-9a-fA-F]{8})|\\c([a-zA-Z])|\\(.)|([^\\])",
    re.DOTALL,
)
_SHORT = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "v": "\v", "0": "\0"}
_LAST = "\U0010ffff"
_SURROGATES: Range = ("\ud800", "\udfff")
"""Code points that are no characters."""


def complement(ranges: Iterable[Range]) -> tuple[Range, ...]:
    """The characters that are in none of the ranges, as ranges in order with gaps between them."""
    found: list[Range] = []
    start = 0
    for first, last in sorted((*ranges, _SURROGATES)):
        if start < ord(first):
            found.append((chr(start), chr(ord(first) - 1)))
        start = max(start, ord(last) + 1)
    if start <= ord(_LAST):
        found.append((chr(start), _LAST))
    return tuple(found)


_DIGITS: tuple[Range, ...] = (("0", "9"),)
_OF_WORDS: tuple[Range, ...] = (("a", "z"), ("A", "Z"), ("0", "9"), ("_", "_"))
SETS: dict[str, tuple[Range, ...]] = {
    "d": _DIGITS,
    "w": _OF_WORDS,
    "s": ((" ", " "), ("\t", "\r")),
    "D": complement(_DIGITS),
    "W": complement(_OF_WORDS),
    "S": complement((character, character) for character in (*WHITE_SPACE, "\ufeff")),
}
r"""The characters of `\d` and its like.

What a text may be under a constraint should be right for every validator: so `\s` has only the characters that all
count as white space, and `\S` only those that none does.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class CharacterClass:
    """A set of characters, or all but those."""

    ranges: tuple[Range, ...]
    is_negated: bool

    def __contains__(self, character: str) -> bool:
        """Whether the character is in the class."""
        return any(first <= character <= last for first, last in self.ranges) is not self.is_negated

    @property
    def included(self) -> tuple[Range, ...]:
        """The ranges of all characters that are in the class, in order, with gaps between them."""
        outside = complement(self.ranges)
        return outside if self.is_negated else complement(outside)

    def text(self, escape: Callable[[str], str]) -> str:
        """The class in brackets, every bound of a range printed by `escape`."""
        parts = (escape(first) if first == last else f"{escape(first)}-{escape(last)}" for first, last in self.ranges)
        return f"[{'^' * self.is_negated}{''.join(parts)}]"


def character_class(
    allowed: str,
    sets: Mapping[str, tuple[Range, ...]] = SETS,
    *,
    with_cases: Callable[[Sequence[Range]], Iterable[Range]] | None = None,
) -> CharacterClass:
    r"""The class that the inside of `[...]` describes.

    Args:
        allowed: The inside.
        sets: What `\d` and its like are.
        with_cases: Gives the characters that are named, one by one or in ranges, with those that are the same but for
            their case; None where case matters.

    Raises:
        GrammarError: It is empty, or uses what only some engines know.
    """
    is_negated = allowed.startswith("^")
    if is_negated and "\\" in allowed:  # what is certainly in a set is then certainly not in the class, and the reverse
        sets = {name: complement(sets[name.swapcase()]) for name in sets}
    items = _items(allowed[is_negated:], allowed, sets)
    ranges: list[Range] = []
    of_sets: list[Range] = []
    position = 0
    while position < len(items):
        item, is_range = items[position], items[position + 1 : position + 2] == [_DASH]
        last = items[position + 2] if is_range and position + 2 < len(items) else None
        if isinstance(item, str) and isinstance(last, str):
            if last < item:
                raise GrammarError(f"The range {item!r} to {last!r} of the character class [{allowed}] is backwards.")
            ranges.append((item, last))
            position += 3
            continue
        if isinstance(item, tuple):
            of_sets += item
        else:
            ranges.append((item or "-", item or "-"))
        position += 1
    if not ranges and not of_sets:
        raise GrammarError(f"A character class names at least one character, found [{allowed}].")
    named = ranges if with_cases is None else with_cases(ranges)
    return CharacterClass(ranges=(*named, *of_sets), is_negated=is_negated)


def inside(ranges: Iterable[Range]) -> str:
    """The ranges as the inside of a character class, as `character_class` reads it."""
    return "".join(_bound(first) + (f"-{_bound(last)}" if last != first else "") for first, last in ranges)


def _bound(character: str) -> str:
    return character if character.isascii() and character.isalnum() else f"\\x{{{ord(character):X}}}"


def _items(text: str, allowed: str, sets: Mapping[str, tuple[Range, ...]]) -> list[_Item]:
    items: list[_Item] = []
    position = 0
    while position < len(text):
        match = _ITEM.match(text, position)
        if match is None:
            raise GrammarError(f"The character class [{allowed}] ends inside an escape.")
        items.append(_item(match, allowed, sets))
        position = match.end()
    return items


def _item(match: re.Match[str], allowed: str, sets: Mapping[str, tuple[Range, ...]]) -> _Item:
    braced, two, four, eight, control, escaped, plain = match.groups()
    if (digits := braced or two or four or eight) is not None:
        return _character(int(digits, 16), allowed)
    if control is not None:
        return chr(ord(control) % 32)
    if escaped is None:
        return _DASH if plain == "-" else plain
    if escaped in sets:
        return sets[escaped]
    if escaped.isalnum() and escaped not in _SHORT:
        raise GrammarError(
            f"The escape \\{escaped} in the character class [{allowed}] is not known to every engine; "
            "name the characters themselves."
        )
    return _SHORT.get(escaped, escaped)


def _character(code: int, allowed: str) -> str:
    if code > 0x10FFFF or 0xD800 <= code <= 0xDFFF:
        raise GrammarError(f"The character class [{allowed}] names U+{code:04X}, which is no character.")
    return chr(code)
