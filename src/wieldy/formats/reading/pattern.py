"""Patterns that know when they cannot tell yet.

A regular expression over text that may go on has three answers: it matches, it cannot match, or more text is needed.
`Pattern` gives them for sequences of literals, runs of characters, options and the end of the text, by keeping a second
expression that matches every proper beginning of a match. `Scanner` finds where one of several literals may begin.

Law: the answer for a text is the same however the text is cut.
Cost: linear in the pattern; every run of characters has an upper bound.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from wieldy.formats.reading.source import TOKEN, Reading, Source

MAX_GAP = 200
"""Whitespace that is only layout is at most this long; more is not recognised."""


@dataclass(frozen=True, slots=True)
class Run:
    """Characters of one class: the inside of a regular expression's character class."""

    allowed: str
    at_least: int = field(default=1, kw_only=True)
    at_most: int = field(default=256, kw_only=True)


@dataclass(frozen=True, slots=True)
class Either:
    """One of several sequences, tried in order; an empty one makes the others optional."""

    options: tuple[Sequence[Part], ...]


@dataclass(frozen=True, slots=True)
class Group:
    """A sequence whose text is asked for afterwards."""

    name: str
    parts: Sequence[Part]


@dataclass(frozen=True, slots=True)
class End:
    """The end of the text."""


Part: TypeAlias = "str | Run | Either | Group | End"
SPACE = Run(r"\s", at_least=0, at_most=MAX_GAP)
_SPACES = " \t\n\r\v\f\x85\xa0\u2003\u2028"


class Pattern:
    """A sequence of parts, looked for at one place.

    Its expressions are made when it is first looked for: most patterns of a parser never are.

    Args:
        unless: What must not stand at the same place.
    """

    __slots__ = ("_expressions", "_parts", "_unless")

    def __init__(self, parts: Sequence[Part], *, unless: Pattern | None = None) -> None:
        self._parts = parts
        self._unless = unless
        self._expressions: tuple[re.Pattern[str], re.Pattern[str]] | None = None

    def look(self, source: Source) -> Reading[re.Match[str] | None]:
        """The match at the source's place, which is not taken; None if there cannot be one."""
        if self._unless and (yield from self._unless.look(source)):
            return None
        whole, begun = self._expressions or self._compiled()
        while not source.ended and begun.fullmatch(source.text, source.at):
            yield
        return whole.match(source.text, source.at)

    def begun(self, source: Source) -> re.Match[str] | None:
        """The rest of the text, if it is a proper beginning of a match."""
        _, begun = self._expressions or self._compiled()
        return begun.fullmatch(source.text, source.at)

    def _compiled(self) -> tuple[re.Pattern[str], re.Pattern[str]]:
        self._expressions = re.compile(_whole(self._parts)), re.compile(_begun(self._parts))
        return self._expressions


def _whole(parts: Sequence[Part], behind: Sequence[Part] = ()) -> str:
    return "".join(_whole_part(part, (*parts[index:], *behind)) for index, part in enumerate(parts, start=1))


def _whole_part(part: Part, behind: Sequence[Part]) -> str:
    match part:
        case str():
            return re.escape(part)
        case Run():
            # Layout that is tried in every length makes the next layout be tried as often, and so on: a thousand
            # spaces would cost a second. So it is taken whole, unless something that is more than layout needs a part.
            is_whole = part == SPACE and not _may_begin_with_space(behind)
            return f"[{_class(part)}]{{{part.at_least},{part.at_most}}}{'+' if is_whole else ''}"
        case Either():
            return f"(?:{'|'.join(_whole(option, behind) for option in part.options)})"
        case Group():
            return f"(?P<{part.name}>{_whole(part.parts, behind)})"
        case End():
            return r"\Z"


def _may_begin_with_space(parts: Sequence[Part]) -> bool:
    """Whether the first character may be white space other than that of `SPACE`, which may be empty."""
    for index, part in enumerate(parts, start=1):
        match part:
            case "":
                continue
            case str():
                return part[0].isspace()
            case Run():
                if part == SPACE:
                    continue
                return part.at_least == 0 or re.search(f"[{part.allowed}]", _SPACES) is not None
            case Either():
                return any(_may_begin_with_space((*option, *parts[index:])) for option in part.options)
            case Group():
                return _may_begin_with_space((*part.parts, *parts[index:]))
            case End():
                return False
    return False


def _class(run: Run) -> str:
    # The mark of a special token is no character of the text, so no run goes over it.
    return run.allowed + TOKEN if run.allowed.startswith("^") else run.allowed


def _begun(parts: Sequence[Part]) -> str:
    """Matches every proper beginning of a match, the empty one included."""
    expression: str | None = None
    for index, part in reversed(list(enumerate(parts, start=1))):
        whole, begun = _without_names(_whole_part(part, parts[index:])), _begun_part(part)
        # A last part of one character has no beginning but the empty text, which is one nevertheless.
        expression = begun if expression is None else f"(?:{whole}{expression}|{begun})"
    return expression or ""


def _begun_part(part: Part) -> str:
    match part:
        case str():
            expression = ""
            for character in reversed(part[:-1]):
                expression = f"(?:{re.escape(character)}{expression})?"
            return expression
        case Run():
            return f"[{_class(part)}]{{0,{part.at_most}}}"
        case Either():
            return f"(?:{'|'.join(map(_begun, part.options))})"
        case Group():
            return _begun(part.parts)
        case End():
            return ""


def _without_names(expression: str) -> str:
    return re.sub(r"\(\?P<\w+>", "(?:", expression)


class Scanner:
    """Finds the first place at which one of the literals stands or may be about to stand."""

    __slots__ = ("_beginnings", "_longest", "_search", "literals")

    def __init__(self, literals: Iterable[str]) -> None:
        self.literals = tuple(sorted(set(literals), key=lambda literal: (-len(literal), literal)))
        self._search = re.compile("|".join(map(re.escape, self.literals)) or r"(?!)").search
        self._beginnings = tuple({literal[:end] for literal in self.literals for end in range(1, len(literal))})
        self._longest = max(map(len, self.literals), default=1) - 1

    def find(self, source: Source, start: int) -> tuple[int, bool]:
        """The offset in `source.text` up to which no literal begins, and whether one begins there.

        At the end of what has arrived, a text that may be the beginning of a literal is not passed over.
        """
        text = source.text
        found = self._search(text, start)
        plain_end = found.start() if found else len(text)
        if source.ended or not text.endswith(self._beginnings):
            return plain_end, found is not None
        for length in range(min(self._longest, len(text) - start), len(text) - plain_end, -1):
            if text[-length:] in self._beginnings:
                return len(text) - length, False
        return plain_end, found is not None
