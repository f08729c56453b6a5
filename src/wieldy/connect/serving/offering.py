"""What a server offers to those who call it: which tools, and what a call of one comes to.

A port, so that servers do not know whether one toolset or a whole gateway stands behind them; and its simplest form,
one toolset for everybody. Deliberately not here: how calls come in (`connect.mcp.server`, `rest`) and who makes them
(`keys`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from wieldy.connect.serving.calls import CallRules, answer
from wieldy.core.calls import ToolResult
from wieldy.run.loop import nothing
from wieldy.run.policy import permitted
from wieldy.tools.toolset import tools_from

if TYPE_CHECKING:
    from wieldy.core.events import RunEvent
    from wieldy.core.json import JsonObject
    from wieldy.core.principals import Principal
    from wieldy.tools import Tool, Toolset
    from wieldy.tools.toolset import ToolLike


@dataclass(frozen=True, slots=True, kw_only=True)
class Offered:
    """A tool as clients are shown it.

    Attributes:
        title: For people, where it has one beside its name.
    """

    tool: Tool
    title: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """What a server says of itself.

    Attributes:
        instructions: For the models that use it.
    """

    name: str
    version: str
    instructions: str | None = None


class Offering(Protocol):
    """What a server asks."""

    @property
    def about(self) -> About:
        """What it says of itself."""
        ...

    def opened(self) -> AbstractAsyncContextManager[object]:
        """Within it, calls can be made."""
        ...

    def offered_to(self, principal: Principal | None) -> Sequence[Offered]:
        """What this caller is shown, always in the same order."""
        ...

    def find(self, name: str) -> Tool | None:
        """The tool of that name, whoever may call it; None if there is none."""
        ...

    async def call(
        self,
        name: str,
        arguments: JsonObject,
        *,
        principal: Principal | None = None,
        emit: Callable[[RunEvent], None] = nothing,
    ) -> ToolResult:
        """The one result; what is wrong with the call is told in it.

        Raises:
            RunError: The call could not be recorded.
        """
        ...


class ToolsetOffering:
    """One toolset, for whoever calls.

    Args:
        toolset: Opened with the server.
        rules: What calls are kept to.
        about: What the server says of itself.
    """

    def __init__(self, toolset: Toolset, rules: CallRules, about: About) -> None:
        self._toolset = toolset
        self._rules = rules
        self.about = about

    def opened(self) -> AbstractAsyncContextManager[object]:
        """The toolset is open."""
        return self._toolset

    def offered_to(self, principal: Principal | None) -> Sequence[Offered]:
        """The tools that the caller may use."""
        return [Offered(tool=tool) for tool in self._allowed(principal)]

    def find(self, name: str) -> Tool | None:
        """The tool of that name."""
        return self._toolset.get(name)

    async def call(
        self,
        name: str,
        arguments: JsonObject,
        *,
        principal: Principal | None = None,
        emit: Callable[[RunEvent], None] = nothing,
    ) -> ToolResult:
        """As `Offering`; where a person would have to decide, nothing is run, because nobody is there."""
        tools = {tool.name: tool for tool in self._allowed(principal)}
        answered = await answer(name, arguments, tools, self._rules, principal=principal, emit=emit)
        if answered.result is not None:
            return answered.result
        return waiting_result(name, answered.waiting[0].reason)

    def _allowed(self, principal: Principal | None) -> list[Tool]:
        return [tool for tool in self._toolset.tools if permitted(tool, principal) is None]


def offering_of(tools: ToolLike | Iterable[ToolLike], rules: CallRules | None, about: About) -> ToolsetOffering:
    """The tools that are meant, for whoever calls.

    Raises:
        UsageError: Something is no tool.
    """
    return ToolsetOffering(tools_from(tools), CallRules() if rules is None else rules, about)


def waiting_result(name: str, reason: str, *, then: str = "") -> ToolResult:
    """What a client is told whose call needs a person's consent that nobody has given.

    Args:
        name: Of the tool.
        reason: Why it is needed.
        then: What to do, as sentences.
    """
    text = f"`{name}` is not done: it needs a person's consent ({reason}). {then}".strip()
    return ToolResult(tool_call_id="call", content=text, is_error=True, layer="policy", failure="waiting")
