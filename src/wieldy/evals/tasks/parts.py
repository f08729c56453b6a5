"""The parts of a line of a data set, each as what it must be: a text is no list of letters, and "false" is not false.

A part that is left out and one that is null are the same. Records that are made in Python are held to the same where a
mistake would mean something else (`check_texts`). Deliberately not here: which parts there are (`rows`), and what they
mean.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from wieldy.core.errors import UsageError

if TYPE_CHECKING:
    from wieldy.core.json import JsonObject, JsonValue

    Row = Mapping[str, Any]


def flag(row: Row, name: str) -> bool | None:
    """True or false; None if it is left out."""
    return cast("bool | None", _part(row, name, lambda value: isinstance(value, bool), "true or false"))


def text(row: Row, name: str) -> str | None:
    """A text; None if it is left out."""
    return cast("str | None", _part(row, name, _is_text, "a text"))


def label(row: Row, name: str) -> str | None:
    """A text, or a whole number as one; None if it is left out."""
    value = _part(row, name, _is_label, "a text")
    return None if value is None else str(value)


def seconds(row: Row, name: str) -> float | None:
    """A number above 0; None if it is left out."""
    value = cast("float | None", _part(row, name, lambda value: _is_number(value) and value > 0, "a number above 0"))
    return None if value is None else float(value)


def texts(row: Row, name: str) -> tuple[str, ...]:
    """A list of texts; empty if it is left out."""
    found = _part(row, name, lambda value: _is_list(value, _is_text), "a list of texts")
    return tuple(cast("list[str]", found or ()))


def words(row: Row, name: str) -> tuple[str, ...]:
    """A list of texts, and of numbers as texts; empty if it is left out."""
    found = _part(row, name, lambda value: _is_list(value, _is_text, _is_number), "a list of texts")
    return tuple(map(str, cast("list[object]", found or ())))


def check_texts(name: str, value: object) -> None:
    """Raises UsageError unless it is a list or tuple of texts: a text alone would be taken for one of its letters."""
    if not isinstance(value, list | tuple) or not all(map(_is_text, cast("Sequence[object]", value))):
        raise UsageError(f"Expected a tuple of texts in `{name}`, found {value!r:.80}.")


def prompts(row: Row, name: str) -> tuple[Any, ...]:
    """A list of texts and of conversations; empty if it is left out."""
    found = _part(row, name, lambda value: _is_list(value, _is_text, _is_rows), "a list of prompts")
    return tuple(cast("list[object]", found or ()))


def rows(row: Row, name: str) -> tuple[Mapping[str, Any], ...] | None:
    """A list of objects; None if it is left out."""
    found = cast("list[Mapping[str, Any]] | None", _part(row, name, _is_rows, "a list of objects"))
    return None if found is None else tuple(found)


def members(row: Row, name: str) -> JsonObject:
    """An object; empty if it is left out."""
    return dict(cast("JsonObject", _part(row, name, _is_row, "an object") or {}))


def labels(row: Row, name: str) -> dict[str, str]:
    """An object of texts, and of whole numbers as texts; empty if it is left out."""
    found = _part(row, name, lambda value: _is_row(value) and all(map(_is_label, value.values())), "an object of texts")
    return {key: str(value) for key, value in cast("dict[str, object]", found or {}).items()}


def options(row: Row, name: str) -> dict[str, list[JsonValue]]:
    """An object of lists; empty if it is left out."""
    found = _part(row, name, lambda value: _is_row(value) and all(map(_is_list, value.values())), "an object of lists")
    return dict(cast("dict[str, list[JsonValue]]", found or {}))


def check_keys(row: Row, known: frozenset[str], what: str) -> None:
    """The row has no part that it cannot have.

    Raises:
        UsageError: It has.
    """
    if not _is_row(row):
        raise UsageError(f"expected {what} to be an object, found {row!r:.80}")
    unknown = row.keys() - known
    if unknown:
        raise UsageError(f"{min(unknown)!r} is no part of {what}; there are {', '.join(sorted(known))}")


def _part(row: Row, name: str, fits: Callable[[Any], bool], expected: str) -> object:
    value = row.get(name)
    if value is not None and not fits(value):
        raise UsageError(f"expected `{name}` to be {expected}, found {value!r:.80}")
    return value


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_label(value: object) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_list(value: object, *kinds: Callable[[object], bool]) -> bool:
    """Whether it is a list of values of these kinds, or of any if none is named."""
    items = cast("list[object]", value) if isinstance(value, list) else None
    return items is not None and all(not kinds or any(fits(item) for fits in kinds) for item in items)


def _is_row(value: object) -> bool:
    return isinstance(value, dict)


def _is_rows(value: object) -> bool:
    return _is_list(value, _is_row)
