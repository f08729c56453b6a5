"""What of Python's values can be sent as JSON, and a short text for the rest.

Tuples become arrays, arrays and scalars of numpy what they contain, keys that are numbers text. Nothing is pickled, and
nothing is sent that JSON does not have: no NaN, no half characters, no deeper nesting than the host reads.
"""

from __future__ import annotations

import math
import reprlib
from typing import Any, cast

DEEPEST = 100
"""How many arrays and objects may stand within one another."""

_REPR_CHARACTERS = 2000
_DIGITS = 4000  # Python turns longer numbers into text only when told to


class NotJsonError(ValueError):
    """The value is none that JSON has; the error says what of it."""


def plain(value: Any, depth: int = 0) -> Any:
    """The value as JSON has it.

    Raises:
        NotJsonError: It has none, or is nested too deeply.
    """
    if depth > DEEPEST:
        raise NotJsonError(f"nested deeper than {DEEPEST}")
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, int):
        return _integer(int(value))
    if isinstance(value, float):
        return _finite(float(value))
    if isinstance(value, list | tuple):
        return [plain(item, depth + 1) for item in cast("list[Any]", value)]
    if isinstance(value, dict):
        return _object(cast("dict[Any, Any]", value), depth)
    if type(value).__module__ == "numpy" and hasattr(value, "tolist"):
        return plain(value.tolist(), depth + 1)
    if hasattr(cast("Any", type(value)), "_wieldy_json"):
        return plain(value._wieldy_json(), depth + 1)
    raise NotJsonError(f"a value of the type {type(value).__name__}")


def described(value: Any) -> str:
    """A short text for a value that cannot be sent; never fails."""
    try:
        text = repr(value)
    except BaseException as error:  # the value's own code, which may do anything
        text = f"<{type(value).__name__}, whose repr raised {type(error).__name__}>"
    return shortened(text, _REPR_CHARACTERS)


def shortened(text: str, characters: int) -> str:
    """At most that many characters of the text, which the host can read."""
    clean = str(text).encode("utf-8", "backslashreplace").decode()
    return clean if len(clean) <= characters else clean[: characters - 3] + "..."


def _text(value: str) -> str:
    text = str.__str__(value)
    try:
        text.encode()
    except UnicodeEncodeError:
        raise NotJsonError(f"a text with half a character: {reprlib.repr(text)}") from None
    return text


def _integer(value: int) -> int:
    if value.bit_length() > _DIGITS * 3.3:
        raise NotJsonError("an integer of more digits than can be sent")
    return value


def _finite(value: float) -> float:
    if not math.isfinite(value):
        raise NotJsonError(f"the number {value}")
    return value


def _object(value: dict[Any, Any], depth: int) -> dict[str, Any]:
    members: dict[str, Any] = {}
    for key, item in value.items():
        members[_key(key)] = plain(item, depth + 1)
    if len(members) < len(value):
        raise NotJsonError("keys that are the same as text")
    return members


def _key(key: Any) -> str:
    if isinstance(key, str):
        return _text(key)
    if isinstance(key, bool | int | float):
        return str(plain(key))
    raise NotJsonError(f"a key of the type {type(key).__name__}")
