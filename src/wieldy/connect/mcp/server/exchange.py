"""A client's call from its first request to its end, with what the server asks and tells the client meanwhile.

Where the protocol has a handshake, a question is a request to the client in the middle of its own. Where it has none, a
question ends the request (`input_required`), and the client makes it again with the answers: the call waits here in
between, and the `requestState` is a number that nobody can guess, good once, for the same request of the same caller.
So nothing that the call has done is done again. Deliberately not here: what is called (`sdk`).
"""

from __future__ import annotations

import asyncio
import math
import secrets
import threading
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast

import anyio
import mcp_types as types
from mcp.shared.exceptions import MCPError
from mcp.shared.message import ServerMessageMetadata
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import BaseModel, ConfigDict, TypeAdapter

from wieldy.connect.serving.client import CAPABILITY_OF, LOG_LEVELS, LogLevel
from wieldy.core.errors import ToolError
from wieldy.core.events import CallProgress

if TYPE_CHECKING:
    from anyio.abc import TaskGroup
    from anyio.streams.memory import MemoryObjectReceiveStream
    from mcp.server.context import ServerRequestContext

    from wieldy.core.events import RunEvent
    from wieldy.core.json import JsonObject, JsonValue

MOST_WAITING: Final = 1000
"""How many calls of one principal may wait for their clients; of more, the oldest of them are given up."""

WAIT_S: Final = 600.0
"""How long a call waits for its client to come again, in seconds."""

MOST_UNHEARD: Final = 64
"""How many reports wait for a client that is slow to take them; later ones are dropped."""

_SMALLEST_STEP: Final = 1e-6
_REQUESTS: Final[TypeAdapter[Any]] = TypeAdapter(types.InputRequest)


Work: TypeAlias = Callable[[], Coroutine[Any, Any, None]]
Start: TypeAlias = Callable[[Work], None]


class Raw(BaseModel):
    """A result as it is on the wire."""

    model_config = ConfigDict(extra="allow")


def is_modern(context: ServerRequestContext[Any, Any]) -> bool:
    """Whether the client speaks a revision without a handshake."""
    return context.protocol_version in MODERN_PROTOCOL_VERSIONS


def answers_in(context: ServerRequestContext[Any, Any]) -> Mapping[str, Any]:
    """What the client answers with its request, as it sent it; not checked."""
    given = (context.params or {}).get("inputResponses")
    return cast("Mapping[str, Any]", given if isinstance(given, Mapping) else {})


