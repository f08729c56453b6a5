"""Which headers of a caller's request go on to a service: those that its entry names, and never who calls.

Without `forward_headers` none does. Deliberately not here: sending them (`connect.mcp.client.passing`).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from wieldy.connect.mcp.client.sdk import Address
from wieldy.connect.serving.client import NEVER_FORWARDED
from wieldy.core.errors import UsageError

if TYPE_CHECKING:
    from wieldy.connect.mcp.config import ServerConfig
    from wieldy.gateway.reading import Fields

_NAME: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_OF_THE_PROTOCOL: Final = re.compile(
    r"(accept|content|mcp|sec)-.*|accept|connection|host|keep-alive|last-event-id|origin|te|trailer|transfer-encoding"
    r"|upgrade|user-agent|x-forwarded-.*|forwarded",
    re.IGNORECASE,
)


def forwards(entry: Fields, server: ServerConfig) -> tuple[str, ...]:
    """The names of the headers that an entry names.

    Raises:
        UsageError: One of them must not be passed on, or there is no request to pass it on with.
    """
    names = entry.texts("forward_headers") or ()
    place = f"{entry.place}, `forward_headers`"
    if names and not isinstance(server.target, Address):
        raise UsageError(f"{place}: expected a server behind a URL, found a command: it is sent no headers.")
    given = {name.lower() for name in server.target.headers} if isinstance(server.target, Address) else set[str]()
    for name in names:
        if name.lower() in NEVER_FORWARDED:
            raise UsageError(
                f"{place}: expected headers that do not say who calls, found {name!r}. Authorization and Cookie are "
                "never passed on: the key of a caller is for this gateway, and a service's credentials stand in its "
                "`headers`."
            )
        if not _NAME.fullmatch(name) or _OF_THE_PROTOCOL.fullmatch(name):
            raise UsageError(f"{place}: expected names of headers that HTTP and MCP do not use, found {name!r}.")
        if name.lower() in given:
            raise UsageError(f"{place}: {name!r} stands in `headers` as well; expected it in one of them.")
    return names
