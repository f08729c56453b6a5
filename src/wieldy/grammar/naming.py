"""The names in a set of rules: which exist, which contain themselves, and what may be empty."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from wieldy.core.errors import GrammarError
from wieldy.grammar.shape import Characters, Exact, InOrder, Json, Named, OneOf, Repeated, Rules, Shape, TextWithout


def recursive_names(rules: Rules) -> frozenset[str]:
    """The names whose shape contains itself, by whatever way round.

    Raises:
        GrammarError: A name is used that has no shape.
    """
    uses = {name: frozenset(_names(shape)) for name, shape in rules.named.items()}
    for name in sorted(frozenset(_names(rules.start)).union(*uses.values())):
        if name not in uses:
            raise GrammarError(f"The shape refers to {name!r}, but only {sorted(uses)} have a shape.")
    return frozenset(name for name in uses if name in _reachable(name, uses))


def parts(shape: Shape) -> tuple[Shape, ...]:
    """The shapes directly inside."""
    match shape:
        case InOrder(parts=inner) | OneOf(options=inner):
            return inner
        case Repeated(part=part, between=None):
            return (part,)
        case Repeated(part=part, between=between) if between is not None:
            return (part, between)
        case _:
            return ()


def is_nullable(shape: Shape, named: Mapping[str, Shape], known: dict[int, bool] | None = None) -> bool:
    """Whether the shape may be the empty text. Names that are met again count as not empty."""
    known = {} if known is None else known
    if id(shape) not in known:
        known[id(shape)] = False  # while it is being found out: for shapes that contain themselves
        known[id(shape)] = _is_nullable(shape, named, known)
    return known[id(shape)]


def _is_nullable(shape: Shape, named: Mapping[str, Shape], known: dict[int, bool]) -> bool:
    match shape:
        case Named(name=name):
            return name in named and is_nullable(named[name], named, known)
        case InOrder(parts=inner):
            return all(is_nullable(part, named, known) for part in inner)
        case OneOf(options=inner):
            return any(is_nullable(option, named, known) for option in inner)
        case Repeated(part=part, at_least=at_least):
            return at_least == 0 or is_nullable(part, named, known)
        case Exact(text=text):
            return not text
        case Characters(at_least=at_least):
            return at_least == 0
        case TextWithout():
            return True
        case Json():
            return False


def _names(shape: Shape) -> Iterator[str]:
    waiting, seen = [shape], set[int]()
    while waiting:
        found = waiting.pop()
        if id(found) in seen:
            continue  # shapes share their parts, so that a walk without memory could be exponential
        seen.add(id(found))
        if isinstance(found, Named):
            yield found.name
        waiting += parts(found)


def _reachable(name: str, uses: Mapping[str, frozenset[str]]) -> set[str]:
    reached: set[str] = set()
    waiting = list(uses[name])
    while waiting:
        found = waiting.pop()
        if found not in reached:
            reached.add(found)
            waiting += uses[found]
    return reached
