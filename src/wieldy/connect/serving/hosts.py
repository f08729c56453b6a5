"""Whether a request is meant for this machine: a page in a browser may have its own name lead here, or send requests.

Deliberately not here: who calls (`keys`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlsplit


class KnownHosts:
    """An ASGI application that only requests reach which name one of these hosts.

    Args:
        app: The application.
        hosts: The names.
        refused: Makes the answer to any other request, an ASGI application, of what is to be said.
    """

    def __init__(self, app: Any, hosts: tuple[str, ...], *, refused: Callable[[str], Any]) -> None:
        self._app, self._hosts, self._refused = app, hosts, refused

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """As ASGI has it."""
        from starlette.datastructures import Headers  # noqa: PLC0415 - comes with the MCP library

        answer: Any = self._app
        if scope["type"] == "http" and _host_in(Headers(scope=scope).get("host", "")) not in self._hosts:
            answer = self._refused(f"Expected a request to {' or '.join(self._hosts)}, found one to another host.")
        await answer(scope, receive, send)


def is_of_here(headers: Mapping[str, str]) -> bool:
    """Whether no page of another site has made a browser send it: a browser says then where the page came from."""
    origin = headers.get("origin")
    try:
        return origin is None or urlsplit(origin).netloc == headers.get("host")
    except ValueError:  # of brackets that hold no address
        return False


def _host_in(header: str) -> str | None:
    try:
        found = urlsplit(f"//{header}")
        is_one = found.port != 0 and found.netloc == header and "@" not in header
    except ValueError:  # of the port, or of the brackets
        return None
    return found.hostname if is_one else None
