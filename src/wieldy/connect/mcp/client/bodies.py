"""How much of an answer over HTTP is read: no more than a limit, however it is sent and encoded.

What comes as a stream of events is read event by event, by those who know a limit themselves. Deliberately not here:
what an answer means (`http`).
"""

from __future__ import annotations

from http import HTTPStatus
from typing import Any, Final

JSON: Final = "application/json"
_OF_THE_BYTES: Final = ("content-encoding", "content-length", "transfer-encoding")
"""Headers that say how an answer was sent."""


class TooLongError(Exception):
    """An answer is longer than what is read of one."""


def kind_of(response: Any) -> str:
    """The content type, in lower case."""
    return str(response.headers.get("content-type", "")).lower()


async def bounded(library: Any, response: Any, most_bytes: int) -> Any:
    """The answer, so that whoever reads it reads no more than so much, whatever the server sends.

    Raises:
        TooLongError: It is longer.
        library.RequestError: It broke off, or cannot be decoded.
    """
    if response.status_code != HTTPStatus.OK or not kind_of(response).startswith(JSON):
        return response  # nobody reads it, or it is read event by event
    length = response.headers.get("content-length", "")
    if "content-encoding" not in response.headers and length.isdecimal() and int(length) <= most_bytes:
        return response
    body = await _read(response, most_bytes + 1)
    if len(body) > most_bytes:
        raise TooLongError(f"it is longer than the {most_bytes} bytes that are read of an answer")
    headers = [item for item in response.headers.multi_items() if item[0].lower() not in _OF_THE_BYTES]
    return library.Response(response.status_code, headers=headers, content=bytes(body), request=response.request)


async def beginning(library: Any, response: Any, most_bytes: int) -> bytes:
    """So much of an answer at most, decoded; empty where it cannot be had."""
    try:
        return bytes(await _read(response, most_bytes))
    except library.RequestError:
        return b""


async def _read(response: Any, most_bytes: int) -> bytearray:
    body = bytearray()
    try:
        async for piece in response.aiter_bytes():
            body += piece
            if len(body) >= most_bytes:
                del body[most_bytes:]
                break
    finally:
        await response.aclose()
    return body
