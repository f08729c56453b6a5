"""Version 1 of the SDK: the revisions of the protocol with a handshake.

Typed by nothing, because only one version of the SDK can be installed where types are checked. Deliberately not here:
what the messages mean.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Generator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Final

import anyio
from pydantic import BaseModel, ConfigDict, ValidationError

from wieldy.connect.mcp.client.http import OURS, HttpTransport, failure_of, http_client
from wieldy.connect.mcp.client.memory import MemoryTransport
from wieldy.connect.mcp.client.port import ConnectionLostError, ServerInfo, UnreadableAnswerError
from wieldy.connect.mcp.client.sdk import CLIENT_NAME
from wieldy.connect.mcp.client.stdio import Codec

if TYPE_CHECKING:
    from wieldy.connect.mcp.client.port import Hooks, Progress, Streams, Transport
    from wieldy.connect.mcp.client.sdk import Address
    from wieldy.core.json import JsonObject

types: Any = import_module("mcp.types")
_McpError: Any = import_module("mcp.shared.exceptions").McpError
_SessionMessage: Any = import_module("mcp.shared.message").SessionMessage
_ClientSession: Any = import_module("mcp.client.session").ClientSession

_REQUESTS: Final[Mapping[str, Any]] = {
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
_CHANGES: Final[Mapping[str, str]] = {
    "notifications/tools/list_changed": "tools",
    "notifications/resources/list_changed": "resources",
    "notifications/prompts/list_changed": "prompts",
}
_CANCEL_S: Final = 1.0
_LATE_S: Final = 5.0


class SdkV1:
    """Implements `Sdk`."""

    def __init__(self) -> None:
        self._unanswered = _Unanswered()
        self.codec = Codec(
            read=lambda line: _SessionMessage(types.JSONRPCMessage.model_validate_json(line)),
            write=lambda item: item.message.model_dump_json(by_alias=True, exclude_none=True).encode(),
            failed=lambda number, code, why: _SessionMessage(
                types.JSONRPCMessage(
                    types.JSONRPCError(
                        jsonrpc="2.0", id=number, error=types.ErrorData(code=code, message=why, data=OURS)
                    )
                )
            ),
        )

    def over_http(self, address: Address) -> Transport:
        """The transport to a URL."""
        return HttpTransport(lambda stack: _open_http(address, stack, self._unanswered))

    def in_memory(self, server: object) -> Transport:
        """The transport to a server object."""
        lowlevel: Any = getattr(server, "_mcp_server", server)  # what FastMCP is built on
        return MemoryTransport(lowlevel, import_module("mcp.shared.memory").create_client_server_memory_streams)

    @asynccontextmanager
    async def session(self, streams: Streams, hooks: Hooks) -> AsyncGenerator[_SessionV1]:
        """The session over two streams."""

        async def ask(_context: object, params: Any) -> Any:
            answer = await hooks.on_question(params.model_dump(mode="json", by_alias=True, exclude_none=True))
            return types.ElicitResult.model_validate(answer)

        async def hear(message: Any) -> None:
            notification = getattr(message, "root", None)
            if changed := _CHANGES.get(getattr(notification, "method", "")):
                hooks.on_change(changed)

        session = _ClientSession(
            *streams,
            elicitation_callback=ask,
            message_handler=hear,
            client_info=types.Implementation(name=CLIENT_NAME, version=version("wieldy")),
        )
        async with session:
            try:
                answer = await session.initialize()
            except _McpError as error:
                raise _failure(error) from error
            yield _SessionV1(session, _info(answer), self._unanswered)


class _SessionV1:
    """Implements `Session`."""

    def __init__(self, session: Any, info: ServerInfo, unanswered: _Unanswered) -> None:
        self._session = session
        self._unanswered = unanswered
        self.info = info

    async def request(self, method: str, params: JsonObject, *, on_progress: Progress | None = None) -> JsonObject:
        """The result, as the server sent it."""

        async def report(progress: float, total: float | None, message: str | None) -> None:
            if on_progress is not None:
                on_progress(progress, total, message)

        request = _REQUESTS[method].model_validate({"method": method, "params": params or None})
        number = self._session._request_id  # the one that the request gets
        try:
            with self._unanswered.waited_for(number):
                result = await self._session.send_request(
                    types.ClientRequest(request), _Raw, progress_callback=None if on_progress is None else report
                )
        except _McpError as error:
            raise _failure(error) from error
        except ValidationError as error:
            raise UnreadableAnswerError(str(error).partition("\n")[0]) from error
        except anyio.get_cancelled_exc_class():
            await self._cancel(number)
            raise
        return dict(result.model_extra or {})

    async def watch(self, uri: str) -> None:
        """As `Session`."""
        await self.request("resources/subscribe", {"uri": uri})

    async def _cancel(self, number: int) -> None:
        """The server knows that nobody waits any more; this version does not tell it by itself."""
        notification = types.CancelledNotification.model_validate(
            {"method": "notifications/cancelled", "params": {"requestId": number, "reason": "nobody waits any more"}}
        )
        with anyio.move_on_after(_CANCEL_S, shield=True):
            try:
                await self._session.send_notification(types.ClientNotification(notification))
            except (anyio.ClosedResourceError, anyio.BrokenResourceError):
                return


class _Unanswered:
    """Ends the wait for an answer whose stream has ended; this version would wait for ever."""

    def __init__(self) -> None:
        self._scopes: dict[object, anyio.CancelScope] = {}

    @contextmanager
    def waited_for(self, number: object) -> Generator[None]:
        """The wait within is given up some time after nothing more can come.

        Raises:
            ConnectionLostError: It was.
        """
        with anyio.CancelScope() as scope:
            self._scopes[number] = scope
            try:
                yield
            finally:
                del self._scopes[number]
        if scope.cancelled_caught:
            raise ConnectionLostError("the stream ended without an answer")

    def end(self, number: object) -> None:
        """Nothing more comes on this stream; what came may still be on its way, or come on another one."""
        if (scope := self._scopes.get(number)) is not None:
            scope.deadline = anyio.current_time() + _LATE_S


class _Raw(BaseModel):
    """A result as it is on the wire."""

    model_config = ConfigDict(extra="allow")


def _info(answer: Any) -> ServerInfo:
    said = answer.serverInfo
    return ServerInfo(
        protocol=str(answer.protocolVersion),
        name=f"{said.name} {said.version}".strip(),
        instructions=answer.instructions or "",
        capabilities=answer.capabilities.model_dump(mode="json", by_alias=True, exclude_none=True),
    )


def _failure(error: Any) -> Exception:
    said = error.error
    return failure_of(said.code, said.message, said.data)


async def _open_http(address: Address, stack: AsyncExitStack, unanswered: _Unanswered) -> Streams:
    httpx = import_module("httpx")
    client = http_client(httpx, address, on_end=unanswered.end)
    if address.is_sse:

        def factory(**options: object) -> Any:
            del options
            return client

        sse_client = import_module("mcp.client.sse").sse_client
        return (await stack.enter_async_context(sse_client(address.url, httpx_client_factory=factory)))[:2]
    await stack.enter_async_context(client)
    streamable = import_module("mcp.client.streamable_http").streamable_http_client
    return (await stack.enter_async_context(streamable(address.url, http_client=client)))[:2]
