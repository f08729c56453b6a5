"""One server as the program uses it: its tools, kept up to date, its calls, its resources and prompts.

What fails is told in the terms of the runtime, which decides what is tried again: nothing was done, it may pass, or
nobody knows. Deliberately not here: keeping the connection (`supervisor`), and what a result looks like (`results`).
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Final, cast

import anyio
from msgspec.structs import replace

from wieldy.connect.mcp.client.pages import Pace, listed
from wieldy.connect.mcp.client.port import (
    ConnectionFailedError,
    Hooks,
    NotProcessedError,
    RefusedError,
    ServerInfo,
    in_time,
)
from wieldy.connect.mcp.client.resting import asked, can_rest, has_failed_before, known
from wieldy.connect.mcp.client.results import blocks, is_longer, presented
from wieldy.connect.mcp.client.rounds import Rounds, wants_more
from wieldy.connect.mcp.client.sdk import Address, load
from wieldy.connect.mcp.client.stdio import Command, StdioTransport
from wieldy.connect.mcp.client.supervisor import Supervisor
from wieldy.connect.mcp.client.tools import McpTool, Notice, compared, cut_short, few, read_tools
from wieldy.connect.mcp.client.troubles import is_repeatable, trouble_of
from wieldy.connect.serving.client import client_if_any
from wieldy.core.errors import OutcomeUnknownError, ToolError, UsageError
from wieldy.run.outcomes import Rest
from wieldy.run.results.masks import Mask

if TYPE_CHECKING:
    from wieldy.connect.mcp.client.port import Progress, Session, Transport
    from wieldy.connect.mcp.client.questions import Answerer
    from wieldy.connect.mcp.client.sdk import Sdk
    from wieldy.connect.mcp.config import ServerConfig
    from wieldy.core.context import Context
    from wieldy.core.json import JsonObject, JsonValue
    from wieldy.tools.present import Presented

LIST_S: Final = 30.0
"""How long the list of tools may take, all of its pages together."""


class McpServer:
    """A server; entered by one task, used by all tasks of its event loop.

    Args:
        config: Which.
        answerer: Answers what it asks a person.
        on_notice: Hears what a person should know.
        on_change: Hears that a list, or what stands under an address, has changed: `tools`, `prompts`, `resources` or
            the address.
        known: Its tools when it was last reached.
    """

    def __init__(
        self,
        config: ServerConfig,
        *,
        known: tuple[McpTool, ...] = (),
        answerer: Answerer | None,
        on_notice: Callable[[Notice], None],
        on_change: Callable[[str], None] = lambda what: None,
    ) -> None:
        self.config = config
        self.tools = known
        self._said: frozenset[Notice] = frozenset()
        self.info: ServerInfo | None = None
        self._on_notice = on_notice
        self._on_update = on_change
        self._mask = Mask(config.secrets)
        self._listed_by: Session | None = None
        self._breaks = self._listed_after = 0
        self._listing = anyio.Lock()
        self._pace = Pace()
        self._looks = 0
        self._has_changed = anyio.Event()
        self._has_answerer = answerer is not None
        self._rounds = Rounds(config, self._mask, answerer=answerer, request=self._request)
        self._watched: set[str] = set()
        sdk = load()
        self._supervisor = Supervisor(
            lambda: _transport(config.target, sdk),
            sdk.session,
            Hooks(
                on_change=self._hear,
                on_question=self._rounds.on_question,
                on_input=self._rounds.on_input if config.passes_on else None,
                on_update=self._on_update,
                on_break=self._hear_of_a_break,
                on_log=self._rounds.on_log,
                forwards=config.forwards,
            ),
            at_once=config.at_once,
        )

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        """It is reachable from now on; nothing is started before it is needed."""
        async with self._supervisor.running(), anyio.create_task_group() as tasks:
            tasks.start_soon(self._keep_up)
            try:
                yield
            finally:
                tasks.cancel_scope.cancel()

    async def learn(self) -> None:
        """Its tools are known, as they are now.

        Raises:
            ToolError: It cannot be reached or does not say; the text is a sentence that names it.
            UsageError: It cannot be started as it is configured.
        """
        async with self._listing:
            try:
                await self._learn()
            except UsageError as error:
                raise UsageError(f"{self._title} cannot be started: {self._mask.text(str(error))}") from error
            except ConnectionFailedError as error:
                raise ToolError(f"{self._title} gives no tools: {self._mask.text(str(error))}.") from error

    async def look_again(self) -> None:
        """As `learn`, once for all who ask meanwhile, and not soon again where the list is long.

        What cannot be had stays as it was.
        """
        before = self._looks
        async with self._listing:
            if self._looks == before and not self._pace.wait_s:
                self._looks += 1
                with suppress(ConnectionFailedError, UsageError):  # a call says so
                    await self._learn()

    async def call(self, tool: McpTool, arguments: JsonObject, context: Context) -> Presented | Rest:
        """What it answers to a call; the call rests where a person has to answer first.

        Raises:
            ModelVisibleError: It gives no answer; the class says what may be repeated.
        """
        declined = len(self._rounds.declined)
        more = await self._taken_up(tool, context) if context.attempt > 1 else {}
        if isinstance(more, Rest):
            return more
        try:
            await self._up_to_date()
            if self.config.refuses_changes and (changed := self._remarks(tool)):
                raise ToolError(f"`{context.tool_name}` was not run. {changed[0]}")
            result = await self._call(tool, arguments, context, more)
        except (ConnectionFailedError, UsageError) as error:
            raise trouble_of(
                error, name=context.tool_name, effect=tool.effect, title=self._title, mask=self._mask
            ) from (None if isinstance(error, RefusedError) else error)
        if isinstance(result, Rest):
            return result
        masked = self._masked(result)
        shown = presented(masked, output=tool.output)
        remarks = [shown.note, *self._remarks(tool), *dict.fromkeys(self._rounds.declined[declined:])]
        note = " ".join(remark for remark in remarks if remark) or None
        if self.config.passes_on and (caller := client_if_any()) is not None:
            caller.content = [*blocks(masked), *([{"type": "text", "text": note}] if note else ())]
        return replace(shown, note=note)

    async def ask(self, method: str, params: JsonObject) -> JsonObject:
        """What it answers to a question that changes nothing.

        Raises:
            ToolError: It gives no answer.
        """
        return self._masked(await self._answer(method, params))

    async def listed(self, method: str, key: str) -> list[JsonObject]:
        """All pages of a list, such as `resources/list`; empty where the server has no such list.

        A server that passes on is listed as it describes itself: whoever decides what is shown has to see a credential.

        Raises:
            ToolError: It gives no answer.
        """
        if self.info is not None and not self.info.offers(method.partition("/")[0]):
            return []

        async def get(params: JsonObject) -> JsonObject:
            page = await self._answer(method, params)
            masked = self._masked(page)
            return page if self.config.passes_on else masked

        entries, is_whole = await listed(get, key)
        if not is_whole:
            self._on_notice(cut_short(method, len(entries), server=self.config.name))
        return [entry for entry in entries if isinstance(entry, dict)]

    async def watch(self, uri: str) -> None:
        """Changes of this resource are told from now on, if the server tells.

        Raises:
            ToolError: It does not.
        """
        if uri in self._watched:
            return
        try:
            await (await self._supervisor.session()).watch(uri)
        except (ConnectionFailedError, UsageError) as error:
            name = "resources/subscribe"
            raise trouble_of(error, name=name, effect="read", title=self._title, mask=self._mask) from error
        self._watched.add(uri)

    # Tools

    async def _learn(self) -> None:
        session = await self._supervisor.session()
        if session is not self._listed_by:
            for uri in self._watched:
                await session.watch(uri)
        self.info, breaks = session.info, self._breaks
        entries: list[JsonValue] = []
        is_whole = True
        if session.info.offers("tools"):
            with in_time(LIST_S):
                entries, is_whole = await listed(lambda params: self._supervisor.request("tools/list", params), "tools")
        if self._mask and not self.config.passes_on:  # to decide what is shown, a gateway has to see a credential
            entries = cast("list[JsonValue]", self._mask.value(entries))
        tools, notices = read_tools(entries, self.config)
        if not is_whole:
            notices = (cut_short("tools/list", len(entries), server=self.config.name), *notices)
        was_known = bool(self.tools) or self._listed_by is not None
        changes = tuple(compared(self.tools, tools, server=self.config.name)) if was_known else ()
        new = [notice for notice in notices if notice not in self._said]
        self._pace.has_read(len(entries))
        self._listed_by, self._listed_after = session, breaks
        self.tools = tools
        self._said = frozenset(notices)
        for notice in few([*new, *changes], server=self.config.name):
            self._on_notice(notice)

    async def _up_to_date(self) -> None:
        """The list is the one of this connection: a server that was started again may be another one.

        Raises:
            NotProcessedError: It cannot be had; no call was sent.
        """
        try:
            if not await self._is_listed():
                async with self._listing:
                    if not await self._is_listed():
                        await self._learn()
        except ConnectionFailedError as error:
            raise NotProcessedError(str(error)) from error

    async def _is_listed(self) -> bool:
        return await self._supervisor.session() is self._listed_by and self._breaks == self._listed_after

    def _hear_of_a_break(self) -> None:
        """Before the next call the list is read again: a change may not have been heard."""
        self._breaks += 1

    def _hear(self, what: str) -> None:
        if what == "tools":
            self._has_changed.set()
        else:
            self._on_update(what)

    async def _keep_up(self) -> None:
        while True:
            await self._has_changed.wait()
            await anyio.sleep(self._pace.wait_s)
            self._has_changed = anyio.Event()
            with suppress(ToolError, UsageError):  # the next call finds out
                await self.learn()
            self._on_update("tools")

    def _remarks(self, tool: McpTool) -> list[str]:
        now = next((known for known in self.tools if known.original == tool.original), None)
        if now is None:
            return ["The server does not list this tool any more."]
        if now.digest != tool.digest:
            return ["The server describes this tool differently since this run began."]
        return []

    # Calls

    async def _taken_up(self, tool: McpTool, context: Context) -> JsonObject | Rest:
        """What a further attempt at a call has to say to the server beside what the first one said.

        Raises:
            OutcomeUnknownError: An earlier attempt may have been acted on.
        """
        before = known(context)
        has_rested = before is not None and before.status != "finished"
        if not (has_rested or is_repeatable(tool.effect) or has_failed_before(context)):
            raise OutcomeUnknownError(
                f"`{context.tool_name}`: outcome unknown. It was started before, and nothing says how that ended. Do "
                "not take it for done or undone: check if you can, or say so."
            )
        return {} if before is None else await asked(context, self.config.name)

    async def _call(
        self, tool: McpTool, arguments: JsonObject, context: Context, more: JsonObject
    ) -> JsonObject | Rest:
        def report(progress: float, total: float | None, message: str | None) -> None:
            fraction = progress / total if total and 0 <= progress <= total else None
            context.progress(self._mask.text(message or ""), fraction=fraction)

        params: JsonObject = {"name": tool.original, "arguments": arguments}
        if self.config.passes_on and client_if_any() is not None:
            return await self._rounds.answer("tools/call", params | more, report)
        with self._rounds.callers.under_way():
            result = await self._request("tools/call", params | more, on_progress=report)
        if not self._has_answerer and not more and wants_more(result):
            shown = cast("JsonObject", self._mask.value(result))  # it is recorded, all but what has to go back as it is
            is_whole = shown.get("requestState") == result.get("requestState")
            if is_whole and can_rest(shown, context):
                return await asked(context, self.config.name, shown)
        return await self._rounds.after(result, "tools/call", params, report)

    async def _answer(self, method: str, params: JsonObject) -> JsonObject:
        try:
            with in_time(self.config.timeout_s):
                return await self._rounds.answer(method, params)
        except (ConnectionFailedError, UsageError) as error:
            raise trouble_of(error, name=method, effect="read", title=self._title, mask=self._mask) from error

    async def _request(self, method: str, params: JsonObject, *, on_progress: Progress | None = None) -> JsonObject:
        return await self._supervisor.request(method, params, on_progress=on_progress)

    def _masked(self, result: JsonObject) -> JsonObject:
        """The answer as it is passed on.

        Raises:
            ToolError: It is too long.
        """
        most = self.config.most_characters
        if most is not None and is_longer(result, most):
            raise ToolError(
                f"{self._title} has answered, with more than the {most} characters that are passed on. Do not take "
                "the call for undone. Ask for less: a page, a filter, fewer fields."
            )
        return cast("JsonObject", self._mask.value(result)) if self._mask else result

    @property
    def _title(self) -> str:
        title = self.config.title
        return title[:1].upper() + title[1:]


def _transport(target: Command | Address | object, sdk: Sdk) -> Transport:
    if isinstance(target, Command):
        return StdioTransport(target, sdk.codec)
    if isinstance(target, Address):
        return sdk.over_http(target)
    return sdk.in_memory(target)
