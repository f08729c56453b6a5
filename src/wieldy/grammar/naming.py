"""The names in a set of rules: which exist, which contain themselves, and what may be empty."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from wieldy.core.errors import GrammarError
from wieldy.grammar.shape import Characters, Exact, InOrder, Json, Named, OneOf, Repeated, Rules, Shape, TextWithout


def recursive_names(rules: Rules) -> frozenset[str]:
    """The names whose shape contains itself, by whatever way round.

    Raises:
        GrammarError: A name is used that has no shape.
    """
    uses = {name: names_in(shape) for name, shape in rules.named.items()}
    for name in sorted(names_in(rules.start).union(*uses.values())):
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


def names_in(shape: Shape) -> frozenset[str]:
    """The names that the shape refers to."""
    return frozenset(found.name for found in _all_in([shape]) if isinstance(found, Named))


def tokens_in(rules: Rules) -> frozenset[str]:
    """The literals that may be special tokens."""
    everything = _all_in([rules.start, *rules.named.values()])
    return frozenset(found.text for found in everything if isinstance(found, Exact) and found.token)


def renamed(shape: Shape, names: Mapping[str, str], known: dict[int, tuple[Shape, Shape]] | None = None) -> Shape:
    """The shape with other names; parts that shapes share are still shared."""
    known = {} if known is None else known
    if id(shape) not in known:
        new = (
            Named(names.get(shape.name, shape.name))
            if isinstance(shape, Named)
            else with_parts(shape, [renamed(part, names, known) for part in parts(shape)])
        )
        known[id(shape)] = (shape, new)  # the first keeps the identity taken
    return known[id(shape)][1]


def with_parts(shape: Shape, inner: Sequence[Shape]) -> Shape:
    """The shape with other shapes in the places of its parts."""
    match shape:
        case InOrder():
            return InOrder(tuple(inner))
        case OneOf():
            return OneOf(tuple(inner))
        case Repeated():
            return replace(shape, part=inner[0], between=inner[1] if len(inner) > 1 else None)
        case _:
            return shape


def _all_in(shapes: Iterable[Shape]) -> Iterator[Shape]:
    waiting, seen = list(shapes), set[int]()
    while waiting:
        found = waiting.pop()
        if id(found) in seen:
            continue  # shapes share their parts, so that a walk without memory could be exponential
        seen.add(id(found))
        yield found
        waiting += parts(found)


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


def _reachable(name: str, uses: Mapping[str, frozenset[str]]) -> set[str]:
    reached: set[str] = set()
    waiting = list(uses[name])
    while waiting:
        found = waiting.pop()
        if found not in reached:
            reached.add(found)
            waiting += uses[found]
    return reached
