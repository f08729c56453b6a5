"""Calls that wait: no caller's are forgotten for another's."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from wieldy.gateway.waiting import SameCall, Waiting

MOST = 3
CALLS = st.lists(st.tuples(st.sampled_from(["anna", "bob"]), st.integers(0, 5)), max_size=30)


@given(CALLS)
def test_of_each_caller_the_latest_are_known_whatever_others_do(made: list[tuple[str, int]]) -> None:
    waiting = Waiting(MOST)
    for place, (caller, number) in enumerate(made):
        same = SameCall.of(caller, "t", {"a": number, "b": 0})
        waiting.end(same)
        waiting.add(same, f"run {place}")
    for caller in ("anna", "bob"):
        own = {number: f"run {place}" for place, (who, number) in enumerate(made) if who == caller}
        latest = sorted(own.items(), key=lambda each: made_at(each[1]))[-MOST:]
        known = {
            number: run
            for number in range(6)
            if (run := waiting.run_of(SameCall.of(caller, "t", {"b": 0, "a": number}))) is not None
        }
        assert known == dict(latest)


def made_at(run: str) -> int:
    return int(run.removeprefix("run "))
