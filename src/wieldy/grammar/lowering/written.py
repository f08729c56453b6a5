r"""Languages written as regular expressions that every engine and validator reads alike.

No engine has "and" and "not" in its expressions. A language with them is first made one without, by its automaton
(every derivative a state, states removed one after the other), as long as that stays small; otherwise a larger
language is written and said to be one.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from wieldy.grammar.lowering.languages import (
    ANY_CHARACTER,
    ANYTHING,
    EMPTY_TEXT,
    LAST,
    NOTHING,
    Both,
    Either,
    Language,
    Not,
    One,
    Ranges,
    Row,
    Times,
    after,
    either,
    first_characters,
    has_empty_text,
    row,
    size,
    times,
)

_MAX_STATES = 40
_MAX_CHARACTERS = 4_000
"""An automaton or an expression up to this size is written out; beyond it, the language is enforced in part."""
_ESCAPED = frozenset("\\.^$*+?()[]{}|/-")


@lru_cache(maxsize=500)
def pattern(language: Language) -> str | None:
    """The language as a `pattern` that matches whole texts; None where it is no small regular expression."""
    plain = _plain(language)
    if plain is None:
        return None
    text = "" if plain == ANYTHING else f"^(?:{_text(plain)})$"
    return text if len(text) <= _MAX_CHARACTERS or not _is_composed(language) else None


def patterns(language: Language) -> tuple[tuple[str, ...], bool]:
    """Patterns which together allow the language, and whether they allow nothing else."""
    if language == ANYTHING:
        return (), True
    parts = sorted(language.parts, key=repr) if isinstance(language, Both) else [language]
    found: list[str] = []
    is_exact = True
    for part in parts:
        written = pattern(part)
        if written is None:
            is_exact = False
            written = pattern(_larger(part))
        if written:
            found.append(written)
    return tuple(dict.fromkeys(found)), is_exact


def _is_composed(language: Language) -> bool:
    """Whether there is an "and" or a "not" in the language."""
    match language:
        case Both() | Not():
            return True
        case One():
            return False
        case Row(parts=inner) | Either(options=inner):
            return any(map(_is_composed, inner))
        case Times(part=part):
            return _is_composed(part)


def _larger(language: Language) -> Language:
    """The language without "and" and "not": it has all the texts of the language, and others."""
    match language:
        case Not():
            return ANYTHING
        case Both(parts=parts):
            kept = [part for part in sorted(parts, key=repr) if not isinstance(part, Not)]
            return _larger(kept[0]) if kept else ANYTHING
        case One():
            return language
        case Row(parts=parts):
            return row(*map(_larger, parts))
        case Either(options=options):
            return either(map(_larger, options))
        case Times(part=part, least=least, most=most):
            return times(_larger(part), least, most)


@lru_cache(maxsize=500)
def _plain(language: Language) -> Language | None:
    """The same language without "and" and "not"; None where its automaton is too large."""
    if not _is_composed(language):
        return language
    if size(language) > _MAX_CHARACTERS:
        return None
    edges = _automaton(language)
    return None if edges is None else _without_states(edges)


_Edges = dict[tuple[int, int], tuple[Language, int]]
"""What leads from a state to another, and how many characters it takes to write, at most."""
_START, _END = -1, -2


def _automaton(language: Language) -> _Edges | None:
    numbers = {language: 0}
    waiting = [language]
    edges: _Edges = {(_START, 0): (EMPTY_TEXT, 0)}
    for state in waiting:
        if has_empty_text(state):
            edges[numbers[state], _END] = (EMPTY_TEXT, 0)
        for ranges in first_characters(state):
            following = after(state, ranges[0][0])
            if following == NOTHING:
                continue
            if following not in numbers:
                numbers[following] = len(numbers)
                waiting.append(following)
            _add(edges, (numbers[state], numbers[following]), One(ranges), 4 * len(ranges) + 2)
        if len(numbers) > _MAX_STATES:
            return None
    return edges


def _add(edges: _Edges, edge: tuple[int, int], language: Language, size: int) -> None:
    before, known = edges.get(edge, (NOTHING, 0))
    edges[edge] = either((before, language)), known + size + 1


def _without_states(edges: _Edges) -> Language | None:
    """What leads from the start to the end, every state between them removed: the least connected first."""
    states = {state for edge in edges for state in edge} - {_START, _END}
    while states:
        state = min(states, key=lambda one: (_degree(edges, one), one))
        states.remove(state)
        loop, loop_size = edges.pop((state, state), (NOTHING, 0))
        into = {source: edges.pop((source, target)) for source, target in list(edges) if target == state}
        out = {target: edges.pop((source, target)) for source, target in list(edges) if source == state}
        for source, (before, size_before) in into.items():
            for target, (behind, size_behind) in out.items():
                size = size_before + loop_size + size_behind + 8
                if size > 2 * _MAX_CHARACTERS:
                    return None
                _add(edges, (source, target), row(before, times(loop, 0, None), behind), size)
    return edges.get((_START, _END), (NOTHING, 0))[0]


def _degree(edges: _Edges, state: int) -> int:
    into = sum(target == state for _, target in edges)
    return into * sum(source == state for source, _ in edges)


def _text(language: Language) -> str:
    match language:
        case One(ranges=ranges):
            return _class(ranges)
        case Row(parts=parts):
            return "".join(_atom(part) if isinstance(part, Either) else _text(part) for part in parts)
        case Either(options=options):
            written = sorted(_text(option) for option in options if option != EMPTY_TEXT)
            return f"(?:{'|'.join(written)})?" if EMPTY_TEXT in options else "|".join(written)
        case Times(part=part, least=least, most=most):
            return _atom(part) + _count(least, most)
        case _:
            raise TypeError(f"{type(language).__name__} has no regular expression of its own.")


def _atom(language: Language) -> str:
    return _text(language) if isinstance(language, One) else f"(?:{_text(language)})"


def _count(least: int, most: int | None) -> str:
    match least, most:
        case 0, None:
            return "*"
        case 1, None:
            return "+"
        case 0, 1:
            return "?"
        case _ if least == most:
            return f"{{{least}}}"
        case _:
            return f"{{{least},{'' if most is None else most}}}"


def _class(ranges: Ranges) -> str:
    if len(ranges) == 1 and ranges[0][0] == ranges[0][1]:
        return _character(ranges[0][0])
    outside = tuple(_gaps(ranges))
    if outside and len(outside) < len(ranges):
        return f"[^{_inside(outside)}]"
    return f"[{_inside(ranges)}]"


def _gaps(ranges: Ranges) -> Iterator[tuple[int, int]]:
    """The characters that are not in the ranges, as ranges."""
    start = 0
    for first, last in (*ranges, (LAST + 1, LAST + 1)):
        if start < first and not (start == ANY_CHARACTER.ranges[0][1] + 1 and first == ANY_CHARACTER.ranges[1][0]):
            yield start, first - 1
        start = last + 1


def _inside(ranges: Ranges) -> str:
    below, above = ANY_CHARACTER.ranges[0][1], ANY_CHARACTER.ranges[1][0]
    # Across the surrogates, which are no characters, a range goes on.
    starts = [first for first, _ in ranges if first != above or not any(last == below for _, last in ranges)]
    ends = [last for _, last in ranges if last != below or not any(first == above for first, _ in ranges)]
    ranges = tuple(zip(starts, ends, strict=True))
    return "".join(_character(first) + (f"-{_character(last)}" if last > first else "") for first, last in ranges)


def _character(code: int) -> str:
    character = chr(code)
    if character in _ESCAPED:
        return f"\\{character}"
    return f"\\x{code:02x}" if code < 0x20 or code == 0x7F else character
