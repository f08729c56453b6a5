"""A study run by several processes of this machine, each with models of its own, with one writer of results.

This process holds the folder, hands out jobs and writes their results; workers run them, recorded in the one journal.
A worker that dies is replaced, one whose master is gone ends at once. Deliberately not here: what becomes of jobs
(`dealing`), what a worker does (`worker`), several machines (`cluster`).
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from typing import TYPE_CHECKING, Any, Final

from wieldy.core.errors import RunError, UsageError
from wieldy.evals.cases.results import Trial
from wieldy.evals.studies.dealing import Dealer
from wieldy.evals.studies.running import begun
from wieldy.evals.studies.study import Progress, Study, check_study
from wieldy.evals.studies.worker import Failed, Finished, Ready, work

if TYPE_CHECKING:
    from multiprocessing.context import SpawnProcess

_PATIENCE_S: Final = 10.0
"""How long workers may take to end once there is nothing left to do, in seconds; then they are killed."""


@dataclass(slots=True, eq=False)
class _Worker:
    """A process, the way to it, and the numbers of the jobs that it has in hand."""

    process: SpawnProcess
    pipe: Connection
    in_hand: set[int] = field(default_factory=set[int])


def run_in_processes(
    make: Callable[[], Study], on_progress: Callable[[Progress], None], *, processes: int
) -> list[Trial]:
    """All trials of a study, those from before included, in the order of its suite; blocks.

    Args:
        make: Makes the study, in this process and in every worker: a function of a module, or a `partial` of one.
        on_progress: Told of each trial.
        processes: How many workers; each runs `study.jobs` trials at once.

    Raises:
        UsageError, ModelNotAvailableError, RunBusyError, JournalError: As `run_study`.
        RunError: A worker could not go on.
    """
    study = make()
    check_study(study)
    if processes < 1:
        raise UsageError(f"Expected at least one process, found {processes}.")
    with begun(study) as folder:
        dealer = Dealer(study, folder, on_progress)
        pool = _Pool(make, dealer, jobs=study.jobs)
        try:
            pool.run(min(processes, len(dealer.left)))
        finally:
            pool.end()
        return [folder.results.trials[job.key] for job in folder.wanted]


class _Pool:
    def __init__(self, make: Callable[[], Study], dealer: Dealer, *, jobs: int) -> None:
        self._make = make
        self._dealer = dealer
        self._jobs = jobs
        self._workers: list[_Worker] = []

    def run(self, processes: int) -> None:
        """Every job has its result."""
        for _ in range(processes):
            self._start()
        while not self._dealer.is_done:
            by_pipe = {worker.pipe: worker for worker in self._workers}
            for pipe in wait(list(by_pipe)):
                self._hear(by_pipe[pipe])  # pyright: ignore[reportArgumentType] - only pipes were waited for

    def end(self) -> None:
        """No worker is left."""
        for worker in self._workers:
            worker.pipe.close()  # at which it ends
        for worker in self._workers:
            worker.process.join(_PATIENCE_S)
            if worker.process.is_alive():
                worker.process.kill()
                worker.process.join()
            worker.process.close()

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")  # a forked copy of threads and connections would be none
        ours, theirs = context.Pipe()
        process = context.Process(target=work, args=(self._make, self._dealer.left, theirs), daemon=True)
        process.start()
        theirs.close()  # so that its death is the end of the pipe
        self._workers.append(_Worker(process, ours))

    def _hear(self, worker: _Worker) -> None:
        try:
            said: Any = worker.pipe.recv()
        except (EOFError, OSError):
            self._bury(worker)
            return
        match said:
            case Ready():
                self._dealer.welcome(said)
                self._hand_out(worker)
            case Finished():
                worker.in_hand.discard(said.number)
                self._dealer.take(said.number, said.trial)
                self._hand_out(worker)
            case Failed():
                raise said.error
            case _:
                raise RunError(f"Expected the result of a trial from a worker, found {said!r:.80}.")

    def _hand_out(self, worker: _Worker) -> None:
        while len(worker.in_hand) < self._jobs:
            number = self._dealer.deal(worker.in_hand)
            if number is None:
                return
            worker.in_hand.add(number)
            try:
                worker.pipe.send(number)
            except OSError:  # it is dead; that is heard next
                return

    def _bury(self, worker: _Worker) -> None:
        worker.process.join()
        code = worker.process.exitcode
        worker.pipe.close()
        worker.process.close()
        self._workers.remove(worker)
        self._dealer.lose(worker.in_hand, f"exit code {code}")
        if self._dealer.has_more:
            self._start()
