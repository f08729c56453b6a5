"""What tools cost where code looks around in them, instead of being shown all of them in every request."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from typing import TYPE_CHECKING

from rich.text import Text

from wieldy.core.errors import UsageError
from wieldy.run.actions.code.tree import Tree

if TYPE_CHECKING:
    from wieldy.apps.cli.terminal import Terminal
    from wieldy.core.calls import ToolDefinition
    from wieldy.core.json import JsonObject
    from wieldy.run.actions.code.tree import TokenReport


def code_tokens(definitions: Iterable[ToolDefinition]) -> TokenReport | None:
    """The tokens of the tools as a tree; None where two of them would have one name in Python."""
    try:
        return Tree(definitions).report()
    except UsageError:
        return None


def show_code_tokens(terminal: Terminal, definitions: Iterable[ToolDefinition]) -> None:
    """A line on what code that looks around reads of the tools; nothing where it could not call them."""
    report = code_tokens(definitions)
    if report is not None and report.tools:
        text = (
            f"to code that looks around: {report.servers:,} tokens to begin with, "
            f"{report.names:,} for all names with a line each, {report.stubs:,} for all as typed functions"
        )
        terminal.block(Text(text, style="dim"))


def code_tokens_to_json(definitions: Iterable[ToolDefinition]) -> JsonObject | None:
    """The same for machines."""
    report = code_tokens(definitions)
    return None if report is None else asdict(report)
