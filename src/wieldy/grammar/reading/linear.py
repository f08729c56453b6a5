"""Rules that contain themselves only at their end, or only at their beginning, written as repetitions.

`text ::= "" | [a-z] text` is no more than `[a-z]*`. Grammars are often written so, and the engine's lexer takes a
repetition for one terminal, in which it finds the right end; of a rule that contains itself it cannot know it.
Law: the texts of the rules stay the same.
Source: Arden's rule, X = A X | B has the solution A* B; several rules are solved one after the other as equations are.
Cost: what is put in for a rule may double with each; past a size the grammar is refused.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from typing import TypeAlias

from wieldy.core.errors import GrammarError
from wieldy.grammar.naming import names_in, parts
from wieldy.grammar.reading.composing import EMPTY, in_order, one_of, repeated
from wieldy.grammar.reading.nesting import circles
from wieldy.grammar.shape import InOrder, Named, OneOf, Repeated, Rules, Shape

_MAX_PARTS = 300
"""What a rule becomes is at most so large. Larger ones would be read and mean the same to the engine, but may need more
than its lexer's limits allow while a text is written (`engine`), and that is an error only then."""

_Sum: TypeAlias = dict[str | None, Shape]
"""A shape as alternatives: what stands beside each of the rules, and under None what has none of them."""


class _NotLinearError(Exception):
    """A rule stands in the middle."""


class _TooLargeError(Exception):
    """What a rule becomes is too large."""


def without_linear_recursion(rules: Rules) -> Rules:
    """The same rules, with those that repeat themselves at one end written as repetitions.

    Raises:
        GrammarError: Rules go over into one another in too many ways to be written so.
    """
    named = dict(rules.named)
    uses = {name: names_in(shape) for name, shape in named.items()}
    for names in circles(uses):
        if len(names) > 1 or names[0] in uses[names[0]]:
            named |= _solved(named, names)
    return Rules(start=rules.start, named=named)


def _solved(named: Mapping[str, Shape], names: Sequence[str]) -> dict[str, Shape]:
    """The rules written as repetitions; nothing if they are no repetitions."""
    is_too_large = False
    for is_left in (False, True):
        try:
            return _Equations(named, names, is_left=is_left).solved()
        except _NotLinearError:
            continue
        except _TooLargeError:
            is_too_large = True
    if is_too_large:
        raise GrammarError(
            f"The rules {', '.join(map(repr, names))} go over into one another in too many ways to be read as "
            "repetitions. Write what is repeated with `*`, or in fewer rules."
        )
    return {}


class _Equations:
    """One equation a rule: the rule is a sum in which others, and itself, stand at one end only."""

    def __init__(self, named: Mapping[str, Shape], names: Sequence[str], *, is_left: bool) -> None:
        self._named, self._is_left = named, is_left
        self._members = frozenset(names)
        self._sums = {name: self._sum(named[name]) for name in names}

    def solved(self) -> dict[str, Shape]:
        """Each rule's shape without any of the rules."""
        for name in self._sums:
            own = self._sums[name].pop(name, None)
            if own is not None:
                again = repeated(own, 0, None, self._named)
                self._sums[name] = {other: self._joined(again, shape) for other, shape in self._sums[name].items()}
            for other, found in self._sums.items():
                if other != name and name in found:
                    factor = found.pop(name)
                    more = {rest: self._joined(factor, shape) for rest, shape in self._sums[name].items()}
                    self._sums[other] = _added(found, more)
        if not all(found.keys() == {None} for found in self._sums.values()):
            raise _NotLinearError  # a rule that never ends
        return {name: found[None] for name, found in self._sums.items()}

    def _sum(self, shape: Shape) -> _Sum:
        if not names_in(shape) & self._members:
            return {None: shape}
        match shape:
            case Named(name=name):
                return {name: EMPTY}
            case OneOf(options=options):
                return reduce(_added, map(self._sum, options))
            case InOrder(parts=inner):
                last, *others = inner if self._is_left else inner[::-1]
                if any(names_in(other) & self._members for other in others):
                    raise _NotLinearError
                beside = in_order(*(others if self._is_left else others[::-1]))
                return {name: self._joined(beside, found) for name, found in self._sum(last).items()}
            case Repeated(part=part, at_least=0, at_most=1):
                return _added(self._sum(part), {None: EMPTY})
            case _:
                raise _NotLinearError

    def _joined(self, beside: Shape, shape: Shape) -> Shape:
        joined = in_order(shape, beside) if self._is_left else in_order(beside, shape)
        if _size(joined) > _MAX_PARTS:
            raise _TooLargeError
        return joined


def _added(first: _Sum, second: _Sum) -> _Sum:
    names = list(dict.fromkeys([*first, *second]))
    return {name: one_of([found[name] for found in (first, second) if name in found]) for name in names}


def _size(shape: Shape) -> int:
    """How many parts there are, those that are shared counted once."""
    waiting, seen = [shape], dict[int, Shape]()
    while waiting and len(seen) <= _MAX_PARTS:
        found = waiting.pop()
        if id(found) not in seen:
            seen[id(found)] = found
            waiting += parts(found)
    return len(seen)
