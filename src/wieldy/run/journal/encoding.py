"""Entry data as bytes and back; all journals keep these bytes, so that they accept and return exactly the same.

Law: what `settled` gives are the data as a reader will see them and the one text that they have: encoding them again
gives the same bytes. So a live run sees what a replay will, and a digest can be computed from an entry alone.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, cast

import msgspec
from msgspec import Struct

from wieldy.core.errors import JournalError
from wieldy.core.json import JsonObject
from wieldy.core.ports import Draft

_encode: Final = msgspec.json.Encoder().encode
_decode: Final = msgspec.json.Decoder(dict[str, Any]).decode


class Settled(Struct, frozen=True):
    """A draft as it will be kept."""

    kind: str
    encoded: bytes
    data: JsonObject


def settled(draft: Draft) -> Settled:
    """The draft as it will be read, and the bytes that stand for it.

    Raises:
        JournalError: Its data is not JSON, or is nested too deeply to be read again.
    """
    kind, data = draft
    try:
        seen = _decode(_encode(data))
    except (msgspec.MsgspecError, TypeError, ValueError, RecursionError):
        seen = _seen(data)
    # Keys that only Python tells apart (1 and "1") leave two members of one name, of which a reader sees the last.
    return Settled(kind, _encode(seen), seen)


def _seen(data: JsonObject) -> JsonObject:
    encoded = bytes_from_data(data)
    try:
        return data_from_bytes(encoded)
    except JournalError as error:
        raise JournalError(f"An entry holds what is not JSON, or could not be read again: {error}") from error


def bytes_from_data(data: JsonObject) -> bytes:
    """The data as JSON in UTF-8; half a surrogate pair, which is no text, becomes U+FFFD.

    Raises:
        JournalError: The data is not JSON.
    """
    try:
        return _encode(data)
    except UnicodeEncodeError:
        return _encode(_as_unicode(data))
    except (TypeError, ValueError, RecursionError) as error:
        raise JournalError(f"An entry holds what is not JSON: {error}.") from error


def data_from_bytes(data: bytes) -> JsonObject:
    """What `bytes_from_data` was given.

    Raises:
        JournalError: The bytes are no JSON object.
    """
    try:
        return _decode(data)
    except (msgspec.DecodeError, TypeError, ValueError, RecursionError) as error:
        raise JournalError(f"An entry cannot be read: expected a JSON object, found damaged data ({error}).") from error


def bytes_from_name(name: str) -> bytes:
    """The id of a run or a kind in UTF-8.

    Raises:
        JournalError: It is not text that every database can hold.
    """
    try:
        encoded = name.encode()
    except (UnicodeEncodeError, AttributeError):  # a caller may hand on anything that a person gave
        encoded = b"\0"
    if b"\0" in encoded:
        raise JournalError(f"A journal takes runs and kinds whose names are text without NUL, found {name!r}.")
    return encoded


def as_read(data: bytes) -> bytes:
    """The bytes as `settled` would have written them; those that are damaged as they are."""
    try:
        return _encode(data_from_bytes(data))
    except JournalError:
        return data


def _as_unicode(value: object) -> object:
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, dict):
        items = cast("dict[object, object]", value).items()
        return {_as_unicode(key): _as_unicode(item) for key, item in items}
    if isinstance(value, list | tuple):
        return [_as_unicode(item) for item in cast("Iterable[object]", value)]
    return value
