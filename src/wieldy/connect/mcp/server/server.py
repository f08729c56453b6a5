"""Serves an offering over the Model Context Protocol: standard input and output, and streamable HTTP, in both eras.

Deliberately not here: what a request comes to (`sdk`), what tools and results look like (`wire`), and what a call goes
through (`connect.serving`).
"""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from functools import lru_cache, partial
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any, Final

import anyio

from wieldy.connect.serving.keys import Guarded, Keys, principal_in
from wieldy.connect.serving.listening import check_exposure, listening, serve
from wieldy.core.errors import UsageError
from wieldy.core.extras import installing

if TYPE_CHECKING:
    from wieldy.connect.serving.offering import Offering
    from wieldy.connect.serving.shelf import Change
    from wieldy.core.principals import Principal

PATH: Final = "/mcp"


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
        # Imported here because it takes half a second.
        from wieldy.connect.mcp.server.sdk import SdkServer  # noqa: PLC0415

        self._keys = keys
        self._principal = principal
        self.server = SdkServer(offering, principal=principal)

    # Serving

    def serve_stdio(self) -> None:
        """Serves whoever started this process, until its standard input ends."""
        anyio.run(self.run_stdio)

    async def run_stdio(self) -> None:
        """As `serve_stdio`, within an event loop."""
        from mcp.server.stdio import stdio_server  # noqa: PLC0415 - as above

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
        self.server.close_streams()

    async def tell_change(self, what: Change = "tools") -> None:
        """Clients that listen for it hear that there are other tools now, or other prompts or resources."""
        await self.server.tell_change(what)

    async def tell_update(self, uri: str) -> None:
        """Clients that listen for it hear that what stands under this address has changed."""
        await self.server.tell_update(uri)


class _WithUser:
    """Tells the SDK who calls, so that a session serves only whoever has opened it."""

    def __init__(self, app: Any) -> None:
        self._app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        principal = principal_in(scope)
        if principal is not None:
            scope = {**scope, "user": _user(principal.name)}
        await self._app(scope, receive, send)


@lru_cache(maxsize=1024)
def _user(name: str) -> Any:
    from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser  # noqa: PLC0415 - as above
    from mcp.server.auth.provider import AccessToken  # noqa: PLC0415

    return AuthenticatedUser(AccessToken(token="", client_id=name, scopes=[]))


def _check_library() -> None:
    try:
        found = version("mcp")
    except PackageNotFoundError:
        raise UsageError(
            f"Serving tools over MCP needs the MCP library. Install it: {installing('gateway')}."
        ) from None
    if int(found.partition(".")[0]) < 2:
        raise UsageError(f"Serving tools needs version 2 of the MCP library, found {found}: {installing('gateway')}.")
