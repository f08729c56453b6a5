"""A request and its answer, with what the server asks in between: of a person here, or of the client whose call it is.

Without a handshake a server ends a request with what it wants to know, and is asked again with the answers and the
state that it gave; with one it asks over its session. Deliberately not here: questions that rest until a person has
decided (`resting`), and what a call comes to (`server`).
"""

from __future__ import annotations

from collections.abc import Awaitable
from typing import TYPE_CHECKING, Final, Protocol, cast

import anyio

from wieldy.connect.mcp.client.passing import Callers, log_of
from wieldy.connect.mcp.client.port import RefusedError, UnreadableAnswerError
from wieldy.connect.mcp.client.questions import Answerer, answered, read_question
from wieldy.connect.serving.client import ProtocolRefusalError
from wieldy.core.errors import ToolError

if TYPE_CHECKING:
    from wieldy.connect.mcp.client.port import Progress
    from wieldy.connect.mcp.config import ServerConfig
    from wieldy.connect.serving.client import Client
    from wieldy.core.json import JsonObject, JsonValue
    from wieldy.run.results.masks import Mask

MAX_ROUNDS: Final = 10
"""How often a server may ask for more within one request."""

_ASK_AGAIN_S: Final = 0.1
_NO_ONE: Final = "nobody can be asked here, so it was declined"
_WHOSE: Final = (
    "it did not say for which call, and its session is shared or several calls are under way, so it was declined "
    "(`session: principal` gives each principal a session)"
)


class Request(Protocol):
    """Sends a request to the server."""

    def __call__(
        self, method: str, params: JsonObject, *, on_progress: Progress | None = None
    ) -> Awaitable[JsonObject]:
        """The server's answer."""
        ...


class Rounds:
    """Requests to one server.

    Args:
        config: Which.
        mask: Takes its secrets out of what it asks.
        answerer: Answers what it asks a person.
        request: Sends a request.
    """

    def __init__(self, config: ServerConfig, mask: Mask, *, answerer: Answerer | None, request: Request) -> None:
        self.declined: list[str] = []  # what was asked and not answered, in sentences
        self.callers = Callers(is_shared=config.is_shared)
        self._config = config
        self._mask = mask
        self._answerer = answerer
        self._request = request

    async def answer(self, method: str, params: JsonObject, report: Progress | None = None) -> JsonObject:
        """The server's last answer. What it asks meanwhile goes to the client whose call this is, if there is one.

        Raises:
            ConnectionFailedError: There is none.
            ToolError: That client does not answer.
        """
        if not self._config.passes_on:
            return await self.after(await self._request(method, params, on_progress=report), method, params, report)
        with self.callers.under_way() as caller:
            try:
                first = await self._request(method, params, on_progress=report)
                return await self.after(first, method, params, report, caller)
            except RefusedError as error:
                if caller is not None:
                    said, data = self._mask.text(str(error)), self._mask.value(cast("JsonValue", error.data))
                    caller.refusal = ProtocolRefusalError(said, code=error.code, data=data)
                raise

    async def after(
        self,
        result: JsonObject,
        method: str,
        params: JsonObject,
        report: Progress | None = None,
        caller: Client | None = None,
    ) -> JsonObject:
        """As `answer`, once the server has given this result.

        Raises:
            ConnectionFailedError, ToolError: As `answer`.
        """
        for _ in range(MAX_ROUNDS):
            if not wants_more(result):
                return result
            more: JsonObject = {}
            wanted = result.get("inputRequests")
            if isinstance(wanted, dict) and wanted:
                more["inputResponses"] = await self._inputs(wanted, caller)
            else:  # it only wants to be asked again
                await anyio.sleep(_ASK_AGAIN_S)
            if "requestState" in result:
                more["requestState"] = result["requestState"]
            result = await self._request(method, params | more, on_progress=report)
        raise UnreadableAnswerError(f"it asked for more {MAX_ROUNDS} times without an answer")

    async def on_question(self, params: JsonObject) -> JsonObject:
        """The answer to a question for a person."""
        caller = self.callers.meant()
        if caller is not None:
            return await self._of(caller, "elicitation/create", params)
        return await self._of_person(params, _WHOSE if self._config.passes_on else _NO_ONE)

    async def on_input(self, method: str, params: JsonObject) -> JsonObject:
        """The answer of the client whose call something else is asked for.

        Raises:
            ToolError: Nobody knows whose, or it does not answer.
        """
        caller = self.callers.meant()
        if caller is None:
            raise ToolError(f"`{method}`: {_WHOSE}.")
        return await self._of(caller, method, params)

    def on_log(self, params: JsonObject) -> None:
        """What the server logs goes to the client whose call it is about, as far as that is known."""
        caller = self.callers.meant()
        if caller is not None:
            level, data, logger = log_of(params)
            caller.link.log(level, self._mask.value(data), logger)

    async def _inputs(self, wanted: JsonObject, caller: Client | None) -> JsonObject:
        if caller is None:
            return {key: await self._input(entry) for key, entry in wanted.items()}
        return {**await caller.inputs(cast("dict[str, JsonObject]", self._mask.value(wanted)))}

    async def _input(self, asked: JsonValue) -> JsonObject:
        match asked:
            case {"method": "elicitation/create", "params": dict(params)}:
                return await self._of_person(cast("JsonObject", params), _NO_ONE)
            case _:
                raise RefusedError("it asks for something that is not offered here", code=0)

    async def _of_person(self, params: JsonObject, why: str) -> JsonObject:
        """The answer of whoever is here.

        Args:
            params: What is asked.
            why: Why it is declined, if nobody is.
        """
        question = read_question(cast("JsonObject", self._mask.value(params)), server=self._config.name)
        if self._answerer is None:
            # In a gateway every call that is under way hears of it, of whichever principal: nothing of what was asked.
            what = "something" if self._config.passes_on else f"{question.message!r:.200}"
            self.declined.append(f"The server asked a person {what}; {why}.")
        return await answered(question, self._answerer)

    async def _of(self, caller: Client, method: str, params: JsonObject) -> JsonObject:
        asked = {"method": method, "params": self._mask.value(params)}
        return (await caller.inputs({"input": asked}))["input"]


def wants_more(result: JsonObject) -> bool:
    """Whether the server wants to know something before it gives its answer."""
    return result.get("resultType") == "input_required"
