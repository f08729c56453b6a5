"""Lists that come in pages: read to their end, to a page that was there before, or to a limit."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from wieldy.core.json import JsonObject

MAX_PAGES: Final = 1000
"""How many pages of a list are read."""


async def pages(get: Callable[[JsonObject], Awaitable[JsonObject]]) -> AsyncIterator[JsonObject]:
    """The pages that `get` gives; it is given what asks for the next one."""
    seen: set[str] = set()
    params: JsonObject = {}
    for _ in range(MAX_PAGES):
        page = await get(params)
        yield page
        cursor = page.get("nextCursor")
        if not isinstance(cursor, str) or not cursor or cursor in seen:
            return
        seen.add(cursor)
        params = {"cursor": cursor}
