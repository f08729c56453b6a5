"""Reads one level of a configuration: names that are known, values of the right kind, errors that name the place."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, TypeVar, cast

from wieldy.core.errors import UsageError
from wieldy.schema import nearest

_T = TypeVar("_T")
_WORDS: Final[Mapping[type[Any], str]] = {str: "a text", bool: "true or false", dict: "an object", list: "a list"}


class Fields:
    """The fields of one object.

    Args:
        value: What stands there.
        place: Where, for errors.

    Raises:
        UsageError: It is no object.
    """

    def __init__(self, value: object, place: str) -> None:
        if not isinstance(value, Mapping):
            raise UsageError(f"{place}: expected an object, found {type(value).__name__}.")
        self.values = cast("Mapping[str, Any]", value)
        self.place = place

    def only(self, *known: str) -> Fields:
        """These fields, if there is no other.

        Raises:
            UsageError: There is.
        """
        for name in self.values:
            if name not in known:
                hint = nearest(str(name), known)
                raise UsageError(
                    f"{self.place}: expected {', '.join(known)}; found {name!r}"
                    + (f"; did you mean {hint!r}?" if hint else ".")
                )
        return self

    def get(self, name: str, kind: type[_T], otherwise: _T) -> _T:
        """One field.

        Raises:
            UsageError: It is of another kind.
        """
        value: object = self.values.get(name, otherwise)
        if value is otherwise:
            return otherwise
        if not isinstance(value, kind):
            raise self.wrong(name, _WORDS.get(kind, kind.__name__), value)
        return value

    def texts(self, name: str) -> tuple[str, ...] | None:
        """A list of texts, or one text; None where it is left out.

        Raises:
            UsageError: It is something else.
        """
        value: object = self.values.get(name)
        if value is None:
            return None
        items: list[object] = [value] if isinstance(value, str) else cast("list[object]", value)
        if not isinstance(items, list) or not all(isinstance(item, str) for item in items):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise self.wrong(name, "a list of texts", value)
        return tuple(cast("list[str]", items))

    def number(self, name: str, otherwise: float) -> float:
        """A number from 0 on.

        Raises:
            UsageError: It is something else.
        """
        value: object = self.values.get(name, otherwise)
        if isinstance(value, bool) or not isinstance(value, int | float) or not value >= 0:
            raise self.wrong(name, "a number from 0 on", value)
        return value

    def within(self, name: str) -> dict[str, Fields]:
        """The objects of an object, by name.

        Raises:
            UsageError: One of them is none.
        """
        entries = self.get(name, dict, {})
        return {str(each): Fields(value, f"{self.place}, {name}.{each}") for each, value in entries.items()}

    def wrong(self, name: str, expected: str, found: object) -> UsageError:
        """The error that a field is not what it must be."""
        return UsageError(f"{self.place}, `{name}`: expected {expected}, found {type(found).__name__}.")
