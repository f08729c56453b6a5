r"""Regular sets of texts: put together with "and" and "not", asked what they contain and whether they are empty.

`pattern`, `format`, lengths, names of properties and what `not` forbids are all such sets. They are kept as expressions
and looked into by their derivatives: what may follow once a character has been written. Law: a text is in a language
exactly if the derivative by all of its characters, one after the other, has the empty text.

Whatever looks further ahead than one character takes a bound and says so when the bound was not enough.
Source: J. A. Brzozowski, Derivatives of regular expressions (1964).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, TypeAlias

from wieldy.core.errors import GrammarError
from wieldy.grammar.reading.character_class import character_class
from wieldy.grammar.shape import Characters, Exact, InOrder, OneOf, Repeated, Shape, TextWithout

Ranges: TypeAlias = tuple[tuple[int, int], ...]
"""Code points, in order, with gaps between them; both ends are in."""

LAST = 0x10FFFF
_SURROGATES = (0xD800, 0xDFFF)
MAX_STATES = 600
"""Derivatives looked at for one question: enough for the patterns and formats of real schemas."""
_MAX_PARTS = 100_000
_LEAST_STATES = 10
"""Parts looked at for one question: of a large language fewer derivatives, and of one of ten thousand parts none."""


def _kept_hash(self: Any) -> int:
    """The hash, worked out once: languages are large and looked up all the time."""
    try:
        return self._hash
    except AttributeError:
        names = [name for name in self.__slots__ if name != "_hash"]
        found = hash((type(self).__name__, *(getattr(self, name) for name in names)))
        object.__setattr__(self, "_hash", found)
        return found


@dataclass(frozen=True, slots=True)
class One:
    """One character of these; without ranges, no text at all."""

    ranges: Ranges
    _hash: int = field(init=False, repr=False, compare=False)
    __hash__ = _kept_hash


@dataclass(frozen=True, slots=True)
class Row:
    """A text of each, one after the other; without parts, the empty text."""

    parts: tuple[Language, ...]
    _hash: int = field(init=False, repr=False, compare=False)
    __hash__ = _kept_hash


@dataclass(frozen=True, slots=True)
class Either:
    """A text of any of them."""

    options: frozenset[Language]
    _hash: int = field(init=False, repr=False, compare=False)
    __hash__ = _kept_hash


@dataclass(frozen=True, slots=True)
class Both:
    """A text of all of them."""

    parts: frozenset[Language]
    _hash: int = field(init=False, repr=False, compare=False)
    __hash__ = _kept_hash


@dataclass(frozen=True, slots=True)
class Not:
    """Every text but those."""

    language: Language
    _hash: int = field(init=False, repr=False, compare=False)
    __hash__ = _kept_hash


@dataclass(frozen=True, slots=True)
class Times:
    """So many texts of it, one after the other."""

    part: Language
    least: int
    most: int | None
    _hash: int = field(init=False, repr=False, compare=False)
    __hash__ = _kept_hash


Language: TypeAlias = One | Row | Either | Both | Not | Times

NOTHING = One(())
EMPTY_TEXT = Row(())
ANY_CHARACTER = One(((0, _SURROGATES[0] - 1), (_SURROGATES[1] + 1, LAST)))
ANYTHING = Times(ANY_CHARACTER, 0, None)


def row(*parts: Language) -> Language:
    """The languages one after the other."""
    found: list[Language] = []
    for part in parts:
        if part == NOTHING:
            return NOTHING
        found += part.parts if isinstance(part, Row) else (part,)
    return found[0] if len(found) == 1 else Row(tuple(found))


def either(options: Iterable[Language]) -> Language:
    """Any of the languages."""
    found: set[Language] = set()
    single: list[tuple[int, int]] = []
    for option in options:
        for inner in option.options if isinstance(option, Either) else (option,):
            if isinstance(inner, One):
                single += inner.ranges
            else:
                found.add(inner)
    if ANYTHING in found:
        return ANYTHING
    if single:
        found.add(One(joined(single)))
    return next(iter(found)) if len(found) == 1 else Either(frozenset(found)) if found else NOTHING


def both(*parts: Language) -> Language:
    """All of the languages at once."""
    found: set[Language] = set()
    for part in parts:
        found |= part.parts if isinstance(part, Both) else {part}
    found.discard(ANYTHING)
    if NOTHING in found or any(isinstance(part, Not) and part.language in found for part in found):
        return NOTHING
    return next(iter(found)) if len(found) == 1 else Both(frozenset(found)) if found else ANYTHING


def other(language: Language) -> Language:
    """Every text but those of the language."""
    match language:
        case Not(language=inner):
            return inner
        case One(ranges=()):
            return ANYTHING
        case _:
            return NOTHING if language == ANYTHING else Not(language)


def times(part: Language, least: int, most: int | None) -> Language:
    """So many texts of the language, one after the other."""
    if most == 0 or part == EMPTY_TEXT:
        return EMPTY_TEXT
    if part == NOTHING:
        return NOTHING if least else EMPTY_TEXT
    if (least, most) == (1, 1):
        return part
    if isinstance(part, Times) and part.most is None and part.least <= 1:
        return Times(part.part, min(part.least, least), None)
    return Times(part, least, most)


def literal(text: str) -> Language:
    """Exactly this text."""
    return row(*(One(((ord(character), ord(character)),)) for character in text))


def length(least: int, most: int | None) -> Language:
    """Every text of so many characters."""
    return times(ANY_CHARACTER, least, most)


def joined(ranges: Iterable[tuple[int, int]]) -> Ranges:
    """The ranges in order, those that touch as one."""
    found: list[tuple[int, int]] = []
    for first, last in sorted(ranges):
        if found and first <= found[-1][1] + 1:
            found[-1] = (found[-1][0], max(found[-1][1], last))
        else:
            found.append((first, last))
    return tuple(found)


@lru_cache(maxsize=4000)
def of_shape(shape: Shape) -> Language:
    """The texts of a shape without JSON, names and markers, such as regular expressions are read into.

    Raises:
        GrammarError: The shape is of another kind.
    """
    match shape:
        case Exact(text=text):
            return literal(text)
        case Characters(allowed=allowed, at_least=least, at_most=most):
            ranges = ((ord(first), ord(last)) for first, last in character_class(allowed).included)
            return times(One(joined(ranges)), least, most)
        case InOrder(parts=parts):
            return row(*map(of_shape, parts))
        case OneOf(options=options):
            return either(map(of_shape, options))
        case Repeated(part=part, at_least=least, at_most=most, between=None):
            return times(of_shape(part), least, most)
        case TextWithout(markers=()):
            return ANYTHING
        case _:
            raise GrammarError(f"Expected the shape of a regular expression, found {type(shape).__name__}.")


@lru_cache(maxsize=20_000)
def has_empty_text(language: Language) -> bool:
    """Whether the empty text is in the language."""
    match language:
        case One():
            return False
        case Row(parts=parts) | Both(parts=parts):
            return all(map(has_empty_text, parts))
        case Either(options=options):
            return any(map(has_empty_text, options))
        case Not(language=inner):
            return not has_empty_text(inner)
        case Times(part=part, least=least):
            return least == 0 or has_empty_text(part)


@lru_cache(maxsize=20_000)
def after(language: Language, character: int) -> Language:
    """What may follow once a text of the language has begun with this character."""
    match language:
        case One(ranges=ranges):
            return EMPTY_TEXT if any(first <= character <= last for first, last in ranges) else NOTHING
        case Row(parts=parts):
            return either(_after_row(parts, character))
        case Either(options=options):
            return either(after(option, character) for option in options)
        case Both(parts=parts):
            return both(*(after(part, character) for part in parts))
        case Not(language=inner):
            return other(after(inner, character))
        case Times(part=part, least=least, most=most):
            rest = times(part, max(least - 1, 0), None if most is None else most - 1)
            return row(after(part, character), rest)


def _after_row(parts: tuple[Language, ...], character: int) -> Iterator[Language]:
    for index, part in enumerate(parts):
        yield row(after(part, character), *parts[index + 1 :])
        if not has_empty_text(part):
            return


def contains(language: Language, text: str) -> bool:
    """Whether the text is in the language. Cost: a derivative for every character."""
    for character in text:
        language = after(language, ord(character))
        if language == NOTHING:
            return False
    return has_empty_text(language)


def first_characters(language: Language) -> tuple[Ranges, ...]:
    """All characters, in groups within which it does not matter which one a text begins with."""
    starts = {0, _SURROGATES[1] + 1, *_cuts(language)}
    edges = sorted(start for start in starts if not _SURROGATES[0] <= start <= _SURROGATES[1])
    by_rest: dict[Language, list[tuple[int, int]]] = {}
    for start, following in zip(edges, [*edges[1:], LAST + 1], strict=True):
        last = min(following - 1, _SURROGATES[0] - 1) if start < _SURROGATES[0] else following - 1
        by_rest.setdefault(after(language, start), []).append((start, last))
    return tuple(joined(ranges) for ranges in by_rest.values())


@lru_cache(maxsize=20_000)
def _cuts(language: Language) -> frozenset[int]:
    """The characters from which on another rest may follow."""
    match language:
        case One(ranges=ranges):
            return frozenset(edge for first, last in ranges for edge in (first, last + 1) if edge <= LAST)
        case Row(parts=parts):
            found = frozenset[int]()
            for part in parts:
                found |= _cuts(part)
                if not has_empty_text(part):
                    break
            return found
        case Either(options=inner) | Both(parts=inner):
            return frozenset[int]().union(*map(_cuts, inner))
        case Not(language=part) | Times(part=part):
            return _cuts(part)


@lru_cache(maxsize=4000)
def size(language: Language) -> int:
    """Of how many parts the language consists: each derivative costs as much."""
    match language:
        case One(ranges=ranges):
            return 1 + len(ranges)
        case Row(parts=inner) | Either(options=inner) | Both(parts=inner):
            return 1 + sum(map(size, inner))
        case Not(language=part) | Times(part=part):
            return 1 + size(part)


@lru_cache(maxsize=4000)
def is_empty(language: Language) -> bool | None:
    """Whether there is no text in the language; None where that could not be found out."""
    seen, waiting = {language}, [language]
    most = min(MAX_STATES, _MAX_PARTS // size(language))
    for state in waiting:
        if has_empty_text(state):
            return False
        if most < _LEAST_STATES:
            return None
        for ranges in first_characters(state):
            following = after(state, ranges[0][0])
            if following != NOTHING and following not in seen:
                seen.add(following)
                waiting.append(following)
        if len(seen) > most:
            return None
    return True
