"""How soon a server that failed is started again."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from wieldy.connect.mcp.client.restarts import Restarts

RULE = Restarts(limit=4, window_s=60, first_wait_s=0.1, longest_wait_s=0.3)


def test_the_first_failure_is_followed_by_no_wait_and_each_further_one_by_twice_the_wait() -> None:
    waits = [round(RULE.wait_s([100.0] * failures, now=100.0), 3) for failures in range(4)]
    assert waits == [0, 0, 0.1, 0.2]


def test_what_fails_again_and_again_is_left_alone_until_the_oldest_failure_has_passed() -> None:
    failures = [100.0, 110.0, 120.0, 130.0]
    assert RULE.is_exhausted(failures, now=131.0)
    assert RULE.wait_s(failures, now=131.0) == 29.0
    assert not RULE.is_exhausted(failures, now=160.0)


@given(st.lists(st.floats(0, 1000), max_size=8).map(sorted), st.floats(0, 1000))
def test_a_wait_is_never_longer_than_the_window(failures: list[float], later_s: float) -> None:
    now = (failures[-1] if failures else 0.0) + later_s
    assert 0 <= RULE.wait_s(failures, now=now) <= RULE.window_s
