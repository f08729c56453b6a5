"""Shapes put together so that every engine can print them: flat, and without endless repetitions of nothing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from typing_extensions import TypeIs

from wieldy.grammar.naming import is_nullable
from wieldy.grammar.shape import Characters, Exact, InOrder, Named, OneOf, Repeated, Shape

EMPTY = InOrder(())
_NO_NAMES: Mapping[str, Shape] = {}


def in_order(*parts: Shape) -> Shape:
    """The parts one after the other; neighbouring literals are one, and a single part is itself."""
    found: list[Shape] = []
    for part in parts:
        for inner in part.parts if isinstance(part, InOrder) else (part,):
            if isinstance(inner, Exact) and not inner.token and found and _is_text(last := found[-1]):
                found[-1] = Exact(last.text + inner.text)
            elif not (isinstance(inner, Exact) and not inner.text):
                found.append(inner)
    return found[0] if len(found) == 1 else InOrder(tuple(found))


def _is_text(shape: Shape) -> TypeIs[Exact]:
    return isinstance(shape, Exact) and not shape.token


def one_of(options: Sequence[Shape]) -> Shape:
    """Any of the options, of which there is at least one."""
    return options[0] if len(options) == 1 else OneOf(tuple(options))


def repeated(part: Shape, least: int, most: int | None, named: Mapping[str, Shape] = _NO_NAMES) -> Shape:
    """The part so many times; of one that may be empty, the empty text is not repeated, which changes no whole text."""
    if most == 0:
        return EMPTY
    if (least, most) == (1, 1):
        return part
    if isinstance(part, Characters) and part.at_least == part.at_most == 1:
        return replace(part, at_least=least, at_most=most)
    if is_nullable(part, named):
        if most == 1:
            return part
        filled = not_empty(part, named)
        return EMPTY if filled is None else repeated(filled, 0, most, named)
    return Repeated(part, at_least=least, at_most=most)


def not_empty(shape: Shape, named: Mapping[str, Shape] = _NO_NAMES) -> Shape | None:
    """The texts of the shape but the empty one; None where there is no other. A name stands for its shape."""
    if not is_nullable(shape, named):
        return shape
    match shape:
        case InOrder(parts=parts):
            return _any_of(_one_filled(parts, index, named) for index in range(len(parts)))
        case OneOf(options=options):
            return _any_of(not_empty(option, named) for option in options)
        case Characters():
            return replace(shape, at_least=1)
        case Repeated(part=part, at_most=most):
            filled = not_empty(part, named)
            return None if filled is None else replace(shape, part=filled, at_least=1, at_most=most)
        case Named(name=name):
            return not_empty(named[name], named)
        case _:
            return None


def _one_filled(parts: Sequence[Shape], index: int, named: Mapping[str, Shape]) -> Shape | None:
    """The parts from one on that is not empty; those before it are."""
    filled = not_empty(parts[index], named)
    return None if filled is None else in_order(filled, *parts[index + 1 :])


def _any_of(options: Iterable[Shape | None]) -> Shape | None:
    found = [option for option in options if option is not None]
    return one_of(found) if found else None
