"""Serves an offering over the Model Context Protocol: standard input and output, and streamable HTTP, in both eras.

The SDK's low-level server does the wire; a call goes the way of every call of a run. A client that gives up cancels the
call; one that wants to hear how far it is does. Deliberately not here: what tools and results look like (`wire`), and
what a call goes through (`connect.serving`).
"""

from __future__ import annotations

import logging
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, redirect_stdout
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any, Final, cast

import anyio

from wieldy.connect.mcp.server.wire import result_to_wire, tool_to_wire
from wieldy.connect.serving.keys import Guarded, Keys, principal_in
from wieldy.connect.serving.listening import listening, serve
from wieldy.core.errors import RunError, UsageError
from wieldy.core.events import CallProgress
from wieldy.core.extras import installing
from wieldy.core.foreign import single
from wieldy.run.loop import nothing

if TYPE_CHECKING:
    from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
    from mcp.server.context import ServerRequestContext
    from mcp.server.lowlevel import Server
    from mcp_types import CallToolRequestParams, PaginatedRequestParams

    from wieldy.connect.serving.offering import Offering
    from wieldy.core.calls import ToolResult
    from wieldy.core.events import RunEvent
    from wieldy.core.json import JsonObject
    from wieldy.core.principals import Principal

PATH: Final = "/mcp"
LOOPBACK: Final = ("127.0.0.1", "localhost", "::1")
_INTERNAL_ERROR: Final = -32603
_UNHEARD: Final = 64
"""How many reports of progress wait for a client that is slow to take them; later ones are dropped."""
_SMALLEST_STEP: Final = 1e-6


class ToolServer:
    """A server of tools.

    Args:
        offering: What it offers.
        keys: Who may call over HTTP; None for everybody who reaches it.
        principal: On whose behalf calls are made where there are no keys, as over standard input and output.

    Raises:
        UsageError: The MCP library is not installed, or too old to serve.
    """

    def __init__(self, offering: Offering, *, keys: Keys | None = None, principal: Principal | None = None) -> None:
        _check_library()
        self._offering = offering
        self._keys = keys
        self._principal = principal
        self._bus: Any = None
        self._listeners: Any = None
        self.server = self._make()

    # Serving

    def serve_stdio(self) -> None:
        """Serves whoever started this process, until its standard input ends."""
        anyio.run(self.run_stdio)

    async def run_stdio(self) -> None:
        """As `serve_stdio`, within an event loop."""
        from mcp.server.stdio import stdio_server  # noqa: PLC0415 - as in `_make`

        # What tools print must not stand among the messages.
        async with stdio_server() as (incoming, outgoing):
            with redirect_stdout(sys.stderr):
                await self.server.run(incoming, outgoing, self.server.create_initialization_options())

    def asgi(self, *, path: str = PATH, host: str = "127.0.0.1") -> Any:
        """An ASGI application with one endpoint; its lifespan opens the tools, so it is run once.

        Args:
            path: Of the endpoint.
            host: Where it will listen: on the loopback, only requests that name it are answered, so that no page in a
                browser can reach it under another name.
        """
        return Guarded(self.unguarded(path=path, host=host), self._keys, otherwise=self._principal)

    def unguarded(self, *, path: str = PATH, host: str = "127.0.0.1") -> Any:
        """As `asgi`, for an application that finds out itself who calls (`Guarded`)."""
        return _WithUser(self.server.streamable_http_app(streamable_http_path=path, host=host))

    def serve_http(self, *, host: str = "127.0.0.1", port: int = 8000, path: str = PATH) -> None:
        """Serves over HTTP until the process is asked to end.

        Raises:
            UsageError: Others than this machine could call, and there are no keys.
        """
        check_exposure(host, self._keys)
        with listening(host, port) as place:
            anyio.run(partial(serve, self.asgi(path=path, host=host), place, on_stop=self.end_streams))

    def end_streams(self) -> None:
        """The requests of clients that listen for changes are answered: they would stay open for ever."""
        self._listeners.close()

    async def tell_change(self) -> None:
        """Clients that listen for it hear that there are other tools now."""
        from mcp.shared.subscriptions import ToolsListChanged  # noqa: PLC0415 - as in `_make`

        await self._bus.publish(ToolsListChanged())

    # The SDK

    def _make(self) -> Server[Any]:
        # Imported here because it takes half a second.
        from mcp.server.lowlevel import Server  # noqa: PLC0415
        from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler  # noqa: PLC0415

        about = self._offering.about
        self._bus = InMemorySubscriptionBus()
        self._listeners = ListenHandler(self._bus)
        return Server(
            about.name,
            version=about.version,
            instructions=about.instructions,
            lifespan=self._opened,
            on_list_tools=self._list,
            on_call_tool=cast("Any", self._call),  # results are dictionaries, which the SDK checks
            on_subscriptions_listen=self._listeners,
            get_tool_input_schema=self._schema_of,
        )

    @asynccontextmanager
    async def _opened(self, server: object) -> AsyncGenerator[dict[str, Any]]:
        del server
        async with self._offering.opened():
            yield {}

    async def _list(self, context: ServerRequestContext[Any, Any], params: PaginatedRequestParams | None) -> Any:
        del params  # one page
        is_modern = _is_modern(context)
        offered = self._offering.offered_to(self._caller(context))
        tools = [tool_to_wire(each, is_modern=is_modern) for each in offered]
        # What somebody may call can change at any time, and differs from caller to caller.
        return {"tools": tools, "ttlMs": 0, "cacheScope": "private", "resultType": "complete"}

    async def _call(self, context: ServerRequestContext[Any, Any], params: CallToolRequestParams) -> Any:
        from mcp.shared.exceptions import MCPError  # noqa: PLC0415 - as in `_make`

        principal = self._caller(context)
        try:
            result = await self._result(context, params, principal)
        except RunError as error:
            logging.getLogger(__name__).exception("A call could not be recorded.")
            raise MCPError(code=_INTERNAL_ERROR, message="The call could not be recorded.") from error
        wire = result_to_wire(result, self._offering.find(params.name), is_modern=_is_modern(context))
        return {"resultType": "complete", **wire}

    async def _result(
        self, context: ServerRequestContext[Any, Any], params: CallToolRequestParams, principal: Principal | None
    ) -> ToolResult:
        async def call(emit: Callable[[RunEvent], None]) -> ToolResult:
            return await self._offering.call(params.name, params.arguments or {}, principal=principal, emit=emit)

        if context.meta is None or "progress_token" not in context.meta:
            return await call(nothing)
        reports, heard = anyio.create_memory_object_stream[CallProgress](_UNHEARD)
        result: ToolResult | None = None
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(_report, heard, context)
                with reports:
                    result = await call(_Reporting(reports))
        except BaseExceptionGroup as group:  # as groups of tasks raise what was raised among them
            raise single(group) from None
        assert result is not None
        return result

    def _schema_of(self, name: str) -> JsonObject | None:
        tool = self._offering.find(name)
        return None if tool is None else tool.definition.input_schema

    def _caller(self, context: ServerRequestContext[Any, Any]) -> Principal | None:
        request = context.request
        return self._principal if request is None else principal_in(request.scope)


