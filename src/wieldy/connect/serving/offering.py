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

from wieldy.connect.serving.calls import Answered, CallRules, answer
from wieldy.connect.serving.functions import FunctionShelf
from wieldy.core.calls import ToolResult
from wieldy.run.loop import nothing
from wieldy.run.policy import permitted
from wieldy.tools.toolset import tools_from

if TYPE_CHECKING:
    from wieldy.connect.serving.prompts import Prompt
    from wieldy.connect.serving.resources import Resource
    from wieldy.connect.serving.shelf import Shelf
    from wieldy.core.approvals import ApprovalRequest
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

    def find(self, name: str, *, principal: Principal | None) -> Tool | None:
        """The tool that this caller means by that name, as it is described to them; None if they know of none."""
        ...

    @property
    def shelf(self) -> Shelf | None:
        """Prompts and resources; None where there can be none."""
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
        shelf: Prompts and resources.
    """

    def __init__(self, toolset: Toolset, rules: CallRules, about: About, shelf: Shelf | None = None) -> None:
        self._toolset = toolset
        self._rules = rules
        self.about = about
        self.shelf = shelf

    def opened(self) -> AbstractAsyncContextManager[object]:
        """The toolset is open."""
        return self._toolset

    def offered_to(self, principal: Principal | None) -> Sequence[Offered]:
        """The tools that the caller may use."""
        return [Offered(tool=tool) for tool in self._allowed(principal)]

    def find(self, name: str, *, principal: Principal | None) -> Tool | None:
        """The tool of that name, if the caller may use it."""
        tool = self._toolset.get(name)
        return None if tool is None or permitted(tool, principal) is not None else tool

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
        return told(name, await answer(name, arguments, tools, self._rules, principal=principal, emit=emit))

    def _allowed(self, principal: Principal | None) -> list[Tool]:
        return [tool for tool in self._toolset.tools if permitted(tool, principal) is None]


def offering_of(
    tools: ToolLike | Iterable[ToolLike],
    rules: CallRules | None,
    about: About,
    *,
    prompts: Iterable[Prompt] = (),
    resources: Iterable[Resource] = (),
) -> ToolsetOffering:
    """The tools that are meant, with prompts and resources, for whoever calls.

    Raises:
        UsageError: Something is no tool, or two prompts or resources have one name.
    """
    kept = CallRules() if rules is None else rules
    shelf = FunctionShelf(prompts, resources, kept)
    return ToolsetOffering(tools_from(tools), kept, about, shelf if shelf.has else None)


def told(name: str, answered: Answered, *, then: Callable[[ApprovalRequest], str] | None = None) -> ToolResult:
    """What a client is told of its call: its result, or that it waits for a person's consent that nobody has given.

    Args:
        name: Of the tool.
        answered: What came of the call.
        then: What to do while it waits, as sentences.
    """
    if answered.result is not None:
        return answered.result
    request = answered.waiting[0]
    advice = "" if then is None else then(request)
    text = f"`{name}` is not done: it needs a person's consent ({request.reason}). {advice}".strip()
    return ToolResult(tool_call_id="call", content=text, is_error=True, layer="policy", failure="waiting")
