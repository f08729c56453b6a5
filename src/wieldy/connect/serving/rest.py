"""Serves an offering as a small HTTP service with an OpenAPI document: `POST /tools/NAME` with the arguments as JSON.

What a tool returns is the answer: JSON where it says what it returns, text otherwise. What goes wrong is an error with
a status, a kind and the sentence that says what to do. Deliberately not here: the document (`document`), and what a
call goes through (`calls`).
"""

from __future__ import annotations

import json
import logging
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TYPE_CHECKING, Any, Final

from wieldy.connect.serving.client import sent_with
from wieldy.connect.serving.document import document_of
from wieldy.connect.serving.hosts import KnownHosts, is_of_here
from wieldy.connect.serving.keys import Guarded, Keys, principal_in
from wieldy.connect.serving.listening import LOOPBACK
from wieldy.core.errors import RunError
from wieldy.core.json import JsonObject, JsonValue, parse_json
from wieldy.core.media import FilePart

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import BaseRoute

    from wieldy.connect.serving.offering import Offering
    from wieldy.core.calls import ToolResult
    from wieldy.core.principals import Principal
    from wieldy.tools import Tool

MAX_BODY_BYTES: Final = 8 * 2**20
_STATUS: Final[Mapping[str, int]] = {
    "arguments": 422,
    "denied": 403,
    "waiting": 403,
    "transient": 503,
    "timeout": 504,
    "unknown": 504,
    "crashed": 500,
}
"""By the kind of failure; what the tool itself says is wrong is 422 as well."""


class RestService:
    """The routes of an offering, and what answers them."""

    def __init__(self, offering: Offering, *, has_keys: bool) -> None:
        self._offering = offering
        self._has_keys = has_keys

    def routes(self) -> list[BaseRoute]:
        """For an application of Starlette."""
        from starlette.routing import Route  # noqa: PLC0415 - comes with the MCP library

        return [
            Route("/openapi.json", self._document, methods=["GET"]),
            Route("/tools/{name}", self._call, methods=["POST"]),
        ]

    async def _document(self, request: Request) -> Response:
        offered = self._offering.offered_to(principal_in(request.scope))
        return _json(document_of(self._offering.about, offered, has_keys=self._has_keys))

    async def _call(self, request: Request) -> Response:
        name: str = request.path_params["name"]
        if not is_of_here(request.headers):
            return _error(403, "origin", "Expected a request of a program, found one of a page of another origin.")
        body = bytearray()
        async for piece in request.stream():
            body += piece
            if len(body) > MAX_BODY_BYTES:
                return _error(413, "content", f"Expected at most {MAX_BODY_BYTES} bytes of arguments, found more.")
        if body and request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
            return _error(415, "content", "Expected the header `Content-Type: application/json`.")
        try:
            arguments = parse_json(body.decode()) if body else {}
        except (ValueError, RecursionError) as error:
            return _error(400, "content", f"Expected the arguments as one JSON object, found something else: {error}.")
        if not isinstance(arguments, dict):
            return _error(400, "content", "Expected the arguments as one JSON object, found another JSON value.")
        principal = principal_in(request.scope)
        try:
            with sent_with(request.headers):
                result = await self._offering.call(name, arguments, principal=principal)
        except RunError:
            logging.getLogger(__name__).exception("A call could not be recorded.")
            return _error(500, "record", "The call could not be recorded, and was not carried out.")
        return _answer(result, self._offering.find(name, principal=principal))


def rest_application(
    offering: Offering, *, keys: Keys | None = None, principal: Principal | None = None, host: str = "127.0.0.1"
) -> Any:
    """The ASGI application; its lifespan opens the tools.

    Args:
        offering: What it offers.
        keys: Who may call; None for everybody who reaches it.
        principal: On whose behalf calls are made where there are no keys.
        host: Where it will listen: on the loopback, and without keys, only requests that name it are answered.
    """

    @asynccontextmanager
    async def opened(app: object) -> AsyncGenerator[None]:
        del app
        async with offering.opened():
            yield

    hosts = LOOPBACK if keys is None and host in LOOPBACK else ()
    app = unguarded_application(offering, has_keys=keys is not None, hosts=hosts, lifespan=opened)
    return Guarded(app, keys, otherwise=principal)


def unguarded_application(
    offering: Offering,
    *,
    has_keys: bool,
    hosts: tuple[str, ...] = (),
    lifespan: Callable[[Any], AbstractAsyncContextManager[None]] | None = None,
) -> Any:
    """The same for an application that finds out itself who calls (`Guarded`).

    Args:
        offering: What it offers.
        has_keys: Whether whoever calls needs a key.
        hosts: Under which names it may be reached; empty for all.
        lifespan: Opens the tools, if nobody else does.
    """
    from starlette.applications import Starlette  # noqa: PLC0415 - as above
    from starlette.exceptions import HTTPException  # noqa: PLC0415
    from starlette.middleware import Middleware  # noqa: PLC0415

    return Starlette(
        routes=RestService(offering, has_keys=has_keys).routes(),
        lifespan=lifespan,
        middleware=[Middleware(KnownHosts, hosts, refused=_other_host)] if hosts else [],
        exception_handlers={HTTPException: _not_here, Exception: _crashed},
    )


async def _not_here(request: Request, error: Any) -> Response:
    """Nothing is at this path, or it is asked in another way."""
    if error.status_code == 405:
        allowed: str | None = error.headers and error.headers.get("Allow")
        message = f"Expected {allowed or 'another method'}, found {request.method}."
        return _error(405, "method", message, headers=error.headers)
    expected = "`POST /tools/NAME` or `GET /openapi.json`"
    return _error(error.status_code, "path", f"Expected {expected}, found a request that is neither.")


async def _crashed(request: Request, error: Exception) -> Response:
    del request, error  # the server that runs the application logs it
    return _error(500, "crashed", "The request could not be answered, for a fault on this side.")


def _other_host(message: str) -> Response:
    return _error(400, "host", message)


def _answer(result: ToolResult, tool: Tool | None) -> Response:
    if result.is_error:
        kind = result.failure or "tool"
        status = 404 if tool is None and kind == "arguments" else _STATUS.get(kind, 422)
        return _error(status, kind, result.content)
    if tool is not None and tool.definition.output_schema is not None:
        return _json(result.structured_content)
    if result.parts:
        parts: list[JsonValue] = [
            {
                "name": part.name if isinstance(part, FilePart) else "image",
                "media_type": part.media_type,
                "url": part.url,
            }
            for part in result.parts
        ]
        return _json({"text": result.content, "parts": parts})
    from starlette.responses import PlainTextResponse  # noqa: PLC0415 - as above

    return PlainTextResponse(result.content)


def _error(status: int, kind: str, message: str, *, headers: Mapping[str, str] | None = None) -> Response:
    error: JsonObject = {"error": {"kind": kind, "message": message}}
    return _json(error, status=status, headers=headers)


def _json(value: JsonValue, *, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    from starlette.responses import Response  # noqa: PLC0415 - as above

    # In the order in which the tool gave it.
    return Response(json.dumps(value, ensure_ascii=False), status, headers, media_type="application/json")
