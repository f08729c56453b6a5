"""What each request of a client comes to, on the SDK's low-level server.

Imported when a server is made, because the SDK takes half a second. Results and lists are dictionaries, so that schemas
pass as they are. Deliberately not here: how messages come in and go out (`server`), what a call asks its client
(`exchange`), and what tools and results look like (`wire`).
"""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, cast

import anyio
import mcp_types as types
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.server.subscriptions import (
    InMemorySubscriptionBus,
    ListenHandler,
    PromptsListChanged,
    ResourcesListChanged,
    ResourceUpdated,
    ToolsListChanged,
)
from mcp.shared.exceptions import MCPError
from mcp.shared.inbound import X_MCP_HEADER_KEY

from wieldy.connect.mcp.server.exchange import Exchange, Exchanges, is_modern
from wieldy.connect.mcp.server.wire import result_to_wire, tool_to_wire
from wieldy.connect.serving.client import Client, ProtocolRefusalError, called_by, passable
from wieldy.connect.serving.keys import principal_in, principal_now
from wieldy.core.errors import RunError
from wieldy.core.foreign import single

if TYPE_CHECKING:
    from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
    from mcp.server.models import InitializationOptions
    from mcp.server.session import ServerSession

    from wieldy.connect.serving.client import LogLevel
    from wieldy.connect.serving.offering import Offering
    from wieldy.connect.serving.shelf import Change, Kind, Shelf
    from wieldy.core.json import JsonObject
    from wieldy.core.principals import Principal
    from wieldy.tools import Tool

MOST_SESSIONS: Final = 1024
"""How many sessions of the protocol with a handshake hear of changes; of more, the newest do."""

_CHANGES: Final[dict[Change, tuple[Any, Any]]] = {
    "tools": (ToolsListChanged, types.ToolListChangedNotification),
    "prompts": (PromptsListChanged, types.PromptListChangedNotification),
    "resources": (ResourcesListChanged, types.ResourceListChangedNotification),
}
_SESSION: Final = "mcp-session-id"
# What somebody may have can change at any time, and differs from caller to caller.
_UNCACHED: Final[JsonObject] = {"ttlMs": 0, "cacheScope": "private", "resultType": "complete"}


@dataclass(slots=True)
class _Session:
    """A session of the protocol with a handshake.

    Attributes:
        principal: Whose it is, by name.
        sender: Speaks to it outside of requests.
        level: From which level on it wants to hear.
        uris: The resources whose changes it wants to hear of.
    """

    principal: str | None
    sender: ServerSession
    level: LogLevel = "debug"
    uris: set[str] = field(default_factory=set[str])


@dataclass(slots=True, eq=False)
class _Life:
    """From when the server is opened until it is closed: over HTTP once, over other streams for each of them."""

    exchanges: Exchanges
    sessions: OrderedDict[str, _Session] = field(default_factory=OrderedDict[str, _Session])


