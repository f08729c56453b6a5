"""The tools of MCP servers as a toolset: opened once for all who use it, up to date, closed by whoever leaves last.

Nothing is started before the set is entered, which an `Agent` does for each run. Each event loop has connections of its
own, and a tool can be called from every task of a loop in which the set is open. Deliberately not here: one server
(`server`), and which servers there are (`config`).
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Final, TypeVar
from weakref import WeakKeyDictionary

import anyio

from wieldy.connect.mcp.client.extras import prompt_tools, resource_tools
from wieldy.connect.mcp.client.results import presented_contents, presented_messages
from wieldy.connect.mcp.client.server import McpServer
from wieldy.connect.mcp.client.tools import McpTool, Notice
from wieldy.connect.mcp.config import McpConfig, ServerConfig, read_config
from wieldy.core.errors import RunError, ToolError, UsageError
from wieldy.core.foreign import single
from wieldy.tools.from_schema import tool_from_schema
from wieldy.tools.toolset import Toolset

if TYPE_CHECKING:
    from wieldy.connect.mcp.client.port import ServerInfo
    from wieldy.connect.mcp.client.questions import Answerer
    from wieldy.core.context import Context
    from wieldy.core.json import JsonObject
    from wieldy.run.outcomes import Rest
    from wieldy.tools.present import Presented
    from wieldy.tools.tool import Tool

Found = TypeVar("Found")

MOST_NOTICES: Final = 1000
"""How many notices are kept."""


def open_toolset(
    config: McpConfig,
    *,
    trusted: bool | Iterable[str],
    resources: bool,
    prompts: bool,
    answerer: Answerer | None,
    on_notice: Callable[[Notice], None] | None,
    environment: Mapping[str, str] | None,
) -> McpToolset:
    """What `wieldy.connect.mcp` gives; its arguments are said there.

    Raises:
        UsageError: The configuration cannot be read.
    """
    servers = read_config(config, environment=os.environ if environment is None else environment)
    return McpToolset(
        _with_trust(servers, trusted), resources=resources, prompts=prompts, answerer=answerer, on_notice=on_notice
    )


class McpToolset(Toolset):
    """The tools of one or more servers; made by `wieldy.connect.mcp`."""

    def __init__(
        self,
        servers: tuple[ServerConfig, ...],
        *,
        resources: bool = False,
        prompts: bool = False,
        answerer: Answerer | None = None,
        on_notice: Callable[[Notice], None] | None = None,
        on_change: Callable[[str], None] = lambda what: None,
    ) -> None:
        self._on_change = on_change
        self._configs = servers
        self._resources, self._prompts = resources, prompts
        self._answerer = answerer
        self._notify = on_notice
        self._open: WeakKeyDictionary[asyncio.AbstractEventLoop, tuple[McpServer, ...]] = WeakKeyDictionary()
        self._seen: tuple[object, ...] = ()
        self._known: tuple[McpTool, ...] = ()
        self._made: tuple[Tool, ...] = ()
        self._notices: dict[Notice, None] = {}
        super().__init__()

    @property
    def tools(self) -> tuple[Tool, ...]:
        """The tools, as the servers list them now; those of the last time where the set is not open."""
        servers = self._servers()
        seen = tuple((server.info, server.tools) for server in servers)
        if servers and seen != self._seen:
            known = tuple(tool for server in servers for tool in server.tools)
            # A tool is the same object for as long as the server describes it in the same way.
            kept = {each.identity: made for each, made in zip(self._known, self._made, strict=False)}
            self._made = (*(kept.get(each.identity) or self._tool(each) for each in known), *self._extras(servers))
            self._seen, self._known = seen, known
        return self._made

    @property
    def mcp_tools(self) -> tuple[McpTool, ...]:
        """What is known of each tool: its server, its own name, who says what it does."""
        _ = self.tools  # brings it up to date
        return self._known

    @property
    def notices(self) -> tuple[Notice, ...]:
        """What a person should know: tools left out and why, hidden text, definitions that have changed; the last ones.

        At most `MOST_NOTICES`.
        """
        return tuple(self._notices)

    @property
    def servers(self) -> dict[str, ServerInfo]:
        """What the servers said of themselves, by the program's names for them; empty where the set is not open."""
        return {server.config.name or "": server.info for server in self._servers() if server.info is not None}

    @asynccontextmanager
    async def hold(self) -> AsyncGenerator[None]:
        """The servers run and their tools are known."""
        loop = asyncio.get_running_loop()
        try:
            async with AsyncExitStack() as stack:
                servers = tuple(map(self._server, self._configs))
                for server in servers:
                    await stack.enter_async_context(server.running())
                await _learn(servers)
                self._open[loop] = servers
                stack.callback(self._open.pop, loop, None)
                self._refuse_shared_names()
                yield
        except BaseExceptionGroup as group:  # as groups of tasks raise what was raised among them
            raise single(group) from None

    # Resources and prompts

    async def resources(self, server: str | None = None) -> list[JsonObject]:
        """The resources of a server, or of all, in the words of the protocol.

        Raises:
            UsageError: There is no such server, or the set is not open.
            ToolError: It gives no answer.
        """
        return [entry for each in self._meant(server) for entry in await each.listed("resources/list", "resources")]

    async def resource_templates(self, server: str | None = None) -> list[JsonObject]:
        """The templates of resources' URIs.

        Raises:
            UsageError, ToolError: As `resources`.
        """
        method, key = "resources/templates/list", "resourceTemplates"
        return [entry for each in self._meant(server) for entry in await each.listed(method, key)]

    async def read_resource(self, uri: str, server: str | None = None) -> Presented:
        """What a resource holds, as text, images and files.

        Raises:
            UsageError, ToolError: As `resources`; also where several servers might be meant.
        """
        result = await self._one(server).ask("resources/read", {"uri": uri})
        return presented_contents(result.get("contents"))

    async def prompts(self, server: str | None = None) -> list[JsonObject]:
        """The prompts of a server, or of all, in the words of the protocol.

        Raises:
            UsageError, ToolError: As `resources`.
        """
        return [entry for each in self._meant(server) for entry in await each.listed("prompts/list", "prompts")]

    async def get_prompt(
        self, name: str, arguments: Mapping[str, str] | None = None, server: str | None = None
    ) -> Presented:
        """A prompt that is filled in.

        Raises:
            UsageError, ToolError: As `read_resource`.
        """
        params: JsonObject = {"name": name, "arguments": dict(arguments or {})}
        return presented_messages(await self._one(server).ask("prompts/get", params))

    async def ask(self, method: str, params: JsonObject, server: str | None = None) -> JsonObject:
        """What a server answers to a request that changes nothing, both in the words of the protocol.

        Raises:
            UsageError, ToolError: As `read_resource`.
        """
        return await self._one(server).ask(method, params)

    async def watch(self, uri: str, server: str | None = None) -> None:
        """Changes of this resource are told from now on, if the server tells.

        Raises:
            UsageError, ToolError: As `read_resource`.
        """
        await self._one(server).watch(uri)

    async def look_again(self) -> None:
        """The tools are as the servers list them now; of a server that does not answer, as they were."""
        async with anyio.create_task_group() as tasks:
            for server in self._servers():
                tasks.start_soon(server.look_again)

    # Parts

    def _server(self, config: ServerConfig) -> McpServer:
        # What it said when the set was last open, so that changes since then are told as well.
        known = tuple(tool for tool in self._known if tool.server == config.name)
        return McpServer(config, known=known, answerer=self._answerer, on_notice=self._hear, on_change=self._on_change)

    def _servers(self) -> tuple[McpServer, ...]:
        try:
            return self._open.get(asyncio.get_running_loop(), ())
        except RuntimeError:  # no event loop is running here
            return ()

    def _meant(self, name: str | None) -> tuple[McpServer, ...]:
        servers = self._servers()
        if not servers:
            raise UsageError("Expected the toolset to be open in this event loop: use it within `async with toolset`.")
        meant = tuple(server for server in servers if name is None or server.config.name == name)
        if not meant:
            known = ", ".join(repr(server.config.name) for server in servers)
            raise UsageError(f"Expected a server of this toolset, found {name!r}; there are {known}.")
        return meant

    def _one(self, name: str | None) -> McpServer:
        meant = self._meant(name)
        if len(meant) > 1:
            known = ", ".join(repr(each.config.name) for each in meant)
            raise UsageError(f"Expected the server to be named, found none; there are {known}.")
        return next(iter(meant))

    def _tool(self, known: McpTool) -> Tool:
        timeout_s = next(each.timeout_s for each in self._configs if each.name == known.server)

        async def call(arguments: JsonObject, context: Context) -> Presented | Rest:
            try:
                server = self._one(known.server)
            except UsageError as error:
                raise ToolError(str(error)) from error
            return await server.call(known, arguments, context)

        return tool_from_schema(
            known.definition,
            call,
            origin=f"mcp:{known.server or ''}#{known.original}",
            effect=known.effect,
            effect_declared=known.provenance != "derived",
            trust=known.trust,
            timeout_s=timeout_s,
            goes_on=True,
        )

    def _extras(self, servers: tuple[McpServer, ...]) -> tuple[Tool, ...]:
        made: list[Tool] = []
        for server in servers:
            if self._resources and server.info is not None and server.info.offers("resources"):
                made += resource_tools(self, server.config)
            if self._prompts and server.info is not None and server.info.offers("prompts"):
                made += prompt_tools(self, server.config)
        return tuple(made)

    def _hear(self, notice: Notice) -> None:
        if notice in self._notices:  # as each time that the set is opened
            return
        self._notices[notice] = None
        if len(self._notices) > MOST_NOTICES:
            del self._notices[next(iter(self._notices))]
        if self._notify is not None:
            self._notify(notice)

    def _refuse_shared_names(self) -> None:
        names = [tool.name for tool in self.tools]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise UsageError(
                f"Expected tools with different names, found {', '.join(map(repr, twice))} more than once."
            )


async def _learn(servers: tuple[McpServer, ...]) -> None:
    """All servers have told their tools; of several that do not, the first says why."""
    failures: dict[int, Exception] = {}

    async def learn(index: int, server: McpServer) -> None:
        try:
            await server.learn()
        except (ToolError, UsageError) as error:
            failures[index] = error

    async with anyio.create_task_group() as tasks:
        for index, server in enumerate(servers):
            tasks.start_soon(learn, index, server)
    if failures:
        first = failures[min(failures)]
        raise first if isinstance(first, UsageError) else RunError(str(first)) from first.__cause__


def _with_trust(servers: tuple[ServerConfig, ...], trusted: bool | Iterable[str]) -> tuple[ServerConfig, ...]:
    if isinstance(trusted, bool):
        return tuple(replace(server, is_trusted=True) for server in servers) if trusted else servers
    names = (trusted,) if isinstance(trusted, str) else tuple(trusted)
    known = [server.name for server in servers]
    for name in names:
        if name not in known:
            raise UsageError(
                f"Expected `trusted` to name servers, found {name!r}; there are {', '.join(map(repr, known))}."
            )
    return tuple(replace(server, is_trusted=server.is_trusted or server.name in names) for server in servers)
