"""`probe` says what truly isolates here; a tier that does not is refused, and never replaced by a weaker one."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import anyio
import pytest

from wieldy import SandboxTierError, sandbox
from wieldy.sandbox import Tier, TierName
from wieldy.sandbox.tiers import TIERS

from .conftest import interpreter_for


def test_every_tier_is_there_and_one_that_does_not_work_says_why() -> None:
    found = sandbox.probe()
    assert tuple(tier.name for tier in found) == TIERS
    for tier in found:
        assert tier.works is (tier.reason is None)
        assert tier.isolates
        assert tier.leaves


def test_a_tier_that_opens_also_withstands_the_attempts(tier: TierName) -> None:
    found = {each.name: each for each in sandbox.probe(python=interpreter_for(tier))}
    assert found[tier].works, found[tier].reason


async def opened(tier: TierName | None, python: str) -> Tier:
    async with sandbox.open(tier, python=python) as session:
        return session.tier


def test_the_strongest_that_works_is_taken_and_says_which_it_is() -> None:
    strongest = next((tier.name for tier in sandbox.probe() if tier.works), None)
    if strongest is None:
        pytest.skip("no tier works here")
    assert anyio.run(opened, None, sys.executable).name == strongest


@pytest.mark.parametrize("python", ["/nowhere/python", "/bin/true"])
@pytest.mark.parametrize("tier", ["jail-ns", "jail", None])
def test_what_cannot_be_had_is_refused_with_a_reason_for_every_tier_that_was_tried(
    tier: TierName | None, python: str
) -> None:
    with pytest.raises(SandboxTierError) as refused:
        anyio.run(opened, tier, python)
    assert set(refused.value.reasons) == ({tier} if tier else set(TIERS))
    assert all(refused.value.reasons.values())


@pytest.mark.parametrize("python", ["/nowhere/python", "/bin/true", sys.executable])
def test_nothing_is_left_of_a_sandbox_that_was_refused_or_closed(
    python: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    sandbox.probe(python=python)
    assert list(tmp_path.iterdir()) == []


def test_it_can_be_asked_while_an_event_loop_runs() -> None:
    async def ask() -> tuple[Tier, ...]:
        return sandbox.probe(python="/nowhere/python")

    assert [tier.works for tier in anyio.run(ask)] == [False] * len(TIERS)
