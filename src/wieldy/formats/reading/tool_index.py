"""The tools on offer, as a parser and a renderer look them up."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Protocol, TypeAlias, cast, runtime_checkable

from wieldy.core.calls import ToolDefinition
from wieldy.core.errors import UsageError
from wieldy.core.json import JsonObject
from wieldy.formats.values.expected import Expected

ANYTHING = Expected.of(True)


@runtime_checkable
class HasDefinition(Protocol):
    """Anything that carries a tool's definition, such as a `Tool`."""

    @property
    def definition(self) -> ToolDefinition:
        """What the model sees of it."""
        ...


ToolLike: TypeAlias = ToolDefinition | HasDefinition | Mapping[str, Any]
"""A tool: its definition, a `Tool`, or an OpenAI-style dictionary with or without the `function` wrapper."""


class ToolIndex:
    """Definitions by name, in the order given."""

    def __init__(self, tools: Iterable[ToolLike] = ()) -> None:
        if not _is_list(tools):
            raise UsageError(f"Expected tools as a list, found {type(tools).__name__}; for no tools give an empty one.")
        self.definitions = tuple(_definition(index, tool) for index, tool in enumerate(tools))
        self._expected = {tool.name: Expected.of(tool.input_schema) for tool in self.definitions}

    @property
    def names(self) -> tuple[str, ...]:
        """The names, in the order given."""
        return tuple(self._expected)

    def expected(self, name: str | None) -> Expected:
        """What the tool's arguments must be; anything for an unknown tool."""
        return self._expected.get(name or "", ANYTHING)


def _is_list(value: object) -> bool:
    # A dictionary is one tool, and a program passes on what it was given.
    return isinstance(value, Iterable) and not isinstance(value, Mapping | str)


def _definition(index: int, tool: ToolLike) -> ToolDefinition:
    if isinstance(tool, ToolDefinition):
        return tool
    if isinstance(tool, HasDefinition):
        return tool.definition
    # The caller's dictionaries are untyped: every field is checked before it is used.
    function = tool.get("function", tool) if isinstance(tool, Mapping) else None  # pyright: ignore[reportUnnecessaryIsInstance]
    match function:
        case {"name": str(name), **rest}:
            fields = cast("dict[str, Any]", rest)
            schema: object = fields.get("parameters") or fields.get("input_schema") or {"type": "object"}
            if isinstance(schema, dict):
                return ToolDefinition(
                    name=name,
                    description=str(fields.get("description") or ""),
                    input_schema=cast("JsonObject", schema),
                )
        case _:
            pass
    raise UsageError(
        f"tools[{index}]: expected a Tool, a ToolDefinition or a dictionary with 'name' and 'parameters', "
        f"found {tool!r}"
    )
