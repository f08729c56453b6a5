"""The comparison of ways of acting: it solves what it says, by work that is done, and its judges can say no."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from wieldy.sandbox import probe

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"


@pytest.fixture(scope="module")
def acting() -> Any:
    """The tasks and the world of the benchmark."""
    sys.path.insert(0, str(BENCHMARKS))
    try:
        import acting.tasks
        import acting.world
    finally:
        sys.path.remove(str(BENCHMARKS))
    return acting


def test_every_way_of_acting_solves_a_small_set_and_is_measured() -> None:
    tiers = probe()
    if not any(tier.works for tier in tiers):
        pytest.skip("; ".join(f"{tier.name}: {tier.reason}" for tier in tiers))
    command = [sys.executable, "-W", "error", str(BENCHMARKS / "actions.py"), "--json"]
    done = subprocess.run(
        [*command, "--tasks", "no_call,branch,recovery,fan_out"],
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    measured = {(each["task"], each["mode"]): each for each in map(json.loads, done.stdout.splitlines())}
    assert len(measured) == 12
    assert all(each["solved"] for each in measured.values())
    assert [measured["fan_out", mode]["turns"] for mode in ("code", "calls", "react")] == [2, 2, 21]
    assert [measured["fan_out", mode]["calls"] for mode in ("code", "calls", "react")] == [20, 20, 20]
    assert measured["no_call", "code"]["calls"] == 0
    assert all(each["read"] >= each["context"] > 0 < each["written"] for each in measured.values())


def test_no_task_is_solved_by_doing_nothing_or_by_a_wrong_answer(acting: Any) -> None:
    kept_by_doing_nothing = {"branch_not_taken"}
    for task in acting.tasks.TASKS:
        world = acting.world.World()
        assert task.is_solved(world, "I do not know.") == (task.name in kept_by_doing_nothing), task.name
        world.reorder("lamp 1", 3)
        world.close_ticket(0)
        assert not task.is_solved(world, "Paris 0 1 2 3"), task.name


def test_there_are_tasks_of_every_kind(acting: Any) -> None:
    tasks = acting.tasks.TASKS
    assert len({task.name for task in tasks}) == len(tasks) >= 12
    assert {task.kind for task in tasks} >= {
        "no call needed",
        "one call",
        "chain",
        "two dependent services",
        "fan-out",
        "aggregate",
        "filter a large result",
        "branch on a result",
        "error and recovery",
    }
