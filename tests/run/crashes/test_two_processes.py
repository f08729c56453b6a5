"""Two processes that go on with one run at once: one gets it, and the other is told who has it."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from crash_plans import MEETING, effects_of
from crash_trials import Laboratory, snapshot

from wieldy.run.journal import verify


class Half:
    """A run whose process was killed in its middle."""

    def __init__(self, laboratory: Laboratory, folder: Path, name: str) -> None:
        self.laboratory, self.name, self.path = laboratory, name, folder / "runs.db"
        port = laboratory.outside.port
        self.job: dict[str, Any] = {"journal": str(self.path), "world": name, "plan": MEETING.name, "port": port}
        death = {"fate": {"moment": "effect", "number": 1}}
        (end,) = laboratory.live({**self.job, **death})
        assert end["killed"]
        laboratory.outside.ask(name, "quiet")

    def effects(self) -> Counter[str]:
        log = self.laboratory.outside.ask(self.name, "report")["log"]
        return Counter(act["operation"] for act in log if act.get("took_effect"))


@pytest.mark.parametrize("attempt", range(3))
def test_one_of_two_gets_the_run_and_the_other_is_told_who_has_it(
    laboratory: Laboratory, tmp_path: Path, attempt: int
) -> None:
    half = Half(laboratory, tmp_path, f"two {attempt}")

    ends = laboratory.live(half.job, half.job)

    winner, loser = sorted(ends, key=lambda end: "error" in end["told"])
    assert winner["told"].get("stop_reason") == "answered", winner
    assert loser["told"]["error"] == "RunBusyError", loser
    assert f"process {winner['pid']} on " in loser["told"]["holder"]
    assert f"process {winner['pid']} on " in loser["told"]["message"]
    assert half.effects() == effects_of(MEETING)
    (entries,) = snapshot(half.path).values()
    verify(entries)


@pytest.mark.parametrize("attempt", range(3))
def test_even_without_leases_no_effect_is_started_twice(laboratory: Laboratory, tmp_path: Path, attempt: int) -> None:
    """The lengths that appends name are enough, should a lease ever be granted twice."""
    half = Half(laboratory, tmp_path, f"unleased {attempt}")

    ends = laboratory.live(*[{**half.job, "sabotage": "grants every lease"}] * 3)

    told = [end["told"] for end in ends]
    assert {each["error"] for each in told if "error" in each} <= {"JournalConflictError"}, told
    assert all(times == 1 for times in half.effects().values())
    (entries,) = snapshot(half.path).values()
    verify(entries)
    starts = Counter(
        (entry.data["call_id"], entry.data["attempt"]) for entry in entries if entry.kind == "call_started"
    )
    assert set(starts.values()) == {1}
