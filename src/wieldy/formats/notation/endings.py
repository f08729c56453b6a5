"""Whether one can tell from a text alone that a shape has ended: no text of it goes on to be a longer one.

Where that holds, a pattern may safely end there although others follow (`pieces`). The answer errs on the side of
"no", which costs size and never correctness.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence

from wieldy.formats.notation.character_class import character_class
from wieldy.formats.shape import Characters, Exact, InOrder, Json, Named, OneOf, Repeated, Shape, TextWithout

_ENDED_JSON = frozenset({"object", "array", "string", "boolean", "null"})
_OF_NUMBERS = "0123456789.eE+-"


def has_plain_end(shape: Shape, named: Mapping[str, Shape]) -> bool:
    """Whether no text of the shape is the beginning of another one.

    Args:
        shape: What may be written.
        named: The shapes of the names that may be looked into: those that do not contain themselves.
    """
    match shape:
        case Exact(text=text):
            return bool(text)
        case Characters(at_least=at_least, at_most=at_most):
            return 0 < at_least == at_most
        case Json(schema=schema):
            return schema.get("type") in _ENDED_JSON
        case InOrder(parts=inner):
            return _ends_in_order(inner, named)
        case OneOf(options=inner):
            return all(has_plain_end(option, named) for option in inner) and _diverge(inner, named)
        case Named(name=name):
            return name in named and has_plain_end(named[name], named)
        case _:
            return False


def _ends_in_order(inner: Sequence[Shape], named: Mapping[str, Shape]) -> bool:
    is_open: Shape | None = None
    for part in inner:
        if is_open is not None:
            if not (isinstance(part, Exact) and part.text and _closes(part.text, is_open, named)):
                return False
            is_open = None
        elif not has_plain_end(part, named):
            is_open = part
    return is_open is None and bool(inner)


def _closes(text: str, shape: Shape, named: Mapping[str, Shape]) -> bool:
    match shape:
        case Characters(allowed=allowed):
            return text[0] not in character_class(allowed)
        case Json():
            return text[0] not in _OF_NUMBERS
        case TextWithout(markers=markers):
            return any(text.startswith(marker) and not _overlaps_itself(marker) for marker in markers)
        case Repeated(part=part, between=between):
            is_plain = has_plain_end(part, named) and (between is None or has_plain_end(between, named))
            return (
                is_plain
                and _diverge([Exact(text), part if between is None else between], named)
                and _diverge([Exact(text), part], named)
            )
        case _:
            return False


def _overlaps_itself(marker: str) -> bool:
    return any(marker.startswith(marker[start:]) for start in range(1, len(marker)))


def _diverge(options: Sequence[Shape], named: Mapping[str, Shape]) -> bool:
    """Whether the literal beginnings of the options are known and none is the beginning of another one's."""
    beginnings: list[str] = []
    for option in options:
        found = _beginnings(option, named)
        if found is None:
            return False
        beginnings += found
    beginnings.sort()
    return not any(later.startswith(earlier) for earlier, later in itertools.pairwise(beginnings))


def _beginnings(shape: Shape, named: Mapping[str, Shape]) -> list[str] | None:
    match shape:
        case Exact(text=text):
            return [text]
        case InOrder(parts=inner) if inner:
            exact = "".join(_leading_texts(inner))
            return [exact] if exact else _beginnings(inner[0], named)
        case OneOf(options=inner):
            found = [_beginnings(option, named) for option in inner]
            return None if None in found else [text for texts in found if texts is not None for text in texts]
        case Named(name=name):
            return _beginnings(named[name], named) if name in named else None
        case _:
            return None


def _leading_texts(inner: Sequence[Shape]) -> Iterator[str]:
    for part in inner:
        if not isinstance(part, Exact):
            return
        yield part.text
