"""What results add up to, on standard output. Deliberately not here: adding up (`wieldy.evals.reporting`)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rich.text import Text

from wieldy.apps.cli.json_lines import print_json
from wieldy.apps.cli.terminal import out
from wieldy.apps.cli.untrusted import neutralise
from wieldy.core.errors import UsageError
from wieldy.core.json import JsonObject
from wieldy.evals.bfcl.board import board_rows
from wieldy.evals.report_lines import report_lines
from wieldy.evals.reporting import report_rows
from wieldy.evals.results import RESULTS, latest, read_trials

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wieldy.evals.results import Trial


EVALS = Path("evals")
"""Where results are kept unless something else is said."""


def show_report(folder: Path | None, *, json: bool) -> None:
    """The report on the results in the folder; in the newest one if none is named.

    Raises:
        UsageError: There are none.
    """
    folder = folder or _newest()
    trials = latest(read_trials(folder))
    if not trials:
        raise UsageError(f"{folder}: there is no result in it yet. `wieldy eval` writes them.")
    rows = rows_of(trials)
    if json:
        for row in rows:
            print_json(row)
        return
    print_lines(rows)


def _newest() -> Path:
    files = sorted(EVALS.glob(f"*/{RESULTS}"), key=lambda file: file.stat().st_mtime)
    if not files:
        raise UsageError(
            f"There are no results in {EVALS}/. Name the folder that `wieldy eval --out FOLDER` was given."
        )
    return files[-1].parent


def rows_of(trials: Sequence[Trial]) -> list[JsonObject]:
    """The rows of the report, the leaderboard's own among them."""
    boards = {str(row["configuration"]): row for row in board_rows(trials)}
    rows = list[JsonObject]()
    for row in report_rows(trials):
        rows.append(row)
        if row["type"] == "configuration" and (board := boards.get(str(row["configuration"]))) is not None:
            rows.append(board)
    return rows


def print_lines(rows: Sequence[JsonObject]) -> None:
    """The rows for people."""
    terminal = out()
    for line in report_lines(rows):
        indent = " " * (len(line) - len(line.lstrip()))
        terminal.block(Text(neutralise(line.lstrip())), first=indent, rest=f"{indent}  ")
