"""Tools that can be searched: what the index is told of a tool, and tools found by what is wanted of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Final

from wieldy.core.errors import UsageError
from wieldy.core.extras import installing
from wieldy.tools.gist import sentences_within

if TYPE_CHECKING:
    from wieldy.core.calls import ToolDefinition
    from wieldy.core.json import JsonValue
    from wieldy.index import Entry

_WHAT_IT_IS: Final = 200
"""Characters of a description, in whole sentences, that say what a tool is; what follows them counts as a detail."""


class Catalogue:
    """Tools that can be searched; those that come and go are put in and taken out one by one.

    Args:
        tools: Their definitions. One with the name of another takes its place.

    Raises:
        UsageError: The extra for searching is not installed.
    """

    def __init__(self, tools: Iterable[ToolDefinition] = ()) -> None:
        try:
            from wieldy.index import Index  # noqa: PLC0415 - an extra
        except ImportError:
            raise UsageError(f"Searching among tools needs an extra: {installing('search')}.") from None
        self._tools: dict[str, ToolDefinition] = {}
        self._index = Index()
        self.add(*tools)

    def add(self, *tools: ToolDefinition) -> None:
        """These can be found."""
        self._tools |= {tool.name: tool for tool in tools}
        self._index.add(*map(_entry, tools))

    def remove(self, *names: str) -> None:
        """These cannot be found any more; names that are not there are passed over."""
        for name in names:
            self._tools.pop(name, None)
        self._index.remove(*names)

    def __len__(self) -> int:
        return len(self._tools)

    def search(
        self, *queries: str, limit: int = 5, allowed: Callable[[str], bool] | None = None
    ) -> tuple[ToolDefinition, ...]:
        """The tools that fit best, the best first; those that a query names before all others; none if nothing fits.

        Args:
            queries: What is wanted, in words or by names; each has its turn for a place in the result.
            limit: How many at most.
            allowed: Which names may be found; None for all. The others change nothing of the result.
        """
        return tuple(self._tools[hit.name] for hit in self._index.search(*queries, limit=limit, allowed=allowed))


def first_line(tool: ToolDefinition) -> str:
    """The beginning of the description, on one line."""
    return next((line.strip() for line in tool.description.splitlines() if line.strip()), "")


def _entry(tool: ToolDefinition) -> Entry:
    from wieldy.index import Entry  # noqa: PLC0415 - an extra

    properties = tool.input_schema.get("properties")
    parameters = properties if isinstance(properties, dict) else {}
    end = sentences_within(tool.description, _WHAT_IT_IS) or _WHAT_IT_IS
    beginning, rest = tool.description[:end], tool.description[end:]
    return Entry(
        name=tool.name,
        text=" ".join(filter(None, (beginning, tool.use_when))),
        labels=tuple(parameters),
        details=tuple(filter(None, (rest, *map(_described, parameters.values())))),
    )


def _described(schema: JsonValue) -> str:
    said = schema.get("description") if isinstance(schema, dict) else None
    return said if isinstance(said, str) else ""
