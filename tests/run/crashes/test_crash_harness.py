"""The crash matrix can fail: every wrong recovery that is put in its way is found, under the law that it breaks."""

from __future__ import annotations

from itertools import islice

import pytest
from crash_checks import findings
from crash_plans import BY_NAME, Plan
from crash_sabotage import SABOTAGES
from crash_trials import Laboratory, boundaries

CASES = {
    "repeats unsafe calls": ("unsafe", {"blind", "truth"}),
    "takes new keys": ("keyed async", {"duplicate"}),
    "asks nobody": ("reconcile async", {"duplicate"}),
    "says that it is done": ("unsafe async", {"truth"}),
    "says that nothing is known": ("keyed", {"truth", "lost"}),
    "keeps intents in memory": ("unsafe async", {"blind", "intent"}),
    "mixes up results": ("everything", {"history"}),
    "forgets what nested runs left": ("helpers asked again", {"blind"}),
    "runs finished calls again": ("idempotent", {"lost"}),
}


def test_every_sabotage_but_the_one_of_leases_is_tried_here() -> None:
    assert {*CASES, "grants every lease"} == set(SABOTAGES)


@pytest.mark.parametrize("sabotage", CASES)
def test_a_wrong_recovery_is_found(sabotage: str, laboratory: Laboratory) -> None:
    name, laws = CASES[sabotage]
    plan: Plan = BY_NAME[name]
    reference = laboratory.trial(plan)
    broken: set[str] = set()
    left = boundaries(reference)
    while some := list(islice(left, 8)):
        for trial in laboratory.trials(plan, some, sabotage=sabotage):
            broken |= {each.law for each in findings(trial, reference)}
        if laws <= broken:
            return
    pytest.fail(f"nothing of {sorted(laws - broken)} was found, only {sorted(broken)}")
