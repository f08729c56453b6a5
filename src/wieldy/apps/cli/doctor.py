"""`wieldy doctor`: what works on this machine, and what to do about the rest."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer
from rich.text import Text

from wieldy.apps.cli.json_lines import print_json
from wieldy.apps.cli.options import JsonOption
from wieldy.apps.cli.terminal import Terminal, out
from wieldy.apps.cli.untrusted import neutralise

if TYPE_CHECKING:
    from wieldy.apps.cli.checks import Check, State

SIGNS: dict[State, tuple[str, str]] = {"good": ("✓", "green"), "note": ("·", "yellow"), "lacking": ("✗", "bold red")}
NAME_WIDTH = 16


def doctor(*, json: JsonOption = False) -> None:
    """Say what works on this machine, and what to do about the rest.

    Ends with 0 if a prompt can be answered by the embedded model, else with 1.
    """
    # Looking needs the model room and the journal, which `wieldy --help` must not wait for.
    from wieldy.apps.cli.checks import all_checks  # noqa: PLC0415

    checks: list[Check] = []
    terminal = out()
    for check in all_checks():
        checks.append(check)
        if not json:
            _show(terminal, check)
    lacking = [check for check in checks if check.state == "lacking"]
    if json:
        print_json({"ok": not lacking, "checks": [_to_json(check) for check in checks]})
    else:
        _conclude(terminal, lacking)
    raise typer.Exit(1 if lacking else 0)


def _show(terminal: Terminal, check: Check) -> None:
    sign, style = SIGNS[check.state]
    indent = " " * (NAME_WIDTH + 2)
    text = Text(neutralise(check.found))
    terminal.block_of_words(text, first=Text.assemble((sign, style), f" {check.name:<{NAME_WIDTH}}"), rest=indent)
    if check.advice is not None:
        advice = Text(neutralise(check.advice), style="yellow")
        terminal.block_of_words(advice, first=f"{indent[:-2]}→ ", rest=indent)


def _conclude(terminal: Terminal, lacking: list[Check]) -> None:
    terminal.print()
    if lacking:
        names = ", ".join(check.name for check in lacking)
        terminal.block(Text.assemble(("The embedded model cannot answer yet", "bold red"), f"; see to: {names}."))
    else:
        terminal.block(
            Text("Ready: the embedded model can answer. Try: wieldy run 'What is 12% of 250?'", style="green")
        )


def _to_json(check: Check) -> dict[str, object]:
    return {
        "name": check.name,
        "state": check.state,
        "found": check.found,
        "advice": check.advice,
        "details": check.details,
    }
