r"""The inside of a regular expression's character class, read once and printed for each engine.

Read are single characters, ranges, a leading `^`, and the escapes that all the engines' authors agree on: `\d`, `\w`
and `\s` (ASCII), `\n`, `\t`, `\r`, `\xHH`, `\uHHHH`, `\x{H...}` and any escaped punctuation mark.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from wieldy.core.errors import GrammarError

Range = tuple[str, str]
_Item: TypeAlias = str | tuple[Range, ...] | None
_DASH = None
"""A dash that was not escaped: it makes a range where it stands between two characters."""

_ITEM = re.compile(r"\\x\{([0-9a-fA-F]+)\}|\\x([0-9a-fA-F]{2})|\\u([0-9a-fA-F]{4})|\\(.)|([^\\])", re.DOTALL)
_SHORT = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "v": "\v", "0": "\0"}
_SETS: dict[str, tuple[Range, ...]] = {
    "d": (("0", "9"),),
    "w": (("a", "z"), ("A", "Z"), ("0", "9"), ("_", "_")),
    "s": ((" ", " "), ("\t", "\r")),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class CharacterClass:
    """A set of characters, or all but those."""

    ranges: tuple[Range, ...]
    is_negated: bool

    def __contains__(self, character: str) -> bool:
        """Whether the character is in the class."""
        return any(first <= character <= last for first, last in self.ranges) is not self.is_negated

    def text(self, escape: Callable[[str], str]) -> str:
        """The class in brackets, every bound of a range printed by `escape`."""
        parts = (escape(first) if first == last else f"{escape(first)}-{escape(last)}" for first, last in self.ranges)
        return f"[{'^' * self.is_negated}{''.join(parts)}]"


def character_class(allowed: str) -> CharacterClass:
    """The class that the inside of `[...]` describes.

    Raises:
        GrammarError: It is empty, or uses what only some engines know.
    """
    is_negated = allowed.startswith("^")
    items = _items(allowed[is_negated:], allowed)
    ranges: list[Range] = []
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
        ranges += item if isinstance(item, tuple) else ((item or "-", item or "-"),)
        position += 1
    if not ranges:
        raise GrammarError(f"A character class names at least one character, found [{allowed}].")
    return CharacterClass(ranges=tuple(ranges), is_negated=is_negated)


def _items(inside: str, allowed: str) -> list[_Item]:
    items: list[_Item] = []
    position = 0
    while position < len(inside):
        match = _ITEM.match(inside, position)
        if match is None:
            raise GrammarError(f"The character class [{allowed}] ends inside an escape.")
        items.append(_item(match, allowed))
        position = match.end()
    return items


def _item(match: re.Match[str], allowed: str) -> _Item:
    braced, two, four, escaped, plain = match.groups()
    if (digits := braced or two or four) is not None:
        return _character(int(digits, 16), allowed)
    if escaped is None:
        return _DASH if plain == "-" else plain
    if escaped in _SETS:
        return _SETS[escaped]
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
