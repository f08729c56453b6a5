"""How rules lead into one another: which go round in circles, which only stand for another, how deeply they nest.

Whatever walks rules afterwards goes from one into the next, so they may not nest too deeply: said by a count, so that
it depends on the grammar alone. Nothing here calls itself, and everything is linear in the grammar.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from wieldy.core.errors import GrammarError
from wieldy.grammar.naming import parts
from wieldy.grammar.shape import Named, Shape

MAX_COUNT = 100_000
"""How often at most something is asked to be repeated: a step of the engine costs more with it."""
MAX_DEPTH = 120
"""So many groups, alternatives and sequences may be within one another, those of rules that are used there included."""


def meant(named: Mapping[str, Shape]) -> dict[str, str]:
    """For every rule the one that it stands for: itself, unless it is nothing but another rule's name."""
    found: dict[str, str] = {}
    for name in named:
        chain = dict[str, None]()
        while name not in found and name not in chain and isinstance(shape := named[name], Named):
            chain[name] = None
            name = shape.name  # noqa: PLW2901  the chain is followed
        last = found.get(name, name)
        found |= dict.fromkeys((*chain, name), last)
    return found


def check_depth(start: str, named: Mapping[str, Shape]) -> None:
    """Raises if what the start leads to nests too deeply; a rule that is met again is not entered again.

    Raises:
        GrammarError: It does.
    """
    entered = {start}
    waiting = [(named[start], 1)]
    while waiting:
        shape, depth = waiting.pop()
        if depth > MAX_DEPTH:
            raise too_deep()
        if isinstance(shape, Named):
            if shape.name not in entered:
                entered.add(shape.name)
                waiting.append((named[shape.name], depth))
        else:
            waiting += ((part, depth + 1) for part in reversed(parts(shape)))


def too_deep() -> GrammarError:
    """The error for rules or groups that nest too deeply."""
    return GrammarError(
        f"The grammar cannot be read: it is nested too deeply. Expected at most {MAX_DEPTH} groups, alternatives "
        "and sequences within one another, through all rules; write it flatter."
    )


def circles(uses: Mapping[str, Iterable[str]]) -> Iterator[list[str]]:
    """The names in groups that lead back to themselves, each other name alone; what a group uses comes before it.

    Source: Tarjan, Depth-first search and linear graph algorithms (1972).
    """
    numbers: dict[str, int] = {}
    lowest: dict[str, int] = {}
    open_names: list[str] = []
    grouped = set[str]()
    for root in uses:
        walk = [(root, iter(uses[root]))] if root not in numbers else []
        while walk:
            name, following = walk[-1]
            if name not in numbers:
                numbers[name] = lowest[name] = len(numbers)
                open_names.append(name)
            found = next(following, None)
            if found is not None and found not in numbers:
                walk.append((found, iter(uses[found])))
            elif found is not None:
                if found not in grouped:
                    lowest[name] = min(lowest[name], numbers[found])
            else:
                walk.pop()
                if walk:
                    lowest[walk[-1][0]] = min(lowest[walk[-1][0]], lowest[name])
                if lowest[name] == numbers[name]:
                    group = open_names[open_names.index(name) :]
                    del open_names[-len(group) :]
                    grouped.update(group)
                    yield group