class _Reporting:
    """Takes progress out of the events of a call."""

    def __init__(self, reports: MemoryObjectSendStream[CallProgress]) -> None:
        self._reports = reports

    def __call__(self, event: RunEvent) -> None:
        if isinstance(event, CallProgress):
            try:
                self._reports.send_nowait(event)
            except (anyio.WouldBlock, anyio.BrokenResourceError):
                return


async def _report(heard: MemoryObjectReceiveStream[CallProgress], context: ServerRequestContext[Any, Any]) -> None:
    """Each report is passed on; the numbers grow, as the protocol wants it."""
    last = 0.0
    async with heard:
        async for event in heard:
            is_known = event.fraction is not None and event.fraction > last
            last = event.fraction if is_known and event.fraction is not None else last + _SMALLEST_STEP
            await context.session.report_progress(last, 1.0 if is_known else None, event.message or None)


class _WithUser:
    """Tells the SDK who calls, so that a session serves only whoever has opened it."""

    def __init__(self, app: Any) -> None:
        self._app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        principal = principal_in(scope)
        if principal is not None:
            from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser  # noqa: PLC0415 - as in `_make`
            from mcp.server.auth.provider import AccessToken  # noqa: PLC0415

            user = AuthenticatedUser(AccessToken(token="", client_id=principal.name, scopes=[]))
            scope = {**scope, "user": user}
        await self._app(scope, receive, send)


def check_exposure(host: str, keys: Keys | None) -> None:
    """Ends with an error where others than this machine could call without a key.

    Raises:
        UsageError: They could.
    """
    if host not in LOOPBACK and keys is None:
        raise UsageError(
            f"Expected keys where others than this machine can call (host {host!r}), found none. Give keys, or listen "
            "on 127.0.0.1."
        )


def _is_modern(context: ServerRequestContext[Any, Any]) -> bool:
    from mcp_types.version import MODERN_PROTOCOL_VERSIONS  # noqa: PLC0415 - as in `_make`

    return context.protocol_version in MODERN_PROTOCOL_VERSIONS


def _check_library() -> None:
    try:
        found = version("mcp")
    except PackageNotFoundError:
        raise UsageError(
            f"Serving tools over MCP needs the MCP library. Install it: {installing('gateway')}."
        ) from None
    if int(found.partition(".")[0]) < 2:
        raise UsageError(f"Serving tools needs version 2 of the MCP library, found {found}: {installing('gateway')}.")
