"""What a connection to one MCP server is, whichever version of the SDK carries it, and the ways in which it can fail.

Requests and results are plain JSON in the words of the protocol. Each failure says whether the server can have acted:
that decides what may be repeated. Deliberately not here: the SDK (`sdk_v1`, `sdk_v2`), and what follows from a failure
(`server`).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator
from contextlib import AbstractAsyncContextManager, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeAlias

import anyio

if TYPE_CHECKING:
    from wieldy.core.json import JsonObject

REFUSED: Final = "wieldy/refused"
"""In an entry of a list of tools in place of its parameters: why the protocol forbids to use the tool."""

Streams: TypeAlias = tuple[Any, ...]
"""Where messages come from and where they go, as both versions of the SDK have them, and what else a transport gives to
the session of its version; typed by each of them."""


class ConnectionFailedError(Exception):
    """A request failed on its way; the text is a sentence for the model and the operator."""


class NotProcessedError(ConnectionFailedError):
    """The server has certainly not acted on the request: it could not be reached, or refused to look at it."""


class SessionLostError(NotProcessedError):
    """The server does not know the session any more; a new one has to be begun."""


class ConnectionLostError(ConnectionFailedError):
    """The connection ended while the request was under way: nobody knows whether the server has acted on it."""


class UnreadableAnswerError(ConnectionFailedError):
    """The server has answered, with something that the protocol does not know."""


class RefusedError(ConnectionFailedError):
    """The server answered with an error of the protocol.

    Attributes:
        code: JSON-RPC's.
        data: What the server says beside the message.
    """

    def __init__(self, message: str, *, code: int, data: object = None) -> None:
        super().__init__(message)
        self.code = code
        self.data = data


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerInfo:
    """What a server said of itself when the connection was made.

    Attributes:
        protocol: The revision that is spoken.
        name: As it calls itself, with its version; not unique, and nothing vouches for it.
        instructions: How its author wants it to be used; a stranger's words.
        capabilities: As the protocol has them.
    """

    protocol: str
    name: str = ""
    instructions: str = ""
    capabilities: JsonObject = field(default_factory=dict[str, Any])

    def offers(self, what: str) -> bool:
        """Whether it has tools, resources or prompts."""
        return what in self.capabilities

    def tells_of_changes(self, what: str) -> bool:
        """Whether it says so when its list of them changes."""
        offered = self.capabilities.get(what)
        return isinstance(offered, dict) and offered.get("listChanged") is True


Progress: TypeAlias = Callable[[float, float | None, str | None], None]
"""How far a request is, of how much, and what the server says about it."""


def _ignore(said: object) -> None:
    del said


def _nothing() -> None:
    pass


@dataclass(frozen=True, slots=True, kw_only=True)
class Hooks:
    """What the server may say without being asked.

    Attributes:
        on_change: A list has changed; given `tools`, `resources` or `prompts`.
        on_question: It asks a person something in the middle of a request; given the parameters of the elicitation,
            it gives the answer, both in the words of the protocol.
        on_input: It asks for something else in the middle of a request; given the method and its parameters,
            it gives the answer. None where nothing else is offered.
        on_update: A resource has changed; given its address.
        on_break: For a while nothing was heard of changes, or is heard from now on.
        on_log: It logs something; given the parameters of the notification.
        forwards: The names of headers that are passed on to it from the request that a call comes from.
    """

    on_change: Callable[[str], None]
    on_question: Callable[[JsonObject], Awaitable[JsonObject]]
    on_input: Callable[[str, JsonObject], Awaitable[JsonObject]] | None = None
    on_update: Callable[[str], None] = _ignore
    on_break: Callable[[], None] = _nothing
    on_log: Callable[[JsonObject], None] = _ignore
    forwards: tuple[str, ...] = ()


class Session(Protocol):
    """A connection that is made. Usable from every task of its event loop."""

    @property
    def info(self) -> ServerInfo:
        """What the server said of itself."""
        ...

    async def request(self, method: str, params: JsonObject, *, on_progress: Progress | None = None) -> JsonObject:
        """The result, as the server sent it. Where the task is cancelled, the server is told.

        Raises:
            ConnectionFailedError: There is none; its subclasses say why.
        """
        ...

    async def watch(self, uri: str) -> None:
        """`on_update` hears from now on when this resource changes, if the server tells.

        Raises:
            ConnectionFailedError: The server does not.
        """
        ...


class Transport(Protocol):
    """How messages are carried to a server and back; opened and closed in one task."""

    @property
    def ended(self) -> anyio.Event:
        """Set when nothing more will come."""
        ...

    def open(self) -> AbstractAsyncContextManager[Streams]:
        """The two streams, open for as long as this is entered.

        Raises:
            OSError: It cannot be opened.
        """
        ...

    def has_ended(self) -> bool:
        """Whether nothing more will come, as far as can be known at this moment; if so, `ended` is set."""
        ...

    def last_words(self) -> str:
        """How the other side ended and what it wrote besides messages; empty if nothing is known."""
        ...


@contextmanager
def in_time(limit_s: float) -> Generator[None]:
    """What is done within is given up after so many seconds.

    Raises:
        ConnectionLostError: It was.
    """
    try:
        with anyio.fail_after(limit_s):
            yield
    except TimeoutError as error:
        raise ConnectionLostError(f"it gave no answer within {limit_s:g} s") from error
