"""A study, run in this process, with as many runs at once as wanted, and resumable at any point.

What is in the results is not run again, unless it could not be scored and that is wanted. A run that a killed process
left behind stays in the journal and counts for nothing; its trial is run anew, from a fresh start. Deliberately not
here: several processes (`processes`).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import anyio

from wieldy.core.errors import UsageError
from wieldy.evals.cases.configurations import ORACLE
from wieldy.evals.cases.deployments import PLACE, unasked_deployment, with_deployments, with_judges
from wieldy.evals.cases.results import BEGUN_BY, JOURNAL, STUDY, TASKS, Results, Trial, read_study, write_study
from wieldy.evals.studies.study import Job, Progress, Study, check_study, is_done, jobs_of
from wieldy.evals.studies.workbench import Deployments, Workbench
from wieldy.run.executor import first_of
from wieldy.run.journal import SqliteJournal

if TYPE_CHECKING:
    from wieldy.core.json import JsonObject
    from wieldy.core.ports import Journal

__all__ = ["ORACLE", "Progress", "Study", "begun", "check_study", "run_study", "tell_deployments"]

_LOCK: Final = "wieldy-eval"
"""The run id whose lease the study holds, so that no other process writes to the same folder."""


class Begun(NamedTuple):
    """A study whose folder is ours.

    Attributes:
        wanted: All of its jobs.
        left: Those that have no result that counts.
    """

    journal: Journal
    results: Results
    wanted: list[Job]
    left: list[Job]


async def run_study(study: Study, on_progress: Callable[[Progress], None]) -> list[Trial]:
    """All trials of the study, those from before included, in the order of the suite.

    Raises:
        UsageError: A configuration cannot be had as named, or the folder holds results of something else.
        ModelNotAvailableError: A model that is needed cannot be had.
        RunBusyError: Another process is at work in the folder.
        JournalError: The folder's journal cannot be used.
    """
    check_study(study)
    bench = Workbench(study)
    with begun(study) as folder:
        async with bench:
            if folder.left:
                tell_deployments(study, await bench.deployments(folder.left))
            await _work(study, folder, bench, on_progress)
        return [folder.results.trials[job.key] for job in folder.wanted]


@contextmanager
def begun(study: Study) -> Generator[Begun]:
    """The study's folder is ours, and open for its results.

    Raises:
        UsageError: It holds results of something else, or cannot be used.
        RunBusyError: Another process is at work in it.
        JournalError: Its journal cannot be used.
    """
    journal = _journal_in(study.folder)
    lease = journal.lease(_LOCK)  # before anything else of the folder is touched
    try:
        # Says at once whether this folder is the right one.
        known = {each.name: unasked_deployment(each, policy=study.policy_name(each)) for each in study.compared}
        _told(study, Deployments(known, {}))
        with Results(study.folder) as results:
            _check_whole(study.folder, results, journal)
            wanted = list(jobs_of(study))
            left = [job for job in wanted if not is_done(study, results, job)]
            if not left:  # what answered is known, but other tasks may have been there then
                write_study(study.folder, {**read_study(study.folder), TASKS: _digests(study)})
            yield Begun(journal, results, wanted, left)
    finally:
        lease.release()


def _check_whole(folder: Path, results: Results, journal: SqliteJournal) -> None:
    """Results stand beside what says of what they are, and beside their journal.

    Raises:
        UsageError: One of them is gone, and with it what keeps results of other things out.
    """
    if not results.trials:
        return
    if not read_study(folder).get("deployments"):
        raise UsageError(
            f"{folder}: there are {len(results.trials)} results here, and no {STUDY} that says of what. Put it back, "
            "or give another folder."
        )
    run = next((trial.runs[0] for trial in results.trials.values() if trial.runs), None)
    if run is not None and not journal.read(run):
        raise UsageError(
            f"{folder}: there are {len(results.trials)} results here, and {JOURNAL} does not have their runs. Put it "
            "back, or give another folder."
        )


def tell_deployments(study: Study, found: Deployments) -> None:
    """The folder says of which tasks its results count, what answers and who judges.

    Raises:
        UsageError: Its results are of something else.
    """
    write_study(study.folder, _told(study, found))


def _told(study: Study, found: Deployments) -> JsonObject:
    folder, suite = study.folder, study.suite
    source = suite.source if suite.file is None else {**suite.source, PLACE: _from(folder, suite.file)}
    told = with_deployments(folder, read_study(folder), suite=suite.name, source=source, found=found.configurations)
    if any(case.criterion is not None for case in suite.cases):
        told = with_judges(folder, told, {judge.name: {} for judge in study.judges} | found.judges)
    before = told.get(BEGUN_BY)
    programs = [*(before if isinstance(before, list) else []), study.begun_by or sys.argv[0]]
    return {**told, TASKS: _digests(study), BEGUN_BY: list(dict.fromkeys(map(str, programs)))}


def _digests(study: Study) -> JsonObject:
    return {case.id: case.digest for case in study.suite.cases}


def _from(folder: Path, file: Path) -> str:
    """The file as named from the folder: both may be moved together."""
    try:
        return Path(os.path.relpath(file.absolute(), folder.absolute())).as_posix()
    except ValueError:  # on another drive
        return file.absolute().as_posix()


def _journal_in(folder: Path) -> SqliteJournal:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{folder}: results cannot be written here: {error.strerror}. Name another folder.") from error
    return SqliteJournal(folder / JOURNAL)


async def _work(study: Study, folder: Begun, bench: Workbench, on_progress: Callable[[Progress], None]) -> None:
    total = len(folder.wanted)
    before = total - len(folder.left)
    on_progress(Progress(before, total, 0, None))
    waiting, ran = iter(folder.left), 0

    async def worker() -> None:
        nonlocal ran
        for job in waiting:  # shared: each takes what is next
            trial = await bench.run(job, folder.journal)
            folder.results.add(trial)
            ran += 1
            on_progress(Progress(before + ran, total, ran, trial))

    try:
        async with anyio.create_task_group() as group:
            for _ in range(min(study.jobs, len(folder.left))):
                group.start_soon(worker)
    except BaseExceptionGroup as several:
        raise first_of(several) from several
