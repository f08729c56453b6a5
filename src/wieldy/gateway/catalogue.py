"""What a gateway offers, under which names, to whom: pure decisions over what its sources list now.

Law: every name is of one source and can be read back to it, so no source can pass its tools off as another's; a tool
whose definition is not the accepted one is never callable; the same caller is shown the same order. Deliberately not
here: calls (`gateway`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Final, cast

from wieldy.connect.mcp.client.toolset import McpToolset
from wieldy.connect.mcp.names import offered_name
from wieldy.connect.mcp.server.wire import tool_to_wire
from wieldy.connect.serving.offering import Offered
from wieldy.gateway.pins import Definition, Pins, PinState, pinned_part
from wieldy.run.policy import permitted
from wieldy.run.results.invisible import without_invisible

if TYPE_CHECKING:
    from wieldy.connect.mcp.client.tools import McpTool
    from wieldy.core.json import JsonObject
    from wieldy.gateway.config import Caller
    from wieldy.gateway.sources import Source
    from wieldy.run.results.masks import Mask
    from wieldy.tools import Tool, Toolset

_WHY: Final[dict[PinState, str]] = {
    "new": "nobody has accepted its definition yet",
    "changed": "its definition is not the one that was accepted",
    "secret": "its definition holds a credential",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """A tool of a source.

    Attributes:
        tool: Under the gateway's name.
        title: For people.
        definition: What the source says of it.
        state: Whether it is callable.
    """

    tool: Tool
    title: str | None
    definition: Definition
    state: PinState

    @property
    def name(self) -> str:
        """The gateway's name for it."""
        return self.tool.name

    @property
    def is_callable(self) -> bool:
        """Whether it may be called at all."""
        return self.state == "accepted"

    @property
    def why_not(self) -> str:
        """Why it is not callable, as the end of a sentence."""
        return _WHY.get(self.state, "")

    def is_shown_to(self, caller: Caller) -> bool:
        """Whether the caller is shown it, once it is callable."""
        return any(fnmatchcase(self.name, pattern) for pattern in caller.tools) and (
            permitted(self.tool, caller.principal) is None
        )


@dataclass(slots=True)
class _Made:
    """What was made of a toolset's tools, for as long as it has these and the same are accepted."""

    tools: tuple[Tool, ...]
    stamp: object
    listed: tuple[Listed, ...]


class Catalogue:
    """The tools of all sources.

    Args:
        sources: In the order in which their tools are shown.
        pins: What was accepted.
        mask: Finds the gateway's credentials: a definition that holds one is shown to nobody.
    """

    def __init__(self, sources: tuple[Source, ...], pins: Pins, mask: Mask) -> None:
        self.sources = sources
        self.pins = pins
        self._mask = mask
        self._made: dict[int, _Made] = {}
        self._shown: dict[str, tuple[tuple[tuple[Listed, ...], ...], dict[str, Listed]]] = {}

    def listed(self, principal: str) -> list[Listed]:
        """All tools that this principal's calls could reach, as their sources list them now.

        Raises:
            UsageError: What was accepted cannot be read.
        """
        return [each for part in self._parts(principal) for each in part]

    def for_caller(self, caller: Caller) -> Mapping[str, Listed]:
        """What the caller may know of, by name; some of it may not be callable.

        Raises:
            UsageError: As `listed`.
        """
        name = caller.principal.name
        parts = self._parts(name)
        known = self._shown.get(name)
        if (
            known is None
            or len(known[0]) != len(parts)
            or any(a is not b for a, b in zip(known[0], parts, strict=True))
        ):
            shown = {each.name: each for part in parts for each in part if each.is_shown_to(caller)}
            known = self._shown[name] = (parts, shown)
        return known[1]

    def _parts(self, principal: str) -> tuple[tuple[Listed, ...], ...]:
        stamp = self.pins.refresh()
        toolsets = ((source, source.toolset_for(principal)) for source in self.sources)
        return tuple(self._of(source, toolset, stamp) for source, toolset in toolsets if toolset is not None)

    def _of(self, source: Source, toolset: Toolset, stamp: object) -> tuple[Listed, ...]:
        tools, key = toolset.tools, id(toolset)
        made = self._made.get(key)
        if made is None or made.tools != tools or made.stamp != stamp:
            made = self._made[key] = _Made(tools, stamp, tuple(self._list(source, toolset, tools)))
        return made.listed

    def _list(self, source: Source, toolset: Toolset, tools: tuple[Tool, ...]) -> list[Listed]:
        entries = {each.name: (each.original, each.entry) for each in _mcp_tools(toolset)}
        names = {tool.name: offered_name(source.name, tool.name) for tool in tools}
        found: list[Listed] = []
        for tool in tools:
            original, said = entries.get(tool.name) or (tool.name, tool_to_wire(Offered(tool=tool), is_modern=True))
            pinned = pinned_part(said)
            shown = cast("JsonObject", self._mask.value(pinned))
            definition = Definition(source=source.name, original=original, said=shown)
            fallback = names.get(tool.fallback or "")
            renamed = tool if source.has_prefix else tool.renamed(names[tool.name], fallback=fallback)
            found.append(
                Listed(
                    tool=renamed,
                    title=_title(said),
                    definition=definition,
                    state="secret" if shown != pinned else self._state(source, definition),
                )
            )
        return found

    def _state(self, source: Source, definition: Definition) -> PinState:
        return self.pins.state_of(definition) if source.is_pinned else "accepted"


def _mcp_tools(toolset: Toolset) -> tuple[McpTool, ...]:
    return toolset.mcp_tools if isinstance(toolset, McpToolset) else ()


def _title(said: JsonObject) -> str | None:
    title = said.get("title")
    return without_invisible(title).strip() or None if isinstance(title, str) else None
