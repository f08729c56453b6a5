"""The tools of code, and beside them what code needs to look around in them, where they would fill a prompt."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from wieldy.run.actions.code.looking import looking_tools, stubs_of_tree
from wieldy.run.actions.code.stubs import stubs_of
from wieldy.run.actions.code.tree import Tree
from wieldy.run.policy import permitted
from wieldy.run.searching import must_search
from wieldy.tools import Toolset

if TYPE_CHECKING:
    from wieldy.core.principals import Principal
    from wieldy.run.actions.code.stubs import Stubs
    from wieldy.run.searching import ToolSearch
    from wieldy.tools import Tool


class CodeTools(Toolset):
    """What code may call; while it is open, also the tools by which it looks around, if there are too many to be shown.

    Args:
        toolset: The tools.
        control: Further ones, that are functions in any case.
        search: When code has to look around; None for never.
        principal: On whose behalf; a search finds what they may call.
    """

    def __init__(
        self,
        toolset: Toolset,
        *,
        control: Sequence[Tool] = (),
        search: ToolSearch | None = None,
        principal: Principal | None = None,
    ) -> None:
        self._shown = toolset
        self._control = tuple(control)
        self._search = search
        self._principal = principal
        self._looking: tuple[Tool, ...] = ()
        self._tree: Tree | None = None
        super().__init__([toolset, *self._control])

    @property
    def tools(self) -> tuple[Tool, ...]:
        """The tools, and those for looking around."""
        return (*super().tools, *self._looking)

    @property
    def stubs(self) -> Stubs:
        """As code finds them.

        Raises:
            UsageError: Two tools have one name in Python.
        """
        if self._tree is None:
            return stubs_of(self.definitions)
        return stubs_of_tree(self._tree, control=[tool.definition for tool in self._control])

    @asynccontextmanager
    async def hold(self) -> AsyncGenerator[None]:
        """What the tools hold open."""
        async with super().hold():
            tools = self._shown.tools
            if must_search(self._search, tools):
                self._tree = Tree(tool.definition for tool in tools)
                self._looking = looking_tools(
                    self._tree,
                    allowed=lambda tool: permitted(tool, self._principal) is None,
                    tools={tool.name: tool for tool in tools},
                )
            try:
                yield
            finally:
                self._tree, self._looking = None, ()
