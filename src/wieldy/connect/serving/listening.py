"""A place to listen, taken before a server runs: its port is known, and taking it can fail in words."""

from __future__ import annotations

import socket

from wieldy.core.errors import UsageError


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
