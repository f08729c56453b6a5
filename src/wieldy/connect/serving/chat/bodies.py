"""Bodies over HTTP: the JSON that a request brings, and JSON as an answer."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from wieldy.connect.models.strict_json import json_bytes
from wieldy.connect.serving.chat.fields import FieldError
from wieldy.connect.serving.hosts import is_of_here
from wieldy.core.json import JsonObject, parse_json

if TYPE_CHECKING:
    from starlette.requests import Request

    from wieldy.connect.serving.chat.failures import Failure

Send: TypeAlias = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Receive: TypeAlias = Callable[[], Awaitable[Any]]

MAX_BODY_BYTES: Final = 32 * 2**20
"""The largest request: images come in it, spelled out."""


async def read_body(request: Request) -> JsonObject:
    """The JSON object that the request brings.

    Raises:
        FieldError: It brings none, or comes from another site's page.
    """
    if not is_of_here(request.headers):
        message = "Expected a request of a program, found one of a page of another origin."
        raise FieldError(message, param=None, code="origin", status=403)
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        message = "Expected the header `Content-Type: application/json`."
        raise FieldError(message, param=None, code="content_type", status=415)
    body = await _read(request)
    try:
        value = parse_json(body.decode())
    except (ValueError, RecursionError) as error:
        message = f"Expected one JSON object, found something else: {error or 'it is nested too deeply'}."
        raise FieldError(message, param=None, code="invalid_json") from error
    if not isinstance(value, dict):
        raise FieldError("Expected one JSON object, found another JSON value.", param=None, code="invalid_json")
    return value


async def _read(request: Request) -> bytearray:
    from starlette.requests import ClientDisconnect  # noqa: PLC0415 - comes with the MCP library

    body = bytearray()
    try:
        async for piece in request.stream():
            body += piece
            if len(body) > MAX_BODY_BYTES:
                message = f"Expected at most {MAX_BODY_BYTES} bytes, found more."
                raise FieldError(message, param=None, code="too_large", status=413)
    except ClientDisconnect as error:  # nobody hears it, but it is told as a request that was not whole
        message = "Expected a whole request, found the beginning of one."
        raise FieldError(message, param=None, code="incomplete") from error
    return body


class Json:
    """A JSON value as an answer."""

    def __init__(self, value: JsonObject, *, status: int = 200, headers: dict[str, str] | None = None) -> None:
        self._value, self._status, self._headers = value, status, headers

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        """As ASGI has it."""
        await send_json(send, self._value, status=self._status, headers=self._headers)


class Refused(Json):
    """A failure as an answer."""

    def __init__(self, failure: Failure, *, more: dict[str, str] | None = None) -> None:
        super().__init__(failure.to_json(), status=failure.status, headers=failure.headers() | (more or {}))


async def send_json(
    send: Send, value: JsonObject, *, status: int = 200, headers: Mapping[str, str] | None = None
) -> None:
    """The value is sent as a whole answer."""
    body = json_bytes(value)
    more = [(name.encode(), text.encode()) for name, text in (headers or {}).items()]
    length = (b"content-length", str(len(body)).encode())
    await send(
        {
            "type": "http.response.start",
            "status": status,
            "headers": [(b"content-type", b"application/json"), length, *more],
        }
    )
    await send({"type": "http.response.body", "body": body})
