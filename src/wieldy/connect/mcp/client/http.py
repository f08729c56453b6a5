"""A server behind a URL: the HTTP client, and what its failures mean for one request.

The SDK's transport speaks the protocol; a request that fails on its way takes its whole connection down with it there,
or leaves nothing of the status but a number. So failures are turned into answers to the one request that they belong
to, each with a code that says whether the server can have acted on it. Deliberately not here: the SDK itself, and
logging in (headers are given).
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final, cast

import anyio

from wieldy.connect.mcp.client.port import (
    ConnectionFailedError,
    ConnectionLostError,
    NotProcessedError,
    SessionLostError,
)

if TYPE_CHECKING:
    from wieldy.connect.mcp.client.port import Streams
    from wieldy.connect.mcp.client.sdk import Address

LIMIT_BYTES: Final = 256 * 1024 * 1024
"""The longest event of a stream that is read."""

CONNECT_S: Final = 30.0
"""How long making a connection and sending a request may take. How long an answer takes is the caller's matter."""

_NOT_SENT, _BROKEN, _SESSION_LOST, _REFUSED = 760401, 760402, 760403, 760404
_FAILURES: Final[Mapping[int, type[ConnectionFailedError]]] = {
    _NOT_SENT: NotProcessedError,
    _BROKEN: ConnectionLostError,
    _SESSION_LOST: SessionLostError,
}
_BUSY: Final = (HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE)
_MOST_OF_A_REASON: Final = 500
_METHOD_NOT_FOUND: Final = -32601


def failure_of_code(code: int, message: str) -> ConnectionFailedError | None:
    """The failure that an answer of ours stands for; None where it is the server's own."""
    kind = _FAILURES.get(code)
    return None if kind is None else kind(message)


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
                streams = await self._opener(stack)
                yield streams[0], streams[1]
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
            message = _message_in(request)
            try:
                response: Any = await base.send(self, request, **options)
            except (library.ConnectError, library.ConnectTimeout, library.UnsupportedProtocol) as error:
                return self._answer(request, message, _NOT_SENT, f"it cannot be reached ({_said(error)})")
            except library.TransportError as error:
                return self._answer(request, message, _BROKEN, f"the connection broke ({_said(error)})")
            if message is not None and on_end is not None:
                response.stream = _watched(library, response.stream, partial(on_end, message.get("id")))
            if message is None or _is_expected(response, message):
                return response
            try:
                body: bytes = await response.aread()
            except library.TransportError:
                body = b""
            finally:
                await response.aclose()
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


def _watched(library: Any, bytes_of: Any, on_end: Callable[[], None]) -> Any:
    """The bytes of an answer; `on_end` is called when no more are read."""
    base: Any = library.AsyncByteStream

    class Watched(base):
        """Hands them on."""

        async def __aiter__(self) -> AsyncGenerator[bytes]:
            async for chunk in bytes_of:
                yield chunk

        async def aclose(self) -> None:
            await bytes_of.aclose()
            on_end()

    return Watched()


def _message_in(request: Any) -> dict[str, Any] | None:
    if request.method != "POST":
        return None
    message: object = json.loads(request.content)
    return cast("dict[str, Any]", message) if isinstance(message, dict) else None


def _is_expected(response: Any, message: dict[str, Any]) -> bool:
    """Whether the protocol knows such an answer."""
    if response.status_code >= HTTPStatus.BAD_REQUEST:
        return False
    if response.status_code != HTTPStatus.OK or "id" not in message:
        return True
    return response.headers.get("content-type", "").lower().startswith(("application/json", "text/event-stream"))


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
        return _SESSION_LOST, reason, None
    if error is not None:
        return error["code"], error["message"], error.get("data")
    if status == HTTPStatus.NOT_FOUND:
        return _METHOD_NOT_FOUND, reason, None
    if status in _BUSY:
        return _NOT_SENT, reason, None
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return _BROKEN, reason, None
    return _REFUSED, reason, None


def _protocol_error(body: bytes) -> dict[str, Any] | None:
    try:
        message: object = json.loads(body)
    except ValueError:
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
