"""When to try again."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wieldy.connect.models.retries import NO_RETRIES, Retries, parse_retry_after
from wieldy.core.errors import ModelError


@given(attempt=st.integers(1, 10_000), share=st.floats(0, 1, exclude_max=True))
def test_a_wait_is_never_longer_than_the_longest(attempt, share):
    retries = Retries(attempts=20_000, random=lambda: share)
    delay_s = retries.delay_s(ModelError("x", is_transient=True), attempt=attempt)
    assert delay_s is not None
    assert 0 <= delay_s <= retries.longest_delay_s


def test_waits_double_up_to_the_longest():
    retries = Retries(attempts=10, random=lambda: 1.0)
    error = ModelError("x", is_transient=True)
    assert [retries.delay_s(error, attempt=attempt) for attempt in range(1, 7)] == [0.5, 1.0, 2.0, 4.0, 8.0, 8.0]


def test_the_jitter_spreads_waits_over_the_whole_range():
    error = ModelError("x", is_transient=True)
    assert Retries(random=lambda: 0.0).delay_s(error, attempt=3) == 0.0


@pytest.mark.parametrize(
    ("retries", "error", "attempt"),
    [
        (Retries(), ModelError("x"), 1),
        (Retries(), ModelError("x", is_transient=True), 4),
        (NO_RETRIES, ModelError("x", is_transient=True), 1),
        (Retries(), ModelError("x", is_transient=True, retry_after_s=60.1), 1),
        (Retries(), ModelError("x", is_transient=False, retry_after_s=1), 1),
    ],
)
def test_some_failures_are_not_tried_again(retries, error, attempt):
    assert retries.delay_s(error, attempt=attempt) is None


def test_the_wait_that_is_asked_for_is_kept_up_to_its_limit():
    error = ModelError("x", is_transient=True, retry_after_s=60)
    assert Retries(random=lambda: 0.0).delay_s(error, attempt=1) == 60


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "3"}, 3.0),
        ({"retry-after": " 2.5 "}, 2.5),
        ({"retry-after": "-1"}, 0.0),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": ""}, None),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after": "Thu, 01 Jan 1970 00:01:40 GMT"}, 90.0),
        ({"retry-after": "Thu, 01 Jan 1970 00:00:01 GMT"}, 0.0),
        ({"retry-after": "Thu, 99 Jan 1970 00:00:00 GMT"}, None),
    ],
)
def test_a_wait_is_read_as_a_number_or_a_date(headers, seconds):
    assert parse_retry_after(headers, now=lambda: 10.0) == seconds


@given(text=st.text(max_size=30))
def test_whatever_is_asked_for_is_a_wait_or_nothing(text):
    seconds = parse_retry_after({"retry-after": text}, now=lambda: 10.0)
    assert seconds is None or seconds >= 0
