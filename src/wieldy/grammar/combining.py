"""Constraints put together: one after the other, one of several, the same several times.

A part is a `Grammar`, or a text, which stands for exactly itself. What came in the engine's own dialect and could not
be read cannot be a part.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from wieldy.core.errors import GrammarError
from wieldy.grammar.arguments import check_count, wrong
from wieldy.grammar.compiled import Grammar, compiled
from wieldy.grammar.naming import renamed
from wieldy.grammar.reading import composing
from wieldy.grammar.shape import Exact, Repeated, Rules, Shape

Part: TypeAlias = Grammar | str


def in_order(*parts: Part) -> Grammar:
    """All parts, one behind the other.

    Raises:
        GrammarError: A part cannot be put together with others, or the engine refuses the whole.
    """
    return _compiled(parts, lambda shapes, _: composing.in_order(*shapes))


def one_of(*parts: Part) -> Grammar:
    """Any one of the parts.

    Raises:
        GrammarError: There is none, one cannot be put together with others, or the engine refuses the whole.
    """
    if not parts:
        raise GrammarError("Expected at least one part to choose from, found none.")
    return _compiled(parts, lambda shapes, _: composing.one_of(shapes))


def repeated(part: Part, *, at_least: int = 0, at_most: int | None = None, between: Part | None = None) -> Grammar:
    """The part several times.

    Args:
        part: What is repeated.
        at_least: How often at least.
        at_most: How often at most; None for any number.
        between: What stands between two of them.

    Raises:
        GrammarError: The counts contradict each other, or a part cannot be put together with others.
    """
    check_count("at_least", at_least, least=None)
    check_count("at_most", at_most, least=None, or_none=True)
    if at_least < 0 or (at_most is not None and at_most < at_least):
        raise GrammarError(f"Expected counts in order, found at least {at_least} and at most {at_most}.")

    def shape_of(shapes: Sequence[Shape], named: Mapping[str, Shape]) -> Shape:
        if len(shapes) == 1:
            return composing.repeated(shapes[0], at_least, at_most, named)
        return Repeated(shapes[0], at_least=at_least, at_most=at_most, between=shapes[1])

    return _compiled((part,) if between is None else (part, between), shape_of)


def optional(part: Part) -> Grammar:
    """The part or nothing.

    Raises:
        GrammarError: The part cannot be put together with others.
    """
    return repeated(part, at_most=1)


def _compiled(parts: Sequence[Part], shape_of: Callable[[Sequence[Shape], Mapping[str, Shape]], Shape]) -> Grammar:
    named: dict[str, Shape] = {}
    tokens: dict[str, int] = {}
    shapes: list[Shape] = []
    for part in parts:
        if not isinstance(part, str | Grammar):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise wrong("constraints and texts as parts", part)
        rules = Rules(start=Exact(part)) if isinstance(part, str) else part.rules
        if rules is None:
            raise GrammarError("A grammar in the engine's own dialect cannot be put together with others.")
        if isinstance(part, Grammar):
            for token, number in part.special_tokens.items():
                if tokens.setdefault(token, number) != number:
                    raise GrammarError(f"The parts are of different vocabularies: {token} is {number} in one of them.")
        names = _new_names(rules, named)
        known: dict[int, tuple[Shape, Shape]] = {}
        named |= {names.get(name, name): renamed(shape, names, known) for name, shape in rules.named.items()}
        shapes.append(renamed(rules.start, names, known))
    return compiled(Rules(start=shape_of(shapes, named), named=named), special_tokens=tokens)


def _new_names(rules: Rules, named: dict[str, Shape]) -> dict[str, str]:
    """Other names for those that are taken, unless all of them mean the same there."""
    if all(named.get(name) == shape for name, shape in rules.named.items()):
        return {}
    new: dict[str, str] = {}
    for name in filter(named.__contains__, rules.named):
        taken = {*named, *rules.named, *new.values()}
        new[name] = next(other for count in range(2, len(taken) + 3) if (other := f"{name}_{count}") not in taken)
    return new
