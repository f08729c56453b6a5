"""What a tool returned, as the text that a model reads and as JSON.

Law: any Python value becomes some text; nothing raises, and what cannot be shown is said in words. Text is shown as it
is, everything that has a JSON form as JSON. Deliberately not here: cutting long results (`run`).
"""

from __future__ import annotations

import json
import math
from collections.abc import Awaitable, Iterator
from enum import Enum
from typing import Any

from pydantic import TypeAdapter
from pydantic_core import PydanticSerializationError, to_jsonable_python

from wieldy.core.json import JsonValue

NOTHING = "The tool ran and returned no value."


def present(value: object, adapter: TypeAdapter[Any] | None) -> tuple[str, JsonValue]:
    """The text for the model, and the same as JSON where the value has a JSON form that its text does not already show.

    Args:
        value: What the tool returned.
        adapter: Writes values of the type that the tool says it returns; None if it does not say.
    """
    if value is None:
        return (NOTHING if adapter is None else "null"), None
    if isinstance(value, str) and not isinstance(value, Enum):
        text = _whole_characters(value)
        return text, None if adapter is None else text
    unshowable = _unshowable(value)
    if unshowable is not None:
        return unshowable, None
    try:
        structured = _writable(_as_json(value, adapter))
        text = structured if isinstance(structured, str) else json.dumps(structured, ensure_ascii=False)
    except Exception as error:  # the value's own code runs here: serializers, properties, `__str__`
        reason = _whole_characters(str(error).strip().partition("\n")[0])
        return f"The tool ran, but the {type(value).__name__} that it returned cannot be shown ({reason}).", None
    return text, structured


def _unshowable(value: Any) -> str | None:
    """The words for what is not meant to be read; text in bytes is."""
    content = _bytes(value)
    if content is not None:
        try:
            return content.decode()
        except UnicodeDecodeError:
            return f"The tool returned {len(content)} bytes that are not text."
    name = type(value).__name__
    if isinstance(value, Iterator | Awaitable):
        # Not run through: it may never end, and reading it is work that belongs into the tool.
        return f"The tool ran, but returned a {name} instead of a result; it has to return a list or a value."
    return None


def _bytes(value: Any) -> bytes | None:
    return bytes(value) if type(value) in {bytes, bytearray, memoryview} else None


def _as_json(value: object, adapter: TypeAdapter[Any] | None) -> JsonValue:
    if adapter is not None:
        try:
            return adapter.dump_python(value, mode="json", warnings="error")
        except (PydanticSerializationError, UnicodeDecodeError):
            pass  # it returned something else than it says; that is shown as what it is
    try:
        return to_jsonable_python(value, fallback=_described)
    except UnicodeDecodeError:
        return to_jsonable_python(value, fallback=_described, bytes_mode="base64")


def _described(value: Any) -> object:
    """The nearest thing with a JSON form: a plain list or number, else its own words, else its type."""
    plain = getattr(value, "tolist", None)  # numpy's arrays and numbers, and what imitates them
    if callable(plain):
        return plain()
    if isinstance(value, BaseException):
        return f"{type(value).__name__}: {value}"
    content = _bytes(value)
    if content is not None:
        return f"{len(content)} bytes"
    # The default text holds an address, which says nothing and differs from run to run.
    return str(value) if type(value).__str__ is not object.__str__ else f"a {type(value).__qualname__} object"


def _writable(value: JsonValue) -> JsonValue:
    """The value as strict JSON knows it: without NaN, infinities and halves of surrogate pairs."""
    try:
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except ValueError:
        return _mended(value)
    return value


def _mended(value: JsonValue) -> JsonValue:
    match value:
        case str():
            return _whole_characters(value)
        case float() if not math.isfinite(value):
            return str(value)
        case list():
            return [_mended(item) for item in value]
        case dict():
            return {_whole_characters(name): _mended(item) for name, item in value.items()}
        case _:
            return value


def _whole_characters(text: str) -> str:
    # By way of UTF-16, so that two halves that belong together become one character.
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
