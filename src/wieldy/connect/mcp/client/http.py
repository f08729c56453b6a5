"""A server behind a URL: the HTTP client, and what its failures mean for one request.

The SDK's transport speaks the protocol; a request that fails on its way takes its whole connection down with it there,
or leaves nothing of the status but a number. So failures are turned into answers to the one request that they belong
to, each with a code that says whether the server can have acted on it. Deliberately not here: the SDK itself, and
logging in (headers are given).
"""

from __future__ import annotations

import json
import secrets
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from functools import cache, partial
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final, cast

import anyio

from wieldy.connect.mcp.client.bodies import JSON, TooLongError, beginning, bounded, kind_of
from wieldy.connect.mcp.client.port import (
    ConnectionFailedError,
    ConnectionLostError,
    NotProcessedError,
    RefusedError,
    SessionLostError,
    UnreadableAnswerError,
)
from wieldy.connect.mcp.client.unreadable import Mending

if TYPE_CHECKING:
    from wieldy.connect.mcp.client.port import Streams
    from wieldy.connect.mcp.client.sdk import Address

LIMIT_BYTES: Final = 256 * 1024 * 1024
"""The longest event of a stream that is read, and the longest other answer."""

MOST_OF_AN_ERROR_BYTES: Final = 4 * 1024 * 1024
"""How much of an answer is read that is an error; of a longer one that is all."""

CONNECT_S: Final = 30.0
"""How long making a connection and sending a request may take. How long an answer takes is the caller's matter."""

UNREADABLE: Final = 760405
"""The code of an answer of ours: the server has given one that cannot be read."""

OURS: Final = secrets.token_hex(16)
"""The data of an answer of ours: no server knows it, so none can say in our words what became of a request."""

_NOT_SENT, _BROKEN, _SESSION_LOST, _REFUSED = 760401, 760402, 760403, 760404
_FAILURES: Final[Mapping[int, type[ConnectionFailedError]]] = {
    _NOT_SENT: NotProcessedError,
    _BROKEN: ConnectionLostError,
    _SESSION_LOST: SessionLostError,
    UNREADABLE: UnreadableAnswerError,
}
_OF_THE_SDK: Final[tuple[tuple[int, str, type[ConnectionFailedError]], ...]] = (
    (-32000, "Connection closed", ConnectionLostError),
    (-32000, "SSE stream ", ConnectionLostError),
    (-32600, "server answered a request with 202", ConnectionLostError),
    (-32700, "Failed to parse ", UnreadableAnswerError),
)
_BUSY: Final = (HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE)
_MOST_OF_A_REASON: Final = 500
_METHOD_NOT_FOUND: Final = -32601


def failure_of(code: int, message: str, data: object) -> ConnectionFailedError:
    """What an error that answers a request stands for: one of ours, one of the SDK's own, or the server's word.

    The SDK gives requests without an answer errors of its own, under codes that servers use as well: so those are known
    by their words.
    """
    if data == OURS and (kind := _FAILURES.get(code)) is not None:
        return kind(message)
    if data is None:
        for known, words, kind in _OF_THE_SDK:
            if code == known and message.startswith(words):
                return kind(message)
    return RefusedError(message, code=code, data=data)


class HttpTransport:
    """One connection to a URL, made by the SDK."""

    def __init__(self, opener: Callable[[AsyncExitStack], Awaitable[Streams]]) -> None:
        self._opener = opener
        self.ended = anyio.Event()

    def has_ended(self) -> bool:
        """Whether nothing more will come."""
        return self.ended.is_set()

    def last_words(self) -> str:
        """Nothing: what a server says about a failure is in the answer to the request."""
        return ""

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[Streams]:
        """Both streams are open; the connection itself is made with the first request."""
        try:
            async with AsyncExitStack() as stack:
                yield await self._opener(stack)
        finally:
            self.ended.set()


def http_client(library: Any, address: Address, *, on_end: Callable[[object], None] | None = None) -> Any:
    """A client of httpx, or of what it has become, whose failures are answers.

    Args:
        library: The module; the two versions of the SDK use different ones of one interface.
        address: Where it is to be used.
        on_end: Told the id of a request once nothing more comes in answer to it.
    """
    base: Any = library.AsyncClient

    class Careful(base):
        """Turns failures into answers."""

        async def send(self, request: Any, **options: Any) -> Any:
            message = _message_in(request.method, await request.aread())
            try:
                response: Any = await base.send(self, request, **options)
                ended = None if message is None or on_end is None else partial(on_end, message.get("id"))
                response.stream = _stream(library, response, ended)
                if message is None:
                    return response
                if _is_expected(response, message):
                    return await bounded(library, response, LIMIT_BYTES)
            except (library.ConnectError, library.ConnectTimeout, library.UnsupportedProtocol) as error:
                return self._answer(request, message, _NOT_SENT, f"it cannot be reached ({_said(error)})", OURS)
            except library.TransportError as error:
                return self._answer(request, message, _BROKEN, f"the connection broke ({_said(error)})", OURS)
            except (library.DecodingError, TooLongError) as error:
                return self._answer(request, message, UNREADABLE, f"it cannot be read: {_said(error)}", OURS)
            body = await beginning(library, response, MOST_OF_AN_ERROR_BYTES)
            error = _error_of(response, body, has_session="mcp-session-id" in request.headers)
            return self._answer(request, message, *error)

        def _answer(self, request: Any, message: dict[str, Any] | None, code: int, text: str, data: Any = None) -> Any:
            if message is None:  # a stream for what the server says unasked; it is tried again
                return library.Response(HTTPStatus.SERVICE_UNAVAILABLE, request=request)
            if "id" not in message:
                return library.Response(HTTPStatus.ACCEPTED, request=request)
            error = {"code": code, "message": text} | ({} if data is None else {"data": data})
            return library.Response(
                HTTPStatus.OK, request=request, json={"jsonrpc": "2.0", "id": message["id"], "error": error}
            )

    return Careful(headers=dict(address.headers), auth=address.auth, timeout=library.Timeout(CONNECT_S, read=None))


