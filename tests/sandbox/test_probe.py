"""`probe` says what truly isolates here; a tier that does not is refused, and never replaced by a weaker one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import anyio
import pytest

from wieldy import SandboxTierError, UsageError, sandbox
from wieldy.sandbox import Tier, TierName
from wieldy.sandbox.tiers import BY_KERNEL, TIERS

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
    strongest = next((tier.name for tier in sandbox.probe() if tier.works and tier.name in BY_KERNEL), None)
    if strongest is None:
        pytest.skip("no tier works here")
    assert anyio.run(opened, None, sys.executable).name == strongest


@pytest.mark.parametrize("python", ["/nowhere/python", "/bin/true"])
@pytest.mark.parametrize("tier", [*TIERS, None])
def test_what_cannot_be_had_is_refused_with_a_reason_for_every_tier_that_was_tried(
    tier: TierName | None, python: str
) -> None:
    with pytest.raises(SandboxTierError) as refused:
        anyio.run(opened, tier, python)
    assert set(refused.value.reasons) == ({tier} if tier else set(BY_KERNEL))
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


def opened_first_of(tiers: Sequence[TierName]) -> str:
    async def first() -> str:
        async with sandbox.open(tiers) as session:
            return session.tier.name

    return anyio.run(first)


def test_of_several_tiers_the_first_that_works_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    works = {tier.name: tier.works for tier in sandbox.probe()}
    if not (works["jail-ns"] and works["monty"]):
        pytest.skip("it takes two tiers that work")
    monkeypatch.setenv("PATH", "/nowhere")  # without the commands of containers
    assert opened_first_of(["podman", "monty", "jail-ns"]) == "monty"
    assert opened_first_of(["docker", "jail-ns", "monty"]) == "jail-ns"
    with pytest.raises(SandboxTierError) as refused:
        opened_first_of(["podman", "docker"])
    assert set(refused.value.reasons) == {"podman", "docker"}


@pytest.mark.parametrize("tiers", ["gaol", [], ["jail", "gaol"], ""])
def test_what_is_no_tier_is_refused_before_anything_is_started(tiers: Any) -> None:
    with pytest.raises(UsageError, match="expected a tier"):
        opened_first_of(tiers)


def test_no_tier_in_which_no_kernel_isolates_is_taken_unless_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(SandboxTierError) as refused:
        anyio.run(opened, None, "/nowhere/python")
    assert "monty" not in refused.value.reasons


ALONE = """
import ctypes, json, os, sys
if ctypes.CDLL(None, use_errno=True).unshare(0x10000000):
    sys.exit("no namespace of users")
for name, content in (("setgroups", "deny"), ("uid_map", f"0 {USER} 1"), ("gid_map", f"0 {GROUP} 1")):
    with open(f"/proc/self/{name}", "w") as file:
        file.write(content)
with open("/proc/sys/user/max_user_namespaces", "w") as file:
    file.write("0")
from wieldy import sandbox
print(json.dumps({tier.name: tier.reason for tier in sandbox.probe() if tier.name.startswith("jail")}))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="makes a namespace")
def test_where_there_is_one_user_only_and_no_namespace_the_jails_are_refused_in_words(tmp_path: Path) -> None:
    code = f"USER, GROUP = {os.geteuid()}, {os.getegid()}\n{ALONE}"
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    if "no namespace of users" in done.stderr:
        pytest.skip("no namespace of users can be made here")
    assert done.returncode == 0, done.stderr
    reasons = json.loads(done.stdout)
    assert "let users make namespaces" in reasons["jail-ns"]
    assert "nobody" in reasons["jail"]
    assert list(tmp_path.iterdir()) == []
