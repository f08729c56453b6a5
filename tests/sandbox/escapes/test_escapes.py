"""Nothing that code tries gets it out of a tier, though each attempt succeeds where nothing isolates.

Each attempt is tried in one of the two tiers, and every second one where nothing isolates; each kind in all.
`scripts/evidence_escapes.py` tries all of them everywhere and prints a table.
"""

from __future__ import annotations

from collections import Counter
from functools import cache

import pytest
from escape_runs import KINDS_BY_USER, run_of, users_here
from escape_snippets import KINDS, Attempt, all_attempts, every_second

from wieldy import sandbox

ATTEMPTS = all_attempts()
HALVES: dict[str, int] = {"control": 0, "jail-ns": 0, "jail": 1}
"""Which half of the attempts is tried where."""


def tried_in(host: str) -> tuple[Attempt, ...]:
    return every_second(ATTEMPTS, HALVES[host])


@cache
def working_tiers() -> frozenset[str]:
    return frozenset(tier.name for tier in sandbox.probe() if tier.works) | frozenset(
        tier.name for tier in sandbox.probe(python="/usr/bin/python3") if tier.works
    )


def test_every_kind_of_attempt_is_there() -> None:
    counted = Counter(attempt.kind for attempt in ATTEMPTS)
    assert set(counted) == set(KINDS)
    assert len(ATTEMPTS) >= 80
    assert {attempt for tier in ("jail", "jail-ns") for attempt in tried_in(tier)} == set(ATTEMPTS)
    assert all({attempt.kind for attempt in tried_in(host)} == set(KINDS) for host in HALVES)


def test_where_nothing_isolates_every_attempt_gets_out() -> None:
    control = run_of("control", users_here()[-1], half=HALVES["control"])
    failed = [
        f"{attempt.name}: {attempt.oracle} was expected, {control.told(attempt)}"
        for attempt in tried_in("control")
        if not attempt.is_optional and not control.succeeded(attempt)
    ]
    assert not failed, "\n".join(failed)


@pytest.mark.parametrize("user", users_here())
@pytest.mark.parametrize("tier", ["jail-ns", "jail"])
def test_no_attempt_gets_out(tier: str, user: int) -> None:
    if tier not in working_tiers():
        pytest.skip(f"{tier} does not work here")
    kinds = KINDS if user == users_here()[-1] else KINDS_BY_USER
    run = run_of(tier, user, kinds, half=HALVES[tier])
    out = [f"{tried.name}: {run.told(tried)}" for tried in tried_in(tier) if tried.kind in kinds and run.escaped(tried)]
    assert not out, "\n".join(out)
