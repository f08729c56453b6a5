"""A study: cases times configurations times trials, run at once as far as wanted, and resumable at any point.

What is in the results is not run again, unless it could not be scored and that is wanted. A run that a killed process
left behind stays in the journal and counts for nothing; its trial is run anew, from a fresh start.
"""

from __future__ import annotations

import platform
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import anyio

from wieldy.agent.parts import resolved
from wieldy.core.errors import UsageError
from wieldy.core.json import digest
from wieldy.evals.cases import Attempt, Case, Suite
from wieldy.evals.results import JOURNAL, Results, Trial, read_study, write_study
from wieldy.evals.verdicts import Verdict, unscored
from wieldy.run.executor import first_of
from wieldy.run.journal import SqliteJournal
from wieldy.run.policy import Policy, allow_all
from wieldy.run.state import fold

if TYPE_CHECKING:
    from wieldy.agent.parts import Strategy
    from wieldy.core.json import JsonObject
    from wieldy.core.ports import Journal, Model

ORACLE: Final = "script:oracle"
_LOCK: Final = "wieldy-eval"
"""The run id whose lease the study holds, so that no other process writes to the same folder."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Study:
    """What is to be run.

    Attributes:
        models: Names, as `Agent(model=...)` takes them, and `script:oracle`.
        trials: Of each case with each model.
        jobs: How many runs at once.
        strategy: How a local model is led; None for what an `Agent` would do.
        policy: Asked before a call of a task is carried out.
        reruns_unscored: Whether trials are run again that could not be scored.
    """

    suite: Suite
    models: tuple[str, ...]
    folder: Path
    trials: int = 1
    jobs: int = 1
    strategy: Strategy | None = None
    policy: Policy = allow_all
    reruns_unscored: bool = False

    def configuration(self, model: str) -> str:
        """The name under which results of the model stand."""
        return model if self.strategy is None else f"{model} ({self.strategy})"


class Progress(NamedTuple):
    """How far a study is.

    Attributes:
        done: Trials that are in the results, those from before included.
        ran: Trials that were run since the study was started.
        latest: The one that was added last; None at the beginning.
    """

    done: int
    total: int
    ran: int
    latest: Trial | None


class _Job(NamedTuple):
    case: Case
    name: str
    trial: int


async def run_study(study: Study, on_progress: Callable[[Progress], None]) -> list[Trial]:
    """All trials of the study, those from before included, in the order of the suite.

    Raises:
        UsageError: A model cannot be had as named, or the folder holds results of something else.
        RunBusyError: Another process is at work in the folder.
        JournalError: The folder's journal cannot be used.
    """
    _check(study)
    models = {name: None if name == ORACLE else resolved(name) for name in study.models}
    journal = _journal_in(study.folder)
    lease = journal.lease(_LOCK)  # before anything else of the folder is touched
    try:
        write_study(study.folder, _described(study, read_study(study.folder)))
        with Results(study.folder) as results:
            wanted = list(_jobs(study))
            left = [job for job in wanted if not _is_done(study, results, job)]
            async with AsyncExitStack() as opened:
                for model in models.values():
                    if isinstance(model, AbstractAsyncContextManager):
                        await opened.enter_async_context(model)
                await _work(study, left, models, results, journal, on_progress, total=len(wanted))
            return [results.trials[_key(study, job)] for job in wanted]
    finally:
        lease.release()


def _journal_in(folder: Path) -> SqliteJournal:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{folder}: results cannot be written here: {error.strerror}. Name another folder.") from error
    return SqliteJournal(folder / JOURNAL)


def _check(study: Study) -> None:
    if study.trials < 1 or study.jobs < 1:
        raise UsageError(f"Expected at least one trial and one job, found {study.trials} and {study.jobs}.")
    if not study.suite.cases:
        raise UsageError("Expected at least one task, found none.")
    other = next((name for name in study.models if name.startswith("script:") and name != ORACLE), None)
    if other is not None:
        raise UsageError(f"Of the scripted models only {ORACLE!r} is there so far, found {other!r}.")


def _jobs(study: Study) -> Iterator[_Job]:
    """Trial by trial, so that what is broken off has as much of every task as possible."""
    for trial in range(study.trials):
        for name in study.models:
            for case in study.suite.cases:
                yield _Job(case, name, trial)


def _key(study: Study, job: _Job) -> tuple[str, str, int, str]:
    return job.case.id, study.configuration(job.name), job.trial, job.case.digest


def _is_done(study: Study, results: Results, job: _Job) -> bool:
    found = results.trials.get(_key(study, job))
    return found is not None and not (study.reruns_unscored and found.verdict.kind == "unscored")


async def _work(
    study: Study,
    left: list[_Job],
    models: dict[str, Model | None],
    results: Results,
    journal: Journal,
    on_progress: Callable[[Progress], None],
    *,
    total: int,
) -> None:
    before = total - len(left)
    on_progress(Progress(before, total, 0, None))
    waiting, ran = iter(left), 0

    async def worker() -> None:
        nonlocal ran
        for job in waiting:  # shared: each takes what is next
            trial = await _run(study, job, models[job.name], journal)
            results.add(trial)
            ran += 1
            on_progress(Progress(before + ran, total, ran, trial))

    try:
        async with anyio.create_task_group() as group:
            for _ in range(min(study.jobs, len(left))):
                group.start_soon(worker)
    except BaseExceptionGroup as several:
        raise first_of(several) from several


async def _run(study: Study, job: _Job, model: Model | None, journal: Journal) -> Trial:
    case, configuration = job.case, study.configuration(job.name)
    metadata: JsonObject = {
        "eval": study.suite.name,
        "task": case.id,
        "configuration": configuration,
        "trial": job.trial,
    }
    try:
        run_id = await case.run(Attempt(model or case.oracle(), journal, study.strategy, study.policy, metadata))
    except UsageError as error:  # one task that cannot be run says nothing of the others
        return _trial(study, job, verdict=unscored("task", f"cannot-begin: {error}"))
    entries = journal.read(run_id)
    judged, state = case.judge(entries), fold(entries)
    return _trial(
        study,
        job,
        run_id=run_id,
        verdict=judged.verdict,
        others=dict(judged.others),
        stop_reason=state.stop_reason,
        input_tokens=state.usage.input_tokens,
        output_tokens=state.usage.output_tokens,
        requests=state.usage.requests,
        calls=len(state.calls),
        cost_usd=state.usage.cost_usd,
        duration_s=max(0.0, entries[-1].time - entries[0].time),
    )


def _trial(
    study: Study,
    job: _Job,
    *,
    verdict: Verdict,
    others: dict[str, Verdict] | None = None,
    run_id: str = "",
    **became: Any,
) -> Trial:
    case = job.case
    return Trial(
        suite=study.suite.name,
        task=case.id,
        category=case.category,
        cluster=case.cluster,
        digest=case.digest,
        configuration=study.configuration(job.name),
        trial=job.trial,
        run_id=run_id,
        verdict=verdict,
        others=others or {},
        **became,
    )


def _described(study: Study, before: JsonObject) -> JsonObject:
    """What is run, with what was in the folder before.

    Raises:
        UsageError: That was another suite, or the same configuration of another deployment.
    """
    if before and before.get("suite") != study.suite.name:
        raise UsageError(
            f"{study.folder}: expected results of {study.suite.name!r}, found those of {before.get('suite')!r}. "
            "Give another folder."
        )
    known = before.get("deployments")
    deployments: JsonObject = dict(known) if isinstance(known, dict) else {}
    for name in study.models:
        configuration, deployment = study.configuration(name), _deployment(study, name)
        if configuration in deployments and digest(deployments[configuration]) != digest(deployment):
            raise UsageError(
                f"{study.folder}: expected results of {configuration!r} from the deployment {deployment}, found those "
                f"of {deployments[configuration]}. Results of both in one table would mislead: give another folder."
            )
        deployments[configuration] = deployment
    return {"suite": study.suite.name, "source": study.suite.source, "deployments": deployments}


def _deployment(study: Study, name: str) -> JsonObject:
    """Everything that is known of what answers, never a mere name."""
    return {
        "model": name,
        "strategy": study.strategy,
        "harness": version("wieldy"),
        "python": platform.python_version(),
        "system": f"{sys.platform} {platform.machine()}",
    }
