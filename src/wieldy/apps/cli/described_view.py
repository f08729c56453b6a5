"""What a service gives that an OpenAPI document describes: a list for people, one JSON object for machines.

Deliberately not here: MCP servers (`tools_view`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import anyio
from rich.text import Text

from wieldy.apps.cli.code_tokens import code_tokens_to_json, show_code_tokens
from wieldy.apps.cli.facts import counted
from wieldy.apps.cli.failures import note
from wieldy.apps.cli.json_lines import JsonLines
from wieldy.apps.cli.terminal import Terminal, out
from wieldy.apps.cli.untrusted import neutralise, one_line
from wieldy.connect.rest.curl import curl_command
from wieldy.core.errors import ArgumentsError, UsageError
from wieldy.schema import example
from wieldy.tools.cost import token_cost

if TYPE_CHECKING:
    from wieldy.apps.cli.described import Described
    from wieldy.connect.rest.toolset import OpenApiToolset
    from wieldy.core.json import JsonObject, JsonValue
    from wieldy.tools import Tool

MAX_DIAGNOSTICS = 20


def show_described(service: Described, *, json: bool, curl: bool) -> None:
    """Print the tools of the service.

    Raises:
        UsageError: Its document cannot be read.
    """
    toolset = service.toolset(output_schemas=True)
    anyio.run(_open, toolset)
    if json:
        with JsonLines() as lines:
            lines.write(_to_json(toolset, curl=curl))
    else:
        _show(out(), toolset, curl=curl)


async def _open(toolset: OpenApiToolset) -> None:
    async with toolset:  # what lies behind URLs is known from then on
        pass


def _show(terminal: Terminal, toolset: OpenApiToolset, *, curl: bool) -> None:
    tools = toolset.tools
    width = max((len(tool.name) for tool in tools), default=0) + 2
    for tool in tools:
        head = Text(f"{tool.name:<{width}}", style="bold")
        what = f"{tool.effect}, about {token_cost(tool.definition):,} tokens. "
        terminal.block(Text(what + one_line(tool.definition.description, limit=200)), first=head, rest="  ")
        for line in _commands(toolset, tool) if curl else ():
            terminal.block(Text(neutralise(line), style="dim"), first="  ", rest="    ")
    total = sum(token_cost(tool.definition) for tool in tools)
    terminal.print()
    terminal.block(Text(f"{counted(len(tools), 'tool')}, about {total:,} tokens in every request", style="dim"))
    show_code_tokens(terminal, toolset.definitions)
    cut = sum(_is_cut(toolset, tool) for tool in tools)
    if cut:
        note(f"The schemas of {counted(cut, 'tool')} are shortened: what lies deep in their arguments is left open.")
    for diagnostic in toolset.diagnostics[:MAX_DIAGNOSTICS]:
        note(neutralise(str(diagnostic)))
    if len(toolset.diagnostics) > MAX_DIAGNOSTICS:
        note(f"and {len(toolset.diagnostics) - MAX_DIAGNOSTICS} more; --json has all of them.")


def _to_json(toolset: OpenApiToolset, *, curl: bool) -> JsonObject:
    tools = toolset.tools
    schemes: list[JsonValue] = [*toolset.scheme_names]
    return {
        "tools": [_tool_to_json(toolset, tool, curl=curl) for tool in tools],
        "tokens": sum(token_cost(tool.definition) for tool in tools),
        "code_tokens": code_tokens_to_json(toolset.definitions),
        "security_schemes": schemes,
        "diagnostics": [{"place": each.place, "reason": each.reason} for each in toolset.diagnostics],
    }


def _tool_to_json(toolset: OpenApiToolset, tool: Tool, *, curl: bool) -> JsonObject:
    definition, operation = tool.definition, toolset.operation(tool.name)
    assert operation is not None
    shown: JsonObject = {
        "name": tool.name,
        "method": operation.method,
        "path": operation.path,
        "operation_id": operation.operation_id or None,
        "description": definition.description,
        "input_schema": definition.input_schema,
        "output_schema": definition.output_schema,
        "effect": tool.effect,
        "effect_declared": tool.effect_declared,
        "trust": tool.trust,
        "tokens": token_cost(definition),
        "is_shortened": _is_cut(toolset, tool),
    }
    return shown | ({"curl": next(_commands(toolset, tool), None)} if curl else {})


def _commands(toolset: OpenApiToolset, tool: Tool) -> Iterator[str]:
    """The command of an example call, if one can be made up."""
    arguments = example(tool.schema)
    if not isinstance(arguments, dict):
        return
    try:
        yield curl_command(toolset.request(tool.name, arguments), toolset.schemes_of(tool.name))
    except (ArgumentsError, UsageError):
        return


def _is_cut(toolset: OpenApiToolset, tool: Tool) -> bool:
    plan = toolset.plan(tool.name)
    return plan is not None and plan.is_cut
