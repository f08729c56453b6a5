"""`wieldy runs`: which runs the journal holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table
from rich.text import Text

from wieldy.apps.cli.json_lines import print_json
from wieldy.apps.cli.options import JournalOption, JsonOption
from wieldy.apps.cli.terminal import Terminal, out
from wieldy.apps.cli.untrusted import one_line
from wieldy.core.errors import JournalError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from wieldy.core.json import JsonObject
    from wieldy.core.ports import Journal
    from wieldy.run.state import RunState

SHOWN = 20
WIDE = 110
"""Columns from which the model has one of its own."""

STYLES = {"running": "yellow", "finished": "green", "failed": "red", "interrupted": "yellow"}


def runs(
    *,
    journal: JournalOption = None,
    limit: Annotated[
        int | None,
        typer.Option("--limit", "-n", metavar="N", min=1, help=f"Only the newest N; {SHOWN} if left out, in JSON all."),
    ] = None,
    json: JsonOption = False,
) -> None:
    """List the recorded runs, the newest first.

    With --json one object per line.
    """
    # The journal opens SQLite; `wieldy --help` must not wait for it.
    from wieldy.apps.cli.journals import open_for_reading  # noqa: PLC0415

    recorded = open_for_reading(journal)
    run_ids = list(recorded.run_ids()) if recorded else []
    if recorded is None or not run_ids:
        if not json:
            out().block(Text("No run is recorded yet. Start one with `wieldy run`."))
        return
    if json:
        for run_id, state in _states(recorded, run_ids[:limit]):
            print_json(_to_json(run_id, state))
        return
    shown = run_ids[: limit or SHOWN]
    _show_table(out(), _states(recorded, shown))
    if len(shown) < len(run_ids):
        out().block(Text(f"{len(run_ids) - len(shown):,} older runs are not shown; --limit N shows more.", style="dim"))


def _states(journal: Journal, run_ids: Sequence[str]) -> Iterable[tuple[str, RunState | None]]:
    """Each run with its state; None where the entries cannot be read, which must not hide the other runs."""
    from wieldy.run.state import fold  # noqa: PLC0415 - as above

    for run_id in run_ids:
        try:
            yield run_id, fold(journal.read(run_id))
        except JournalError:
            yield run_id, None


def _show_table(terminal: Terminal, states: Iterable[tuple[str, RunState | None]]) -> None:
    wide = terminal.width >= WIDE
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim", pad_edge=False)
    for name in ("run", "status", "started"):
        table.add_column(name, no_wrap=True)
    for name in ("turns", "calls"):
        table.add_column(name, justify="right")
    if wide:
        table.add_column("model", no_wrap=True, max_width=30)
    table.add_column("prompt", no_wrap=True, overflow="ellipsis")
    for run_id, state in states:
        table.add_row(*_row(run_id, state, wide=wide))
    terminal.print(table)


def _row(run_id: str, state: RunState | None, *, wide: bool) -> list[Text]:
    from wieldy.apps.cli.run_view import format_time  # noqa: PLC0415 - as above

    if state is None:
        return [Text(run_id), Text("unreadable", style="red")]
    row = [
        Text(run_id),
        Text(state.status, style=STYLES[state.status]),
        Text(format_time(state.started)[:16]),
        Text(str(state.turns)),
        Text(str(len(state.calls))),
    ]
    if wide:
        row.append(Text(one_line(state.model, limit=30)))
    return [*row, Text(one_line(state.prompt, limit=100))]


def _to_json(run_id: str, state: RunState | None) -> JsonObject:
    if state is None:
        return {"run_id": run_id, "status": "unreadable"}
    return {
        "run_id": run_id,
        "status": state.status,
        "started": state.started,
        "ended": state.ended,
        "model": state.model,
        "turns": state.turns,
        "calls": len(state.calls),
        "stop_reason": state.stop_reason,
        "error": state.error,
        "prompt": state.prompt,
    }
