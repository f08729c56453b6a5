"""A study swept over many machines by Ray, with one folder, one writer of results and one journal, all of them here.

A worker is a Ray actor with models and a journal of its own on its machine; with each trial it sends the entries of its
runs, which are added to the folder's journal as they were, their times included. Law: as `processes`. Wieldy, and what
the tasks name, must be on every machine; `make` is a function of a module there. Deliberately not here: starting a
cluster. Needs the extra `ray`, on Linux and macOS.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from wieldy.core.errors import UsageError
from wieldy.core.extras import installing
from wieldy.core.ports import Draft
from wieldy.evals.cases.results import JOURNAL, Trial
from wieldy.evals.studies.dealing import Dealer
from wieldy.evals.studies.running import begun
from wieldy.evals.studies.study import Progress, Study, check_study, jobs_of
from wieldy.evals.studies.workbench import Workbench
from wieldy.evals.studies.worker import Ready, digest_of, portable
from wieldy.run.journal import SqliteJournal
from wieldy.run.nested import entries_within
from wieldy.run.state import fold

if TYPE_CHECKING:
    from wieldy.core.ports import Entry, Journal


class _Swept(NamedTuple):
    """A job's trial, and the entries of all its runs."""

    number: int
    trial: Trial
    entries: list[Entry]


class Worker:
    """What runs on a machine of the cluster; Ray makes an actor of it."""

    def __init__(self, make: Callable[[], Study], left: Sequence[int]) -> None:
        self._make = make
        self._left = left
        self._journal = SqliteJournal(Path(tempfile.mkdtemp(prefix="wieldy-sweep-")) / JOURNAL)

    async def begin(self) -> Ready:
        """Models are open, and tell what they are."""
        study = self._make()  # here and not before: what it raises would only be the death of an actor
        self._jobs, self._bench = list(jobs_of(study)), Workbench(study)
        await self._bench.__aenter__()  # for as long as the actor lives, which is ended by being killed
        needed = [self._jobs[number] for number in self._left if number < len(self._jobs)]
        return Ready(await self._bench.deployments(needed), digest_of(self._jobs))

    async def run(self, number: int) -> _Swept:
        """A job's trial with everything that its runs recorded."""
        trial = await self._bench.run(self._jobs[number], self._journal)
        runs = (*trial.runs, *trial.judges)
        return _Swept(number, trial, [entry for run_id in runs for entry in _with_inner(self._journal, run_id)])


def _with_inner(journal: Journal, run_id: str) -> Iterator[Entry]:
    """The entries of a run, and of all runs below it."""
    entries = journal.read(run_id)
    yield from entries
    for call in fold(entries).calls:
        within = entries_within(journal, run_id, call)
        if within:
            yield from _with_inner(journal, within[0].run_id)


def run_on_cluster(
    make: Callable[[], Study], on_progress: Callable[[Progress], None], *, workers: int, address: str | None = None
) -> list[Trial]:
    """All trials of a study, those from before included, in the order of its suite; blocks.

    Args:
        make: Makes the study, here and on every machine: a function of a module, or a `partial` of one.
        on_progress: Told of each trial.
        workers: How many actors; each runs `study.jobs` trials at once.
        address: Of the cluster, as `ray.init` takes it: `auto` for the one that this machine belongs to, `local` for
            one that is started for this study. None: one that the program has connected to already.

    Raises:
        UsageError, ModelNotAvailableError, RunBusyError, JournalError: As `run_study`; also without Ray.
        RunError: A worker could not go on.
    """
    study = make()
    check_study(study)
    if workers < 1:
        raise UsageError(f"Expected at least one worker, found {workers}.")
    ray = _ray()
    is_ours = address is not None and not ray.is_initialized()
    if is_ours:
        ray.init(address=address, include_dashboard=False, log_to_driver=False)
    elif not ray.is_initialized():
        raise UsageError("Expected a connection to a Ray cluster, found none. Give its address.")
    try:
        with begun(study) as folder:
            sweep = _Sweep(ray, make, Dealer(study, folder, on_progress), study)
            try:
                sweep.run(workers)
            finally:
                sweep.end()
            return [folder.results.trials[job.key] for job in folder.wanted]
    finally:
        if is_ours:
            ray.shutdown()


def _ray() -> Any:  # an optional extra, which takes long to import
    try:
        return import_module("ray")
    except ImportError as error:
        raise UsageError(f"Sweeping over machines needs Ray ({error}). Run: {installing('ray')}") from error


class _Sweep:
    def __init__(self, ray: Any, make: Callable[[], Study], dealer: Dealer, study: Study) -> None:
        self._ray = ray
        self._make = make
        self._dealer = dealer
        self._jobs = study.jobs
        self._copy = _Copy(study.folder / JOURNAL)
        self._actors: list[Any] = []
        self._asked: dict[Any, tuple[Any, int | None]] = {}
        """By Ray's reference to an answer: who was asked, and for which job; None for the beginning."""

    def run(self, workers: int) -> None:
        """Every job has its result."""
        for _ in range(min(workers, len(self._dealer.left))):
            self._start()
        while not self._dealer.is_done:
            (reference,), _ = self._ray.wait(list(self._asked), num_returns=1)
            self._hear(reference)

    def end(self) -> None:
        """No actor is left."""
        for actor in self._actors:
            self._ray.kill(actor)

    def _start(self) -> None:
        made = self._ray.remote(max_concurrency=self._jobs + 1, max_restarts=0)(Worker)
        actor = made.remote(self._make, self._dealer.left)
        self._actors.append(actor)
        self._asked[actor.begin.remote()] = actor, None

    def _hear(self, reference: Any) -> None:
        actor, number = self._asked.pop(reference)
        try:
            said = self._ray.get(reference)
        except self._ray.exceptions.RayActorError as error:
            self._bury(actor, number, type(error).__name__)
            return
        except self._ray.exceptions.RayTaskError as error:
            raise portable(error.cause) from error
        if isinstance(said, Ready):
            self._dealer.welcome(said)
            self._hand_out(actor)
            return
        self._copy.add(said.entries)  # before the result, which names the runs
        self._dealer.take(said.number, said.trial)
        self._hand_out(actor)

    def _hand_out(self, actor: Any) -> None:
        in_hand = {job for own, job in self._asked.values() if own is actor and job is not None}
        while len(in_hand) < self._jobs:
            number = self._dealer.deal(in_hand)
            if number is None:
                return
            in_hand.add(number)
            self._asked[actor.run.remote(number)] = actor, number

    def _bury(self, actor: Any, number: int | None, how: str) -> None:
        if actor not in self._actors:
            return
        self._actors.remove(actor)
        lost = {reference: job for reference, (own, job) in self._asked.items() if own is actor}
        for reference in lost:
            del self._asked[reference]
        self._dealer.lose({job for job in (number, *lost.values()) if job is not None}, how)
        if self._dealer.has_more:
            self._start()


class _Copy:
    """A journal to which entries of others are added as they were recorded, by the clock of their machine."""

    def __init__(self, path: Path) -> None:
        self._time = 0.0
        self._journal = SqliteJournal(path, clock=lambda: self._time)

    def add(self, entries: Iterable[Entry]) -> None:
        """The entries are in the journal.

        Raises:
            JournalError: They cannot be written, or a run of that id is there already.
        """
        for entry in entries:
            self._time = entry.time
            self._journal.append(entry.run_id, Draft(entry.kind, entry.data), length=entry.sequence)
