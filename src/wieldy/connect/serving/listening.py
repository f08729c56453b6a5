"""A place to listen, taken before a server runs, and serving there until the process is asked to end.

So the port is known, and taking it can fail in words. Deliberately not here: what is served.
"""

from __future__ import annotations

import socket
from collections.abc import Callable
from typing import Any, Final

from wieldy.core.errors import UsageError

_SETTINGS: Final[dict[str, Any]] = {
    "log_level": "warning",
    # Requests are in the journal, with who made them; a second log would repeat them without.
    "access_log": False,
    "timeout_graceful_shutdown": 3,
}


def listening(host: str = "127.0.0.1", port: int = 0) -> socket.socket:
    """The socket, bound and not yet listening; whoever is given it closes it.

    Args:
        host: An address or a name of this machine.
        port: 0 for any that is free.

    Raises:
        UsageError: The place cannot be had.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # Without the protocol's number asyncio does not take the connections for TCP, and leaves Nagle's algorithm on: an
    # answer of two small pieces then waits 40 ms for an acknowledgement.
    place = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        place.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        place.bind((host, port))
    except (OSError, OverflowError) as error:
        place.close()
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise UsageError(f"Expected a place to listen, found {host}:{port}: {reason}.") from error
    return place


async def serve(
    app: Any, place: socket.socket, *, on_start: Callable[[], None] = lambda: None, on_stop: Callable[[], None]
) -> None:
    """The application has served until the process was asked to end.

    Args:
        app: An ASGI application.
        place: Where it listens.
        on_start: Called once it does.
        on_stop: Ends what would keep requests open for ever.
    """
    import uvicorn  # noqa: PLC0415 - comes with the MCP library

    class Told(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            if not self.should_exit:
                on_start()

        async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
            on_stop()
            await super().shutdown(sockets)

    await Told(uvicorn.Config(app, **_SETTINGS)).serve([place])
