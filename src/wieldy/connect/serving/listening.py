"""A place to listen, taken before a server runs, and serving there until the process is asked to end.

So the port is known, and taking it can fail in words. Deliberately not here: what is served.
"""

from __future__ import annotations

import socket
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import anyio

from wieldy.core.errors import UsageError

if TYPE_CHECKING:
    from wieldy.connect.serving.keys import Keys

LOOPBACK: Final = ("127.0.0.1", "localhost", "::1")
"""The names of this machine for itself."""

_SETTINGS: Final[dict[str, Any]] = {
    "log_level": "warning",
    # Requests are in the journal, with who made them; a second log would repeat them without.
    "access_log": False,
    "timeout_graceful_shutdown": 3,
}


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


def listening(host: str = "127.0.0.1", port: int = 0) -> socket.socket:
    """The socket, listening: whoever connects before anything is served waits. Whoever is given it closes it.

    Args:
        host: An address or a name of this machine.
        port: 0 for any that is free.

    Raises:
        UsageError: The place cannot be had.
    """
    if not host:  # it would be all addresses of this machine
        raise UsageError("Expected a place to listen, found no host: name one, such as 127.0.0.1.")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # Without the protocol's number asyncio does not take the connections for TCP, and leaves Nagle's algorithm on: an
    # answer of two small pieces then waits 40 ms for an acknowledgement.
    place = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        place.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        place.bind((host, port))
        place.listen(socket.SOMAXCONN)
    except (OSError, OverflowError, ValueError, TypeError) as error:  # the last two: of a host that no name can be
        place.close()
        is_no_name = isinstance(error, ValueError | TypeError)
        reason = "it is no name of a host" if is_no_name else getattr(error, "strerror", None) or str(error)
        raise UsageError(f"Expected a place to listen, found {host!r}, port {port}: {reason}.") from error
    return place


async def serve(
    app: Any,
    place: socket.socket,
    *,
    on_start: Callable[[], None] = lambda: None,
    on_stop: Callable[[], None],
    head_s: float = 10.0,
    most: int | None = None,
) -> None:
    """The application has served until the process was asked to end.

    Args:
        app: An ASGI application.
        place: Where it listens.
        on_start: Called once it does.
        on_stop: Ends what would keep requests open for ever.
        head_s: A connection over which nothing was asked for twice that time, in seconds, is ended.
        most: How many connections there may be; None for half of what the process may open.
    """
    import uvicorn  # noqa: PLC0415 - comes with the MCP library

    from wieldy.connect.serving.connections import Impatient, most_connections  # noqa: PLC0415 - needs uvicorn

    class Told(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            if not self.should_exit:
                on_start()

        async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
            on_stop()
            await super().shutdown(sockets)

    http: Any = partial(Impatient, head_s=head_s, most=most_connections() if most is None else most)
    await Told(uvicorn.Config(app, http=http, **_SETTINGS)).serve([place])


def serve_until_asked_to_end(
    app: Any, place: socket.socket, *, on_start: Callable[[], None], on_stop: Callable[[], None]
) -> None:
    """As `serve`, for a program that does nothing else: to be asked to end is how it ends well."""
    with suppress(KeyboardInterrupt):  # what uvicorn makes of the signal, once it has shut down
        anyio.run(partial(serve, app, place, on_start=on_start, on_stop=on_stop))
