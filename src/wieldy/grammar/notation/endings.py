"""Whether one can tell from a text alone that a shape has ended: no text of it goes on to be a longer one.

Where that holds, a pattern may safely end there although others follow (`pieces`). The answer errs on the side of
"no", which costs size and never correctness.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import TypeAlias, TypeVar

from wieldy.core.json import JsonValue
from wieldy.grammar.notation.markers import occurrence
from wieldy.grammar.reading.character_class import character_class
from wieldy.grammar.shape import Characters, Exact, InOrder, Json, Named, OneOf, Repeated, Shape, TextWithout

_ENDED_JSON = frozenset({"object", "array", "string", "boolean", "null"})
_OF_NUMBERS = "0123456789.eE+-"

_MAX_FOUND = 1000
"""More ways than this are not followed: nothing is said about the shape."""

_Found = TypeVar("_Found")
_Way: TypeAlias = str | Characters | TextWithout | Json
"""How a text that could have ended may go on: with this text, or with more of such a run."""


class _UnknownError(Exception):
    """Nothing certain can be said about the shape."""


class Endings:
    """What can be said about the ends of shapes; what was found out once is remembered, because shapes share parts.

    Args:
        named: The shapes of the names that may be looked into: those that do not contain themselves.
    """

    def __init__(self, named: Mapping[str, Shape]) -> None:
        self._named = named
        self._ways: dict[int, tuple[Shape, list[_Way] | None]] = {}
        self._starts: dict[int, tuple[Shape, list[str] | None]] = {}

    def has_plain_end(self, shape: Shape) -> bool:
        """Whether no text of the shape is the beginning of another one."""
        try:
            return not self._ways_on(shape)
        except _UnknownError:
            return False

    def _ways_on(self, shape: Shape) -> list[_Way]:
        """The ways in which a text of the shape may go on to be a longer text of it."""
        return _remembered(self._ways, shape, lambda: _distinct(self._ways_on_in_order(self._flat(shape))))

    def _beginnings(self, shape: Shape) -> list[str]:
        """Literals with one of which every text of the shape begins, as long as they can be told; none is empty."""
        return _remembered(self._starts, shape, lambda: self._new_beginnings(self._flat(shape)))

    def _flat(self, shape: Shape) -> list[Shape]:
        """The shapes that come one after the other, neighbouring literals as one."""
        match shape:
            case InOrder(parts=inner):
                found: list[Shape] = []
                for part in (deep for outer in inner for deep in self._flat(outer)):
                    if isinstance(part, Exact) and found and isinstance(last := found[-1], Exact):
                        found[-1] = Exact(last.text + part.text)
                    else:
                        found.append(part)
                return found
            case Named(name=name) if name in self._named:
                return self._flat(self._named[name])
            case Named():
                raise _UnknownError
            case _:
                return [shape]

    def _ways_on_in_order(self, parts: Sequence[Shape]) -> list[_Way]:
        ways: list[_Way] = []
        for part in parts:
            if isinstance(part, Characters | TextWithout | Json):
                if ways:
                    raise _UnknownError
                ways = _of_leaf(part)
                continue
            is_optional = isinstance(part, Repeated) and not part.at_least
            beginnings = self._beginnings(part) if ways or is_optional else []
            _check_closed(ways, beginnings)
            own = self._of_composed(part)
            ways = [*ways, *beginnings, *own] if is_optional else own
        return ways

    def _of_composed(self, part: Shape) -> list[_Way]:
        match part:
            case OneOf(options=options):
                texts = [option for option in options if isinstance(option, TextWithout)]
                others = [text for option in options if option not in texts for text in self._beginnings(option)]
                # A text cannot become another option whose beginning it must not contain.
                if not _diverge(others) or not all(_contains_any(text, run) for text in others for run in texts):
                    raise _UnknownError
                return [way for option in options for way in self._ways_on(option)]
            case Repeated(part=inner, between=between, at_most=most):
                ways = self._ways_on(inner)
                if most == 1:
                    return ways
                again = self._new_beginnings(self._flat(inner if between is None else InOrder((between, inner))))
                _check_closed(ways, again)
                return [*ways, *again]
            case _:
                return []

    def _new_beginnings(self, parts: Sequence[Shape]) -> list[str]:
        match parts:
            case [Exact(text=text), OneOf() as following, *_] if text:
                return [text + more for more in self._beginnings(following)]
            case [Exact(text=text), *_] if text:
                return [text]
            case [OneOf(options=options), *_]:
                return [text for option in options for text in self._beginnings(option)]
            case [Repeated(part=inner, at_most=most), *_] if most != 0:
                return self._beginnings(inner)
            case _:
                raise _UnknownError


def _remembered(
    known: dict[int, tuple[Shape, list[_Found] | None]], shape: Shape, find: Callable[[], list[_Found]]
) -> list[_Found]:
    if id(shape) not in known:
        try:
            known[id(shape)] = (shape, find())  # the first keeps the identity taken
        except _UnknownError:
            known[id(shape)] = (shape, None)
    found = known[id(shape)][1]
    if found is None or len(found) > _MAX_FOUND:
        raise _UnknownError
    return found


def _distinct(ways: list[_Way]) -> list[_Way]:
    """Each way once. JSON schemas cannot be compared by hash, so that runs are told apart by identity."""
    return list({way if isinstance(way, str) else id(way): way for way in ways}.values())


def _check_closed(ways: Sequence[_Way], following: Sequence[str]) -> None:
    if not all(_closes(text, way) for text in following for way in ways):
        raise _UnknownError


def _of_leaf(part: Characters | TextWithout | Json) -> list[_Way]:
    match part:
        case Characters(at_least=least, at_most=most) if 0 < least == most:
            return []
        case Json(schema=schema) if _is_ended(schema.get("type")):
            return []
        case _:
            return [part]


def _is_ended(kinds: JsonValue) -> bool:
    listed = kinds if isinstance(kinds, list) else [kinds]
    return bool(listed) and all(kind in _ENDED_JSON for kind in listed)


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
            found = occurrence(markers).search(text)
            return found is not None and not _overlaps_itself(text[: found.end()])


def _contains_any(text: str, run: TextWithout) -> bool:
    return occurrence(run.markers).search(text) is not None


def _overlaps_itself(text: str) -> bool:
    return any(text.startswith(text[start:]) for start in range(1, len(text)))


def _diverge(beginnings: Sequence[str]) -> bool:
    """Whether none of the texts is the beginning of another one."""
    return not any(later.startswith(earlier) for earlier, later in pairwise(sorted(beginnings)))
