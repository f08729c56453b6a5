"""What is left of limits, for a run and for runs within it."""

import math
from dataclasses import fields

from hypothesis import given
from hypothesis import strategies as st

from wieldy.core.context import Context
from wieldy.core.limits import Limits, Usage, usable
from wieldy.run.budget import Spent, check_limits, is_used_up, kept_within, left_of, reached, tighter

AMOUNTS = st.none() | st.integers(1, 1000)
LIMITS = st.builds(
    Limits,
    turns=st.none() | st.integers(0, 20),
    calls=st.none() | st.integers(0, 20),
    output_tokens=AMOUNTS,
    total_tokens=AMOUNTS,
    cost_usd=st.none() | st.integers(0, 8).map(lambda eighths: eighths / 8),
    wall_time_s=st.none() | st.integers(0, 80).map(lambda seconds: seconds * 8.0),
    repeats=st.integers(1, 5),
)
USAGES = st.builds(
    Usage,
    input_tokens=st.integers(0, 1000),
    output_tokens=st.integers(0, 1000),
    requests=st.integers(0, 20),
    calls=st.integers(0, 20),
    cost_usd=st.none() | st.integers(0, 16).map(lambda eighths: eighths / 8),
)
SPENT = st.builds(
    Spent,
    turns=st.integers(0, 20),
    usage=USAGES,
    elapsed_s=st.integers(0, 800).map(float),
    repeats=st.integers(0, 4),
)
NOTHING = Spent(turns=0, usage=Usage(), elapsed_s=0.0, repeats=0)


def amounts(limits: Limits) -> list[float]:
    """All limits as numbers, infinite where there is none."""
    values = [getattr(limits, field.name) for field in fields(limits)]
    return [math.inf if value is None else value for value in values]


@given(limits=LIMITS, spent=SPENT, left=LIMITS)
def test_a_run_within_another_may_go_no_further_than_either_allows(limits: Limits, spent: Spent, left: Limits) -> None:
    kept = kept_within(limits, spent, left)
    assert all(mine <= own for mine, own in zip(amounts(kept), amounts(limits), strict=True))
    ahead = left_of(kept, spent)
    for name in ("calls", "total_tokens"):
        around = getattr(left, name)
        assert around is None or getattr(ahead, name) <= around


@given(limits=LIMITS, left=LIMITS)
def test_a_run_that_begins_within_another_has_the_tighter_of_both_limits(limits: Limits, left: Limits) -> None:
    assert kept_within(limits, NOTHING, left) == tighter(limits, left)


@given(limits=LIMITS, spent=SPENT)
def test_what_is_left_is_always_something_that_a_run_can_be_given(limits: Limits, spent: Spent) -> None:
    left = left_of(limits, spent)
    check_limits(usable(left))
    assert all(given >= real for given, real in zip(amounts(usable(left)), amounts(left), strict=True))


@given(limits=LIMITS, spent=SPENT)
def test_a_run_within_one_that_has_used_everything_up_has_reached_a_limit_too(limits: Limits, spent: Spent) -> None:
    left = left_of(limits, spent)
    if is_used_up(left):
        assert reached(kept_within(Limits(turns=None), NOTHING, left), NOTHING) is not None


@given(limits=LIMITS, spent=SPENT, more=USAGES)
def test_what_a_run_uses_is_no_longer_left_for_others(limits: Limits, spent: Spent, more: Usage) -> None:
    later = Spent(turns=spent.turns, usage=spent.usage + more, elapsed_s=spent.elapsed_s, repeats=spent.repeats)
    before, after = left_of(limits, spent), left_of(limits, later)
    assert all(now <= then for now, then in zip(amounts(after), amounts(before), strict=True))


def test_overdrawn_calls_are_taken_from_what_may_still_run() -> None:
    left = left_of(Limits(calls=2), Spent(turns=1, usage=Usage(calls=5), elapsed_s=0.0, repeats=0))
    within = Spent(turns=1, usage=Usage(calls=5), elapsed_s=0.0, repeats=0)
    assert left.calls == -3
    assert kept_within(Limits(), within, left).calls == 2


def test_a_cost_that_nobody_knows_leaves_nothing() -> None:
    unknown = Spent(turns=1, usage=Usage(requests=1), elapsed_s=0.0, repeats=0)
    left = left_of(Limits(cost_usd=1.0), unknown)
    assert is_used_up(left)
    assert usable(left).cost_usd == 0
    assert reached(kept_within(Limits(), unknown, left), unknown) == "cost_limit"


def test_a_tool_reads_what_is_left_at_the_moment_in_which_it_asks() -> None:
    amounts = iter((Limits(calls=3), Limits(calls=-1)))
    context = Context(run_id="r", call_id="c1", tool_name="t", idempotency_key="k", limits_left=lambda: next(amounts))
    assert [context.limits.calls, context.limits.calls] == [3, 0]


def test_outside_a_run_the_limits_are_the_usual_ones() -> None:
    assert Context(run_id="r", call_id="c1", tool_name="t", idempotency_key="k").limits == Limits()
