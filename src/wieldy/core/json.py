"""JSON as Python sees it, its one canonical text, and reading it without loss.

A digest of arguments must not depend on key order, spacing or process: `canonical_json` is that text. What a model
wrote is read by `parse_json`: Python's own reader drops the first of two equal keys, and takes what JSON does not have.
"""

from __future__ import annotations

import hashlib
import json
import math
from typing import Final, TypeAlias, cast

JsonValue: TypeAlias = "str | int | float | bool | list[JsonValue] | dict[str, JsonValue] | None"
JsonObject: TypeAlias = "dict[str, JsonValue]"

_SHOWN_CHARACTERS: Final = 40

_canonical: Final = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def canonical_json(value: object) -> str:
    """The same text for equal JSON values: sorted keys, no spaces, no escapes beyond what JSON requires."""
    return _canonical.encode(value)


def parse_json(text: str) -> JsonValue:
    """The value that the text is, of which nothing is lost.

    Raises:
        ValueError: It is no JSON (RFC 8259), or says what no value can hold: a key twice in one object, a number beyond
            Python's, half a character (a surrogate without its other half), NaN. The error says which.
        RecursionError: It is nested too deeply.
    """
    if not text.isascii():
        # Servers cut text into pieces between the halves of a character.
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
    value = cast("JsonValue", STRICT_DECODER.decode(text))
    check_characters(text, value)
    return value


def check_characters(text: str, value: JsonValue) -> None:
    """Ends with an error where the value that was read from the text holds half a character.

    Raises:
        ValueError: It does.
    """
    if "\\u" not in text and text.isascii():
        return
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise ValueError(f"{error.object[error.start]!a} is half a character: its other half is missing") from None


def is_json(value: object) -> bool:
    """Whether JSON has such a value: text as keys, finite numbers, and nothing that only Python knows."""
    waiting: list[object] = [value]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            members = cast("dict[object, object]", value)
            if not all(isinstance(key, str) for key in members):
                return False
            waiting += members.values()
        elif isinstance(value, list):
            waiting += cast("list[object]", value)
        elif isinstance(value, float):
            if not math.isfinite(value):
                return False
        elif not isinstance(value, str | int | None):
            return False
    return True


def sha256(text: str) -> str:
    """The SHA-256 of the text in UTF-8, as 64 hexadecimal digits."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def digest(*parts: object) -> str:
    """The first 32 hexadecimal digits of the SHA-256 of the parts' canonical JSON."""
    return sha256(canonical_json(parts))[:32]


def _members(pairs: list[tuple[str, JsonValue]]) -> JsonObject:
    members = dict(pairs)
    if len(members) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the key {twice!a} stands twice in one object")
    return members


def _finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise ValueError(f"{text[:_SHOWN_CHARACTERS]} is too large for a number")
    return number


def _whole(text: str) -> int:
    try:
        return int(text)
    except ValueError:  # Python reads only so many digits
        raise ValueError(f"a number of {len(text)} digits is too long, {text[:_SHOWN_CHARACTERS]}...") from None


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON value")


STRICT_DECODER: Final = json.JSONDecoder(
    object_pairs_hook=_members, parse_float=_finite, parse_int=_whole, parse_constant=_refuse_constant
)
"""Reads JSON as `parse_json` does, without looking for half characters; for JSON that stands in a longer text."""
