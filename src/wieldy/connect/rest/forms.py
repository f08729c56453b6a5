"""Bodies of forms: `application/x-www-form-urlencoded` and `multipart/form-data`, files included.

Pure. A file is given as text, or as a `data:` URL where it is bytes: `data:image/png;name=a.png;base64,...`.

Source: WHATWG URL, section 5; RFC 7578 and HTML's escaping of names in it. Differs: see `styles` for deeper values.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote_plus, unquote

from wieldy.connect.rest.styles import Pair, bracketed, scalar_text
from wieldy.core.errors import ArgumentsError
from wieldy.core.json import JsonObject, JsonValue, canonical_json
from wieldy.core.media import media_type_in, media_type_of, read_data_url

_ENDINGS: Final = {"image/png": ".png", "image/jpeg": ".jpg", "image/gif": ".gif", "image/webp": ".webp"} | {
    "application/pdf": ".pdf",
    "text/plain": ".txt",
    "application/json": ".json",
    "text/csv": ".csv",
}
_NAME: Final = re.compile(r";name=([^;,]*)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Encoding:
    """How one property of a form is written, where the document says so.

    Attributes:
        content_type: Of its part; empty if nothing is said.
        is_deep: Whether it is written in brackets.
        delimiter: By what the items of a list are put together; empty if each stands for itself.
        is_file: Whether it is a file.
    """

    content_type: str = ""
    is_deep: bool = False
    delimiter: str = ""
    is_file: bool = False


_PLAIN: Final = Encoding()


def urlencoded(fields: JsonObject, encodings: Mapping[str, Encoding]) -> bytes:
    """The fields as a query is written."""
    pairs = [pair for name, value in fields.items() for pair in _pairs(name, value, encodings.get(name, _PLAIN))]
    return "&".join(f"{quote_plus(name, safe='[]')}={quote_plus(text)}" for name, text in pairs).encode()


def multipart(fields: JsonObject, encodings: Mapping[str, Encoding]) -> tuple[bytes, str]:
    """The fields as parts, and the media type that says what stands between them."""
    parts = [part for name, value in fields.items() for part in _parts(name, value, encodings.get(name, _PLAIN))]
    # Made from the content, so that the same call is the same bytes.
    boundary = hashlib.sha256(b"".join(content for _, content in parts)).hexdigest()[:32]
    while any(boundary.encode() in content for _, content in parts):
        boundary = hashlib.sha256(boundary.encode()).hexdigest()[:32]
    body = b"".join(f"--{boundary}\r\n{head}\r\n\r\n".encode() + content + b"\r\n" for head, content in parts)
    return body + f"--{boundary}--\r\n".encode(), f"multipart/form-data; boundary={boundary}"


def file_content(value: JsonValue, *, name: str) -> tuple[bytes, str, str]:
    """The bytes of a file that was given as an argument, its media type and its name.

    Raises:
        ArgumentsError: It is no text, or a `data:` URL that cannot be read.
    """
    if not isinstance(value, str):
        raise ArgumentsError(
            f"`{name}`: expected the text of a file or a data: URL, found {canonical_json(value):.80}."
        )
    if value[:5].lower() != "data:":
        return value.encode(), "text/plain", f"{name}.txt"
    data = read_data_url(value)
    if data is None:
        raise ArgumentsError(
            f"`{name}`: expected a data: URL such as data:image/png;base64,iVBORw0KGgo=, found one that cannot be read."
        )
    media_type = media_type_in(value) or media_type_of(data) or "application/octet-stream"
    named = _NAME.search(value.partition(",")[0])
    return data, media_type, unquote(named[1]) if named and named[1] else name + _ENDINGS.get(media_type, ".bin")


def _pairs(name: str, value: JsonValue, encoding: Encoding) -> Iterator[Pair]:
    if "json" in encoding.content_type:
        yield name, canonical_json(value)
    elif encoding.is_deep or isinstance(value, dict) or _is_deep_list(value):
        yield from bracketed(name, value)
    elif isinstance(value, list):
        texts = [scalar_text(item) for item in value]
        if encoding.delimiter:
            yield name, encoding.delimiter.join(texts)
        else:
            yield from ((name, text) for text in texts)
    else:
        yield name, scalar_text(value)


def _parts(name: str, value: JsonValue, encoding: Encoding) -> Iterator[tuple[str, bytes]]:
    if encoding.is_file:
        for item in value if isinstance(value, list) else [value]:
            data, media_type, filename = file_content(item, name=name)
            yield _head(name, encoding.content_type or media_type, filename), data
    elif "json" in encoding.content_type or isinstance(value, dict) or _is_deep_list(value):
        yield _head(name, encoding.content_type or "application/json"), canonical_json(value).encode()
    elif isinstance(value, list):
        for item in value:
            yield _head(name, encoding.content_type), scalar_text(item).encode()
    else:
        yield _head(name, encoding.content_type), scalar_text(value).encode()


def _head(name: str, content_type: str, filename: str | None = None) -> str:
    disposition = f'Content-Disposition: form-data; name="{_quoted(name)}"'
    if filename is not None:
        disposition += f'; filename="{_quoted(filename)}"'
    # Of several types that the document allows the first is meant; a pattern such as image/* says nothing.
    first = content_type.partition(",")[0].strip()
    return f"{disposition}\r\nContent-Type: {first}" if first and "*" not in first else disposition


def _quoted(text: str) -> str:
    return text.replace("\r", "%0D").replace("\n", "%0A").replace('"', "%22")


def _is_deep_list(value: JsonValue) -> bool:
    return isinstance(value, list) and any(isinstance(item, dict | list) for item in value)
