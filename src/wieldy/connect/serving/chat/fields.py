"""The fields of a request's JSON, each checked when it is taken. Pure.

A field that is null is one that was not given, as the protocol has it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, TypeVar, cast

from wieldy.core.json import JsonObject

_T = TypeVar("_T")
_SHOWN_CHARACTERS: Final = 80
_WORDS: Final[dict[type, str]] = {
    str: "text",
    bool: "true or false",
    int: "a whole number",
    dict: "an object",
    list: "a list",
}


class FieldError(ValueError):
    """A request that cannot be answered as it is; its text is for whoever wrote the client.

    Attributes:
        param: Which field.
        code: What is wrong, for programs.
        status: Of HTTP.
    """

    def __init__(self, message: str, *, param: str | None, code: str = "invalid_value", status: int = 400) -> None:
        super().__init__(message)
        self.param = param
        self.code = code
        self.status = status


class Fields:
    """The fields of one object, and which of them were not taken yet.

    Args:
        value: The object.
        path: Where it stands in the request; empty for the request itself.
    """

    def __init__(self, value: JsonObject, *, path: str = "") -> None:
        self._left = {name: item for name, item in value.items() if item is not None}
        self._path = path

    def left(self) -> Iterator[tuple[str, Any]]:
        """What was not taken, in its order."""
        yield from self._left.items()

    def take(self, name: str, kind: type[_T]) -> _T | None:
        """The field; None if it is not there.

        Raises:
            FieldError: It is of another kind.
        """
        value: object = self._left.pop(name, None)
        is_flag = isinstance(value, bool)  # which Python takes for a number
        if isinstance(value, kind) and not (is_flag and kind is int):
            return value
        if value is None:
            return None
        raise FieldError(
            f"Expected {self.named(name)!r} to be {_WORDS[kind]}, found {shown(value)}.", param=self.named(name)
        )

    def items(self, name: str) -> list[Any]:
        """The field as a list, empty if it is not there.

        Raises:
            FieldError: It is none.
        """
        return cast("list[Any]", self.take(name, list) or [])

    def number(self, name: str) -> int | None:
        """The field as a number of at least 1; None if it is not there.

        Raises:
            FieldError: It is none.
        """
        value = self.take(name, int)
        if value is not None and value < 1:
            raise FieldError(f"Expected {self.named(name)!r} to be at least 1, found {value}.", param=self.named(name))
        return value

    def anything(self, name: str) -> Any:
        """The field, of whatever kind; None if it is not there."""
        return self._left.pop(name, None)

    def named(self, name: str) -> str:
        """The field's place in the request."""
        return f"{self._path}.{name}" if self._path else name


def inside(value: object, *, path: str) -> Fields:
    """The fields of an object within a request.

    Raises:
        FieldError: It is none.
    """
    if not isinstance(value, dict):
        raise FieldError(f"Expected {path!r} to be an object, found {shown(value)}.", param=path)
    return Fields(cast("JsonObject", value), path=path)


def shown(value: object) -> str:
    """The beginning of a value, as an error shows it."""
    text = repr(value)
    return text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]}..."
