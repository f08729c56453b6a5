"""What a provider makes of the tools of a service: their schemas in its dialect, and what it cannot express.

Deliberately not here: how they are translated (`connect.models.dialects`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from json import dumps
from typing import TYPE_CHECKING

import anyio
from rich.text import Text

from wieldy.apps.cli.facts import counted
from wieldy.apps.cli.json_lines import JsonLines
from wieldy.apps.cli.services import load_services
from wieldy.apps.cli.terminal import Terminal, out
from wieldy.apps.cli.untrusted import neutralise
from wieldy.connect.models.dialects import DialectReport, ToolInDialect, check_dialect, report
from wieldy.tools import Toolset

if TYPE_CHECKING:
    from wieldy.apps.cli.described import Described
    from wieldy.core.calls import ToolDefinition
    from wieldy.core.json import JsonObject, JsonValue
    from wieldy.grammar.enforcement import Enforcement


def show_dialect(dialect: str, *, openapi: Described | None, mcp: Sequence[str], json: bool) -> None:
    """Print the schemas of services' tools as the provider gets them.

    Raises:
        UsageError: There is no such dialect, or the service cannot be meant.
        RunError: It does not answer.
    """
    check_dialect(dialect)  # before anything is read or started
    toolset = Toolset(load_services(mcp=mcp, openapi=openapi, asks=False))
    if json:
        with JsonLines() as lines:  # what servers' libraries print goes to standard error
            lines.write(_to_json(report(anyio.run(_definitions, toolset), dialect)))
    else:
        _show(out(), report(anyio.run(_definitions, toolset), dialect))


async def _definitions(toolset: Toolset) -> tuple[ToolDefinition, ...]:
    async with toolset:
        return toolset.definitions


def _show(terminal: Terminal, found: DialectReport) -> None:
    for tool in found.tools:
        terminal.block(Text(_state(tool)), first=Text(f"{neutralise(tool.tool)}  ", style="bold"), rest="  ")
        for entry in (*tool.refused, *tool.lost):
            terminal.block(
                Text(neutralise(f"{entry.pointer} {entry.keyword}: {entry.reason}")), first="  ", rest="    "
            )
        if tool.schema is not None:
            written = dumps(tool.schema, ensure_ascii=False, separators=(",", ":"))
            terminal.block(Text(neutralise(written), style="dim"), first="  ", rest="    ")
    whole, refused = len(found.whole), len(found.without_form)
    terminal.print()
    total = f"{counted(len(found.tools), 'tool')} for {found.dialect}: {whole:,} enforced as a whole, "
    total += f"{len(found.tools) - whole - refused:,} in part, {refused:,} without a form"
    terminal.block(Text(total, style="dim"))


def _state(tool: ToolInDialect) -> str:
    if tool.refused:
        return "has no form there"
    if tool.lost:
        return f"{counted(len(tool.kept), 'keyword')} enforced, {len(tool.lost):,} left to the validator"
    return f"{counted(len(tool.kept), 'keyword')} enforced, which is everything"


def _to_json(found: DialectReport) -> JsonObject:
    return {
        "dialect": found.dialect,
        "tools": [
            {
                "name": tool.tool,
                "schema": tool.schema,
                "kept": [{"pointer": pointer, "keyword": keyword} for pointer, keyword in tool.kept],
                "rewritten": _entries(tool.rewritten),
                "lost": _entries(tool.lost),
                "refused": _entries(tool.refused),
            }
            for tool in found.tools
        ],
        "whole": len(found.whole),
        "without_form": len(found.without_form),
    }


def _entries(entries: Iterable[Enforcement]) -> JsonValue:
    return [{"pointer": each.pointer, "keyword": each.keyword, "reason": each.reason} for each in entries]
