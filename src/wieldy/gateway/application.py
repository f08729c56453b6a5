"""The two endpoints of a gateway as one ASGI application: MCP at `/mcp`, the tools as an HTTP service beside it.

Deliberately not here: a call (`gateway`), and what a person is told (`apps`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from wieldy.connect.mcp.server.server import PATH, ToolServer
from wieldy.connect.serving.keys import Guarded
from wieldy.connect.serving.listening import LOOPBACK, check_exposure
from wieldy.connect.serving.rest import unguarded_application

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, MutableMapping

    from wieldy.gateway.gateway import Gateway


class Served(NamedTuple):
    """What is served.

    Attributes:
        app: The ASGI application; its lifespan opens the gateway, so it is run once.
        end_streams: Ends requests that would stay open for ever, before it stops.
    """

    app: Any
    end_streams: Callable[[], None]


def gateway_application(gateway: Gateway) -> Served:
    """Both endpoints of a gateway.

    Raises:
        UsageError: Others than this machine could call, and there are no keys.
    """
    config, keys = gateway.config, gateway.config.keys
    check_exposure(config.host, keys)
    hosts = LOOPBACK if config.host in LOOPBACK else ()
    server = ToolServer(gateway, keys=keys)
    gateway.tell_to(server.server)
    mcp = server.unguarded(host=config.host)
    rest = unguarded_application(gateway, has_keys=keys is not None, hosts=hosts)
    return Served(Guarded(_Endpoints(mcp, rest), keys), server.end_streams)


class _Endpoints:
    """MCP at its path, which also has the lifespan; HTTP at all others."""

    def __init__(self, mcp: Any, rest: Any) -> None:
        self._mcp, self._rest = mcp, rest

    async def __call__(
        self,
        scope: MutableMapping[str, Any],
        receive: Callable[[], Awaitable[Any]],
        send: Callable[[MutableMapping[str, Any]], Awaitable[None]],
    ) -> None:
        is_mcp = scope["type"] == "lifespan" or scope["path"].rstrip("/") == PATH
        await (self._mcp if is_mcp else self._rest)(scope, receive, send)
