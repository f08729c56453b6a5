"""A short text that matches a regular expression, to show what a `pattern` wants.

Reads the expression with Python's own parser and writes one way through it. Assertions are taken on trust: the
caller checks the text against the schema. Not a generator of all matches.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Iterator
from typing import Any

_ALPHABET = "a1A _-.@/:,#" + "".join(map(chr, range(33, 127)))
"""Characters to try for a class, the plainest first."""
_CATEGORIES: dict[str, Callable[[str], bool]] = {
    "DIGIT": str.isdecimal,
    "WORD": lambda character: character.isalnum() or character == "_",
    "SPACE": str.isspace,
}
_MAX_REPEATS = 200


class _NoTextError(Exception):
    """The expression uses something that is not written here."""


def text_matching(pattern: str) -> Iterator[str]:
    """Texts that match the pattern, if its assertions allow: with optional parts once, then without them."""
    # The parser is Python's own and knows all its syntax, but has no public name; without it there is no example.
    try:
        tree: Any = importlib.import_module("re._parser").parse(pattern)
    except (ImportError, re.error, ValueError, RecursionError, OverflowError):
        return
    for optional in (1, 0):
        try:
            yield _Writer(optional).sequence(tree)
        except (_NoTextError, RecursionError):
            return


class _Writer:
    """One way through an expression; `optional` is how often what may be left out is written."""

    # The parser's nodes are untyped pairs (operation, argument).
    def __init__(self, optional: int) -> None:
        self.optional = optional
        self.groups: dict[int, str] = {}

    def sequence(self, nodes: Any) -> str:
        return "".join(self.node(str(operation), argument) for operation, argument in nodes)

    def node(self, operation: str, argument: Any) -> str:
        match operation:
            case "LITERAL":
                return chr(argument)
            case "NOT_LITERAL":
                return _pick(lambda character: character != chr(argument))
            case "ANY":
                return "a"
            case "IN":
                return _pick(lambda character: _is_in(character, argument), *_literals(argument))
            case "AT" | "ASSERT" | "ASSERT_NOT":
                return ""
            case "BRANCH":
                return self.sequence(argument[1][0])
            case "ATOMIC_GROUP":
                return self.sequence(argument)
            case _:
                return self._group(operation, argument)

    def _group(self, operation: str, argument: Any) -> str:
        match operation:
            case "SUBPATTERN":
                text = self.sequence(argument[3])
                if argument[0] is not None:
                    self.groups[argument[0]] = text
                return text
            case "GROUPREF":
                return self.groups.get(argument, "")
            case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
                least, most, repeated = int(argument[0]), int(argument[1]), argument[2]
                times = max(least, min(self.optional, most))
                if times > _MAX_REPEATS:
                    raise _NoTextError
                return "".join(self.sequence(repeated) for _ in range(times))
            case _:
                raise _NoTextError


def _pick(fits: Callable[[str], bool], *more: str) -> str:
    for character in (*_ALPHABET, *more):
        if fits(character):
            return character
    raise _NoTextError


def _literals(items: Any) -> Iterator[str]:
    for operation, argument in items:
        if str(operation) == "LITERAL":
            yield chr(argument)
        elif str(operation) == "RANGE":
            yield chr(argument[0])


def _is_in(character: str, items: Any) -> bool:
    negated = any(str(operation) == "NEGATE" for operation, _ in items)
    return negated != any(_is_item(character, str(operation), argument) for operation, argument in items)


def _is_item(character: str, operation: str, argument: Any) -> bool:
    match operation:
        case "LITERAL":
            return ord(character) == argument
        case "RANGE":
            return argument[0] <= ord(character) <= argument[1]
        case "CATEGORY":
            name = str(argument).removeprefix("CATEGORY_")
            is_member = _CATEGORIES.get(name.removeprefix("NOT_"), str.isprintable)(character)
            return is_member != name.startswith("NOT_")
        case _:
            return False
