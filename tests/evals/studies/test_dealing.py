"""Dealing of jobs: each gets one result, and none is blamed for another, whoever dies and when."""

from __future__ import annotations

import random
import tempfile
from pathlib import Path

import process_studies
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wieldy.core.errors import RunError
from wieldy.evals.studies.dealing import MOST_DEATHS, Dealer
from wieldy.evals.studies.running import begun
from wieldy.evals.studies.study import Progress
from wieldy.evals.studies.workbench import trial_of
from wieldy.evals.verdicts.verdict import PASS

TASKS = 6


def nothing(progress: Progress) -> None:
    del progress


@settings(max_examples=25)  # each writes and syncs files
@given(st.sets(st.integers(0, TASKS - 1)), st.integers(1, 3), st.integers(1, 4), st.randoms(use_true_random=False))
def test_only_jobs_that_kill_their_workers_are_given_up(
    deadly: set[int], workers: int, jobs: int, chance: random.Random
) -> None:
    with tempfile.TemporaryDirectory() as name:
        study = process_studies.study(Path(name), TASKS)
        with begun(study) as folder:
            dealer = Dealer(study, folder, nothing)
            hands: list[set[int]] = [set() for _ in range(workers)]
            idle_deaths = 0
            while not dealer.is_done:
                if idle_deaths < MOST_DEATHS - 1 and chance.random() < 0.5:
                    dealer.lose(set(), "killed while it began")
                    idle_deaths += 1
                hand = chance.choice(hands)
                while len(hand) < jobs and (number := dealer.deal(hand)) is not None:
                    hand.add(number)
                if not hand:
                    continue
                number = chance.choice(sorted(hand))
                idle_deaths = 0
                if number in deadly:
                    dealer.lose(set(hand), "killed")
                    hand.clear()
                else:
                    hand.discard(number)
                    dealer.take(number, trial_of(study, folder.wanted[number], verdict=PASS))
            kinds = [folder.results.trials[job.key].verdict.kind for job in folder.wanted]
            assert kinds == ["unscored" if number in deadly else "pass" for number in range(TASKS)]


def test_workers_that_die_before_they_are_dealt_anything_end_the_study(tmp_path: Path) -> None:
    study = process_studies.study(tmp_path, TASKS)
    with begun(study) as folder:
        dealer = Dealer(study, folder, nothing)
        for _ in range(MOST_DEATHS - 1):
            dealer.lose(set(), "killed")
        with pytest.raises(RunError, match="before they have run anything"):
            dealer.lose(set(), "killed")
