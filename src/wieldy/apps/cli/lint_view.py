"""Findings about tools: a table for people, one JSON object for machines.

Deliberately not here: the rules (`wieldy.tools.lint`).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import get_args

from rich.text import Text

from wieldy.apps.cli.facts import counted
from wieldy.apps.cli.json_lines import JsonLines
from wieldy.apps.cli.terminal import Terminal, out
from wieldy.apps.cli.tools_file import load_tools
from wieldy.apps.cli.untrusted import neutralise
from wieldy.core.json import JsonObject
from wieldy.grammar import enforcement_of
from wieldy.tools import Tool, Toolset
from wieldy.tools.cost import token_cost
from wieldy.tools.lint import Finding, lint
from wieldy.tools.lint_rules import Severity

SEVERITIES: tuple[Severity, ...] = get_args(Severity)
STYLES: dict[Severity, str] = {"error": "bold red", "warning": "yellow", "note": "cyan"}
NARROW = 70
"""Columns below which a message gets lines of its own."""


def check_files(files: Sequence[Path], *, json: bool) -> set[Severity]:
    """Print what is found in the files' tools, and return how bad it is.

    Raises:
        UsageError: A file cannot be loaded.
    """
    if json:
        with JsonLines() as lines:
            toolset = load_tools(files)
            findings = lint(toolset)
            lines.write(_to_json(toolset, findings))
    else:
        toolset = load_tools(files)
        findings = lint(toolset)
        _show(out(), toolset, findings)
    return {finding.severity for finding in findings}


def _show(terminal: Terminal, toolset: Toolset, findings: Sequence[Finding]) -> None:
    rule_width = max((len(finding.rule) for finding in findings), default=0) + 2
    for finding in sorted(findings, key=lambda finding: SEVERITIES.index(finding.severity)):
        _show_finding(terminal, finding, rule_width=rule_width)
    if findings:
        terminal.print()
    _show_enforcement(terminal, toolset)
    costs = ", ".join(f"{tool.name} {token_cost(tool.definition):,}" for tool in toolset.tools)
    total = sum(token_cost(tool.definition) for tool in toolset.tools)
    terminal.block(
        Text(f"{counted(len(toolset), 'tool')}, about {total:,} tokens in every request: {costs}", style="dim")
    )
    counts = [counted(_count(findings, severity), severity) for severity in SEVERITIES if _count(findings, severity)]
    if counts:
        terminal.block(Text(", ".join(counts)))
    else:
        terminal.block(Text("Nothing to complain about.", style="green"))


def _show_enforcement(terminal: Terminal, toolset: Toolset) -> None:
    """What a mask does not hold a local model to; what it does is left out, as it is nearly all."""
    found = [entry for entry in enforcement_of(tool.definition for tool in toolset.tools) if entry.by != "mask"]
    if found:
        terminal.block(Text("Not held to while a model writes, but checked afterwards:"))
        for entry in found:
            terminal.block(Text(neutralise(str(entry))), first="  ", rest="    ")
        terminal.print()


def _show_finding(terminal: Terminal, finding: Finding, *, rule_width: int) -> None:
    head = Text.assemble((f"{finding.severity:<9}", STYLES[finding.severity]), f"{finding.rule:<{rule_width}}")
    message = Text(neutralise(finding.message))
    if terminal.width < NARROW:
        terminal.block(head)
        terminal.block(message, first="  ", rest="  ")
    else:
        terminal.block(message, first=head, rest=" " * head.cell_len)


def _count(findings: Sequence[Finding], severity: Severity) -> int:
    return sum(finding.severity == severity for finding in findings)


def _to_json(toolset: Toolset, findings: Sequence[Finding]) -> JsonObject:
    return {
        "tools": [_tool_to_json(tool) for tool in toolset.tools],
        "tokens": sum(token_cost(tool.definition) for tool in toolset.tools),
        "enforcement": [
            {
                "tool": entry.schema,
                "pointer": entry.pointer,
                "keyword": entry.keyword,
                "by": entry.by,
                "reason": entry.reason,
            }
            for entry in enforcement_of(tool.definition for tool in toolset.tools)
        ],
        "findings": [
            {
                "rule": finding.rule,
                "severity": finding.severity,
                "tools": list(finding.tools),
                "message": finding.message,
            }
            for finding in findings
        ],
        **{f"{severity}s": _count(findings, severity) for severity in SEVERITIES},
    }


def _tool_to_json(tool: Tool) -> JsonObject:
    return {
        "name": tool.name,
        "effect": tool.effect,
        "effect_declared": tool.effect_declared,
        "tokens": token_cost(tool.definition),
    }
