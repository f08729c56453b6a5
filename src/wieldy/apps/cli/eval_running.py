"""`wieldy eval`: the study that is meant, run with progress and time left, and what it adds up to.

Deliberately not here: running tasks (`wieldy.evals.running`), how progress looks (`eval_progress`).
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
from rich.text import Text

from wieldy.apps.cli.asking import ask_about_effects
from wieldy.apps.cli.download import fetch_embedded
from wieldy.apps.cli.eval_progress import progress_on
from wieldy.apps.cli.eval_report import EVALS, print_lines, rows_of
from wieldy.apps.cli.failures import FAILED, note
from wieldy.apps.cli.json_lines import JsonLines
from wieldy.apps.cli.terminal import err, out
from wieldy.core.errors import UsageError
from wieldy.evals.bfcl.categories import categories_named
from wieldy.evals.bfcl.fetching import fetch
from wieldy.evals.bfcl.suite import bfcl_suite
from wieldy.evals.datasets import suite_from
from wieldy.evals.running import Progress, Study, run_study
from wieldy.evals.template import PYTHON_TEMPLATE, template_lines
from wieldy.evals.verdicts import SCORED
from wieldy.run.policy import Allow, Decision, Deny, Proposal, allow_all

if TYPE_CHECKING:
    from wieldy.agent.parts import Strategy
    from wieldy.evals.cases import Suite
    from wieldy.evals.results import Trial

BFCL = "bfcl"
_NOT_YET = ("agentdojo", "tau2")


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What the options say."""

    name: str
    models: tuple[str, ...]
    limit: int | None
    categories: tuple[str, ...]
    trials: int
    jobs: int
    strategy: Strategy | None
    folder: Path | None
    data: Path | None
    reruns_unscored: bool
    lets_change: bool


def evaluate_tasks(wanted: Wanted, *, json: bool) -> int:
    """The tasks are run and judged, and the report is shown; the exit code is 1 if nothing could be scored.

    Raises:
        UsageError: There are no such tasks, or the folder holds something else.
    """
    suite = _suite(wanted)
    study = Study(
        suite=suite,
        models=wanted.models,
        folder=wanted.folder or EVALS / Path(wanted.name).name.replace(".", "-"),
        trials=wanted.trials,
        jobs=wanted.jobs,
        strategy=wanted.strategy,
        policy=allow_all if wanted.lets_change else _refuse_to_change,
        reruns_unscored=wanted.reruns_unscored,
    )
    if any(model.strip().lower() == "local" for model in wanted.models):
        fetch_embedded()
    with ExitStack() as opened:
        on_progress = progress_on(err(), opened)
        lines = opened.enter_context(JsonLines()) if json else None
        trials = anyio.run(partial(run_study, study, _telling(on_progress, lines)))
        if lines is not None:
            for row in rows_of(trials):
                lines.write(row)
    if not json:
        print_lines(rows_of(trials))
        out().block(Text(f"\nThe results are in {study.folder}; `wieldy report {study.folder}` shows them again."))
    if any(trial.verdict.kind in SCORED for trial in trials):
        return 0
    note("Nothing could be scored; the reasons are in the report.")
    return FAILED


def _telling(on_progress: Callable[[Progress], None], lines: JsonLines | None) -> Callable[[Progress], None]:
    def tell(progress: Progress) -> None:
        on_progress(progress)
        if lines is not None and progress.latest is not None:
            lines.write(_trial_row(progress.latest))

    return tell


def _trial_row(trial: Trial) -> dict[str, object]:
    return {"type": "trial", **trial.to_json()}


def _suite(wanted: Wanted) -> Suite:
    if wanted.name == BFCL:
        categories = categories_named(wanted.categories)
        place = wanted.data or fetch(tell=lambda words: err().block(Text(words)))
        return bfcl_suite(place, categories, limit=wanted.limit)
    if wanted.name.lower() in _NOT_YET:
        raise UsageError(f"{wanted.name!r} cannot be run yet. There are {BFCL!r} and files of tasks.")
    path = Path(wanted.name)
    if path.suffix not in (".jsonl", ".py"):
        raise UsageError(f"Expected {BFCL!r} or a file of tasks (FILE.jsonl, FILE.py), found {wanted.name!r}.")
    return suite_from(path, limit=wanted.limit)


def _refuse_to_change(proposal: Proposal) -> Decision:
    """As `wieldy run` where nobody can be asked: what it would ask about is denied."""
    asked = ask_about_effects(proposal)
    return asked if isinstance(asked, Allow) else Deny(reason="it may change something, and --yes was not given")


def write_template(path: Path) -> None:
    """The file holds tasks to start from.

    Raises:
        UsageError: The name ends in neither .jsonl nor .py, or the file exists.
    """
    if path.suffix not in (".jsonl", ".py"):
        raise UsageError(f"Expected a file whose name ends in .jsonl or .py, found {str(path)!r}.")
    content = PYTHON_TEMPLATE if path.suffix == ".py" else "".join(f"{line}\n" for line in template_lines())
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(content)
    except FileExistsError as error:
        raise UsageError(f"{path} exists already, and is left as it is. Name another file.") from error
    out().block(Text(f"Tasks to start from are in {path}. Run them: wieldy eval {path} --model script:oracle"))
