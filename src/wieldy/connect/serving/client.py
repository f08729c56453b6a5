"""The client that made the call that is going on: what a tool's code may ask of it, and tell it.

    answer = await client().ask("Which room?", Room)      # a person at the client fills in a form, or says no

A client is asked only for what it has said that it can do. Asking is waiting: the time that a person takes counts as
the call's. Law: a question goes to the client that made the call, and to no other. Deliberately not here: how questions
go over the wire (`connect.mcp.server`).
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Literal, Protocol, TypeAlias, TypeVar, cast, overload

from pydantic import BaseModel, ValidationError

from wieldy.core.errors import ToolError
from wieldy.schema import CompiledSchema, explain
from wieldy.tools.refusals import violations_of

if TYPE_CHECKING:
    from wieldy.core.json import JsonObject, JsonValue

LogLevel: TypeAlias = Literal["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"]
LOG_LEVELS: Final[tuple[LogLevel, ...]] = (
    "debug",
    "info",
    "notice",
    "warning",
    "error",
    "critical",
    "alert",
    "emergency",
)
"""From the least to the most urgent, as RFC 5424 has them."""

CAPABILITY_OF: Final[Mapping[str, str]] = {
    "elicitation/create": "elicitation",
    "sampling/createMessage": "sampling",
    "roots/list": "roots",
}
"""What a client must be able to do to be asked this, both in the words of MCP."""

MISSING_CAPABILITY: Final = -32021
NEVER_FORWARDED: Final = frozenset({"authorization", "cookie", "proxy-authorization"})
"""Headers that say who calls: they go no further than the server that they were sent to."""

_Model = TypeVar("_Model", bound=BaseModel)


class ProtocolRefusalError(Exception):
    """A request is answered with an error of the protocol; the text is its message.

    Attributes:
        code: JSON-RPC's.
        data: What is said beside the message.
    """

    def __init__(self, message: str, *, code: int, data: JsonValue = None) -> None:
        super().__init__(message)
        self.code = code
        self.data = data


class ClientLink(Protocol):
    """The way to a client, for one call."""

    @property
    def capabilities(self) -> JsonObject:
        """What the client says that it can do, in the words of MCP."""
        ...

    @property
    def log_level(self) -> LogLevel | None:
        """From which level on it wants to hear; None for nothing."""
        ...

    async def inputs(self, requests: Mapping[str, JsonObject]) -> dict[str, JsonObject]:
        """What it answers, by the names of the requests; it can do what is asked.

        Raises:
            ToolError: It refuses, or gives no answer.
        """
        ...

    def log(self, level: LogLevel, data: JsonValue, logger: str | None) -> None:
        """It hears this, if it wants to; callable from any thread."""
        ...


@dataclass(slots=True, kw_only=True, eq=False)
class Client:
    """The client of one call.

    Attributes:
        link: The way to it.
        principal: By name, on whose behalf it calls; None where nobody has said.
        headers: Those of its request over HTTP, by their names in small letters; never its key, and no cookies.
        content: What a server further on has answered to the call, block for block; for those who pass it on.
        refusal: The error of the protocol that is the answer to the call, whatever else came of it.
    """

    link: ClientLink
    principal: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    content: list[JsonValue] | None = None
    refusal: ProtocolRefusalError | None = None

    def can(self, what: str) -> bool:
        """Whether it can do this: "elicitation", "sampling" or "roots"."""
        return isinstance(self.link.capabilities.get(what), dict)

    @overload
    async def ask(self, message: str, form: type[_Model]) -> _Model | None: ...
    @overload
    async def ask(self, message: str, form: JsonObject) -> JsonObject | None: ...
    async def ask(self, message: str, form: type[BaseModel] | JsonObject) -> BaseModel | JsonObject | None:
        """What a person at the client fills in; None if they say no.

        Args:
            message: What is asked.
            form: What there is to fill in: a Pydantic model or a JSON Schema of a flat object of texts, numbers, truth
                values and choices, which is all that clients show.

        Raises:
            ToolError: The client can ask nobody, or answers something else than was asked.
        """
        schema = form.model_json_schema() if isinstance(form, type) else form
        params: JsonObject = {"mode": "form", "message": message, "requestedSchema": schema}
        answer = await self._input("elicitation/create", params)
        if answer.get("action") != "accept":
            return None
        found = answer.get("content")
        content = found if isinstance(found, dict) else {}
        violations = CompiledSchema(schema).violations(content)
        if violations:
            raise ToolError(explain(violations, subject=f"The client's answers to {message!r:.80}"))
        if not isinstance(form, type):
            return content
        try:
            return form.model_validate(content)
        except ValidationError as error:
            violations = violations_of(error, content)
            raise ToolError(explain(violations, subject=f"The client's answers to {message!r:.80}")) from error

    async def visit(self, message: str, url: str, *, elicitation_id: str) -> bool:
        """Whether a person at the client agreed to go to this address, where they do what must not be seen here.

        Args:
            message: Why.
            url: Where.
            elicitation_id: What this server calls the matter.

        Raises:
            ToolError: The client can ask nobody.
        """
        params: JsonObject = {"mode": "url", "message": message, "url": url, "elicitationId": elicitation_id}
        return (await self._input("elicitation/create", params)).get("action") == "accept"

    async def sample(self, prompt: str, *, max_tokens: int, system: str | None = None) -> str:
        """What the client's model answers. The protocol gives this up: later revisions may not have it.

        Args:
            prompt: For the model.
            max_tokens: How long the answer may be.
            system: How the model is to behave.

        Raises:
            ToolError: The client lends no model, or it answered something else than text.
        """
        said: JsonObject = {"role": "user", "content": {"type": "text", "text": prompt}}
        params: JsonObject = {"messages": [said], "maxTokens": max_tokens}
        answer = await self._input(
            "sampling/createMessage", params if system is None else params | {"systemPrompt": system}
        )
        content = answer.get("content")
        blocks = content if isinstance(content, list) else [content]
        texts = [block.get("text") if isinstance(block, dict) else None for block in blocks]
        if not texts or not all(isinstance(text, str) for text in texts):
            raise ToolError("Expected text from the client's model, found something else. Ask it for text.")
        return "".join(cast("list[str]", texts))

    async def inputs(self, requests: Mapping[str, JsonObject]) -> dict[str, JsonObject]:
        """What the client answers to several requests at once, by the names that they have here.

        Args:
            requests: Each as `{"method": ..., "params": {...}}` in the words of MCP: `elicitation/create`,
                `sampling/createMessage` or `roots/list`.

        Raises:
            ToolError: The client cannot do one of them, refuses, or gives no answer.
        """
        self._check(requests)
        return await self.link.inputs(requests)

    def log(self, level: LogLevel, data: JsonValue, *, logger: str | None = None) -> None:
        """The client hears this, if it wants to hear of that level; callable from any thread.

        Args:
            level: How urgent it is.
            data: A text, or other data.
            logger: Which part of the server says it.
        """
        self.link.log(level, data, logger)

    async def _input(self, method: str, params: JsonObject) -> JsonObject:
        return (await self.inputs({"input": {"method": method, "params": params}}))["input"]

    def _check(self, requests: Mapping[str, JsonObject]) -> None:
        wanted = {str(each.get("method")) for each in requests.values()}
        for method in sorted(wanted):
            if method not in CAPABILITY_OF:
                raise ToolError(f"Expected one of {', '.join(CAPABILITY_OF)} to ask a client, found {method!r}.")
        missing = sorted(what for method in wanted if not self.can(what := CAPABILITY_OF[method]))
        if missing:
            text = f"This needs a client with {' and '.join(missing)}, and the client that calls has not said so."
            needed: JsonObject = {"requiredCapabilities": {what: {} for what in missing}}
            self.refusal = ProtocolRefusalError(text, code=MISSING_CAPABILITY, data=needed)
            raise ToolError(text)


_CURRENT: Final[ContextVar[Client | None]] = ContextVar("wieldy_client", default=None)
_SENT: Final[ContextVar[Mapping[str, str]]] = ContextVar("wieldy_headers", default=MappingProxyType({}))


def client() -> Client:
    """The client that made the call that is going on; for the code of tools, prompts and resources.

    Raises:
        ToolError: No client made it: the tool runs in an agent, or over plain HTTP.
    """
    found = _CURRENT.get()
    if found is None:
        raise ToolError("This needs a client that can be asked, such as one over MCP, and there is none here.")
    return found


def headers_sent() -> Mapping[str, str]:
    """Headers of the HTTP request that has made the call that is going on, by their names in small letters."""
    found = _CURRENT.get()
    return _SENT.get() if found is None else found.headers


@contextmanager
def sent_with(headers: Mapping[str, str]) -> Generator[None]:
    """What is done within is done for a request over plain HTTP with these headers."""
    token = _SENT.set(passable(headers))
    try:
        yield
    finally:
        _SENT.reset(token)


def passable(headers: Mapping[str, str]) -> dict[str, str]:
    """The headers, by their names in small letters; keys and cookies are nobody's business."""
    return {name.lower(): value for name, value in headers.items() if name.lower() not in NEVER_FORWARDED}


def client_if_any() -> Client | None:
    """As `client`; None where there is none."""
    return _CURRENT.get()


@contextmanager
def called_by(caller: Client | None) -> Generator[None]:
    """What is done within is done for this client."""
    token = _CURRENT.set(caller)
    try:
        yield
    finally:
        _CURRENT.reset(token)
