"""`wieldy report --store`: results of many studies over time, and what has become worse.

Deliberately not here: keeping them (`wieldy.evals.reports.store`), finding changes (`wieldy.evals.reports.changes`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from wieldy.apps.cli.eval_report import print_text
from wieldy.apps.cli.failures import FAILED, note
from wieldy.apps.cli.json_lines import print_json
from wieldy.apps.cli.untrusted import neutralise
from wieldy.core.errors import UsageError
from wieldy.core.json import JsonObject
from wieldy.evals.reports.changes import Split, change_lines, change_rows, latest_split, slice_rows, split_by
from wieldy.evals.reports.plots import BEGINNING, rates_svg
from wieldy.evals.reports.replacing import check_replaceable
from wieldy.evals.reports.store import COLUMNS, TIMES, Store, Stored


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreWanted:
    """What the options say.

    Attributes:
        folders: Added first.
        only: KEY=VALUE, for the slice that is looked at.
        by: By which its trials are told apart.
        split: Two slices to compare; the last two values of `by` if left out.
    """

    path: Path
    folders: Sequence[Path]
    only: Sequence[str]
    by: str
    split: str | None
    plot: Path | None
    fails_on_regression: bool


def add_to_store(path: Path, folders: Sequence[Path]) -> None:
    """The results of the folders are in the store.

    Raises:
        UsageError: There are none, or the store cannot be used.
    """
    store = Store(path)
    for folder in folders:
        count = store.add(folder)
        note(f"{count} trials of {folder} are in {path}.")


def show_store(wanted: StoreWanted, *, json: bool) -> int:
    """What the store says is shown; the exit code is 1 on a regression, or where a result is lost, if that is wanted.

    Raises:
        UsageError: The store cannot be used, or there is no such slice.
    """
    _check(wanted)
    add_to_store(wanted.path, wanted.folders)
    store = Store(wanted.path)
    for name in store.refresh():
        note(f"{neutralise(name)}: its results are gone; the store has what was last read of them.")
    stored = store.trials(_only(wanted.only))
    if not stored:
        raise UsageError(f"{wanted.path}: there are no results of this slice.")
    rows, split = list(slice_rows(stored, wanted.by)), _split(wanted, stored)
    if wanted.plot is not None:
        _write_plot(wanted.plot, rates_svg(rows))
    changes = [] if split is None else change_rows(split)
    rows += changes
    if split is not None:
        _note_what_is_missing(split, changes)
    elif wanted.fails_on_regression:
        note(f"Nothing could be compared: there is one {wanted.by} only.")
    if json:
        for row in rows:
            print_json(row)
    else:
        print_text(change_lines(rows)[1:])
    is_worse = any(row.get("is_regression") or row.get("is_lost") for row in changes)
    return FAILED if wanted.fails_on_regression and is_worse else 0


def _check(wanted: StoreWanted) -> None:
    """What cannot be is said before anything is touched."""
    if not wanted.folders and not wanted.path.exists():
        raise UsageError(
            f"{wanted.path}: there is no store. `wieldy report FOLDER... --store {wanted.path}` makes one."
        )
    if wanted.by not in (*COLUMNS, *TIMES):
        raise UsageError(f"Expected --by one of {', '.join((*COLUMNS, *TIMES))}, found {wanted.by!r}.")
    if wanted.plot is not None:
        check_replaceable(wanted.plot, BEGINNING, "such a plot")


def _note_what_is_missing(split: Split, changes: Sequence[JsonObject]) -> None:
    if not any(row["type"] == "change" for row in changes):
        note("Nothing could be compared: no kind of task has two clusters scored in both.")
    lost = sum(row.get("is_lost") is True for row in changes)
    if lost:
        kinds = "One kind" if lost == 1 else f"{lost} kinds"
        before, after = neutralise(split.before), neutralise(split.after)
        note(f"{kinds} of task scored in {before}: nothing of it is scored in {after}, or less than half.")


def _split(wanted: StoreWanted, stored: Sequence[Stored]) -> Split | None:
    """What is compared; None where there is only one slice, as after the first study."""
    if wanted.split is not None:
        return split_by(wanted.split, stored)
    return latest_split(wanted.by, stored) if len({each.slice(wanted.by) for each in stored}) > 1 else None


def _only(conditions: Sequence[str]) -> dict[str, str]:
    found = dict[str, str]()
    for condition in conditions:
        key, equals, value = condition.partition("=")
        if not equals or key in found:
            raise UsageError(f"Expected --only KEY=VALUE, each key once, found {condition!r}.")
        found[key] = value
    return found


def _write_plot(path: Path, svg: str) -> None:
    try:
        path.write_text(svg, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{path}: the plot cannot be written: {error.strerror}.") from error
    note(f"The plot is in {path}.")
