"""Entry data as bytes and back; both journals keep these bytes, so that they accept and return exactly the same.

Law: `data_from_bytes(bytes_from_data(data))` is what `append` returns and what `read` gives later: a live run sees what
a replay will.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import cast

import msgspec

from wieldy.core.errors import JournalError
from wieldy.core.json import JsonObject

_decoder = msgspec.json.Decoder(dict[str, object])


def bytes_from_data(data: JsonObject) -> bytes:
    """The data as JSON in UTF-8; half a surrogate pair, which is no text, becomes U+FFFD.

    Raises:
        JournalError: The data is not JSON.
    """
    try:
        return msgspec.json.encode(data)
    except UnicodeEncodeError:
        return msgspec.json.encode(_as_unicode(data))
    except (TypeError, ValueError, RecursionError) as error:
        raise JournalError(f"An entry holds what is not JSON: {error}.") from error


def data_from_bytes(data: bytes) -> JsonObject:
    """What `bytes_from_data` was given.

    Raises:
        JournalError: The bytes are no JSON object.
    """
    try:
        return cast("JsonObject", _decoder.decode(data))
    except (msgspec.DecodeError, TypeError, RecursionError) as error:
        raise JournalError(f"An entry cannot be read: expected a JSON object, found damaged data ({error}).") from error


def _as_unicode(value: object) -> object:
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, dict):
        items = cast("dict[object, object]", value).items()
        return {_as_unicode(key): _as_unicode(item) for key, item in items}
    if isinstance(value, list | tuple):
        return [_as_unicode(item) for item in cast("Iterable[object]", value)]
    return value
