r"""Regular expressions, read into shapes: the dialect that ECMA-262, Python and Rust agree on.

Read are characters, escapes, classes, `.`, groups, alternatives, quantifiers, `^` and `$` at the ends, and the flags
`(?i)` and `(?s)`. What a group captures is of no interest, and neither is in which order readings are tried: a lazy
quantifier allows the same texts as a greedy one. Named in an error, and not read: look-around, back
references, possessive quantifiers, word boundaries, conditions, `\p{...}`, and anchors in the middle.

Where dialects differ, fewer texts are allowed, so that what was allowed matches whoever checks it: `.` is no line
separator of any of them, for `\d`, `\w` and `\s` see `character_class`, and for `(?i)` see `cases`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache, partial
from typing import TypeAlias

from wieldy.core.errors import GrammarError
from wieldy.grammar.reading.cases import ignoring_case
from wieldy.grammar.reading.character_class import SETS, CharacterClass, character_class, complement, inside
from wieldy.grammar.reading.composing import EMPTY, in_order, one_of, repeated
from wieldy.grammar.reading.nesting import MAX_COUNT, MAX_DEPTH
from wieldy.grammar.shape import Characters, Exact, InOrder, Shape, TextWithout

_ANY_TEXT = TextWithout(())

_NOT_LINES = "^\\n\\r\\u2028\\u2029"
_ANY = inside(complement(()))
_ASCII_SETS = {
    name: ranges if name.islower() else tuple((first, min(last, "\x7f")) for first, last in ranges if first <= "\x7f")
    for name, ranges in SETS.items()
}
_COUNT = re.compile(r"\{(?=,?\d)(\d*)(,?)(\d*)\}")
_ESCAPE = re.compile(r"\\(?:[xu]\{[0-9a-fA-F]+\}|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|c[a-zA-Z]|.)", re.DOTALL)
_GROUP = re.compile(r"\((?:\?(?:P?<[A-Za-z_]\w*>|([a-z]*):|([a-z]+)\)|()))?")
_QUANTIFIERS = {"*": (0, None), "+": (1, None), "?": (0, 1)}
_UNREADABLE = {
    "?=": "look-ahead",
    "?!": "look-ahead",
    "?<": "look-behind",
    "?>": "atomic groups",
    "?P=": "back references",
    "?(": "conditions",
    "?#": "comments",
}
_UNREADABLE_ESCAPES = {
    **dict.fromkeys("bB", "word boundaries"),
    **dict.fromkeys("123456789k", "back references"),
    **dict.fromkeys("pP", "classes by Unicode property"),
}


@lru_cache(maxsize=1000)
def whole(pattern: str, *, ignores_case: bool = False, is_unicode: bool = False) -> Shape:
    r"""The texts that the expression matches from their beginning to their end, as `re.fullmatch` does.

    Args:
        pattern: The regular expression.
        ignores_case: As the flag `(?i)` at its beginning.
        is_unicode: Whether `\d` and `\w` mean Unicode's digits and letters to whoever checks the text, as they do to
            Python: then `\D`, `\W` and `\S` are ASCII characters only.

    Raises:
        GrammarError: It is no regular expression, or uses what is not read here.
    """
    return one_of(list(_read(pattern, ignores_case=ignores_case, is_unicode=is_unicode).values()))


@lru_cache(maxsize=1000)
def searched(pattern: str) -> Shape:
    """The texts in which the expression matches somewhere, as `re.search` and JSON Schema's `pattern` do.

    Raises:
        GrammarError: It is no regular expression, or uses what is not read here.
    """
    ways = _read(pattern).items()
    return one_of(
        [
            InOrder((*(() if at_start else (_ANY_TEXT,)), shape, *(() if at_end else (_ANY_TEXT,))))
            for (at_start, at_end), shape in ways
        ]
    )


_Anchored: TypeAlias = Mapping[tuple[bool, bool], Shape]
"""A shape in up to four parts: by whether the text must begin there, and whether it must end there."""
_UNANCHORED = (False, False)


def _read(pattern: str, *, ignores_case: bool = False, is_unicode: bool = False) -> _Anchored:
    try:
        return _Reader(pattern, ignores_case=ignores_case, is_unicode=is_unicode).read()
    except RecursionError:
        raise GrammarError("The regular expression is nested too deeply.") from None


class _Reader:
    """Reads one expression, from left to right."""

    def __init__(self, pattern: str, *, ignores_case: bool, is_unicode: bool) -> None:
        self._pattern, self._at, self._flags_end, self._depth = pattern, 0, 0, 0
        self._ignores_case, self._is_dot_all, self._is_unicode = ignores_case, False, is_unicode

    def read(self) -> _Anchored:
        found = self._alternatives()
        if self._at < len(self._pattern):
            raise self._error("a `)` has no `(`")
        return found

    def _error(self, what: str) -> GrammarError:
        shown = self._pattern if len(self._pattern) <= 200 else f"{self._pattern[:200]}..."
        return GrammarError(f"The regular expression {shown!r} cannot be read: at character {self._at}, {what}.")

    def _alternatives(self) -> _Anchored:
        options = [self._sequence()]
        while self._taken("|"):
            options.append(self._sequence())
        by_edges: dict[tuple[bool, bool], list[Shape]] = {}
        for option in options:
            for edges, shape in option.items():
                by_edges.setdefault(edges, []).append(shape)
        return {edges: one_of(shapes) for edges, shapes in by_edges.items()}

    def _sequence(self) -> _Anchored:
        found: _Anchored = _plain(EMPTY)
        plain: list[Shape] = []
        while self._at < len(self._pattern) and self._pattern[self._at] not in "|)":
            atom = self._quantified(self._atom())
            if set(atom) == {_UNANCHORED}:
                plain.append(atom[_UNANCHORED])
            else:
                found = self._joined(self._joined(found, _plain(in_order(*plain))), atom)
                plain = []
        return self._joined(found, _plain(in_order(*plain)))

    def _joined(self, first: _Anchored, second: _Anchored) -> _Anchored:
        found: dict[tuple[bool, bool], list[Shape]] = {}
        for (starts, ends), before in first.items():
            for (starts_again, ends_again), behind in second.items():
                if (starts_again and before != EMPTY) or (ends and behind != EMPTY):
                    raise self._error("an anchor stands in the middle, where it could never hold")
                found.setdefault((starts or starts_again, ends or ends_again), []).append(in_order(before, behind))
        return {edges: one_of(shapes) for edges, shapes in found.items()}

    def _quantified(self, atom: _Anchored) -> _Anchored:
        counts = self._counts()
        if counts is None:
            return atom
        if self._at < len(self._pattern) and self._pattern[self._at] == "+":
            raise self._error("possessive quantifiers are not read; write the group without them")
        self._taken("?")
        if self._counts() is not None:
            raise self._error("there is nothing to repeat; escape a character that is meant literally")
        least, most = counts
        if set(atom) == {_UNANCHORED}:
            return _plain(repeated(atom[_UNANCHORED], least, most))
        if most != 1:
            raise self._error("an anchor is repeated")
        unanchored = [atom[_UNANCHORED]] if _UNANCHORED in atom else []
        return atom if least else {**atom, _UNANCHORED: one_of([*unanchored, EMPTY])}

    def _counts(self) -> tuple[int, int | None] | None:
        if self._at == len(self._pattern):
            return None
        if (simple := _QUANTIFIERS.get(self._pattern[self._at])) is not None:
            self._at += 1
            return simple
        found = _COUNT.match(self._pattern, self._at)
        if found is None:
            return None
        if not found[1]:
            raise self._error(
                f"{found[0]} is a count to some and a text to others; write {{0{found[0][1:]} or escape it"
            )
        least = int(found[1])
        most = int(found[3]) if found[3] else None if found[2] else least
        if max(least, most or 0) > MAX_COUNT or (most is not None and most < least):
            raise self._error(f"expected counts in order and up to {MAX_COUNT}, found {found[0]}")
        self._at = found.end()
        return least, most

    def _atom(self) -> _Anchored:
        character = self._pattern[self._at]
        match character:
            case "(":
                return self._group()
            case "^" | "$":
                self._at += 1
                return _edge(is_start=character == "^")
            case "*" | "+" | "?":
                raise self._error(f"there is nothing to repeat with {character!r}")
            case "\\":
                return self._escaped()
            case ".":
                self._at += 1
                return _plain(_one(_ANY if self._is_dot_all else _NOT_LINES))
            case "[":
                return _plain(self._class())
            case _:
                self._at += 1
                return _plain(self._character(character))

    def _character(self, character: str) -> Shape:
        if not self._ignores_case:
            return Exact(character)
        found = tuple(ignoring_case([(character, character)], is_widest=self._is_unicode))
        return Exact(character) if found == ((character, character),) else _one(inside(found))

    def _escaped(self) -> _Anchored:
        found = _ESCAPE.match(self._pattern, self._at)
        if found is None:
            raise self._error("a `\\` has nothing behind it")
        letter = found[0][1]
        if letter in "AzZ":
            self._at = found.end()
            return _edge(is_start=letter == "A")
        if letter in _UNREADABLE_ESCAPES:
            raise self._error(f"{found[0]} is not read ({_UNREADABLE_ESCAPES[letter]})")
        characters = self._read_class(found[0])
        self._at = found.end()
        if len(characters.ranges) == 1 and characters.ranges[0][0] == characters.ranges[0][1]:
            return _plain(self._character(characters.ranges[0][0]))
        return _plain(self._one_of(characters, found[0]))

    def _class(self) -> Shape:
        start = self._at + 1
        end = start + self._pattern.startswith("^", start)
        while end < len(self._pattern) and self._pattern[end] != "]":
            if self._pattern.startswith("[:", end):
                raise self._error("POSIX classes such as [:alpha:] are not read; name the characters")
            end += 2 if self._pattern[end] == "\\" else 1
        if end >= len(self._pattern):
            raise self._error("a `[` has no `]`")
        written = self._pattern[start:end]
        found = self._read_class(written)
        self._at = end + 1
        return self._one_of(found, written)

    def _read_class(self, written: str) -> CharacterClass:
        # Only where the meaning is in doubt: a set of Unicode's is as good as ASCII's unless it is negated.
        sets = _ASCII_SETS if self._is_unicode else SETS
        is_widest = self._is_unicode or written.startswith("^")
        with_cases = partial(ignoring_case, is_widest=is_widest) if self._ignores_case else None
        try:
            found = character_class(written, sets, with_cases=with_cases)
        except GrammarError as error:
            raise self._error(str(error).rstrip(".")) from None
        if not found.included:
            raise self._error(f"the class [{written}] has no character")
        return found

    def _one_of(self, characters: CharacterClass, written: str) -> Shape:
        """One of the characters; as it was written, unless that would be read otherwise."""
        is_read = self._ignores_case or self._is_unicode
        return _one("^" * characters.is_negated + inside(characters.ranges) if is_read else written)

    def _group(self) -> _Anchored:
        found = _GROUP.match(self._pattern, self._at)
        flags, flags_for_the_rest, unreadable = found.groups() if found else (None, None, "")
        if found is None or unreadable is not None:
            said = self._pattern[self._at + 1 :]
            name = next((name for start, name in _UNREADABLE.items() if said.startswith(start)), "such groups")
            raise self._error(f"{name} cannot be enforced while a text is written")
        if flags_for_the_rest is not None:
            if self._at != self._flags_end:
                raise self._error("flags for the rest may only stand at the beginning")
            self._set_flags(flags_for_the_rest)
            self._at = self._flags_end = found.end()
            return _plain(EMPTY)
        before = self._ignores_case, self._is_dot_all
        self._set_flags(flags or "")
        self._at = found.end()
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise GrammarError(
                f"The regular expression is nested too deeply. Expected at most {MAX_DEPTH} groups within one another."
            )
        inner = self._alternatives()
        self._depth -= 1
        if not self._taken(")"):
            raise self._error("a `(` has no `)`")
        self._ignores_case, self._is_dot_all = before
        return inner

    def _set_flags(self, flags: str) -> None:
        unknown = set(flags) - set("isu")
        if unknown:
            raise self._error(f"expected the flags i, s and u only, found {''.join(sorted(unknown))!r}")
        self._ignores_case |= "i" in flags
        self._is_dot_all |= "s" in flags

    def _taken(self, character: str) -> bool:
        is_there = self._pattern.startswith(character, self._at)
        self._at += is_there
        return is_there


def _edge(*, is_start: bool) -> _Anchored:
    return {(is_start, not is_start): EMPTY}


def _plain(shape: Shape) -> _Anchored:
    return {_UNANCHORED: shape}


def _one(allowed: str) -> Shape:
    return Characters(allowed, at_least=1, at_most=1)
