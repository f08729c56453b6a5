"""Lists that come in pages: read to their end, to a page that was there before, or to a limit, and not all the time.

While a list is read nothing else goes on in the event loop, so neither its length nor how often it is read again is up
to the server.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import aclosing
from typing import TYPE_CHECKING, Final, NamedTuple

import anyio

from wieldy.connect.mcp.client.results import characters_left

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from wieldy.core.json import JsonObject, JsonValue

MAX_PAGES: Final = 1000
"""How many pages of a list are read."""

MOST_ENTRIES: Final = 5000
"""How many entries of a list are read."""

MOST_CHARACTERS: Final = 8 * 2**20
"""How many characters the texts of a list may have together."""

LONG_ENTRIES: Final = 500
"""Of a list with more entries, `LONG_REST_S` seconds pass before it is read again."""

LONG_REST_S: Final = 10.0


class Listed(NamedTuple):
    """A list.

    Attributes:
        is_whole: Whether these are all of its entries.
    """

    entries: list[JsonValue]
    is_whole: bool


async def listed(get: Callable[[JsonObject], Awaitable[JsonObject]], key: str) -> Listed:
    """The entries of all pages, as far as the limits go; `get` is given what asks for a page, and gives it.

    Args:
        get: Gives a page.
        key: Where a page has its entries.
    """
    found: list[JsonValue] = []
    left = MOST_CHARACTERS
    async with aclosing(_pages(get)) as pages:
        async for page, has_more in pages:
            entries = page.get(key)
            for entry in entries if isinstance(entries, list) else []:
                left = characters_left(entry, left)
                if left < 0 or len(found) == MOST_ENTRIES:
                    return Listed(found, is_whole=False)
                found.append(entry)
            if not has_more:
                return Listed(found, is_whole=True)
    return Listed(found, is_whole=False)


async def _pages(get: Callable[[JsonObject], Awaitable[JsonObject]]) -> AsyncGenerator[tuple[JsonObject, bool]]:
    """The pages, and of each whether another one follows."""
    seen: set[str] = set()
    params: JsonObject = {}
    for _ in range(MAX_PAGES):
        page = await get(params)
        cursor = page.get("nextCursor")
        has_more = isinstance(cursor, str) and bool(cursor) and cursor not in seen
        yield page, has_more
        if not has_more:
            return
        seen.add(str(cursor))
        params = {"cursor": cursor}


class Pace:
    """How soon a list is read again.

    Args:
        now: The clock, in seconds.
    """

    def __init__(self, now: Callable[[], float] = anyio.current_time) -> None:
        self._now = now
        self._not_before = 0.0

    def has_read(self, count: int) -> None:
        """A list of so many entries was read just now."""
        self._not_before = self._now() + LONG_REST_S if count > LONG_ENTRIES else 0.0

    @property
    def wait_s(self) -> float:
        """How long to wait, in seconds."""
        return max(0.0, self._not_before - self._now()) if self._not_before else 0.0