class SdkServer(Server[Any]):
    """The SDK's server for an offering.

    Args:
        offering: What it offers.
        principal: On whose behalf calls are made that come without one.
    """

    def __init__(self, offering: Offering, *, principal: Principal | None) -> None:
        about = offering.about
        self._offering = offering
        self._principal = principal
        self._lives: list[_Life] = []
        self._listeners: dict[str | None, tuple[InMemorySubscriptionBus, ListenHandler]] = {}
        super().__init__(
            about.name,
            version=about.version,
            instructions=about.instructions,
            lifespan=self._opened,
            get_tool_input_schema=self._schema_of,
            on_list_tools=self._list_tools,
            on_call_tool=cast("Any", self._call_tool),  # results are dictionaries, which the SDK checks
            on_subscriptions_listen=self._listen,
        )
        self.middleware.append(self._as_listed)
        self.add_request_handler("logging/setLevel", types.SetLevelRequestParams, self._set_level)
        self.add_notification_handler("notifications/initialized", types.NotificationParams, self._begin)
        if offering.shelf is not None:
            self._add_shelf(offering.shelf)

    def get_capabilities(self, *args: Any, **options: Any) -> types.ServerCapabilities:
        """What there is at this moment: a gateway's services come and go."""
        found = super().get_capabilities(NotificationOptions(*[True] * 3), **options)
        has = frozenset[str]() if self._offering.shelf is None else self._offering.shelf.has
        missing = {name: None for name in ("prompts", "resources", "completions") if name not in has}
        return found.model_copy(update=missing)

    def close_streams(self) -> None:
        """The requests of clients that listen for changes are answered: they would stay open for ever."""
        for _, listener in self._listeners.values():
            listener.close()

    async def tell_change(self, what: Change, *, principal: str | None = None) -> None:
        """Clients that listen for it hear that a list is another one now; those of one principal, or all."""
        event, notification = _CHANGES[what]
        await self._tell(event(), notification(), principal, lambda session: True)

    async def tell_update(self, uri: str, *, principal: str | None = None) -> None:
        """Clients that listen for it hear that a resource has changed; those of one principal, or all."""
        params = types.ResourceUpdatedNotificationParams(uri=uri)
        notification = types.ResourceUpdatedNotification(params=params)
        await self._tell(ResourceUpdated(uri=uri), notification, principal, lambda session: uri in session.uris)

    # Life

    @asynccontextmanager
    async def _opened(self, server: object) -> AsyncGenerator[_Life]:
        del server
        try:
            async with self._offering.opened(), anyio.create_task_group() as tasks:
                life = _Life(Exchanges(tasks))
                self._lives.append(life)
                try:
                    yield life
                finally:
                    self._lives.remove(life)
                    tasks.cancel_scope.cancel()
        except BaseExceptionGroup as group:  # as groups of tasks raise what was raised among them
            raise single(group) from None

    async def _begin(self, context: ServerRequestContext[Any, Any], params: object) -> None:
        del params
        self._session(context)

    def _session(self, context: ServerRequestContext[Any, Any]) -> _Session:
        """What is known of this session, which is begun if nothing is."""
        request, sessions = context.request, _life(context).sessions
        key = "" if request is None else str(request.headers.get(_SESSION, ""))
        found = sessions.get(key)
        if found is None:
            caller = self._caller(context)
            found = sessions[key] = _Session(None if caller is None else caller.name, context.session)
            while len(sessions) > MOST_SESSIONS:
                sessions.popitem(last=False)
        return found

    async def _set_level(
        self, context: ServerRequestContext[Any, Any], params: types.SetLevelRequestParams
    ) -> types.EmptyResult:
        self._session(context).level = params.level
        return types.EmptyResult()

    # Changes

    async def _listen(
        self, context: ServerRequestContext[Any, Any], params: types.SubscriptionsListenRequestParams
    ) -> types.SubscriptionsListenResult:
        caller = self._caller(context)
        wanted = params.notifications
        shelf = self._offering.shelf
        uris: list[str] = []
        for uri in wanted.resource_subscriptions or ():
            if shelf is not None:
                try:
                    await shelf.subscribe(uri, principal=caller)
                except ProtocolRefusalError:
                    continue  # the client is told which ones are listened for
                uris.append(uri)
        asked = params.model_copy(
            update={"notifications": wanted.model_copy(update={"resource_subscriptions": uris or None})}
        )
        name = None if caller is None else caller.name
        if name not in self._listeners:
            bus = InMemorySubscriptionBus()
            self._listeners[name] = (bus, ListenHandler(bus))
        return await self._listeners[name][1](context, asked)

    async def _tell(
        self, event: Any, notification: Any, principal: str | None, wants: Callable[[_Session], bool]
    ) -> None:
        for name, (bus, _) in tuple(self._listeners.items()):
            if principal in (None, name):
                await bus.publish(event)
        for session in [each for life in self._lives for each in life.sessions.values()]:
            if principal in (None, session.principal) and wants(session):
                await session.sender.send_notification(notification)

    # Tools

    async def _list_tools(self, context: ServerRequestContext[Any, Any], params: object) -> Any:
        del params  # one page
        offered = self._offering.offered_to(self._caller(context))
        return {"tools": [tool_to_wire(each, is_modern=is_modern(context)) for each in offered], **_UNCACHED}

    async def _as_listed(self, ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        """Tools as they were listed: where the protocol has a handshake, the SDK puts keys of schemas in its order."""
        result = await call_next(ctx)
        if ctx.method != "tools/list" or is_modern(ctx) or not isinstance(result, dict):
            return result
        listed = await self._list_tools(ctx, None)
        return result | {"tools": listed["tools"]}

    async def _call_tool(self, context: ServerRequestContext[Any, Any], params: types.CallToolRequestParams) -> Any:
        name, arguments = params.name, params.arguments or {}

        async def work(exchange: Exchange, caller: Client, principal: Principal | None) -> JsonObject:
            result = await self._offering.call(name, arguments, principal=principal, emit=exchange.hear)
            if caller.refusal is not None and exchange.is_modern and result.is_error:
                raise caller.refusal
            tool = self._offering.find(name, principal=principal)
            wire = result_to_wire(result, tool, is_modern=exchange.is_modern)
            if caller.content is not None and result.failure in (None, "tool"):
                wire["content"] = caller.content
            return {"resultType": "complete", **wire}

        return await self._carry_out(context, [name, arguments], params.request_state, work)

    def _schema_of(self, name: str) -> JsonObject | None:
        """The schema by which the headers of a call are checked; None where it speaks of none."""
        tool = self._offering.find(name, principal=principal_now())
        return tool.definition.input_schema if tool is not None and _asks_for_headers(tool) else None

    # Prompts and resources

    def _add_shelf(self, shelf: Shelf) -> None:
        def listing(kind: Kind) -> Callable[..., Awaitable[Any]]:
            async def handle(context: ServerRequestContext[Any, Any], params: object) -> Any:
                del params  # one page
                listed = await self._asked(shelf.listed(kind, principal=self._caller(context)))
                return {kind: [*listed], **_UNCACHED}

            return handle

        async def get(context: ServerRequestContext[Any, Any], params: types.GetPromptRequestParams) -> Any:
            name, arguments = params.name, params.arguments or {}

            async def work(exchange: Exchange, caller: Client, principal: Principal | None) -> JsonObject:
                del exchange, caller
                return {**await shelf.get_prompt(name, arguments, principal=principal), "resultType": "complete"}

            return await self._carry_out(context, [name, {**arguments}], params.request_state, work)

        async def read(context: ServerRequestContext[Any, Any], params: types.ReadResourceRequestParams) -> Any:
            uri = str(params.uri)

            async def work(exchange: Exchange, caller: Client, principal: Principal | None) -> JsonObject:
                del exchange, caller
                return {**await shelf.read_resource(uri, principal=principal), **_UNCACHED}

            return await self._carry_out(context, [uri], params.request_state, work)

        async def complete(context: ServerRequestContext[Any, Any], params: types.CompleteRequestParams) -> Any:
            said = params.model_dump(mode="json", by_alias=True, exclude_none=True)
            said.pop("_meta", None)
            completed = await self._asked(shelf.complete(said, principal=self._caller(context)))
            return {**completed, "resultType": "complete"}

        async def subscribe(context: ServerRequestContext[Any, Any], params: types.SubscribeRequestParams) -> Any:
            await self._asked(shelf.subscribe(str(params.uri), principal=self._caller(context)))
            self._session(context).uris.add(str(params.uri))
            return types.EmptyResult()

        async def unsubscribe(context: ServerRequestContext[Any, Any], params: types.UnsubscribeRequestParams) -> Any:
            self._session(context).uris.discard(str(params.uri))
            return types.EmptyResult()

        self.add_request_handler("prompts/list", types.PaginatedRequestParams, listing("prompts"))
        self.add_request_handler("prompts/get", types.GetPromptRequestParams, get)
        self.add_request_handler("resources/list", types.PaginatedRequestParams, listing("resources"))
        self.add_request_handler("resources/templates/list", types.PaginatedRequestParams, listing("resourceTemplates"))
        self.add_request_handler("resources/read", types.ReadResourceRequestParams, read)
        self.add_request_handler("resources/subscribe", types.SubscribeRequestParams, subscribe)
        self.add_request_handler("resources/unsubscribe", types.UnsubscribeRequestParams, unsubscribe)
        self.add_request_handler("completion/complete", types.CompleteRequestParams, complete)

    # Parts

    async def _carry_out(
        self,
        context: ServerRequestContext[Any, Any],
        what: list[Any],
        state: str | None,
        work: Callable[[Exchange, Client, Principal | None], Awaitable[JsonObject]],
    ) -> JsonObject:
        """What comes of a call, or what its client has to answer first."""
        exchanges = _life(context).exchanges
        principal = self._caller(context)
        name = None if principal is None else principal.name
        key = [name, context.method, *what]
        if state is not None and is_modern(context):
            return await self._asked(exchanges.go_on(context, key=key, state=state))
        level = "debug" if is_modern(context) else self._session(context).level
        exchange = Exchange(context, principal=name, key=key, start=exchanges.start, level=level)
        caller = Client(link=exchange, principal=name, headers=_headers(context))

        async def carried() -> JsonObject:
            with called_by(caller):
                return await work(exchange, caller, principal)

        return await self._asked(exchanges.carry_out(exchange, carried))

    async def _asked(self, answer: Awaitable[Any]) -> Any:
        """The answer, or the error of the protocol that says why there is none."""
        try:
            return await answer
        except ProtocolRefusalError as error:
            raise MCPError(code=error.code, message=str(error), data=error.data) from error
        except RunError as error:
            logging.getLogger(__name__).exception("A call could not be recorded.")
            raise MCPError(
                code=types.INTERNAL_ERROR, message="The call could not be recorded, and was not carried out."
            ) from error

    def _caller(self, context: ServerRequestContext[Any, Any]) -> Principal | None:
        request = context.request
        return self._principal if request is None else principal_in(request.scope)

    def create_initialization_options(self, *args: Any, **options: Any) -> InitializationOptions:
        """As the SDK has it, with all changes that are told."""
        return super().create_initialization_options(NotificationOptions(*[True] * 3), **options)


@lru_cache(maxsize=4096)
def _asks_for_headers(tool: Tool) -> bool:
    """Whether some argument is to be repeated in a header: else the SDK would walk through the schema for nothing."""
    return X_MCP_HEADER_KEY in repr(tool.definition.input_schema)


def _life(context: ServerRequestContext[Any, Any]) -> _Life:
    return context.lifespan_context


def _headers(context: ServerRequestContext[Any, Any]) -> Mapping[str, str]:
    """What came with a request over HTTP."""
    return {} if context.request is None else passable(context.request.headers)
