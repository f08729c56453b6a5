"""Neighbouring texts made one before a shape is printed.

Two texts without a marker, side by side, could spell the marker in two halves; where something optional stands between
them (`text, calls or none, text`), a model could so write an opener that begins nothing. So they count as one text
without the marker. That is the only way in which a notation accepts less than the letter of its shape.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from typing_extensions import TypeIs

from wieldy.core.errors import GrammarError
from wieldy.grammar.naming import is_nullable
from wieldy.grammar.shape import Exact, InOrder, OneOf, Repeated, Rules, Shape, TextWithout


def with_single_texts(rules: Rules) -> Rules:
    """The same rules, in which no text stands beside another one without the same markers.

    Raises:
        GrammarError: A choice has no option.
    """
    writer = _Rewriter(rules.named)
    return Rules(
        start=writer.single(rules.start), named={name: writer.single(shape) for name, shape in rules.named.items()}
    )


class _Rewriter:
    """Shapes share their parts; what was rewritten once is not rewritten again, and is shared again."""

    def __init__(self, named: Mapping[str, Shape]) -> None:
        self._named = named
        self._known: dict[int, tuple[Shape, Shape]] = {}

    def single(self, shape: Shape) -> Shape:
        if id(shape) not in self._known:
            self._known[id(shape)] = (shape, self._rewritten(shape))  # the first keeps the identity taken
        return self._known[id(shape)][1]

    def _rewritten(self, shape: Shape) -> Shape:
        match shape:
            case InOrder(parts=inner):
                return _in_order(tuple(_flat(tuple(map(self.single, inner)))), self._named)
            case OneOf(options=()):
                raise GrammarError("A choice needs at least one option, found none.")
            case OneOf(options=options):
                return OneOf(tuple(map(self.single, options)))
            case Repeated(part=part, between=between):
                joint = None if between is None else self.single(between)
                return replace(shape, part=self.single(part), between=joint)
            case _:
                return shape


def _flat(inner: tuple[Shape, ...]) -> list[Shape]:
    """The parts, with the parts of a sequence instead of it unless literals fence it: then others may share it."""
    return [deep for part in inner for deep in (part.parts if _is_open(part) else (part,))]


def _is_open(shape: Shape) -> TypeIs[InOrder]:
    if not isinstance(shape, InOrder):
        return False
    return not shape.parts or not (isinstance(shape.parts[0], Exact) and isinstance(shape.parts[-1], Exact))


def _in_order(inner: tuple[Shape, ...], named: Mapping[str, Shape]) -> Shape:
    for position, part in enumerate(inner):
        if not isinstance(part, TextWithout):
            continue
        rest = inner[position + 1 :]
        if rest and rest[0] == part:
            return _in_order((*inner[: position + 1], *rest[1:]), named)
        if len(rest) > 1 and rest[1] == part and (something := _not_empty(rest[0], named)) is not None:
            return InOrder(
                (
                    *inner[:position],
                    OneOf(
                        (
                            _in_order((part, *rest[2:]), named),
                            InOrder((part, something, _in_order(rest[1:], named))),
                        )
                    ),
                )
            )
    return InOrder(inner)


def _not_empty(shape: Shape, named: Mapping[str, Shape]) -> Shape | None:
    """The optional shape without its being left out; None if it is not optional."""
    if (
        isinstance(shape, Repeated)
        and shape.at_least == 0
        and shape.at_most != 0
        and not is_nullable(shape.part, named)
    ):
        return replace(shape, at_least=1)
    return None
