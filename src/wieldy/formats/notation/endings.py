"""Whether one can tell from a text alone that a shape has ended: no text of it goes on to be a longer one.

Where that holds, a pattern may safely end there although others follow (`pieces`). The answer errs on the side of
"no", which costs size and never correctness.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TypeAlias

from wieldy.formats.notation.character_class import character_class
from wieldy.formats.shape import Characters, Exact, InOrder, Json, Named, OneOf, Repeated, Shape, TextWithout

_ENDED_JSON = frozenset({"object", "array", "string", "boolean", "null"})
_OF_NUMBERS = "0123456789.eE+-"

_Way: TypeAlias = str | Characters | TextWithout | Json
"""How a text that could have ended may go on: with this text, or with more of such a run."""


class _UnknownError(Exception):
    """Nothing certain can be said about the shape."""


def has_plain_end(shape: Shape, named: Mapping[str, Shape]) -> bool:
    """Whether no text of the shape is the beginning of another one.

    Args:
        shape: What may be written.
        named: The shapes of the names that may be looked into: those that do not contain themselves.
    """
    try:
        return not _ways_on(_flat(shape, named), named)
    except _UnknownError:
        return False


def _flat(shape: Shape, named: Mapping[str, Shape]) -> list[Shape]:
    """The shapes that come one after the other, neighbouring literals as one."""
    match shape:
        case InOrder(parts=inner):
            found: list[Shape] = []
            for part in (deep for outer in inner for deep in _flat(outer, named)):
                if isinstance(part, Exact) and found and isinstance(last := found[-1], Exact):
                    found[-1] = Exact(last.text + part.text)
                else:
                    found.append(part)
            return found
        case Named(name=name) if name in named:
            return _flat(named[name], named)
        case Named():
            raise _UnknownError
        case _:
            return [shape]


def _ways_on(parts: Sequence[Shape], named: Mapping[str, Shape]) -> list[_Way]:
    """The ways in which a text of the parts, one after the other, may go on to be a longer text of them."""
    ways: list[_Way] = []
    for part in parts:
        if isinstance(part, Characters | TextWithout | Json):
            if ways:
                raise _UnknownError
            ways = _of_leaf(part)
            continue
        beginnings = _beginnings([part], named)
        if not all(_closes(text, way) for text in beginnings for way in ways):
            raise _UnknownError
        own = _of_composed(part, beginnings, named)
        ways = [*ways, *beginnings, *own] if isinstance(part, Repeated) and not part.at_least else own
    return ways


def _of_leaf(part: Characters | TextWithout | Json) -> list[_Way]:
    match part:
        case Characters(at_least=least, at_most=most) if 0 < least == most:
            return []
        case Json(schema=schema) if schema.get("type") in _ENDED_JSON:
            return []
        case _:
            return [part]


def _of_composed(part: Shape, beginnings: Sequence[str], named: Mapping[str, Shape]) -> list[_Way]:
    match part:
        case OneOf(options=options):
            if not _diverge(beginnings):
                raise _UnknownError
            return [way for option in options for way in _ways_on(_flat(option, named), named)]
        case Repeated(part=inner, between=between, at_most=most):
            ways = _ways_on(_flat(inner, named), named)
            if most == 1:
                return ways
            again = beginnings if between is None else _beginnings(_flat(InOrder((between, inner)), named), named)
            if not all(_closes(text, way) for text in again for way in ways):
                raise _UnknownError
            return [*ways, *again]
        case _:
            return []


def _closes(text: str, way: _Way) -> bool:
    """Whether a text that goes on with the literal cannot be one that goes on that way."""
    match way:
        case str():
            return not text.startswith(way) and not way.startswith(text)
        case Characters(allowed=allowed):
            return text[:1] not in character_class(allowed)
        case Json():
            return text[:1] not in _OF_NUMBERS
        case TextWithout(markers=markers):
            ends = [text.find(marker) + len(marker) for marker in markers if marker in text]
            return any(not _overlaps_itself(text[:end]) for end in ends)


def _overlaps_itself(text: str) -> bool:
    return any(text.startswith(text[start:]) for start in range(1, len(text)))


def _diverge(beginnings: Sequence[str]) -> bool:
    """Whether none of the texts is the beginning of another one."""
    return not any(later.startswith(earlier) for earlier, later in pairwise(sorted(beginnings)))


def _beginnings(parts: Sequence[Shape], named: Mapping[str, Shape]) -> list[str]:
    """Literals with one of which every text of the parts begins, as long as they can be told; none is empty."""
    match parts:
        case [Exact(text=text), *rest] if text:
            following = rest[0] if rest else None
            if isinstance(following, OneOf):
                return [text + more for more in _beginnings([following], named)]
            return [text]
        case [OneOf(options=options), *_]:
            return [text for option in options for text in _beginnings(_flat(option, named), named)]
        case [Repeated(part=inner, at_most=most), *_] if most != 0:
            return _beginnings(_flat(inner, named), named)
        case _:
            raise _UnknownError
