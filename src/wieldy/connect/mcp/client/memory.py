"""A server object of the SDK in this process: messages are handed over as they are."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TYPE_CHECKING, Any

import anyio

if TYPE_CHECKING:
    from wieldy.connect.mcp.client.port import Streams


class MemoryTransport:
    """Runs the server for as long as it is open.

    Args:
        server: Of the SDK's low level.
        streams: Makes two connected pairs of streams.
    """

    def __init__(
        self, server: Any, streams: Callable[[], AbstractAsyncContextManager[tuple[Streams, Streams]]]
    ) -> None:
        self._server = server
        self._streams = streams
        self.ended = anyio.Event()

    def has_ended(self) -> bool:
        """Whether nothing more will come."""
        return self.ended.is_set()

    def last_words(self) -> str:
        """Nothing."""
        return ""

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[Streams]:
        """The server runs and both streams are open."""
        async with self._streams() as (ours, theirs), anyio.create_task_group() as tasks:
            tasks.start_soon(self._serve, theirs)
            yield ours
            tasks.cancel_scope.cancel()

    async def _serve(self, streams: Streams) -> None:
        try:
            await self._server.run(*streams, self._server.create_initialization_options())
        finally:
            self.ended.set()