class Exchange:
    """One call. Implements `ClientLink`.

    Args:
        context: Of its first request.
        principal: On whose behalf, by name.
        key: What the call is and whose: the same when it is made again.
        start: Has what it is given run, apart from this call; callable where nothing may wait.
        level: From which level on a client of the protocol with a handshake wants to hear.
    """

    def __init__(
        self,
        context: ServerRequestContext[Any, Any],
        *,
        principal: str | None,
        key: JsonValue,
        start: Start,
        level: LogLevel,
    ) -> None:
        self.principal = principal
        self.key = key
        self.is_modern = is_modern(context)
        self.wanted: Mapping[str, JsonObject] = {}
        self._context = context
        self._start = start
        self._level: LogLevel = level
        self._loop, self._thread = asyncio.get_running_loop(), threading.get_ident()
        self._turns = anyio.Lock()
        self._moved, self._answered = anyio.Event(), anyio.Event()
        self._answers: dict[str, JsonObject] = {}
        self._given = answers_in(context)  # by a client that has kept no state; they count for the first question
        self._scope = anyio.CancelScope()
        self._outcome: Callable[[], JsonObject] | None = None
        self._unsent: deque[Callable[[], Awaitable[None]]] = deque()
        self._sent: asyncio.Event | None = None
        self._progress = 0.0

    # The link

    @property
    def capabilities(self) -> JsonObject:
        """As `ClientLink`."""
        said = self._context.session.client_capabilities
        return {} if said is None else said.model_dump(mode="json", by_alias=True, exclude_none=True)

    @property
    def can_be_asked(self) -> bool:
        """Whether there is anything that the client can be asked."""
        capabilities = self.capabilities
        return any(what in capabilities for what in CAPABILITY_OF.values())

    async def inputs(self, requests: Mapping[str, JsonObject]) -> dict[str, JsonObject]:
        """As `ClientLink`."""
        async with self._turns:
            if not self.is_modern:
                return {name: await self._request(each) for name, each in requests.items()}
            given, self._given = self._given, dict[str, Any]()
            if all(isinstance(given.get(name), Mapping) for name in requests):
                return {name: given[name] for name in requests}
            self._answered = anyio.Event()
            self.wanted = dict(requests)
            self._moved.set()
            await self._answered.wait()
            return self._answers

    @property
    def log_level(self) -> LogLevel | None:
        """As `ClientLink`."""
        if not self.is_modern:
            return self._level
        wanted: object = cast("Mapping[str, Any]", self._context.meta or {}).get(types.LOG_LEVEL_META_KEY)
        return wanted if wanted in LOG_LEVELS else None

    def log(self, level: LogLevel, data: JsonValue, logger: str | None) -> None:
        """As `ClientLink`."""
        wanted = self.log_level
        if wanted is None or LOG_LEVELS.index(level) < LOG_LEVELS.index(wanted):
            return
        params = types.LoggingMessageNotificationParams(level=level, data=data, logger=logger)
        notification = types.LoggingMessageNotification(params=params)
        if threading.get_ident() == self._thread:  # at once, so that it is sent before the call's answer
            self._put(lambda: self._notify(notification))
        else:
            self._loop.call_soon_threadsafe(self._put, lambda: self._notify(notification))

    def hear(self, event: RunEvent) -> None:
        """Progress goes to a client that asks for it."""
        if isinstance(event, CallProgress) and "progress_token" in (self._context.meta or {}):
            self._put(lambda: self._report(event))

    # Requests

    async def run(self, work: Callable[[], Awaitable[JsonObject]]) -> None:
        """The call has ended."""
        with self._scope:
            try:
                result = await work()
                self._outcome = lambda: result
            except Exception as error:  # raised where the answer is awaited
                failure = error

                def fail() -> JsonObject:
                    raise failure

                self._outcome = fail
            finally:
                self._moved.set()

    async def until_moved(self) -> JsonObject | None:
        """The result; None where it first wants answers. Whoever gives up waiting gives up the call."""
        try:
            await self._moved.wait()
            await self.flush()
        except BaseException:
            self.give_up()
            raise
        self._moved = anyio.Event()
        return None if self._outcome is None else self._outcome()

    def go_on(self, context: ServerRequestContext[Any, Any], answers: Mapping[str, JsonObject]) -> None:
        """The request was made again, with these answers."""
        self._context = context
        self._answers = {name: answers[name] for name in self.wanted}
        self._answered.set()

    def give_up(self) -> None:
        """Nobody waits for it any more."""
        self._scope.cancel()

    # What is told

    async def flush(self) -> None:
        """What was reported is sent: it belongs before the answer."""
        while self._sent is not None:
            await self._sent.wait()

    def _put(self, send: Callable[[], Awaitable[None]]) -> None:
        if len(self._unsent) < MOST_UNHEARD:
            self._unsent.append(send)
        if self._sent is None:
            self._sent = asyncio.Event()  # anyio has none to give where nothing may wait
            self._start(self._send)

    async def _send(self) -> None:
        sent = self._sent
        assert sent is not None
        try:
            while self._unsent:
                await self._unsent.popleft()()
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            self._unsent.clear()  # it has gone
        finally:
            self._sent = None
            sent.set()

    async def _report(self, event: CallProgress) -> None:
        """The numbers grow, as the protocol wants it."""
        fraction = event.fraction
        is_known = fraction is not None and fraction > self._progress
        self._progress = cast("float", fraction) if is_known else self._progress + _SMALLEST_STEP
        await self._context.session.report_progress(self._progress, 1.0 if is_known else None, event.message or None)

    async def _notify(self, notification: types.ServerNotification) -> None:
        await self._context.session.send_notification(notification, related_request_id=self._context.request_id)

    async def _request(self, request: JsonObject) -> JsonObject:
        await self.flush()
        metadata = ServerMessageMetadata(related_request_id=self._context.request_id)
        try:
            answer = await self._context.session.send_request(
                _REQUESTS.validate_python(request), Raw, metadata=metadata
            )
        except MCPError as error:
            raise ToolError(f"The client refused {request['method']!r}: {error.message.rstrip('. ')}.") from error
        return dict(answer.model_extra or {})


