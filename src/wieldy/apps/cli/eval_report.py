"""What results add up to, on standard output or in an HTML file.

Deliberately not here: adding up (`wieldy.evals.reports.reporting`), the file (`wieldy.evals.reports.page`).
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from rich.text import Text

from wieldy.apps.cli.failures import note
from wieldy.apps.cli.json_lines import print_json
from wieldy.apps.cli.terminal import out
from wieldy.apps.cli.untrusted import neutralise
from wieldy.core.errors import UsageError
from wieldy.core.json import JsonObject
from wieldy.evals.bfcl.board import board_rows
from wieldy.evals.cases.results import RESULTS
from wieldy.evals.reports.labels import JUDGE, read_labels
from wieldy.evals.reports.page import Redaction, StudyResults, merged, read_study_results, write_page
from wieldy.evals.reports.report_lines import report_lines
from wieldy.evals.reports.reporting import report_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from wieldy.evals.cases.results import Trial


EVALS = Path("evals")
"""Where results are kept unless something else is said."""


def show_report(
    folders: Sequence[Path],
    *,
    json: bool,
    html: Path | None = None,
    redact: Sequence[str] = (),
    baseline: str | None = None,
    labels: Path | None = None,
) -> None:
    """The report on the results in the folders; in the newest one if none is named.

    Args:
        folders: Those of studies of one set of tasks.
        json: Whether the rows are written as JSON.
        html: The file that the report is written to instead.
        redact: Regular expressions: what must not be in that file.
        baseline: The configuration with which the others are compared; every pair if left out.
        labels: A file of people's verdicts, for judges to be compared with.

    Raises:
        UsageError: There are none, or the file cannot be written.
    """
    redaction = Redaction(redact)
    if redact and html is None:
        raise UsageError("--redact says what is taken out of the file that --html names; there is none.")
    if html is not None and html.is_dir():
        raise UsageError(f"Expected --html with the name of a file, found the folder {html}.")
    studies = merged([read_study_results(folder) for folder in folders or (_newest(),)])
    if html is not None:
        _write_page(html, studies, partial(rows_of, baseline=baseline, labels=labels), redaction, json=json)
        return
    for words in (words for study in studies for words in study.notes):
        note(neutralise(words))
    rows = rows_of([trial for study in studies for trial in study.trials], baseline=baseline, labels=labels)
    if json:
        for row in rows:
            print_json(row)
        return
    print_lines(rows)


def _write_page(
    html: Path,
    studies: Sequence[StudyResults],
    rows: Callable[[Sequence[Trial]], list[JsonObject]],
    redaction: Redaction,
    *,
    json: bool,
) -> None:
    notes = write_page(html, studies, rows, redaction)
    for words in notes:
        note(neutralise(words))
    if redaction.patterns and not redaction.count:
        note("Nothing was redacted: no text matches.")
    size = html.stat().st_size
    if json:
        print_json({"file": str(html), "size_bytes": size, "redacted": redaction.count > 0, "notes": [*notes]})
    else:
        out().block(Text(f"The report is in {html} ({size:,} bytes). Open it in a browser."))


def _newest() -> Path:
    files = sorted(EVALS.glob(f"*/{RESULTS}"), key=lambda file: file.stat().st_mtime)
    if not files:
        raise UsageError(
            f"There are no results in {EVALS}/. Name the folder that `wieldy eval --out FOLDER` was given."
        )
    return files[-1].parent


def rows_of(trials: Sequence[Trial], *, baseline: str | None = None, labels: Path | None = None) -> list[JsonObject]:
    """The rows of the report, the leaderboard's own among them.

    Raises:
        UsageError: There is no such baseline, the file holds no labels of these trials, or none of them was judged.
    """
    known = {} if labels is None else read_labels(labels, trials)
    if labels is not None and not any(name.startswith(JUDGE) for trial in trials for name in trial.others):
        raise UsageError(f"{labels}: labels show how far judges agree with people, and no model has judged here.")
    boards = {str(row["configuration"]): row for row in board_rows(trials)}
    rows = list[JsonObject]()
    for row in report_rows(trials, baseline=baseline, labels=known):
        rows.append(row)
        if row["type"] == "configuration" and (board := boards.get(str(row["configuration"]))) is not None:
            rows.append(board)
    return rows


def print_lines(rows: Sequence[JsonObject]) -> None:
    """The rows for people."""
    print_text(report_lines(rows))


def print_text(lines: Sequence[str]) -> None:
    """Lines with their indent, which they keep where they wrap."""
    terminal = out()
    for line in lines:
        indent = " " * (len(line) - len(line.lstrip()))
        terminal.block(Text(neutralise(line.lstrip())), first=indent, rest=f"{indent}  ")
