"""What a model is offered in a run: the tools, and what the loop itself adds to them.

Deliberately not here: whether a call of one of them may run (`pipeline`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from wieldy.core.errors import UsageError
from wieldy.run.results import Whole, read_result_tool
from wieldy.run.searching import Searching, must_search

if TYPE_CHECKING:
    from wieldy.core.calls import ToolDefinition
    from wieldy.run.control import Finish
    from wieldy.run.searching import ToolSearch
    from wieldy.run.state import Fold
    from wieldy.tools import Tool


class Offer:
    """The tools of one run, in the order in which the model is shown them.

    Args:
        tools: Taken once: what a model was shown is what it may call, also if a set changes meanwhile.
        known: What is known of the run.
        finish: The call by which the model may end the run; None if it may not.
        page_bytes: How much of a result one page holds, in UTF-8 bytes.
        search: When tools have to be searched for; None for never.
        allowed: Which tools may be found.

    Attributes:
        tools: By name; those that have code.
        definitions: What the model is shown.

    Raises:
        UsageError: A tool has the name of the call that ends the run; or tools cannot be searched for.
    """

    def __init__(
        self,
        tools: Iterable[Tool],
        known: Fold,
        *,
        finish: Finish | None,
        page_bytes: int,
        search: ToolSearch | None = None,
        allowed: Callable[[Tool], bool] = lambda _: True,
    ) -> None:
        self.tools = {tool.name: tool for tool in tools}
        self._searching = None
        if search is not None and must_search(search, self.tools.values()):
            self._searching = Searching(search, self.tools, allowed)
            shown = (*self._searching.shown, *self._searching.found(known.calls.values()))
            self.tools = {tool.name: tool for tool in shown}
        if finish is not None and (name := finish.definition.name) in self.tools:
            raise UsageError(f"Expected no tool named {name!r}: the run is to be ended by that call. Rename it.")
        self._known = known
        self._control = () if finish is None else (finish.definition,)
        self._page_bytes = page_bytes
        self._reads_on = False
        self.definitions = self._all()

    def update(self) -> None:
        """Tools that were searched for can be called; once a result was capped, its rest can be read."""
        before = len(self.tools)
        if self._searching is not None:
            for tool in self._searching.found(self._known.turn()):
                self.tools.setdefault(tool.name, tool)
        if not self._reads_on and self._known.has_capped_results:
            self._reads_on = True
            reader = read_result_tool(self._whole_of, handles=self._handles, limit_bytes=self._page_bytes)
            self.tools.setdefault(reader.name, reader)  # a tool of that name is the program's own
        if len(self.tools) > before:
            self.definitions = self._all()

    def _whole_of(self, handle: str) -> Whole | None:
        call = self._known.calls.get(handle)
        if call is None or call.whole is None or call.result is None:
            return None
        return Whole(text=call.whole, source=call.result.source, trust=call.result.trust)

    def _handles(self) -> list[str]:
        return [call_id for call_id, call in self._known.calls.items() if call.whole is not None]

    def _all(self) -> tuple[ToolDefinition, ...]:
        return (*(tool.definition for tool in self.tools.values()), *self._control)
