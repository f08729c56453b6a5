"""Reads one level of a configuration: names that are known, values of the right kind, errors that name the place."""

from __future__ import annotations

import math
from collections.abc import Generator, Mapping
from contextlib import contextmanager
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
        for name in cast("Mapping[object, object]", value):
            if not isinstance(name, str):
                raise UsageError(f"{place}: expected names that are texts, found {name!r}; write it in quotes.")
        self.values = cast("Mapping[str, Any]", value)
        self.place = place

    def only(self, *known: str) -> Fields:
        """These fields, if there is no other.

        Raises:
            UsageError: There is.
        """
        for name in self.values:
            if name not in known:
                hint = nearest(name, known)
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
        if name not in self.values:
            return None
        value: object = self.values[name]  # that nothing stands there is not the same as that it is left out
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
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < math.inf:
            raise self.wrong(name, "a number from 0 on", value)
        return value

    def integer(self, name: str, otherwise: int, *, most: int) -> int:
        """A whole number from 0 to `most`.

        Raises:
            UsageError: It is something else.
        """
        value: object = self.values.get(name, otherwise)
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= most:
            raise self.wrong(name, f"a whole number from 0 to {most}", value)
        return value

    def within(self, name: str) -> dict[str, Fields]:
        """The objects of an object, by name.

        Raises:
            UsageError: One of them is none, or has no name.
        """
        entries = Fields(self.get(name, dict, {}), f"{self.place}, {name}").values
        if any(not each.strip() for each in entries):
            raise UsageError(f"{self.place}, {name}: expected a name for each, found an empty one.")
        return {each: Fields(value, f"{self.place}, {name}.{each}") for each, value in entries.items()}

    def wrong(self, name: str, expected: str, found: object) -> UsageError:
        """The error that a field is not what it must be."""
        return UsageError(f"{self.place}, `{name}`: expected {expected}, found {found_in(found)}.")


@contextmanager
def naming(place: str, *, instead_of: str = "") -> Generator[None]:
    """Errors in there begin with the place.

    Args:
        place: Where in the configuration.
        instead_of: What such an error calls the place itself.
    """
    try:
        yield
    except UsageError as error:
        said = str(error)
        if said.startswith(place):
            raise
        said = said.removeprefix(instead_of) if instead_of else f": {said[:1].lower()}{said[1:]}"
        raise UsageError(f"{place}{said}") from error


def found_in(value: object) -> str:
    """What was found, in an error: no text, since it may be a secret."""
    if value is None:
        return "nothing"
    return repr(value) if isinstance(value, int | float) else type(value).__name__