class Exchanges:
    """Calls that wait for their clients.

    Args:
        tasks: Where calls live that may outlive a request.
    """

    def __init__(self, tasks: TaskGroup) -> None:
        self._tasks = tasks
        self._to_start, to_start = anyio.create_memory_object_stream[Work](math.inf)
        tasks.start_soon(self._start_all, to_start)
        self._waiting: dict[str, tuple[float, Exchange]] = {}  # oldest first, with the time at which it is given up
        self._is_watched = False

    def start(self, what: Work) -> None:
        """It is run soon, apart from whoever asks for it; callable where nothing may wait."""
        self._to_start.send_nowait(what)

    async def carry_out(self, exchange: Exchange, work: Callable[[], Awaitable[JsonObject]]) -> JsonObject:
        """The result, or what the client has to answer first."""
        if not (exchange.is_modern and exchange.can_be_asked):  # it needs one request only
            result = await work()
            await exchange.flush()
            return result
        self._tasks.start_soon(exchange.run, work)
        return await self._next(exchange)

    async def go_on(self, context: ServerRequestContext[Any, Any], *, key: JsonValue, state: str) -> JsonObject:
        """As `carry_out`, of the call that waits under this state.

        Raises:
            MCPError: There is none, or it is another call.
        """
        _, exchange = self._waiting.get(state, (0.0, None))
        if exchange is None or exchange.key != key:
            raise MCPError(
                code=types.INVALID_PARAMS,
                message="Expected the requestState of a call that waits for its client, of the same caller and with "
                "the same arguments, found another one; it counts once. Make the call again without it.",
            )
        del self._waiting[state]
        answers = answers_in(context)
        if not all(isinstance(answers.get(name), Mapping) for name in exchange.wanted):
            return self._ask(exchange)
        exchange.go_on(context, answers)
        return await self._next(exchange)

    async def _start_all(self, to_start: MemoryObjectReceiveStream[Work]) -> None:
        async with self._to_start, to_start:
            async for what in to_start:
                self._tasks.start_soon(what)

    async def _next(self, exchange: Exchange) -> JsonObject:
        result = await exchange.until_moved()
        return self._ask(exchange) if result is None else result

    def _ask(self, exchange: Exchange) -> JsonObject:
        state = secrets.token_urlsafe(24)
        self._waiting[state] = (anyio.current_time() + WAIT_S, exchange)
        own = [each for each, (_, other) in self._waiting.items() if other.principal == exchange.principal]
        if len(own) > MOST_WAITING:
            self._give_up(own[0])
        if not self._is_watched:
            self._is_watched = True
            self._tasks.start_soon(self._watch)
        return {"resultType": "input_required", "inputRequests": {**exchange.wanted}, "requestState": state}

    async def _watch(self) -> None:
        """Calls whose clients do not come again are given up."""
        while self._waiting:
            state, (until, _) = next(iter(self._waiting.items()))
            if until <= anyio.current_time():
                self._give_up(state)
            else:
                await anyio.sleep_until(until)
        self._is_watched = False

    def _give_up(self, state: str) -> None:
        _, exchange = self._waiting.pop(state)
        exchange.give_up()
