"""Recorded runs as a list: a table for people, lines of JSON for machines.

Deliberately not here: one run in full (`run_view`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rich.text import Text

from wieldy.apps.cli.facts import counted, format_time
from wieldy.apps.cli.json_lines import print_json
from wieldy.apps.cli.run_status import STATUS_STYLES, Status, status_of
from wieldy.apps.cli.terminal import Terminal
from wieldy.apps.cli.untrusted import one_line
from wieldy.core.errors import JournalError
from wieldy.core.json import JsonObject
from wieldy.core.ports import Journal
from wieldy.run.state import RunState, fold

WIDE = 100
"""Width of a terminal from which the model has a column."""

COLUMNS = ("run", "status", "started", "turns", "calls", "model", "prompt")


def print_runs(journal: Journal, run_ids: Sequence[str]) -> None:
    """Print one line of JSON for each run."""
    for run_id, run in _listed(journal, run_ids):
        print_json(_to_json(run_id, run))


def show_runs(terminal: Terminal, journal: Journal, run_ids: Sequence[str], *, limit: int) -> None:
    """Print a table of the first `limit` runs, and how many more there are."""
    id_length = _id_length(run_ids, whole=not terminal.wraps)
    _show_table(terminal, _listed(journal, run_ids[:limit]), id_length=id_length)
    if len(run_ids) > limit:
        terminal.block(
            Text(f"{counted(len(run_ids) - limit, 'older run')} not shown; --limit N shows more.", style="dim")
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """A run and how it stands."""

    state: RunState
    status: Status


def _listed(journal: Journal, run_ids: Sequence[str]) -> Iterable[tuple[str, Listed | None]]:
    """Each run; None where the entries cannot be read, which must not hide the other runs."""
    for run_id in run_ids:
        try:
            state = fold(journal.read(run_id))
            yield run_id, Listed(state=state, status=status_of(state, journal))
        except JournalError:
            yield run_id, None


def _show_table(terminal: Terminal, runs: Iterable[tuple[str, Listed | None]], *, id_length: int) -> None:
    rows = [_row(run_id[:id_length], run) for run_id, run in runs]
    columns = [column for column in COLUMNS if column != "model" or terminal.width >= WIDE]
    widths = {column: max(len(column), *(row[column].cell_len for row in rows)) for column in columns}
    heading: dict[str, Text] = {column: Text(column, style="dim") for column in columns}
    for row in (heading, *rows):
        line = Text()
        for column in columns:
            cell = row[column].copy()
            cell.align("right" if column in ("turns", "calls") else "left", widths[column])
            line.append_text(cell).append("  ")
        line.rstrip()
        line.truncate(terminal.width, overflow="ellipsis")
        terminal.print(line, soft_wrap=True)


def _row(run_id: str, run: Listed | None) -> dict[str, Text]:
    if run is None:
        unreadable: dict[str, Text] = {column: Text("-") for column in COLUMNS}
        return {**unreadable, "run": Text(one_line(run_id, limit=100)), "status": Text("unreadable", style="red")}
    state = run.state
    return {
        "run": Text(one_line(run_id, limit=100)),
        "status": Text(run.status, style=STATUS_STYLES[run.status]),
        "started": Text(format_time(state.started)[:-3]),
        "turns": Text(str(state.turns)),
        "calls": Text(str(len(state.calls))),
        "model": Text(one_line(state.model, limit=30)),
        "prompt": Text(one_line(state.prompt, limit=100)),
    }


def _id_length(run_ids: Sequence[str], *, whole: bool) -> int:
    """How much of the ids to show: all on a pipe, else as much as tells them apart."""
    longest = max(map(len, run_ids))
    if whole:
        return longest
    return next(
        (size for size in range(8, longest) if len({run_id[:size] for run_id in run_ids}) == len(run_ids)), longest
    )


def _to_json(run_id: str, run: Listed | None) -> JsonObject:
    if run is None:
        return {"run_id": run_id, "status": "unreadable"}
    state = run.state
    return {
        "run_id": run_id,
        "status": run.status,
        "started": state.started,
        "ended": state.ended,
        "model": state.model,
        "turns": state.turns,
        "calls": len(state.calls),
        "waiting": [request.call_id for request in state.waiting],
        "resumed": state.resumed,
        "cost_usd": state.usage.cost_usd,
        "stop_reason": state.stop_reason,
        "error": state.error,
        "parent": None if state.parent is None else state.parent.run_id,
        "prompt": state.prompt,
    }
