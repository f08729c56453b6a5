"""Grammars as rules: what EBNF, GBNF and Lark have in common, read from symbols that each spells in its own way.

A rule is alternatives of sequences of parts; a part is a shape, a name or a group, and may be repeated.
Law: the rules allow exactly the texts that the grammar describes, every rule taken as a rule of a context-free grammar.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Literal, TypeAlias

from wieldy.core.errors import GrammarError
from wieldy.grammar.arguments import shown
from wieldy.grammar.naming import names_in, parts, renamed, with_parts
from wieldy.grammar.reading.composing import in_order, one_of, repeated
from wieldy.grammar.reading.linear import without_linear_recursion
from wieldy.grammar.reading.nesting import MAX_COUNT, MAX_DEPTH, check_depth, meant, too_deep
from wieldy.grammar.shape import InOrder, Named, OneOf, Repeated, Rules, Shape

Kind: TypeAlias = Literal["rule", "name", "mark"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Word:
    """A name, the beginning of the rule with that name, or one of `| ( ) [ ]`.

    Attributes:
        kind: Which of these.
        text: The name or the mark.
        line: Where it stands, from 1.
    """

    kind: Kind
    text: str
    line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Count:
    """How often what stands before it may come."""

    least: int
    most: int | None
    line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaf:
    """A shape that stands for itself."""

    shape: Shape
    line: int


Symbol: TypeAlias = Word | Count | Leaf
_NAMES: tuple[Kind, ...] = ("rule", "name")
_CLOSING = {"(": ")", "[": "]"}
_MAX_NAMED = 20
"""Rules that are named in an error."""


def rules_of(symbols: Iterable[Symbol], starts: Sequence[str]) -> Rules:
    """The rules that the symbols spell; those that the start does not reach are left out.

    Args:
        symbols: The grammar.
        starts: What the first rule may be called; if none of these is there, the grammar's first rule is it.

    Raises:
        GrammarError: Something is missing, stands where it cannot, or nests too deeply; the text says the line.
    """
    try:
        found = _Reader(list(symbols)).rules()
        start = next((name for name in starts if name in found), next(iter(found)))
        _check(found, start)
        plain, same = _plain_names(found), meant(found)
        names = {name: plain[same[name]] for name in found}
        written = {names[name]: renamed(shape, names) for name, shape in found.items() if same[name] == name}
        used = _reached(Named(names[start]), written)
        check_depth(names[start], used)
        simple = {name: _simple(shape, used) for name, shape in used.items()}
        solved = without_linear_recursion(Rules(start=Named(names[start]), named=simple)).named
        return Rules(start=solved[names[start]], named=_reached(solved[names[start]], solved))
    except RecursionError:
        raise too_deep() from None


class _Reader:
    """Reads the symbols from left to right."""

    def __init__(self, symbols: Sequence[Symbol]) -> None:
        self._symbols, self._at, self._depth = symbols, 0, 0

    def rules(self) -> dict[str, Shape]:
        if not self._symbols:
            raise GrammarError("The grammar has no rules.")
        found: dict[str, Shape] = {}
        while self._at < len(self._symbols):
            match self._next():
                case Word(kind="rule", text=name) if name not in found:
                    found[name] = self._alternatives()
                case Word(kind="rule", text=name, line=line):
                    raise GrammarError(f"In line {line} of the grammar, the rule {shown(name)} is defined again.")
                case symbol:
                    raise self._error("the beginning of a rule", symbol)
        return found

    def _next(self) -> Symbol | None:
        self._at += 1
        return self._symbols[self._at - 1] if self._at <= len(self._symbols) else None

    def _is_mark(self, *marks: str) -> bool:
        match self._symbols[self._at : self._at + 1]:
            case [Word(kind="mark", text=text)]:
                return text in marks
            case _:
                return False

    def _alternatives(self) -> Shape:
        options = [self._sequence()]
        while self._is_mark("|"):
            self._at += 1
            options.append(self._sequence())
        return one_of(options)

    def _sequence(self) -> Shape:
        found: list[Shape] = []
        while self._at < len(self._symbols) and not self._is_mark("|", ")", "]"):
            match self._symbols[self._at]:
                case Word(kind="rule"):
                    break
                case Count(least=least, most=most) as count if found:
                    if max(least, most or 0) > MAX_COUNT or (most is not None and most < least):
                        raise self._error(f"counts in order and up to {MAX_COUNT}", count)
                    found[-1] = Repeated(found[-1], at_least=least, at_most=most)
                    self._at += 1
                case _:
                    found.append(self._part())
        return found[0] if len(found) == 1 else InOrder(tuple(found))

    def _part(self) -> Shape:
        match self._next():
            case Leaf(shape=shape):
                return shape
            case Word(kind="name", text=name):
                return Named(name)
            case Word(kind="mark", text=("(" | "[") as opening) as symbol:
                inner = self._group()
                if not self._is_mark(_CLOSING[opening]):
                    raise self._error(f"a {_CLOSING[opening]!r} for what is opened here", symbol)
                self._at += 1
                return inner if opening == "(" else Repeated(inner, at_most=1)
            case symbol:
                raise self._error("a name, a text or a group", symbol)

    def _group(self) -> Shape:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise too_deep()
        inner = self._alternatives()
        self._depth -= 1
        return inner

    def _error(self, expected: str, found: Symbol | None) -> GrammarError:
        if found is None:
            return GrammarError(f"Expected {expected}, found the end of the grammar.")
        said = shown(found.text) if isinstance(found, Word) else "a count" if isinstance(found, Count) else "a text"
        return GrammarError(f"In line {found.line} of the grammar, expected {expected}, found {said}.")


def _check(found: Mapping[str, Shape], start: str) -> None:
    for shape in found.values():
        for name in sorted(names_in(shape) - found.keys()):
            known = ", ".join(map(shown, list(found)[:_MAX_NAMED])) + ", ..." * (len(found) > _MAX_NAMED)
            raise GrammarError(f"The grammar refers to {shown(name)}, but only these have a rule: {known}.")
    if start not in _ending(found):
        raise GrammarError(
            f"The grammar's rule {shown(start)} never ends: whatever is chosen, a rule leads back to itself."
        )


def _ending(found: Mapping[str, Shape]) -> set[str]:
    """The rules that some text can end. Cost: a rule is looked at again when one that it uses turns out to end."""
    users: dict[str, list[str]] = {name: [] for name in found}
    for name, shape in found.items():
        for used in names_in(shape):
            users[used].append(name)
    ending, waiting = set[str](), list(found)
    while waiting:
        name = waiting.pop()
        if name not in ending and _can_end(found[name], ending):
            ending.add(name)
            waiting += users[name]
    return ending


def _can_end(shape: Shape, ending: Set[str]) -> bool:
    match shape:
        case Named(name=name):
            return name in ending
        case OneOf(options=options):
            return any(_can_end(option, ending) for option in options)
        case Repeated(at_least=0):
            return True
        case _:
            return all(_can_end(part, ending) for part in parts(shape))


def _plain_names(names: Iterable[str]) -> dict[str, str]:
    """A lower-case identifier for each name, no two the same."""
    plain: dict[str, str] = {}
    taken = Counter[str]()
    for name in names:
        wanted = "".join(letter if letter.isascii() and letter.isalnum() else "_" for letter in name.lower())
        chosen = wanted
        while chosen in taken:
            taken[wanted] += 1
            chosen = f"{wanted}_{taken[wanted]}"
        taken[chosen] = 1
        plain[name] = chosen
    return plain


def _simple(shape: Shape, named: Mapping[str, Shape]) -> Shape:
    """The shape without nested sequences and endless repetitions of nothing."""
    inner = [_simple(part, named) for part in parts(shape)]
    match shape:
        case InOrder():
            return in_order(*inner)
        case OneOf():
            return one_of(inner)
        case Repeated(at_least=least, at_most=most, between=None):
            return repeated(inner[0], least, most, named)
        case _:
            return with_parts(shape, inner)


def _reached(start: Shape, named: Mapping[str, Shape]) -> dict[str, Shape]:
    found, waiting = set[str](), [*names_in(start)]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += names_in(named[name])
    return {name: shape for name, shape in named.items() if name in found}
