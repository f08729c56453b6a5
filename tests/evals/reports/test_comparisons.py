"""Comparisons: pairs or a baseline, clusters, several pairs at once, and how large a study has to be."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs
from trial_examples import FAIL, trial

from wieldy import UsageError
from wieldy.evals.cases.results import Trial
from wieldy.evals.reports.comparisons import comparison_rows, task_rates
from wieldy.evals.reports.planning import Plan
from wieldy.evals.reports.report_lines import report_lines
from wieldy.evals.reports.reporting import report_rows
from wieldy.evals.statistics import holm, permutation_p_value, sample_size, wilson
from wieldy.evals.verdicts.verdict import PASS, Verdict, unscored


def passing(configuration: str, passed: int, *, of: int = 20, clusters: int = 20) -> list[Trial]:
    return [
        trial(str(n), PASS if n < passed else FAIL, configuration=configuration, cluster=str(n % clusters))
        for n in range(of)
    ]


def compared(*groups: list[Trial], **more: Any) -> list[dict[str, Any]]:
    return [dict(row) for row in comparison_rows({own[0].configuration: own for own in groups}, **more)]


def test_every_pair_is_compared_or_those_with_a_baseline() -> None:
    groups = [passing("a", 5), passing("b", 15), passing("c", 10)]
    assert [(row["first"], row["second"]) for row in compared(*groups)] == [("a", "b"), ("a", "c"), ("b", "c")]
    rows = compared(*groups, baseline="b")
    assert [(row["first"], row["second"], row["pairs"]) for row in rows] == [("b", "a", 2), ("b", "c", 2)]
    with pytest.raises(UsageError, match=r"\(a, b, c\), found 'd'"):
        compared(*groups, baseline="d")


def test_p_values_are_adjusted_for_the_pairs_that_were_looked_at() -> None:
    rows = compared(passing("a", 5), passing("b", 15), passing("c", 10))
    assert [row["holm_p"] for row in rows] == holm([row["permutation_p"] for row in rows])
    assert max(row["holm_p"] for row in rows) > max(row["permutation_p"] for row in rows)
    (alone,) = compared(passing("a", 5), passing("b", 15))
    assert alone["holm_p"] == alone["permutation_p"]


def test_tasks_that_are_alike_are_swapped_together() -> None:
    (apart,) = compared(passing("a", 10), passing("b", 20))
    (alike,) = compared(passing("a", 10, clusters=4), passing("b", 20, clusters=4))
    assert apart["permutation_p"] == pytest.approx(2 / 2**10)
    assert alike["permutation_p"] == pytest.approx(2 / 2**4)
    assert compared(passing("a", 10, clusters=1), passing("b", 20, clusters=1)) == []


@given(st.lists(st.sampled_from("xyz"), min_size=1, max_size=8), st.lists(st.sampled_from("xyz"), max_size=8))
def test_only_tasks_that_are_the_same_for_both_are_compared(first: list[str], second: list[str]) -> None:
    one, other = (
        [structs.replace(trial(str(n), configuration=name), digest=digest) for n, digest in enumerate(digests)]
        for name, digests in (("a", first), ("b", second))
    )
    shared = {each.task_key for each in one} & {each.task_key for each in other}
    rows = [dict(row) for row in comparison_rows({"a": one, "b": other})]
    assert [(row["tasks"], row["tasks_of_one_only"]) for row in rows] == (
        [(len(shared), len(one) + len(other) - 2 * len(shared))] if len(shared) > 1 else []
    )


def test_few_tasks_without_a_difference_show_little() -> None:
    (few,) = compared(passing("a", 2, of=2), passing("b", 2, of=2))
    (many,) = compared(passing("a", 99, of=99, clusters=99), passing("b", 99, of=99, clusters=99))
    (always,) = compared(passing("a", 0, of=9), passing("b", 9, of=9))
    assert few["interval_95"] == pytest.approx([-wilson(0, 2)[1], wilson(0, 2)[1]])
    assert many["interval_95"] == pytest.approx([-wilson(0, 99)[1], wilson(0, 99)[1]])
    assert always["interval_95"] == pytest.approx([1 - wilson(0, 9)[1], 1.0])


PROBABILITIES = st.lists(st.floats(0, 1), max_size=8)


@given(PROBABILITIES)
def test_adjusting_lowers_nothing_and_keeps_the_order(values: list[float]) -> None:
    adjusted = holm(values)
    assert all(before <= after <= 1.0 for before, after in zip(values, adjusted, strict=True))
    for one in range(len(values)):
        for other in range(len(values)):
            if values[one] <= values[other]:
                assert adjusted[one] <= adjusted[other]
    if values:
        assert min(adjusted) == min(1.0, len(values) * min(values))


def test_what_is_no_probability_is_refused() -> None:
    with pytest.raises(ValueError, match="Expected probabilities"):
        holm([0.5, 1.5])


@given(
    st.dictionaries(
        st.tuples(st.sampled_from("abcd"), st.sampled_from("xyz"), st.integers(0, 1)), st.sampled_from([PASS, FAIL])
    ),
    st.randoms(use_true_random=False),
)
def test_neither_order_nor_direction_changes_what_is_found(
    found: dict[tuple[str, str, int], Verdict], chance: random.Random
) -> None:
    trials = [
        trial(task, verdict, configuration=name, number=number, cluster="ab" if task in "ab" else task)
        for (task, name, number), verdict in found.items()
    ]
    groups = {name: [each for each in trials if each.configuration == name] for name in "xyz"}
    rows = comparison_rows(groups)
    for own in groups.values():
        chance.shuffle(own)
    assert comparison_rows(groups) == rows
    turned: list[Any] = comparison_rows(dict(reversed(groups.items())))
    assert len(turned) == len(rows)
    by_pair: dict[frozenset[str], Any] = {frozenset((row["first"], row["second"])): row for row in turned}
    for row in rows:
        other = by_pair[frozenset((str(row["first"]), str(row["second"])))]
        assert other["difference"] == pytest.approx(-float(str(row["difference"])))
        assert other["permutation_p"] == row["permutation_p"]
    shared = task_rates(groups["x"]).keys() & task_rates(groups["y"]).keys()
    for row in rows:
        if (row["first"], row["second"]) == ("x", "y"):
            ordered = sorted(shared)
            plain = permutation_p_value(
                *([task_rates(groups[name])[task] for task in ordered] for name in "xy")  # each task its own cluster
            )
            assert 0.0 < plain <= 1.0


def test_provider_errors_are_told_by_their_cause() -> None:
    trials = [trial("a"), trial("b", unscored("provider", "rate-limit: slow down"))]
    trials += [trial("c", unscored("provider", "unreachable: nobody")), trial("d", unscored("tool", "crash"))]
    (row,) = [dict(row) for row in report_rows(trials) if row["type"] == "provider_errors"]
    assert (row["errors"], row["of"], row["rate"]) == (2, 4, 0.5)
    assert row["causes"] == {"rate-limit": 1, "unreachable": 1}
    assert any("provider errors: 2/4 trials = 50.0%" in line for line in report_lines(report_rows(trials)))


def test_the_table_has_every_configuration_and_fits_80_columns() -> None:
    names = ["local", "local (strategy=native)", *(f"model {n}" for n in range(30))]
    trials = [each for n, name in enumerate(names) for each in passing(name, n % 20)]
    trials += [trial(str(n), unscored("provider", "down"), configuration="nothing scored") for n in range(3)]
    rows = report_rows(trials, baseline="local")
    lines = report_lines(rows)
    start = next(place for place, line in enumerate(lines) if line.startswith("all configurations"))
    table = lines[start : lines.index(next(line for line in lines[start:] if line.startswith("  less ")))]
    assert max(map(len, table)) <= 80
    assert sum(line.strip().startswith(("A ", "B ", "AA ")) for line in table) == 6
    assert any("AF" in line for line in table)
    assert any("none" in line for line in table)
    assert any("more pairs; --json has all of them" in line for line in lines)


# Planning


def test_plans_are_those_of_the_formula() -> None:
    plan = Plan()
    assert plan.for_difference(0.05)["same"] == 660
    assert plan.for_difference(0.05)["different"] == 1319
    assert Plan(rate=0.9).for_difference(0.02)["same"] == sample_size(0.02, variance_between=0.09)


@given(st.integers(1, 10_000), st.floats(0.05, 0.95), st.floats(0, 0.9), st.integers(1, 5), st.integers(1, 10))
def test_the_difference_that_tasks_show_takes_that_many_tasks(
    tasks: int, rate: float, correlation: float, trials: int, pairs: int
) -> None:
    plan = Plan(rate=rate, correlation=correlation, trials=trials, chance=(1 - correlation) / 2, pairs=pairs)
    found: dict[str, Any] = dict(plan.for_tasks(tasks))
    for side in ("same", "different"):
        assert found[side] is None or 0.0 < found[side] <= plan.largest_difference <= 1.0
    if found["same"] is not None and found["same"] >= 1e-6:
        again: dict[str, Any] = dict(plan.for_difference(found["same"]))
        assert again["same"] in (tasks, tasks + 1)  # rounded up
    if found["different"] is not None:
        assert found["same"] <= found["different"] + 1e-12
    more: dict[str, Any] = dict(Plan(rate=rate, correlation=correlation, pairs=pairs + 1).for_tasks(tasks))
    one: dict[str, Any] = dict(Plan(rate=rate, correlation=correlation, pairs=pairs).for_tasks(tasks))
    assert more["same"] is None or one["same"] <= more["same"]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"rate": 1.0}, "a rate between 0 and 1"),
        ({"power": 0.0}, "a power between 0 and 1"),
        ({"correlation": 2.0}, "shares between 0 and 1"),
        ({"correlation": 0.9, "chance": 0.5}, "leave at most 0.1 to chance"),
        ({"correlation": 1.0}, "a correlation below 1"),
        ({"pairs": 0}, "at least one trial and one pair"),
        ({"pairs": 10**400}, "at most 1,000,000,000"),
        ({"trials": 10**400}, "at most 1,000,000,000"),
    ],
)
def test_plans_that_cannot_be_are_refused(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        Plan(**changes)


@pytest.mark.parametrize("difference", [0.0, 1e-300, -1e-300, 0.61, 1.0, float("inf"), float("nan")])
def test_a_difference_that_cannot_be_or_be_seen_is_refused(difference: float) -> None:
    with pytest.raises(UsageError, match=r"a difference of rates around 70%, from 0\.000001 to 0\.6"):
        Plan(rate=0.7).for_difference(difference)


@pytest.mark.parametrize("tasks", [0, -1, 10**400])
def test_a_number_of_tasks_that_cannot_be_is_refused(tasks: int) -> None:
    with pytest.raises(UsageError, match="from 1 to 1,000,000,000 tasks"):
        Plan().for_tasks(tasks)


def test_one_task_shows_no_difference() -> None:
    plan = Plan()
    row = plan.for_tasks(1)
    assert (row["same"], row["different"]) == (None, None)
    assert "  none with 1 task, both configurations run on them (correlation 0.5)" in plan.lines(row)


@given(st.lists(st.tuples(st.booleans(), st.booleans(), st.integers(0, 5)), min_size=2, max_size=12))
def test_no_difference_is_beyond_what_rates_can_differ_by(pairs: list[tuple[bool, bool, int]]) -> None:
    sides = [
        [
            trial(str(n), PASS if pair[side] else FAIL, configuration=name, cluster=str(pair[2]))
            for n, pair in enumerate(pairs)
        ]
        for side, name in ((0, "a"), (1, "b"))
    ]
    for row in compared(*sides):
        low, high = row["interval_95"]
        assert -1.0 <= low <= row["difference"] <= high <= 1.0
