"""Connections that bring no request, or half of one, are ended; so they cannot use up what a process may open.

Uvicorn waits for the first request of a connection, and for the rest of one, for as long as the connection stays.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Final

from typing_extensions import override

if TYPE_CHECKING:
    import asyncio

    from uvicorn.protocols.http.h11_impl import H11Protocol as Protocol
else:
    from uvicorn.protocols.http.auto import AutoHTTPProtocol as Protocol

_FEW: Final = 32
"""So many connections may there be wherever a process may open few files."""
_MANY: Final = 4096


class Impatient(Protocol):
    """A connection that is looked at again and again, and ended when nothing was asked over it since the last time.

    Args:
        head_s: How often, in seconds.
        most: How many connections there may be; one more is ended at once.
        arguments: Uvicorn's.
    """

    def __init__(self, *, head_s: float, most: int, **arguments: Any) -> None:
        super().__init__(**arguments)
        self._head_s = head_s
        self._most = most
        self._seen: object = None
        self._look: asyncio.TimerHandle | None = None

    @override
    def connection_made(self, transport: asyncio.Transport) -> None:
        """As for every protocol of asyncio."""
        super().connection_made(transport)
        if len(self.connections) > self._most:
            transport.abort()
            return
        self._look = self.loop.call_later(self._head_s, self._look_again)

    @override
    def connection_lost(self, exc: Exception | None) -> None:
        """As for every protocol of asyncio."""
        if self._look is not None:
            self._look.cancel()
        super().connection_lost(exc)

    def _look_again(self) -> None:
        request: Any = self.cycle  # None before the first one
        if request is self._seen and (request is None or request.response_complete):
            self.transport.abort()
            return
        self._seen = request
        self._look = self.loop.call_later(self._head_s, self._look_again)


def most_connections() -> int:
    """Half of what this process may open: the other half is for what it asks others, and for its files."""
    if sys.platform == "win32":
        return _MANY
    import resource  # noqa: PLC0415 - only where there is one

    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return _MANY if soft == resource.RLIM_INFINITY else max(_FEW, min(_MANY, soft // 2))
