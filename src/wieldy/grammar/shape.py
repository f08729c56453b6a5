"""What may be written, as a small tree: the common ground of every grammar notation.

Constraints and the nodes of chat formats say what may be written as a `Shape`; `grammar.notation` prints shapes as
llguidance's Lark, as GBNF or as xgrammar's structural tags. A shape knows nothing of parsing and nothing of notations.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from wieldy.core.json import JsonObject


@dataclass(frozen=True, slots=True)
class Exact:
    """Exactly this text; `token` where a vocabulary may have it as one special token."""

    text: str
    token: bool = field(default=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Characters:
    r"""A run of characters of one class.

    Attributes:
        allowed: The inside of a character class of a regular expression: `a-zA-Z0-9_`, or `^"\\` for its opposite.
        at_most: None for any number.
    """

    allowed: str
    at_least: int = field(default=1, kw_only=True)
    at_most: int | None = field(default=None, kw_only=True)


WHITE_SPACE = (
    "\t\n\v\f\r\x1c\x1d\x1e\x1f \x85\xa0\u1680"
    "\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000"
)
"""The characters that are white space to a parser."""

Marker: TypeAlias = str | tuple[str, ...]
"""A text, or several texts with any white space, or none, between them."""


@dataclass(frozen=True, slots=True)
class TextWithout:
    """Any text, empty too, in which none of the markers occurs."""

    markers: tuple[Marker, ...]


@dataclass(frozen=True, slots=True)
class Json:
    """JSON that fits the schema (2020-12), with `, ` and `: ` or without the spaces, on one line or on many.

    Attributes:
        one_line: Only as `json.dumps` writes it: on one line, with a space after `:` and `,`.
    """

    schema: JsonObject
    one_line: bool = field(default=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class InOrder:
    """All parts, one after the other; none is the empty text."""

    parts: tuple[Shape, ...]


@dataclass(frozen=True, slots=True)
class OneOf:
    """Any one of the options; at least one is given."""

    options: tuple[Shape, ...]


@dataclass(frozen=True, slots=True)
class Repeated:
    """The part several times, `between` in between; `at_most` None for any number."""

    part: Shape
    at_least: int = field(default=0, kw_only=True)
    at_most: int | None = field(default=None, kw_only=True)
    between: Shape | None = field(default=None, kw_only=True)


@dataclass(frozen=True, slots=True)
class Named:
    """What `Rules.named` has under this name: how a shape contains itself."""

    name: str


Shape: TypeAlias = Exact | Characters | TextWithout | Json | InOrder | OneOf | Repeated | Named


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """A whole grammar: where it starts and the shapes that have names (lower-case identifiers)."""

    start: Shape
    named: Mapping[str, Shape] = field(default_factory=dict[str, Shape])


def maybe(part: Shape) -> Shape:
    """The part or nothing."""
    return Repeated(part, at_most=1)


def in_order(parts: Sequence[tuple[Shape, bool]], gap: Shape | None = None) -> Shape:
    """The parts in order, those that are not required left out at will, the gap between those that are there.

    Cost: a shape that grows with the number of parts, or with its square if none is required and there is a gap.
    """
    gaps = () if gap is None else (gap,)
    first = next((index for index, (_, is_required) in enumerate(parts) if is_required), None)
    if first is not None:
        before = [maybe(InOrder((part, *gaps))) for part, _ in parts[:first]]
        return InOrder((*before, parts[first][0], *_following(parts[first + 1 :], gaps)))
    if gap is None:
        return InOrder(_following(parts, gaps))
    beginnings = [InOrder((part, *_following(parts[index + 1 :], gaps))) for index, (part, _) in enumerate(parts)]
    return maybe(OneOf(tuple(beginnings))) if beginnings else InOrder(())


def _following(parts: Sequence[tuple[Shape, bool]], gaps: tuple[Shape, ...]) -> tuple[Shape, ...]:
    behind = ((InOrder((*gaps, part)), is_required) for part, is_required in parts)
    return tuple(part if is_required else maybe(part) for part, is_required in behind)
