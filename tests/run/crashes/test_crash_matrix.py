"""Whatever is killed when, nothing is done twice, nothing is lost, and nobody is told what is not so: the short form.

`scripts/crash_matrix.py` is the long one: all plans, all boundaries, and many random times.
"""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from crash_checks import Finding, findings
from crash_plans import ASKED_AGAIN, CONSENT, EVERYTHING, PLANS, Plan, effects_of
from crash_trials import Laboratory, Trial, boundaries, random_deaths


@pytest.fixture(scope="module")
def references(laboratory: Laboratory) -> dict[str, Trial]:
    """Each plan as it goes when nobody is killed."""
    return {plan.name: laboratory.trial(plan) for plan in PLANS}


def told(found: list[Finding], deaths: object) -> str:
    return "\n".join([f"killed {deaths}", *map(str, found)])


@pytest.mark.parametrize("plan", PLANS, ids=lambda plan: plan.name)
def test_a_run_that_nobody_kills_keeps_every_law(plan: Plan, references: dict[str, Trial]) -> None:
    reference = references[plan.name]
    assert findings(reference, reference) == []
    happened = [act["operation"] for act in reference.log if act.get("took_effect")]
    assert set(happened) == set(effects_of(plan))
    assert reference.kills == 0


@pytest.mark.parametrize(
    ("plan", "step"), [(EVERYTHING, 2), (ASKED_AGAIN, 1)], ids=["everything", "helpers asked again"]
)
def test_a_process_may_die_at_any_boundary(
    plan: Plan, step: int, laboratory: Laboratory, references: dict[str, Trial]
) -> None:
    """At every second one, of the plan that has the most."""
    reference = references[plan.name]
    all_deaths = list(boundaries(reference))[::step]
    assert len(all_deaths) > 50
    for deaths, trial in zip(all_deaths, laboratory.trials(plan, all_deaths), strict=True):
        assert trial.kills == 1
        found = findings(trial, reference)
        assert not found, told(found, [str(death) for death in deaths])


@pytest.mark.parametrize("plan", PLANS, ids=lambda plan: plan.name)
def test_processes_may_die_at_any_time_one_after_the_other(
    plan: Plan, laboratory: Laboratory, references: dict[str, Trial]
) -> None:
    random, reference = Random(plan.name), references[plan.name]
    all_deaths = [random_deaths(reference, random) for _ in range(5)]
    trials = laboratory.trials(plan, all_deaths)
    for deaths, trial in zip(all_deaths, trials, strict=True):
        found = findings(trial, reference)
        assert not found, told(found, [str(death) for death in deaths])
    assert any(trial.kills for trial in trials)


def test_a_run_in_a_database_survives_crashes_as_one_in_a_file(postgres: Any) -> None:
    plan, random = CONSENT, Random("database")
    with Laboratory(postgres_url=postgres.url) as laboratory:
        reference = laboratory.trial(plan)
        assert findings(reference, reference) == []
        all_deaths = [random_deaths(reference, random) for _ in range(12)]
        trials = laboratory.trials(plan, all_deaths)
    for deaths, trial in zip(all_deaths, trials, strict=True):
        found = findings(trial, reference)
        assert not found, told(found, [str(death) for death in deaths])
    assert any(trial.kills for trial in trials)
