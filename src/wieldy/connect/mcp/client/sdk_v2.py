"""Version 2 of the SDK: both eras of the protocol, with and without a handshake.

A list of tools is read as the server sent it, because one broken tool must not cost all others; the SDK, which wants
lists without fault, is shown those that it takes. Results are taken as they are for the same reason. Deliberately not
here: what the messages mean.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Final, Literal

import anyio
import mcp_types as types
from mcp import ClientSession
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from mcp.shared.jsonrpc_dispatcher import JSONRPCDispatcher
from mcp.shared.memory import create_client_server_memory_streams
from mcp.shared.message import SessionMessage
from mcp.shared.transport_context import TransportContext
from mcp_types import methods
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, LATEST_MODERN_VERSION, MODERN_PROTOCOL_VERSIONS
from pydantic import BaseModel, ConfigDict, ValidationError

from wieldy.connect.mcp.client.http import LIMIT_BYTES, OURS, HttpTransport, failure_of, http_client
from wieldy.connect.mcp.client.memory import MemoryTransport
from wieldy.connect.mcp.client.pages import MOST_ENTRIES
from wieldy.connect.mcp.client.passing import declared, forwarded, log_level
from wieldy.connect.mcp.client.port import (
    REFUSED,
    RefusedError,
    ServerInfo,
    UnreadableAnswerError,
)
from wieldy.connect.mcp.client.posts import Posts
from wieldy.connect.mcp.client.sdk import CLIENT_NAME
from wieldy.connect.mcp.client.sdk_v2_hooks import answering, hear, listen_for_lists, listen_to, or_refused
from wieldy.connect.mcp.client.sdk_v2_results import as_sent, keep, kept
from wieldy.connect.mcp.client.stdio import Codec

if TYPE_CHECKING:
    from mcp.client.session import IncomingMessage
    from mcp.shared.dispatcher import CallOptions

    from wieldy.connect.mcp.client.port import Hooks, Progress, Streams, Transport
    from wieldy.connect.mcp.client.sdk import Address
    from wieldy.core.json import JsonObject

_REQUESTS: Final[Mapping[str, type[types.Request[Any, Any]]]] = {
    "tools/list": types.ListToolsRequest,
    "tools/call": types.CallToolRequest,
    "resources/list": types.ListResourcesRequest,
    "resources/templates/list": types.ListResourceTemplatesRequest,
    "resources/read": types.ReadResourceRequest,
    "prompts/list": types.ListPromptsRequest,
    "prompts/get": types.GetPromptRequest,
    "completion/complete": types.CompleteRequest,
    "resources/subscribe": types.SubscribeRequest,
}


class SdkV2:
    """Implements `Sdk`."""

    def __init__(self) -> None:
        self.codec = Codec(
            read=lambda line: SessionMessage(types.jsonrpc_message_adapter.validate_json(line, by_name=False)),
            write=lambda item: item.message.model_dump_json(by_alias=True, exclude_unset=True).encode(),
            failed=lambda number, code, why: SessionMessage(
                types.JSONRPCError(jsonrpc="2.0", id=number, error=types.ErrorData(code=code, message=why, data=OURS))
            ),
        )

    def over_http(self, address: Address) -> Transport:
        """The transport to a URL."""
        return HttpTransport(lambda stack: _open_http(address, stack))

    def in_memory(self, server: object) -> Transport:
        """The transport to a server object."""
        lowlevel: Any = getattr(server, "_lowlevel_server", server)  # what MCPServer is built on
        return MemoryTransport(lowlevel, create_client_server_memory_streams)

    @asynccontextmanager
    async def session(self, streams: Streams, hooks: Hooks) -> AsyncGenerator[_SessionV2]:
        """The session over two streams."""
        incoming, outgoing, *posts = streams
        dispatcher = _Tolerant(incoming, outgoing)
        dispatcher.hooks = hooks

        async def ask(context: object, params: types.ElicitRequestParams) -> types.ElicitResult | types.ErrorData:
            del context
            said = params.model_dump(mode="json", by_alias=True, exclude_none=True)
            return await or_refused(hooks.on_question(said), types.ElicitResult)

        async def take(message: IncomingMessage) -> None:
            hear(message, hooks)

        session = ClientSession(
            dispatcher=dispatcher,
            elicitation_callback=ask,
            message_handler=take,
            **answering(hooks),
            client_info=types.Implementation(name=CLIENT_NAME, version=version("wieldy")),
        )
        async with session:
            await _negotiate(session)
            info = _info(session)
            if posts and info.protocol in MODERN_PROTOCOL_VERSIONS:
                dispatcher.posts = posts[0]
                posts[0].on_log = hooks.on_log
            async with anyio.create_task_group() as tasks:
                if info.protocol in MODERN_PROTOCOL_VERSIONS:
                    tasks.start_soon(listen_for_lists, session, info, hooks)

                def listen_for(uri: str) -> None:
                    tasks.start_soon(listen_to, session, hooks, [uri])

                yield _SessionV2(session, dispatcher, info, listen_for)
                tasks.cancel_scope.cancel()


class _SessionV2:
    """Implements `Session`."""

    def __init__(
        self, session: ClientSession, dispatcher: _Tolerant, info: ServerInfo, listen_for: Callable[[str], None]
    ) -> None:
        self._listen_for = listen_for
        self._session = session
        self._dispatcher = dispatcher
        self.info = info

    async def request(self, method: str, params: JsonObject, *, on_progress: Progress | None = None) -> JsonObject:
        """The result, as the server sent it."""
        try:
            return await self._request(method, params, on_progress)
        except RefusedError as error:
            if error.code != types.HEADER_MISMATCH or method != "tools/call":
                raise
        # What the headers must repeat of the arguments is known from the list of tools alone, and that has changed.
        await self._request("tools/list", {}, None)
        return await self._request(method, params, on_progress)

    async def watch(self, uri: str) -> None:
        """As `Session`."""
        if self.info.protocol in MODERN_PROTOCOL_VERSIONS:
            self._listen_for(uri)
        else:
            await self.request("resources/subscribe", {"uri": uri})

    async def _request(self, method: str, params: JsonObject, on_progress: Progress | None) -> JsonObject:
        async def report(progress: float, total: float | None, message: str | None) -> None:
            if on_progress is not None:
                on_progress(progress, total, message)

        with kept() as sent:
            try:
                if method == "tools/list":
                    return await self._list_tools(params)
                request = _REQUESTS[method].model_validate({"method": method, "params": params or None})
                result = await self._session.send_request(
                    request, _Raw, progress_callback=None if on_progress is None else report
                )
            except MCPError as error:
                raise _failure(error) from error
            except ValidationError as error:
                if (whole := as_sent(method, self.info.protocol, sent)) is not None:
                    return whole
                raise UnreadableAnswerError(_why(error)) from error
        return dict(result.model_extra or {})

    async def _list_tools(self, params: JsonObject) -> JsonObject:
        page = types.PaginatedRequestParams.model_validate(params) if params else None
        # By the SDK's own way, which learns from it which headers a call must have.
        listed = await self._session.list_tools(params=page)
        result: JsonObject = {"tools": self._kept({tool.name for tool in listed.tools})}
        return result if listed.next_cursor is None else result | {"nextCursor": listed.next_cursor}

    def _kept(self, taken: set[str]) -> list[Any]:
        """The list as the server sent it, without what the protocol forbids to use: the SDK has taken it out."""
        if self.info.protocol not in MODERN_PROTOCOL_VERSIONS:
            return self._dispatcher.listed
        return [
            {"name": tool["name"], REFUSED: "its parameters ask for headers that must not be sent"}
            if _is_taken(tool) and tool["name"] not in taken
            else tool
            for tool in self._dispatcher.listed
        ]


class _Raw(BaseModel):
    """A result as it is on the wire."""

    model_config = ConfigDict(extra="allow")


class _Tolerant(JSONRPCDispatcher[TransportContext]):
    """Keeps the SDK from seeing tools that it would refuse a whole list for, and takes the short way for calls.

    Attributes:
        listed: The last list of tools, as the server sent it.
        posts: The short way, where there is one.
        hooks: Say whether requests are made for somebody else's clients.
    """

    listed: list[Any] = []  # noqa: RUF012 - replaced, never changed
    posts: Posts | None = None
    hooks: Hooks | None = None

    async def send_raw_request(
        self, method: str, params: Mapping[str, Any] | None, opts: CallOptions | None = None, **more: Any
    ) -> dict[str, Any]:
        params, opts = self._for_client(params, opts)
        if method == "tools/call" and self.posts is not None:
            result = await self.posts.request(method, params, opts or {})
            if result is not None:
                keep(result)
                return result
        raw = await super().send_raw_request(method, params, opts, **more)
        keep(raw)
        if method != "tools/list" or not isinstance(raw.get("tools"), list):
            return raw
        self.listed = raw["tools"][: MOST_ENTRIES + 1]  # the SDK looks at no more than is read
        return {**raw, "tools": [tool for tool in self.listed if _is_taken(tool)]}

    def _for_client(
        self, params: Mapping[str, Any] | None, opts: CallOptions | None
    ) -> tuple[Mapping[str, Any] | None, CallOptions | None]:
        """The request, as far as it says something of the client that it is made for (`passing`)."""
        if self.hooks is None or self.hooks.on_input is None:
            return params, opts
        known = declared()
        meta: dict[str, Any] = dict((params or {}).get("_meta") or {})
        if known is not None and types.CLIENT_CAPABILITIES_META_KEY in meta:
            meta[types.CLIENT_CAPABILITIES_META_KEY] = known
            if (level := log_level()) is not None:
                meta[types.LOG_LEVEL_META_KEY] = level
            params = {**(params or {}), "_meta": meta}
        if headers := forwarded(self.hooks.forwards):
            opts = {**(opts or {}), "headers": {**headers, **((opts or {}).get("headers") or {})}}
        return params, opts


def _is_taken(tool: object) -> bool:
    try:
        types.Tool.model_validate(tool)
        for revision in (*HANDSHAKE_PROTOCOL_VERSIONS[-1:], *MODERN_PROTOCOL_VERSIONS[-1:]):
            cached = {} if revision in HANDSHAKE_PROTOCOL_VERSIONS else {"ttlMs": 0, "cacheScope": "private"}
            methods.validate_server_result(
                "tools/list", revision, {"tools": [tool], "resultType": "complete", **cached}
            )
    except ValidationError:
        return False
    return True


async def _negotiate(session: ClientSession) -> None:
    """The newest revision that both sides speak is agreed upon.

    A server that does not know the question which revisions it speaks is one that wants a handshake; one that was only
    slow to answer, and wants none, is asked again.
    """
    probed = await _probe(session)
    if probed == "agreed":
        return
    try:
        await session.initialize()
    except MCPError as error:
        if probed == "slow" and await _probe(session) == "agreed":
            return
        raise _failure(error) from error


async def _probe(session: ClientSession) -> Literal["agreed", "old", "slow"]:
    revision = LATEST_MODERN_VERSION
    for _ in range(2):
        try:
            answer = types.DiscoverResult.model_validate(await session.send_discover(revision))
        except MCPError as error:
            if error.code == types.REQUEST_TIMEOUT:
                return "slow"
            common = _common_revisions(error)
            if not common:
                return "old"
            revision = common[-1]
            continue
        except ValidationError:
            return "old"
        if not set(answer.supported_versions) & set(MODERN_PROTOCOL_VERSIONS):
            return "old"
        session.adopt(answer)
        return "agreed"
    return "old"


def _common_revisions(error: MCPError) -> list[str]:
    data: Any = error.data
    supported: Any = data.get("supported") if isinstance(data, dict) else None  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
    if error.code != types.UNSUPPORTED_PROTOCOL_VERSION or not isinstance(supported, list):
        return []
    return [revision for revision in MODERN_PROTOCOL_VERSIONS if revision in supported]


def _info(session: ClientSession) -> ServerInfo:
    said = session.server_info
    capabilities = session.server_capabilities
    return ServerInfo(
        protocol=session.protocol_version or "",
        name="" if said is None else f"{said.name} {said.version}".strip(),
        instructions=session.instructions or "",
        capabilities=(
            {} if capabilities is None else capabilities.model_dump(mode="json", by_alias=True, exclude_none=True)
        ),
    )


def _failure(error: MCPError) -> Exception:
    return failure_of(error.code, error.message, error.data)


def _why(error: ValidationError) -> str:
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    place = ".".join(str(part) for part in first["loc"])
    return f"{first['msg']} (at {place})"


async def _open_http(address: Address, stack: AsyncExitStack) -> Streams:
    import httpx2  # noqa: PLC0415 - only servers behind a URL need it

    client: httpx2.AsyncClient = http_client(httpx2, address)
    if address.is_sse:

        def factory(**options: object) -> httpx2.AsyncClient:
            del options
            return client

        make: Any = factory
        return await stack.enter_async_context(sse_client(address.url, httpx_client_factory=make))
    await stack.enter_async_context(client)
    streams = await stack.enter_async_context(
        streamable_http_client(address.url, http_client=client, max_sse_event_size=LIMIT_BYTES)
    )
    return (*streams, Posts(client, address.url, limit_bytes=LIMIT_BYTES))
