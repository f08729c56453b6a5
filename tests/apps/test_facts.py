from __future__ import annotations

import math
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wieldy.apps.cli.facts import STOP_WORDS, format_cost, format_duration, format_time, used
from wieldy.core.limits import StopReason, Usage


def test_every_reason_to_stop_has_words() -> None:
    assert set(STOP_WORDS) == set(get_args(StopReason))


def test_durations_read_well() -> None:
    assert [format_duration(seconds) for seconds in (0.0001, 0.0123, 0.9994, 0.9999, 3.21, 59.96, 125, 3600)] == [
        "under 1 ms",
        "12 ms",
        "999 ms",
        "1.0 s",
        "3.2 s",
        "1 min 00 s",
        "2 min 05 s",
        "60 min 00 s",
    ]


def test_costs_read_well() -> None:
    assert [format_cost(dollars) for dollars in (0, 0.0000042, 0.0042, 0.05, 0.5, 12.5, 1234.567)] == [
        "$0.00",
        "$0.0000042",
        "$0.0042",
        "$0.050",
        "$0.50",
        "$12.50",
        "$1,234.57",
    ]


@given(st.floats(1e-9, 1e6))
def test_a_cost_is_right_to_two_digits(dollars: float) -> None:
    assert float(format_cost(dollars)[1:].replace(",", "")) == pytest.approx(dollars, rel=0.05)


def test_what_nobody_counted_or_priced_is_left_out() -> None:
    assert used(calls=1, usage=Usage(requests=2)) == ["1 call", "2 requests"]
    assert used(calls=0, usage=Usage(requests=1, input_tokens=1200, cached_input_tokens=1000, cost_usd=0.5)) == [
        "0 calls",
        "1 request",
        "1,200 tokens in (1,000 cached), 0 out",
        "$0.50",
    ]


@pytest.mark.parametrize("seconds", [1e300, math.inf, -math.inf, math.nan, -1e17])
def test_a_moment_that_no_clock_knows_is_still_shown(seconds: float) -> None:
    assert format_time(seconds) == f"{seconds} s after 1970"
