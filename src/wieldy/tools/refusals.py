"""What pydantic refuses, in the words of `schema`: the place, the value found, what would fit."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

from pydantic import ValidationError

from wieldy.core.json import JsonValue
from wieldy.schema import Violation
from wieldy.schema.describe import FORMATS

_EXPECTED = "Input should be "
_FORMATS = (
    ("datetime_", "date-time"),
    ("date_", "date"),
    ("time_delta_", "duration"),
    ("time_", "time"),
    ("uuid_", "uuid"),
    ("url_", "uri"),
)
"""Which format pydantic's kinds of errors are about: the schema's own words for it come with an example."""


def violations_of(error: ValidationError, arguments: JsonValue, *, check: str = "its check") -> tuple[Violation, ...]:
    """One violation per place, in pydantic's order; `check` is who refused, where it does not say why."""
    found: dict[tuple[str | int, ...], Violation] = {}
    for detail in error.errors(include_url=False, include_context=False):
        path = tuple(_path(detail["loc"], arguments))
        # A union reports every member; the first is the one that the author put first.
        violation = _violation(path, detail["type"], detail["msg"], detail["input"], check=check)
        found.setdefault(path, violation)
    return tuple(found.values())


def _violation(path: tuple[str | int, ...], kind: str, message: str, found: object, *, check: str) -> Violation:
    name = next((name for prefix, name in _FORMATS if kind.startswith(prefix)), None)
    if name is not None and kind.endswith("parsing"):
        words, sample = FORMATS[name]
        return Violation(path=path, keyword="python", found=found, expected=f"{words} such as {sample}")
    if message.startswith(_EXPECTED):
        return Violation(path=path, keyword="python", found=found, expected=message.removeprefix(_EXPECTED))
    reason = message.removeprefix("Value error, ").removeprefix("Assertion failed, ").strip()
    if not reason:  # a bare assert
        return Violation(path=path, keyword="python", found=found, expected=f"a value that {check} takes")
    return Violation(path=path, keyword="python", found=found, expected=reason, reason=reason)


def _path(location: tuple[str | int, ...], value: object) -> Iterator[str | int]:
    """The parts of pydantic's location that lead into the value; it mixes in names of types and of union members."""
    for part in location:
        if isinstance(value, dict) and part in value:
            value = cast("dict[Any, object]", value)[part]
        elif isinstance(value, list) and isinstance(part, int) and part < len(cast("list[object]", value)):
            value = cast("list[object]", value)[part]
        else:
            continue
        yield part
