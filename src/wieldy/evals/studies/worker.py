"""One worker of a study: told numbers of jobs by a pipe, it answers with trials, several at once.

Law: it ends, at once and with whatever it has in hand, when its master's end of the pipe is closed, so that none is
left behind by a master that was killed. Deliberately not here: handing out jobs (`processes`).
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterable, Sequence
from multiprocessing.connection import Connection
from typing import NamedTuple

import anyio
import anyio.to_thread

from wieldy.core.errors import RunError, WieldyError
from wieldy.core.json import digest
from wieldy.evals.cases.results import JOURNAL, Trial
from wieldy.evals.studies.study import Job, Study, jobs_of
from wieldy.evals.studies.workbench import Deployments, Workbench
from wieldy.run.executor import first_of
from wieldy.run.journal import SqliteJournal


class Ready(NamedTuple):
    """It can take jobs.

    Attributes:
        jobs: A digest of what it takes for the study's jobs, which must be what the master does.
    """

    deployments: Deployments
    jobs: str


class Finished(NamedTuple):
    """A job's trial."""

    number: int
    trial: Trial


class Failed(NamedTuple):
    """It cannot go on."""

    error: Exception


def work(make: Callable[[], Study], left: Sequence[int], pipe: Connection) -> None:
    """Runs jobs until the pipe is closed; does not return.

    Args:
        make: Makes the study.
        left: Numbers of the jobs that are left, some of which it will be told.
        pipe: To the master.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # who is at the keyboard means the master, which closes the pipe
    try:
        anyio.run(_work, make, left, pipe)
    except BaseException as error:
        _tell(pipe, Failed(portable(error)))
    os._exit(0)  # a tool that runs in a thread cannot be stopped, and the interpreter would wait for it


async def _work(make: Callable[[], Study], left: Sequence[int], pipe: Connection) -> None:
    study = make()
    jobs, journal = list(jobs_of(study)), SqliteJournal(study.folder / JOURNAL)
    async with Workbench(study) as bench, anyio.create_task_group() as group:
        needed = [jobs[number] for number in left if number < len(jobs)]
        _tell(pipe, Ready(await bench.deployments(needed), digest_of(jobs)))

        async def run(number: int) -> None:
            _tell(pipe, Finished(number, await bench.run(jobs[number], journal)))

        while True:
            try:
                number: int = await anyio.to_thread.run_sync(pipe.recv)
            except (EOFError, OSError):
                os._exit(0)
            group.start_soon(run, number)


def digest_of(jobs: Iterable[Job]) -> str:
    """The same for the same jobs in the same order."""
    return digest(*(job.key for job in jobs))


def _tell(pipe: Connection, said: Ready | Finished | Failed) -> None:
    try:
        pipe.send(said)
    except OSError:
        os._exit(0)


def portable(error: BaseException) -> Exception:
    """The error as the master can raise it: those of ours as they are, where they can be pickled, others in words."""
    cause = first_of(error)
    if isinstance(cause, WieldyError) and type(cause)(*cause.args).args == cause.args:
        return cause
    return RunError(f"A worker could not go on: {type(cause).__name__}: {cause}")
