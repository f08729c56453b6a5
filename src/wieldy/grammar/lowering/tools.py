"""Who enforces what in the arguments of tools."""

from __future__ import annotations

from collections.abc import Iterable

from wieldy.core.calls import ToolDefinition
from wieldy.grammar.arguments import wrong
from wieldy.grammar.enforcement import Enforcement
from wieldy.grammar.lowering.lowered import lowered


def enforcement_of(tools: Iterable[ToolDefinition]) -> list[Enforcement]:
    """Every keyword of the tools' input schemas, and who enforces it where arguments are written as JSON.

    Chat formats that write arguments as raw text enforce less: `ChatFormat.grammar(tools).enforcement` says what.
    """
    found = list(tools) if isinstance(tools, Iterable) else [tools]  # pyright: ignore[reportUnnecessaryIsInstance]
    for tool in found:
        if not isinstance(tool, ToolDefinition):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise wrong("definitions of tools", tool)
    return [
        Enforcement(pointer=entry.pointer, keyword=entry.keyword, by=entry.by, reason=entry.reason, schema=tool.name)
        for tool in found
        for entry in lowered(tool.input_schema).enforcement
    ]