def _stream(library: Any, response: Any, on_end: Callable[[], None] | None) -> Any:
    """The bytes of an answer as they are handed on."""
    # What is encoded is no text yet.
    mended = response.stream if "content-encoding" in response.headers else _mended(library)(response.stream)
    return mended if on_end is None else _watched(library)(mended, on_end)


@cache
def _mended(library: Any) -> Callable[[Any], Any]:
    """Of the bytes of an answer that is JSON, or events that are: those without halves of surrogate pairs."""
    base: Any = library.AsyncByteStream

    class Mended(base):
        """Hands them on."""

        def __init__(self, bytes_of: Any) -> None:
            self._bytes_of = bytes_of

        async def __aiter__(self) -> AsyncGenerator[bytes]:
            mending = Mending()
            async for chunk in self._bytes_of:
                yield mending.feed(chunk)
            yield mending.end()

        async def aclose(self) -> None:
            await self._bytes_of.aclose()

    return Mended


@cache
def _watched(library: Any) -> Callable[[Any, Callable[[], None]], Any]:
    """Of the bytes of an answer: the same; `on_end` is called when no more are read."""
    base: Any = library.AsyncByteStream

    class Watched(base):
        """Hands them on."""

        def __init__(self, bytes_of: Any, on_end: Callable[[], None]) -> None:
            self._bytes_of, self._on_end = bytes_of, on_end

        async def __aiter__(self) -> AsyncGenerator[bytes]:
            async for chunk in self._bytes_of:
                yield chunk

        async def aclose(self) -> None:
            await self._bytes_of.aclose()
            self._on_end()

    return Watched


def _message_in(method: str, content: bytes) -> dict[str, Any] | None:
    if method != "POST":
        return None
    message: object = json.loads(content)
    return cast("dict[str, Any]", message) if isinstance(message, dict) else None


def _is_expected(response: Any, message: dict[str, Any]) -> bool:
    """Whether the protocol knows such an answer."""
    if response.status_code >= HTTPStatus.BAD_REQUEST:
        return False
    if response.status_code != HTTPStatus.OK or "id" not in message:
        return True
    return kind_of(response).startswith((JSON, "text/event-stream"))


def _error_of(response: Any, body: bytes, *, has_session: bool) -> tuple[int, str, Any]:
    """The code, the words and the data of the error that an answer of another kind is."""
    status: int = response.status_code
    if status == HTTPStatus.OK:
        kind = response.headers.get("content-type") or "no content type"
        return _REFUSED, f"it answered with {kind} and not with JSON; is this the address of an MCP server?", None
    error = _protocol_error(body)
    said = error["message"] if error is not None else body[:_MOST_OF_A_REASON].decode("utf-8", "replace").strip()
    reason = f"HTTP {status} {_phrase(status)}" + (f": {said}" if said else "")
    if has_session and (status == HTTPStatus.NOT_FOUND or (status == HTTPStatus.BAD_REQUEST and "ession" in said)):
        return _SESSION_LOST, reason, OURS
    if error is not None:
        return error["code"], error["message"], error.get("data")
    if status == HTTPStatus.NOT_FOUND:
        return _METHOD_NOT_FOUND, reason, None
    if status in _BUSY:
        return _NOT_SENT, reason, OURS
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return _BROKEN, reason, OURS
    return _REFUSED, reason, None


def _protocol_error(body: bytes) -> dict[str, Any] | None:
    try:
        message: object = json.loads(body)
    except (ValueError, RecursionError):
        return None
    error: object = cast("dict[str, object]", message).get("error") if isinstance(message, dict) else None
    if not isinstance(error, dict):
        return None
    known = cast("dict[str, Any]", error)
    return known if isinstance(known.get("code"), int) and isinstance(known.get("message"), str) else None


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return ""


def _said(error: Exception) -> str:
    return str(error) or type(error).__name__
