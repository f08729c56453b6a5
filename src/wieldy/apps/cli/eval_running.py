"""`wieldy eval`: the study that is meant, run with progress and time left, and what it adds up to.

Deliberately not here: running tasks (`wieldy.evals.studies.running`), how progress looks (`eval_progress`).
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
from wieldy.apps.cli.eval_store import add_to_store
from wieldy.apps.cli.eval_studies import change_wanted, tau2_wanted
from wieldy.apps.cli.failures import FAILED, note
from wieldy.apps.cli.json_lines import JsonLines
from wieldy.apps.cli.terminal import err, out
from wieldy.core.errors import UsageError
from wieldy.evals.agentdojo.suite import POLICIES, agentdojo_suite
from wieldy.evals.agentdojo.suite import categories_named as agentdojo_categories
from wieldy.evals.bfcl.categories import categories_named
from wieldy.evals.bfcl.fetching import fetch
from wieldy.evals.bfcl.suite import bfcl_suite
from wieldy.evals.cases.configurations import Configuration, ablations, grid
from wieldy.evals.studies.cluster import run_on_cluster
from wieldy.evals.studies.judges import judges_named
from wieldy.evals.studies.processes import run_in_processes
from wieldy.evals.studies.running import Progress, Study, run_study
from wieldy.evals.tasks.datasets import suite_from
from wieldy.evals.tasks.template import PYTHON_TEMPLATE, template_lines
from wieldy.evals.verdicts.verdict import SCORED
from wieldy.run.policy import Allow, Decision, Deny, Proposal, allow_all

if TYPE_CHECKING:
    from wieldy.evals.cases.case import Suite
    from wieldy.evals.cases.results import Trial

BFCL = "bfcl"
AGENTDOJO = "agentdojo"
TAU2 = "tau2"


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What the options say."""

    name: str
    models: tuple[str, ...]
    limit: int | None
    categories: tuple[str, ...]
    trials: int
    jobs: int
    processes: int
    ray: str | None
    grid: tuple[str, ...]
    ablate: tuple[str, ...]
    judges: tuple[str, ...]
    judge_seed: int | None
    user: str | None
    variants: bool
    scale: tuple[str, ...]
    baseline: str | None
    store: Path | None
    folder: Path | None
    data: Path | None
    reruns_unscored: bool
    begun_by: str
    lets_change: bool


def evaluate_tasks(wanted: Wanted, *, json: bool) -> int:
    """The tasks are run and judged, and the report is shown; the exit code is 1 if nothing could be scored.

    Raises:
        UsageError: There are no such tasks, or the folder holds something else.
    """
    with ExitStack() as opened:
        lines = opened.enter_context(JsonLines()) if json else None  # before a file of tasks is run, which may print
        study = study_of(wanted)
        _check(study, wanted)
        on_progress = progress_on(err(), opened)
        try:
            trials = _run(wanted, study, _telling(on_progress, lines))
        except KeyboardInterrupt:
            note(f"What was finished is in {study.folder}. To go on, run again: {wanted.begun_by}")
            raise
        if lines is not None:
            for row in rows_of(trials, baseline=wanted.baseline):
                lines.write(row)
    if not json:
        print_lines(rows_of(trials, baseline=wanted.baseline))
        out().block(Text(f"\nThe results are in {study.folder}; `wieldy report {study.folder}` shows them again."))
    if wanted.store is not None:
        add_to_store(wanted.store, [study.folder])
    if any(trial.verdict.kind in SCORED for trial in trials):
        return 0
    note("Nothing could be scored; the reasons are in the report.")
    return FAILED


def _check(study: Study, wanted: Wanted) -> None:
    """What would be of no use after hours of work is refused before, and weights are fetched."""
    if study.judges and all(case.criterion is None for case in study.suite.cases):
        raise UsageError(f"Expected tasks with a criterion (`judge`) for --judge, found none in {wanted.name}.")
    names = [each.name for each in study.compared]
    if wanted.baseline is not None and wanted.baseline not in names:
        raise UsageError(f"Expected --baseline to be one of {', '.join(names)}, found {wanted.baseline!r}.")
    if any(model.strip().lower() == "local" for model in (*wanted.models, *wanted.judges)):
        fetch_embedded()


def _run(wanted: Wanted, study: Study, on_progress: Callable[[Progress], None]) -> list[Trial]:
    if wanted.ray is not None:
        make = partial(study_of, wanted)
        return run_on_cluster(make, on_progress, workers=wanted.processes, address=wanted.ray)
    if wanted.processes == 1:
        return anyio.run(run_study, study, on_progress)
    return run_in_processes(partial(study_of, wanted), on_progress, processes=wanted.processes)


def study_of(wanted: Wanted) -> Study:
    """What is to be run; every process makes it for itself.

    Raises:
        UsageError: There are no such tasks, models or settings.
    """
    return Study(
        suite=_suite(wanted),
        configurations=tuple(_configurations(wanted)),
        folder=wanted.folder or EVALS / Path(wanted.name).name.replace(".", "-"),
        trials=wanted.trials,
        jobs=wanted.jobs,
        # What AgentDojo's tools change is not real.
        policy=allow_all if wanted.lets_change or _is_pretended(wanted.name) else _refuse_to_change,
        policies={"read-only": _refuse_to_change, **(POLICIES if wanted.name == AGENTDOJO else {"allow": allow_all})},
        judges=judges_named(wanted.judges, seed=wanted.judge_seed),
        reruns_unscored=wanted.reruns_unscored,
        begun_by=wanted.begun_by,
    )


def _configurations(wanted: Wanted) -> list[Configuration]:
    axes = dict[str, list[str]]()
    for axis in wanted.grid:
        name, equals, values = axis.partition("=")
        if not equals or not values or name in axes:
            raise UsageError(f"Expected --grid SETTING=VALUE,... once for each setting, found {axis!r}.")
        axes[name.strip()] = [value.strip() for value in values.split(",")]
    twice = next((model for model in wanted.models if wanted.models.count(model) > 1), None)
    if twice is not None:
        raise UsageError(f"Expected each --model once, found {twice!r} twice. For several trials there is --trials.")
    plain = [Configuration(model=model) for model in wanted.models]
    return ablations(grid(plain, axes), wanted.ablate)


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
    if wanted.name == AGENTDOJO:
        return agentdojo_suite(agentdojo_categories(wanted.categories), place=wanted.data, limit=wanted.limit)
    if wanted.name == TAU2:
        return tau2_wanted(
            wanted.categories, user=wanted.user, wheel=wanted.data, limit=wanted.limit, assertions=bool(wanted.judges)
        )
    path = Path(wanted.name)
    if path.suffix not in (".jsonl", ".py"):
        raise UsageError(
            f"Expected {BFCL!r}, {AGENTDOJO!r}, {TAU2!r} or a file of tasks (FILE.jsonl, FILE.py), found "
            f"{wanted.name!r}."
        )
    change = change_wanted(wanted.scale, variants=wanted.variants, data=wanted.data)
    return suite_from(path, limit=wanted.limit, change=change)


def _is_pretended(name: str) -> bool:
    """Whether no tool there reaches anything real: all are environments, or say what they are told to."""
    return name in (AGENTDOJO, TAU2) or name.endswith(".jsonl")


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
