"""Searching for tools instead of being shown all of them.

Where the tools would cost many tokens in every request, the model is shown a few of them and `search_tools`; what a
search finds is shown from the next request on, behind all that was shown before, so that a provider's cache of the
prompt stays good. What was found is read from the journal: a run that is resumed has it. Pure but for the index.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Final, TypeAlias

from pydantic import Field

from wieldy.core.errors import UsageError
from wieldy.core.json import JsonObject
from wieldy.tools import Presented, tool
from wieldy.tools.catalogue import Catalogue, first_line
from wieldy.tools.cost import token_cost

if TYPE_CHECKING:
    from wieldy.core.calls import ToolDefinition
    from wieldy.run.state import CallState
    from wieldy.tools import Tool

SEARCH_TOOLS: Final = "search_tools"
_LONGEST_LINE: Final = 160
_Queries: TypeAlias = Annotated[
    list[str],
    Field(
        min_length=1, max_length=8, description="What is wanted, one short phrase for each thing, or names of tools."
    ),
]
_NOTHING: Final = (
    "No tool fits. Say it in other words, or by the name of a tool; if that finds nothing either, there is none."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSearch:
    """When and how a model searches for tools.

    Attributes:
        above_tokens: What all tools may cost in a request, by estimate, before they have to be searched for.
        always: Names of tools that are shown from the beginning.
        limit: How many tools one search finds at most.

    Raises:
        UsageError: A number is negative, or the limit is zero.
    """

    above_tokens: int = 4_000
    always: tuple[str, ...] = ()
    limit: int = 5

    def __post_init__(self) -> None:
        if isinstance(self.always, str):
            raise UsageError(f"Expected `always` to be names, as in ('send_email',), found {self.always!r}.")
        for name, least in (("above_tokens", 0), ("limit", 1)):
            value: object = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or value < least:
                raise UsageError(f"Expected `{name}` to be an integer of at least {least}, found {value!r}.")
        object.__setattr__(self, "always", tuple(self.always))


class Searching:
    """Which tools are shown, in one run.

    Args:
        rules: When and how.
        tools: All that there are.
        allowed: Which of them may be found.

    Attributes:
        shown: The tools to begin with.

    Raises:
        UsageError: A tool is to be shown always and is not there, or one has the name of the search.
    """

    def __init__(self, rules: ToolSearch, tools: Mapping[str, Tool], allowed: Callable[[Tool], bool]) -> None:
        unknown = [name for name in rules.always if name not in tools]
        if unknown:
            raise UsageError(
                f"Expected the names of tools that are always shown, found {', '.join(map(repr, unknown))}."
            )
        if SEARCH_TOOLS in tools:
            raise UsageError(f"Expected no tool named {SEARCH_TOOLS!r}: that is how tools are searched for. Rename it.")
        self._rules = rules
        self._tools = tools
        self._allowed = allowed
        self._catalogue = Catalogue(each.definition for name, each in tools.items() if name not in rules.always)
        self.shown = (*(tools[name] for name in rules.always), self._tool())

    def found(self, calls: Iterable[CallState]) -> tuple[Tool, ...]:
        """The tools that these calls have found, in order; those that are gone are left out."""
        names = dict.fromkeys(name for call in calls for name in _found_by(call))
        return tuple(self._tools[name] for name in names if name in self._tools)

    def _tool(self) -> Tool:
        count = len(self._catalogue)

        def search_tools(queries: _Queries) -> Presented:
            return _told(
                self._catalogue.search(
                    *queries, limit=self._rules.limit, allowed=lambda name: self._allowed(self._tools[name])
                )
            )

        description = (
            f"Find tools for what you want to do: there are {count} that are not shown. Those that are found can be "
            "called from then on."
        )
        return tool(name=SEARCH_TOOLS, description=description, effect="read")(search_tools)


def must_search(rules: ToolSearch | None, tools: Iterable[Tool]) -> bool:
    """Whether the tools would cost more than the rules say."""
    return rules is not None and sum(token_cost(each.definition) for each in tools) > rules.above_tokens


def _told(found: Iterable[ToolDefinition]) -> Presented:
    lines = {each.name: _short(first_line(each)) for each in found}
    text = "\n".join(f"{name}: {line}" if line else name for name, line in lines.items())
    structured: JsonObject = {"tools": list(lines)}
    return Presented(text=f"These can be called now:\n{text}" if lines else _NOTHING, structured=structured)


def _short(line: str) -> str:
    return line if len(line) <= _LONGEST_LINE else f"{line[: _LONGEST_LINE - 3]}..."


def _found_by(call: CallState) -> list[str]:
    content = None if call.result is None or call.tool_name != SEARCH_TOOLS else call.result.structured_content
    names = content.get("tools") if isinstance(content, dict) else None
    return [name for name in names if isinstance(name, str)] if isinstance(names, list) else []
