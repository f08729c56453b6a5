"""One server as the program uses it: its tools, kept up to date, its calls, its resources and prompts.

What fails is told in the terms of the runtime, which decides what is tried again: nothing was done, it may pass, or
nobody knows. Deliberately not here: keeping the connection (`supervisor`), and what a result looks like (`results`).
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final, cast

import anyio
from msgspec.structs import replace

from wieldy.connect.mcp.client.pages import pages
from wieldy.connect.mcp.client.port import (
    ConnectionFailedError,
    Hooks,
    NotProcessedError,
    RefusedError,
    ServerInfo,
    UnreadableAnswerError,
    in_time,
)
from wieldy.connect.mcp.client.questions import Answerer, answered, read_question
from wieldy.connect.mcp.client.resting import asked, can_rest, has_failed_before, known
from wieldy.connect.mcp.client.results import presented
from wieldy.connect.mcp.client.sdk import Address, load
from wieldy.connect.mcp.client.stdio import Command, StdioTransport
from wieldy.connect.mcp.client.supervisor import Supervisor
from wieldy.connect.mcp.client.tools import McpTool, Notice, compared, read_tools
from wieldy.connect.mcp.client.troubles import is_repeatable, trouble_of
from wieldy.core.errors import OutcomeUnknownError, ToolError, UsageError
from wieldy.run.outcomes import Rest
from wieldy.run.results.masks import Mask

if TYPE_CHECKING:
    from wieldy.connect.mcp.client.port import Progress, Session, Transport
    from wieldy.connect.mcp.client.sdk import Sdk
    from wieldy.connect.mcp.config import ServerConfig
    from wieldy.core.context import Context
    from wieldy.core.json import JsonObject, JsonValue
    from wieldy.tools.present import Presented

LIST_S: Final = 30.0
"""How long the list of tools may take, all of its pages together."""

MAX_ROUNDS: Final = 10
"""How often a server may ask for more within one call."""

_ASK_AGAIN_S: Final = 0.1
_NO_ONE: Final = "nobody can be asked here, so it was declined"


class McpServer:
    """A server; entered by one task, used by all tasks of its event loop.

    Args:
        config: Which.
        answerer: Answers what it asks a person.
        on_notice: Hears what a person should know.
        known: Its tools when it was last reached.
    """

    def __init__(
        self,
        config: ServerConfig,
        *,
        known: tuple[McpTool, ...] = (),
        answerer: Answerer | None,
        on_notice: Callable[[Notice], None],
    ) -> None:
        self.config = config
        self.tools = known
        self.notices: tuple[Notice, ...] = ()
        self.info: ServerInfo | None = None
        self._answerer = answerer
        self._on_notice = on_notice
        self._mask = Mask(config.secrets)
        self._listed_by: Session | None = None
        self._listing = anyio.Lock()
        self._has_changed = anyio.Event()
        self._declined: list[str] = []
        sdk = load()
        self._supervisor = Supervisor(
            lambda: _transport(config.target, sdk),
            sdk.session,
            Hooks(on_change=self._hear, on_question=self._answer),
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

    async def call(self, tool: McpTool, arguments: JsonObject, context: Context) -> Presented | Rest:
        """What it answers to a call; the call rests where a person has to answer first.

        Raises:
            ModelVisibleError: It gives no answer; the class says what may be repeated.
        """
        declined = len(self._declined)
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
        shown = presented(self._masked(result), output=tool.output)
        remarks = [shown.note, *self._remarks(tool), *self._declined[declined:]]
        return replace(shown, note=" ".join(remark for remark in remarks if remark) or None)

    async def ask(self, method: str, params: JsonObject) -> JsonObject:
        """What it answers to a question that changes nothing.

        Raises:
            ToolError: It gives no answer.
        """
        try:
            with in_time(self.config.timeout_s):
                result = await self._supervisor.request(method, params)
                return self._masked(await self._rounds(method, params, result, None))
        except (ConnectionFailedError, UsageError) as error:
            raise trouble_of(error, name=method, effect="read", title=self._title, mask=self._mask) from error

    async def listed(self, method: str, key: str) -> list[JsonObject]:
        """All pages of a list, such as `resources/list`; empty where the server has no such list.

        Raises:
            ToolError: It gives no answer.
        """
        found: list[JsonObject] = []
        if self.info is not None and not self.info.offers(method.partition("/")[0]):
            return found
        async for page in pages(lambda params: self.ask(method, params)):
            entries = page.get(key)
            found += [entry for entry in entries if isinstance(entry, dict)] if isinstance(entries, list) else []
        return found

    # Tools

    async def _learn(self) -> None:
        session = await self._supervisor.session()
        self.info = session.info
        with in_time(LIST_S):
            listed = await self._list(session)
        tools, notices = read_tools(listed, self.config)
        was_known = bool(self.tools) or self._listed_by is not None
        changes = tuple(compared(self.tools, tools, server=self.config.name)) if was_known else ()
        new = [notice for notice in notices if notice not in self.notices]
        self._listed_by = session
        self.tools = tools
        self.notices = (*self.notices, *new, *changes)
        for notice in (*new, *changes):
            self._on_notice(notice)

    async def _list(self, session: Session) -> list[JsonValue]:
        """The tools of all pages, as the server describes them."""
        listed: list[JsonValue] = []
        if session.info.offers("tools"):
            async for page in pages(lambda params: self._supervisor.request("tools/list", params)):
                entries = page.get("tools")
                listed += entries if isinstance(entries, list) else []
        return listed

    async def _up_to_date(self) -> None:
        """The list is the one of this connection: a server that was started again may be another one.

        Raises:
            NotProcessedError: It cannot be had; no call was sent.
        """
        try:
            if await self._supervisor.session() is not self._listed_by:
                async with self._listing:
                    if await self._supervisor.session() is not self._listed_by:
                        await self._learn()
        except ConnectionFailedError as error:
            raise NotProcessedError(str(error)) from error

    def _hear(self, what: str) -> None:
        if what == "tools":
            self._has_changed.set()

    async def _keep_up(self) -> None:
        while True:
            await self._has_changed.wait()
            self._has_changed = anyio.Event()
            try:
                await self.learn()
            except (ToolError, UsageError):
                continue  # the next call finds out

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
        result = await self._supervisor.request("tools/call", params | more, on_progress=report)
        if self._answerer is None and not more and _wants_more(result) and can_rest(result, context):
            return await asked(context, self.config.name, result)
        return await self._rounds("tools/call", params, result, report)

    async def _rounds(self, method: str, params: JsonObject, result: JsonObject, report: Progress | None) -> JsonObject:
        """The last answer: a server may ask for more before it gives it."""
        for _ in range(MAX_ROUNDS):
            if not _wants_more(result):
                return result
            more: JsonObject = {}
            wanted = result.get("inputRequests")
            if isinstance(wanted, dict) and wanted:
                more["inputResponses"] = {key: await self._input(entry) for key, entry in wanted.items()}
            else:  # it only wants to be asked again
                await anyio.sleep(_ASK_AGAIN_S)
            if "requestState" in result:
                more["requestState"] = result["requestState"]
            result = await self._supervisor.request(method, params | more, on_progress=report)
        raise UnreadableAnswerError(f"it asked for more {MAX_ROUNDS} times without an answer")

    async def _input(self, asked: JsonValue) -> JsonObject:
        match asked:
            case {"method": "elicitation/create", "params": dict(params)}:
                return await self._answer(cast("JsonObject", params))
            case _:
                raise RefusedError("it asks for something that is not offered here", code=0)

    async def _answer(self, params: JsonObject) -> JsonObject:
        question = read_question(params, server=self.config.name)
        if self._answerer is None:
            self._declined.append(f"The server asked a person {question.message!r:.200}; {_NO_ONE}.")
        return await answered(question, self._answerer)

    def _masked(self, result: JsonObject) -> JsonObject:
        return cast("JsonObject", self._mask.value(result)) if self._mask else result

    @property
    def _title(self) -> str:
        title = self.config.title
        return title[:1].upper() + title[1:]


def _wants_more(result: JsonObject) -> bool:
    return result.get("resultType") == "input_required"


def _transport(target: Command | Address | object, sdk: Sdk) -> Transport:
    if isinstance(target, Command):
        return StdioTransport(target, sdk.codec)
    if isinstance(target, Address):
        return sdk.over_http(target)
    return sdk.in_memory(target)
