"""What a gateway offers, under which names, to whom: pure decisions over what its sources list now.

Law: every name is of one source and can be read back to it, so no source can pass its tools off as another's; a tool
whose definition is not the accepted one is never callable; the same caller is shown the same order. Deliberately not
here: calls (`gateway`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from operator import is_
from typing import TYPE_CHECKING, Final, cast

from wieldy.connect.mcp.client.toolset import McpToolset
from wieldy.connect.mcp.names import name_apart, offered_name, servers_part
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

READ_RESOURCE: Final = "read_resource"
PROMPT: Final = "prompt__"
"""The tool of each server that reads its resources, and how those begin that fill in its prompts."""

_WHY: Final[dict[PinState, str]] = {
    "new": "nobody has accepted its definition yet",
    "changed": "its definition is not the one that was accepted",
    "secret": "its definition holds a credential",
    "unreadable": "what was accepted cannot be read",
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
    def is_secret(self) -> bool:
        """Whether a credential stands in its definition: nobody may be shown it, so nobody can accept it."""
        return self.state == "secret"

    @property
    def why_not(self) -> str:
        """Why it is not callable, as the end of a sentence."""
        return _WHY.get(self.state, "")

    def is_shown_to(self, caller: Caller) -> bool:
        """Whether the caller is shown it, once it is callable."""
        return any(fnmatchcase(self.name, pattern) for pattern in caller.tools) and (
            permitted(self.tool, caller.principal) is None
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What a caller may know of at one moment.

    Attributes:
        listed: By name, in the order in which tools are shown; some may not be callable.
        tools: Those that are, by name.
    """

    listed: Mapping[str, Listed]
    tools: Mapping[str, Tool]


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
        self.mask = mask
        self._made: dict[int, _Made] = {}
        self._known: dict[str, tuple[tuple[tuple[Listed, ...], ...], Known]] = {}

    def listed(self, principal: str) -> list[Listed]:
        """All tools that this principal's calls could reach, as their sources list them now."""
        return [each for part in self._parts(principal) for each in part]

    def for_caller(self, caller: Caller) -> Known:
        """What the caller may know of now: the same object for as long as that is the same."""
        name = caller.principal.name
        parts = self._parts(name)
        before = self._known.get(name)
        if before is not None and len(before[0]) == len(parts) and all(map(is_, before[0], parts)):
            return before[1]
        listed = {each.name: each for part in parts for each in part if each.is_shown_to(caller)}
        tools = {each.name: each.tool for each in listed.values() if each.is_callable}
        self._known[name] = (parts, known := Known(listed=listed, tools=tools))
        return known

    async def looked_up(self, name: str, caller: Caller) -> Known:
        """As `for_caller`; where it has no callable tool of that name, as the tool's source lists it now."""
        known = self.for_caller(caller)
        if name in known.tools:
            return known
        # For names that they could not have, nobody can find out which sources there are.
        if any(fnmatchcase(name, pattern) for pattern in caller.tools):
            for source in self.sources:
                if source.prefix is None or name.startswith(servers_part(source.prefix)):
                    await self.look_again(source.name, caller)
        return self.for_caller(caller)

    async def look_again(self, name: str, caller: Caller) -> None:
        """The source of that name is known as it is now to this caller; one that does not answer, as it was."""
        toolset = next(each for each in self.sources if each.name == name).toolset_for(caller.principal.name)
        if isinstance(toolset, McpToolset):
            await toolset.look_again()

    def _parts(self, principal: str) -> tuple[tuple[Listed, ...], ...]:
        stamp = self.pins.look()
        toolsets = ((source, source.toolset_for(principal)) for source in self.sources)
        return tuple(self._of(source, toolset, stamp) for source, toolset in toolsets if toolset is not None)

    def _of(self, source: Source, toolset: Toolset, stamp: object) -> tuple[Listed, ...]:
        tools, key = toolset.tools, id(toolset)
        made = self._made.get(key)
        if made is None or made.stamp != stamp or (made.tools is not tools and made.tools != tools):
            made = self._made[key] = _Made(tools, stamp, tuple(self._list(source, toolset, tools)))
        return made.listed

    def _list(self, source: Source, toolset: Toolset, tools: tuple[Tool, ...]) -> list[Listed]:
        entries = {each.name: (each.original, each.entry) for each in _mcp_tools(toolset)}
        names = {tool.name: offered_name(source.prefix, tool.name) for tool in tools}
        found: list[Listed] = []
        for tool in tools:
            original, said = entries.get(tool.name) or (tool.name, tool_to_wire(Offered(tool=tool), is_modern=True))
            pinned = pinned_part(said)
            shown = cast("JsonObject", self.mask.value(pinned))
            definition = Definition(source=source.name, original=_kept_as(self.mask.text(original)), said=shown)
            name = self._name(source, original) or (tool.name if source.has_names else names[tool.name])
            is_named = source.has_names and name == tool.name
            found.append(
                Listed(
                    tool=tool if is_named else tool.renamed(name, fallback=names.get(tool.fallback or "")),
                    title=_title(said),
                    definition=definition,
                    state="secret" if shown != pinned else self.state_of(source, definition),
                )
            )
        return found

    def _name(self, source: Source, original: str) -> str | None:
        """Another name for a tool that must not have its own: it holds a credential, or a prompt would be called so."""
        masked = self.mask.text(original)
        if masked != original:
            return offered_name(source.prefix, masked)
        return name_apart(source.prefix, original) if source.kind == "mcp" and _is_taken(original) else None

    def state_of(self, source: Source, definition: Definition) -> PinState:
        """Whether what is said there is what was accepted, if that has to be."""
        return self.pins.state_of(definition) if source.is_pinned else "accepted"


def _is_taken(original: str) -> bool:
    """Whether the name is one of those by which prompts and resources are called."""
    return original == READ_RESOURCE or original.startswith(PROMPT)


def _kept_as(original: str) -> str:
    """Under which name a tool stands in the file of what was accepted, in which prompts are `prompts/NAME`."""
    return f"tools/{original}" if original.startswith(("prompts/", "tools/")) else original


def _mcp_tools(toolset: Toolset) -> tuple[McpTool, ...]:
    return toolset.mcp_tools if isinstance(toolset, McpToolset) else ()


def _title(said: JsonObject) -> str | None:
    title = said.get("title")
    return without_invisible(title).strip() or None if isinstance(title, str) else None
