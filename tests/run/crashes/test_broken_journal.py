"""A journal that cannot be written in the middle of a run: the error says so, and nothing is lost or done twice."""

from __future__ import annotations

import pytest
from crash_checks import findings
from crash_plans import CONSENT
from crash_trials import Death, Laboratory, Trial


@pytest.fixture(scope="module")
def reference(laboratory: Laboratory) -> Trial:
    return laboratory.trial(CONSENT)


def errors(trial: Trial) -> list[str]:
    """What processes said whose journal could not be written."""
    return [life.told["message"] for life in trial.lives if life.lost_its_journal and life.told is not None]


def test_a_full_disk_is_named_and_the_run_goes_on_when_there_is_room(laboratory: Laboratory, reference: Trial) -> None:
    sizes = range(20_000, 220_000, 10_000)
    trials = laboratory.trials(CONSENT, ([Death(moment="full", number=size)] for size in sizes))
    places: set[int] = set()
    for size, trial in zip(sizes, trials, strict=True):
        assert findings(trial, reference) == [], size
        for message in errors(trial):
            assert "cannot be" in message, message
            assert "disk" in message, message
            assert "is kept" in message, message
            places.add(sum(map(len, trial.lives[0].journal.values())))
    assert len(places) > 5, "runs were stopped at different entries"


def test_a_journal_that_becomes_read_only_is_named_and_the_run_goes_on_when_it_can_be_written(
    laboratory: Laboratory, reference: Trial
) -> None:
    numbers = range(1, 25)
    trials = laboratory.trials(CONSENT, ([Death(moment="read-only", number=number)] for number in numbers))
    for number, trial in zip(numbers, trials, strict=True):
        assert findings(trial, reference) == [], number
        (message,) = errors(trial)
        assert "read-only" in message
