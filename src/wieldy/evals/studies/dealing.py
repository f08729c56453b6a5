"""Which job is next, and what becomes of those whose worker died: the same for processes and for machines.

Law: each job that was left gets exactly one result. Of several that were in hand when a worker died, nobody knows which
one it was: each is dealt again, to a worker that has nothing else in hand. One with which three workers died that had
nothing else in hand is given up as unscored: no job is blamed for another. Deliberately not here: workers, and how they
are reached.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Collection
from typing import Final

from wieldy.core.errors import RunError
from wieldy.evals.cases.results import Trial
from wieldy.evals.studies.running import Begun, tell_deployments
from wieldy.evals.studies.study import Progress, Study
from wieldy.evals.studies.workbench import trial_of
from wieldy.evals.studies.worker import Ready, digest_of
from wieldy.evals.verdicts.verdict import unscored

MOST_DEATHS: Final = 3
"""Of workers with the same job alone in hand; and of workers that had none, without a result in between."""


class Dealer:
    """The jobs of a study by their numbers.

    Attributes:
        left: Numbers of the jobs that had no result when the study was begun.
    """

    def __init__(self, study: Study, folder: Begun, on_progress: Callable[[Progress], None]) -> None:
        self._study = study
        self._folder = folder
        self._on_progress = on_progress
        numbers = {job.key: number for number, job in enumerate(folder.wanted)}
        self.left = [numbers[job.key] for job in folder.left]
        self._waiting = deque(self.left)
        self._suspects = deque[int]()
        self._alone = set[int]()
        """The jobs that were ever suspects."""
        self._deaths = Counter[int]()
        self._idle_deaths = 0
        self._digest = digest_of(folder.wanted)
        self._ran = 0
        self._tell(None)

    @property
    def is_done(self) -> bool:
        """Whether every job has its result."""
        return self._ran == len(self.left)

    @property
    def has_more(self) -> bool:
        """Whether a job waits for a worker."""
        return bool(self._waiting or self._suspects)

    def welcome(self, ready: Ready) -> None:
        """A worker may be dealt jobs.

        Raises:
            RunError: It has other jobs.
            UsageError: Something else answers there than the folder's results are of.
        """
        if ready.jobs != self._digest:
            raise RunError("The tasks were changed while the study was begun. Start it again.")
        tell_deployments(self._study, ready.deployments)

    def deal(self, in_hand: Collection[int]) -> int | None:
        """The number of the next job for a worker with these in hand; None if there is none for it now."""
        if not self._alone.isdisjoint(in_hand):
            return None
        if self._suspects and not in_hand:
            return self._suspects.popleft()
        return self._waiting.popleft() if self._waiting else None

    def take(self, number: int, trial: Trial) -> None:
        """A job has its result."""
        self._folder.results.add(trial)
        self._ran += 1
        self._idle_deaths = 0
        self._tell(trial)

    def lose(self, in_hand: Collection[int], how: str) -> None:
        """A worker died, with these jobs in hand.

        Raises:
            RunError: Workers die before they are dealt anything, and none brings a result meanwhile.
        """
        numbers = sorted(in_hand, reverse=True)
        self._idle_deaths = 0 if numbers else self._idle_deaths + 1
        if self._idle_deaths >= MOST_DEATHS:
            raise RunError(f"Workers die before they have run anything ({how}); is there enough memory?")
        self._alone.update(numbers)
        if len(numbers) == 1:
            self._deaths[numbers[0]] += 1
        for number in numbers:
            if self._deaths[number] < MOST_DEATHS:
                self._suspects.appendleft(number)
                continue
            words = f"worker-died: {MOST_DEATHS} processes died with this trial alone in hand, the last so: {how}"
            verdict = unscored("environment", words)
            self.take(number, trial_of(self._study, self._folder.wanted[number], verdict=verdict))

    def _tell(self, latest: Trial | None) -> None:
        total = len(self._folder.wanted)
        self._on_progress(Progress(total - len(self.left) + self._ran, total, self._ran, latest))
