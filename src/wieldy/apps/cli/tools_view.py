"""What services give: a list for people, one JSON object for machines.

Deliberately not here: what is wrong with tools of one's own (`lint_view`).
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, NamedTuple

import anyio
from rich.text import Text

from wieldy.apps.cli.code_tokens import code_tokens_to_json, show_code_tokens
from wieldy.apps.cli.facts import counted
from wieldy.apps.cli.failures import note
from wieldy.apps.cli.json_lines import JsonLines
from wieldy.apps.cli.terminal import Terminal, out
from wieldy.apps.cli.untrusted import neutralise, one_line
from wieldy.connect import mcp as servers_of
from wieldy.tools.cost import token_cost

if TYPE_CHECKING:
    from wieldy.connect.mcp.client.port import ServerInfo
    from wieldy.connect.mcp.client.tools import McpTool, Notice
    from wieldy.core.json import JsonObject


class _Found(NamedTuple):
    """What was learnt of some servers."""

    servers: dict[str, ServerInfo]
    tools: tuple[McpTool, ...]
    notices: tuple[Notice, ...]


def show_mcp(configs: Sequence[str], *, json: bool) -> None:
    """Print the tools of MCP servers.

    Raises:
        UsageError: A server cannot be meant or started.
        RunError: A server does not answer.
    """
    if json:
        with JsonLines() as lines:  # what servers' libraries print goes to standard error
            lines.write(_to_json(anyio.run(_learn, configs)))
    else:
        _show(out(), anyio.run(_learn, configs))


async def _learn(configs: Sequence[str]) -> _Found:
    toolsets = [servers_of(config) for config in configs]
    async with AsyncExitStack() as stack:
        for toolset in toolsets:
            await stack.enter_async_context(toolset)
        return _Found(
            servers={name: info for toolset in toolsets for name, info in toolset.servers.items()},
            tools=tuple(tool for toolset in toolsets for tool in toolset.mcp_tools),
            notices=tuple(notice for toolset in toolsets for notice in toolset.notices),
        )


def _show(terminal: Terminal, found: _Found) -> None:
    width = max((len(tool.name) for tool in found.tools), default=0) + 2
    for tool in found.tools:
        head = Text(f"{tool.name:<{width}}", style="bold")
        said = tool.definition.description.partition("\n")[0]
        what = f"{tool.effect} ({tool.provenance}), about {token_cost(tool.definition):,} tokens. "
        terminal.block(Text(what + one_line(said, limit=200)), first=head, rest="  ")
    terminal.print()
    for name, info in found.servers.items():
        text = f"{name or 'the server'}: {info.name}, protocol {info.protocol}"
        terminal.block(Text(neutralise(text), style="dim"))
    total = sum(token_cost(tool.definition) for tool in found.tools)
    terminal.block(Text(f"{counted(len(found.tools), 'tool')}, about {total:,} tokens in every request", style="dim"))
    show_code_tokens(terminal, [tool.definition for tool in found.tools])
    for notice in found.notices:
        note(str(notice))


def _to_json(found: _Found) -> JsonObject:
    return {
        "tools": [_tool_to_json(tool) for tool in found.tools],
        "tokens": sum(token_cost(tool.definition) for tool in found.tools),
        "code_tokens": code_tokens_to_json(tool.definition for tool in found.tools),
        "servers": [
            {"name": name, "calls_itself": info.name, "protocol": info.protocol, "instructions": info.instructions}
            for name, info in found.servers.items()
        ],
        "notices": [
            {"kind": notice.kind, "server": notice.server, "tool": notice.tool, "message": notice.message}
            for notice in found.notices
        ],
    }


def _tool_to_json(tool: McpTool) -> JsonObject:
    definition = tool.definition
    return {
        "name": tool.name,
        "server": tool.server,
        "original_name": tool.original,
        "description": definition.description,
        "input_schema": definition.input_schema,
        "output_schema": definition.output_schema,
        "effect": tool.effect,
        "effect_from": tool.provenance,
        "trust": tool.trust,
        "tokens": token_cost(definition),
    }
