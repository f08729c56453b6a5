"""For whose call a server is asked something, where what it asks in turn goes to the client that made that call.

Over HTTP what comes on the stream of a request belongs to that request. Anything else that a server with a handshake
asks or logs comes over its session, and does not say for which request: a call that has ended, was given up or has
just begun may be meant. So law: it is passed on only where the session is one principal's by configuration, to the
client of the only call under way. Deliberately not here: what is asked (`server`), and the client (`connect.serving`).
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, cast

from wieldy.connect.serving.client import CAPABILITY_OF, client_if_any, headers_sent

if TYPE_CHECKING:
    from wieldy.connect.serving.client import Client, LogLevel
    from wieldy.core.json import JsonObject, JsonValue


class Callers:
    """The clients whose calls are under way at one server.

    Args:
        is_shared: Whether calls of several principals may go over the session.
    """

    def __init__(self, *, is_shared: bool) -> None:
        self._is_shared = is_shared
        self._under_way: dict[object, Client | None] = {}

    @contextmanager
    def under_way(self) -> Generator[Client | None]:
        """The client whose call this is, if there is one; questions meanwhile may be for it."""
        token, caller = object(), client_if_any()
        self._under_way[token] = caller
        try:
            yield caller
        finally:
            del self._under_way[token]

    def meant(self) -> Client | None:
        """The client that what the server asks or logs now is for; None where it might be another's."""
        if (caller := client_if_any()) is not None:  # it came on the stream of this client's request
            return caller
        callers = list(self._under_way.values())
        return callers[0] if len(callers) == 1 and not self._is_shared else None


def declared() -> JsonObject | None:
    """What is said to the server that can be asked for this call: what its client can do; None where there is none."""
    caller = client_if_any()
    if caller is None:
        return None
    said = caller.link.capabilities
    return {what: said[what] for what in CAPABILITY_OF.values() if what in said}


def log_level() -> LogLevel | None:
    """From which level on the client of this call wants to hear what the server logs."""
    caller = client_if_any()
    return None if caller is None else caller.link.log_level


def forwarded(names: tuple[str, ...]) -> dict[str, str]:
    """Those of these headers that came with the request that has made this call."""
    if not names:
        return {}
    sent = headers_sent()
    return {name: value for name in names if (value := sent.get(name.lower())) is not None}


def log_of(params: JsonObject) -> tuple[LogLevel, JsonValue, str | None]:
    """What a server logs: how urgent, what, and which part of it says so."""
    logger = params.get("logger")
    return cast("LogLevel", params.get("level")), params.get("data"), logger if isinstance(logger, str) else None
