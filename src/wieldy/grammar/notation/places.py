"""Where calls stand in a reply: what may come right before them, and whether it ends where they begin.

Looked for are repetitions of a choice between sequences, which is what calls of several tools are. That no other
reading of the same text goes on past the beginning of a call is not looked at: no text contains the mark of a call.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from wieldy.grammar.naming import parts
from wieldy.grammar.notation.steps import NoStepsError, is_closed_by
from wieldy.grammar.shape import Exact, InOrder, Marker, Named, OneOf, Repeated, Shape, TextWithout

_MAX_PLACES = 1000
"""A shape that is met more often is left to others."""


def calls_in(start: Shape, named: Mapping[str, Shape]) -> list[tuple[Repeated, OneOf, list[tuple[Shape, ...]]]]:
    """The repetitions of a choice between sequences that is worth it, with what may come before each."""
    found: dict[int, tuple[Repeated, OneOf, list[tuple[Shape, ...]]]] = {}
    waiting: list[tuple[Shape, tuple[Shape, ...]]] = [(start, ())]
    for _ in range(_MAX_PLACES):
        if not waiting:
            return list(found.values())
        shape, before = waiting.pop()
        match shape:
            case Repeated(part=OneOf() as choice) if _is_worth_it(choice):
                found.setdefault(id(shape), (shape, choice, []))[2].append(before)
            case InOrder(parts=inner):
                waiting += [(part, (*before, *inner[:index])) for index, part in enumerate(inner)]
            case OneOf(options=options):
                waiting += [(option, before) for option in options]
            case Repeated(part=part, at_most=1):
                waiting.append((part, before))
            case Named(name=name) if name in named:
                waiting.append((named[name], before))
            case _:
                pass
    return []


def _is_worth_it(choice: OneOf) -> bool:
    """Whether something in it may be left out or is text: then its ways from stop to stop would be many or long."""
    return all(isinstance(option, InOrder) for option in choice.options) and any(map(_is_loose, choice.options))


def _is_loose(shape: Shape) -> bool:
    return isinstance(shape, Repeated | TextWithout) or any(map(_is_loose, parts(shape)))


def ends_before(before: Sequence[Shape], lead: Sequence[Exact], named: Mapping[str, Shape]) -> bool:
    """Whether what stands there before a call cannot go on where the literals begin."""
    texts = [literal.text for literal in lead]
    token = next((index for index, literal in enumerate(lead) if literal.token), None)
    literal = "".join(texts[:token])
    runs: dict[tuple[Marker, ...], list[str]] = {}
    try:
        for run, behind in _last(tuple(before), literal, named):
            if run is not None:
                runs.setdefault(run.markers, []).append(behind)
    except NoStepsError:
        return False
    return token is not None or all(is_closed_by(ends, ends, markers) for markers, ends in runs.items())


def _last(
    before: tuple[Shape, ...], literal: str, named: Mapping[str, Shape]
) -> Iterator[tuple[TextWithout | None, str]]:
    """The texts that may stand last, each with the literals between it and the call; None where there is none."""
    if not before:
        yield None, literal
        return
    *earlier, part = before
    if isinstance(part, TextWithout):
        yield part, literal
    elif isinstance(part, Exact):
        yield from _last(tuple(earlier), part.text + literal, named)
    else:
        for inner in _written_out(part, named):
            yield from _last((*earlier, *inner), literal, named)


def _written_out(part: Shape, named: Mapping[str, Shape]) -> list[tuple[Shape, ...]]:
    match part:
        case InOrder(parts=inner):
            return [inner]
        case Named(name=name) if name in named:
            return [(named[name],)]
        case OneOf(options=options):
            return [(option,) for option in options]
        case Repeated(part=inner, at_most=1, at_least=least):
            return [(inner,)] if least else [(inner,), ()]
        case _:
            raise NoStepsError
