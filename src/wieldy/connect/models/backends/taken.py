"""What a request asks a server to enforce, and what the server takes of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from wieldy.connect.models.backends.strict import Strict
from wieldy.core.calls import AUTO, ToolChoice, ToolDefinition
from wieldy.core.json import JsonObject, JsonValue
from wieldy.core.outputs import Output

if TYPE_CHECKING:
    from wieldy.formats import ChatFormat  # chat formats take 90 ms to load, and few servers need them

How: TypeAlias = Literal["mask", "native", "soft", "shell", "prompt"]
"""By which means a model is held to what is asked.

`mask`: the server masks tokens by our own constraint. `native`: the provider enforces a schema of its dialect. `soft`:
the server is asked, and enforces nothing that is known. `shell`: a virtual tool whose arguments are the answer, and
which the model is told to call. `prompt`: nothing but the words of the prompt.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What a request asks for.

    Attributes:
        output: What an answer must be.
        tools: The tools on offer.
        chat_format: How the model is known to write calls, where the program says so.
        token_of: The one token that writes a text, or None if it takes several; None where no vocabulary is known.
    """

    output: Output | None = None
    tools: tuple[ToolDefinition, ...] = ()
    tool_choice: ToolChoice = AUTO
    chat_format: ChatFormat | None = None
    token_of: Callable[[str], int | None] | None = None

    @property
    def may_call(self) -> bool:
        """Whether the reply may hold calls."""
        return bool(self.tools) and self.tool_choice.mode != "none"

    @property
    def must_call(self) -> bool:
        """Whether it must, so that it is no answer."""
        return bool(self.tools) and self.tool_choice.mode in ("required", "tool")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """How what comes back becomes what was asked for.

    Attributes:
        answer: The dialect in which the answer is written.
        is_quoted: Whether the answer comes as a JSON string and is its text.
        shell: The name of the virtual tool whose arguments are the answer; empty if there is none.
        calls: The dialects in which the arguments of tools are written, by the tools' names.
        chat_format: In which format the calls stand in the text, where the server leaves them there.
    """

    answer: Strict | None = None
    is_quoted: bool = False
    shell: str = ""
    calls: Mapping[str, Strict] = field(default_factory=dict[str, Strict])
    chat_format: ChatFormat | None = None


AS_IT_COMES: Final = Reading()


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """What a server takes, and how.

    Attributes:
        fields: The request fields that say it.
        cannot: What is not enforced by them; a validator finds it afterwards.
        tools: The tools that are sent instead of those asked for; None: the same.
        tool_choice: The choice that is sent instead; None: the same.
        strict: Names of the tools that are sent as strict.
        is_told: Whether the model is shown by these fields what its answer must be; else the prompt has to say it.
    """

    how: How
    fields: JsonObject = field(default_factory=dict[str, JsonValue])
    cannot: tuple[str, ...] = ()
    tools: tuple[ToolDefinition, ...] | None = None
    tool_choice: ToolChoice | None = None
    strict: frozenset[str] = frozenset()
    reading: Reading = AS_IT_COMES
    is_told: bool = False

    @property
    def holds(self) -> bool:
        """Whether nothing else than what is asked can be written, as far as the server does what it says."""
        return self.how in ("mask", "native") and not self.cannot


NOTHING: Final = Taken(how="prompt")
"""Nothing is asked for, or nothing is taken."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Backend:
    """One kind of server.

    Attributes:
        name: As programs say it.
        title: As people know it.
        answer: What it takes of an output; asked only where the reply may be an answer.
        calls: What it takes of tools; asked only where the reply may hold calls.
        takes_both: Whether a reply may be held to an output where it may also hold calls.
        notes: What else to know of it, for people.
    """

    name: str
    title: str
    answer: Callable[[Asked, Output], Taken]
    calls: Callable[[Asked], Taken]
    takes_both: Literal["always", "in a chat format", "never"]
    notes: tuple[str, ...] = ()
