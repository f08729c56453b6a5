"""One server kept reachable: one task owns its connection, opens it when it is first needed, and opens it again.

A connection of the SDK must be left by the task that has entered it, so a single task does both; requests come from any
task of the event loop, as many at once as allowed. A connection that ends takes the requests that are under way with
it, and the next request finds a new one. Deliberately not here: what is asked (`server`), and how often something that
broke is started again (`restarts`).
"""

from __future__ import annotations

import math
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING, Final

import anyio

from wieldy.connect.mcp.client.port import ConnectionFailedError, ConnectionLostError, NotProcessedError
from wieldy.connect.mcp.client.port import SessionLostError as _SessionLost
from wieldy.connect.mcp.client.restarts import Restarts
from wieldy.connect.mcp.client.sdk_log import unlogged
from wieldy.core.errors import UsageError
from wieldy.core.foreign import single, text_of

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager

    from wieldy.connect.mcp.client.port import Hooks, Progress, Session, Streams, Transport
    from wieldy.core.json import JsonObject

START_S: Final = 30.0
"""How long a server may take until it has answered who it is."""

REQUESTS_AT_ONCE: Final = 16
_DETAILS_S: Final = 5.0


class Supervisor:
    """A server, and the one task that owns the connection to it.

    Args:
        transport: Makes a way to the server; used for one connection.
        session: Makes a session over its streams.
        hooks: What the server may say unasked.
        restarts: When it is started again.
        at_once: How many requests may be under way.
        start_s: How long a start may take, in seconds.
    """

    def __init__(
        self,
        transport: Callable[[], Transport],
        session: Callable[[Streams, Hooks], AbstractAsyncContextManager[Session]],
        hooks: Hooks,
        *,
        restarts: Restarts | None = None,
        at_once: int = REQUESTS_AT_ONCE,
        start_s: float = START_S,
    ) -> None:
        self._make_transport = transport
        self._make_session = session
        self._hooks = hooks
        self._restarts = Restarts() if restarts is None else restarts
        self._start_s = start_s
        self._failures: list[float] = []
        self._connection: _Connection | None = None
        self._wanted = anyio.Event()
        self._changed = anyio.Event()
        self._places = anyio.CapacityLimiter(at_once)

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        """The owner is at work; nothing is started before it is needed."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._own)
            try:
                yield
            finally:
                tasks.cancel_scope.cancel()

    async def session(self) -> Session:
        """A session; the server is started if it is not running.

        Raises:
            NotProcessedError: It could not be, or is not tried again for now.
            UsageError: It never can be as it is configured.
        """
        return (await self._connected()).opened()

    async def request(self, method: str, params: JsonObject, *, on_progress: Progress | None = None) -> JsonObject:
        """The server's answer.

        Raises:
            ConnectionFailedError: There is none; its subclasses say why, and whether it can have acted.
            UsageError: The server cannot be started as it is configured.
        """
        async with self._places_of_this_task():
            try:
                return await self._request(method, params, on_progress)
            except _SessionLost:  # it has not looked at the request, so asking again repeats nothing
                return await self._request(method, params, on_progress)

    async def _request(self, method: str, params: JsonObject, on_progress: Progress | None) -> JsonObject:
        connection = await self._connected()
        try:
            with connection.under_way():
                return await connection.opened().request(method, params, on_progress=on_progress)
        except _SessionLost:
            connection.leave()
            raise
        except ConnectionLostError as error:
            if not connection.is_ending:
                raise
            raise ConnectionLostError(await connection.why(str(error))) from error

    @asynccontextmanager
    async def _places_of_this_task(self) -> AsyncGenerator[None]:
        # On behalf of an object of its own, because one task may have several requests under way.
        token = object()
        await self._places.acquire_on_behalf_of(token)
        try:
            yield
        finally:
            self._places.release_on_behalf_of(token)

    async def _connected(self) -> _Connection:
        """A connection that is open; the first outcome of a start counts, a failure as well."""
        if (seen := self._connection) is not None and seen.is_open:
            return seen
        now = anyio.current_time()
        if self._restarts.is_exhausted(self._failures, now=now):
            wait_s = self._restarts.wait_s(self._failures, now=now)
            raise NotProcessedError(
                f"it has failed {self._restarts.limit} times within {self._restarts.window_s:g} s and is not started "
                f"again for {wait_s:.0f} s" + (f"; the last time {seen.failure}" if seen and seen.failure else "")
            )
        self._wanted.set()
        while True:
            connection = self._connection
            if connection is not None and connection.is_open:
                return connection
            if connection is not None and connection is not seen and connection.is_over.is_set():
                raise connection.error()
            await self._changed.wait()

    async def _own(self) -> None:
        while True:
            await self._wanted.wait()
            await anyio.sleep(self._restarts.wait_s(self._failures, now=anyio.current_time()))
            self._wanted = anyio.Event()
            connection = self._connection = _Connection(self._make_transport(), self._tell)
            with unlogged():
                await connection.live(self._make_session, self._hooks, start_s=self._start_s)
            if connection.has_failed:
                self._failures = [*self._failures, anyio.current_time()][-self._restarts.limit :]
            self._tell()

    def _tell(self) -> None:
        self._changed.set()
        self._changed = anyio.Event()


class _Connection:
    """One connection, from its start to its end.

    Attributes:
        failure: Why it ended, in words, if it did by itself.
        is_over: It has ended and left nothing behind.
    """

    def __init__(self, transport: Transport, tell: Callable[[], None]) -> None:
        self._transport = transport
        self._tell = tell
        self._session: Session | None = None
        self._life = anyio.CancelScope()
        self._under_way: set[anyio.CancelScope] = set()
        self._raised: BaseException | None = None
        self._is_left = False
        self.failure = ""
        self.is_over = anyio.Event()

    @property
    def is_open(self) -> bool:
        """Whether requests can be made."""
        return self._session is not None and not self.is_ending

    @property
    def is_ending(self) -> bool:
        """Whether nothing more comes."""
        return self._is_left or self._transport.has_ended() or self.is_over.is_set() or self._life.cancel_called

    @property
    def has_failed(self) -> bool:
        """Whether it ended by itself."""
        return bool(self.failure) and not self._is_left

    def opened(self) -> Session:
        """The session."""
        assert self._session is not None
        return self._session

    def leave(self) -> None:
        """It is given up; a new one is made for the next request."""
        self._is_left = True
        self._life.cancel()

    def error(self) -> Exception:
        """What is told to those who waited for it."""
        if isinstance(self._raised, UsageError):
            return UsageError(str(self._raised))
        return NotProcessedError(self.failure or "it was closed while it was being started")

    async def why(self, said: str) -> str:
        """Why it ended, once that is known."""
        with anyio.move_on_after(_DETAILS_S):
            await self.is_over.wait()
        return self.failure or said

    @contextmanager
    def under_way(self) -> Generator[None]:
        """What is done within is given up when the connection ends.

        Raises:
            ConnectionLostError: It has ended.
        """
        with anyio.CancelScope() as scope:
            self._under_way.add(scope)
            try:
                yield
            finally:
                self._under_way.discard(scope)
        if scope.cancelled_caught:
            raise ConnectionLostError("the connection ended before there was an answer")

    async def live(
        self,
        make_session: Callable[[Streams, Hooks], AbstractAsyncContextManager[Session]],
        hooks: Hooks,
        *,
        start_s: float,
    ) -> None:
        """The connection was opened, was open, and is closed again, for whatever reason."""
        self._life.deadline = anyio.current_time() + start_s
        try:
            with self._life:
                async with self._transport.open() as streams, make_session(streams, hooks) as session:
                    self._life.deadline = math.inf
                    self._session = session
                    self._tell()
                    await self._transport.ended.wait()
                    self.failure = "the connection ended"
                    self._give_up()
            if self._life.cancelled_caught and self._session is None and not self._is_left:
                self.failure = f"it did not answer who it is within {start_s:g} s"
        except Exception as error:  # of whatever carries the connection
            self._raised = single(error)
            self.failure = _words(self._raised)
        finally:
            self._life.cancel()
            self._give_up()
            words = self._transport.last_words()
            if self.failure and words:
                self.failure = f"{self.failure}; {words}"
            self.is_over.set()

    def _give_up(self) -> None:
        for scope in tuple(self._under_way):
            scope.cancel()


def _words(error: BaseException) -> str:
    said = text_of(error) or type(error).__name__
    if isinstance(error, ConnectionFailedError | UsageError | OSError):
        return said
    return f"{type(error).__name__}: {said}"
