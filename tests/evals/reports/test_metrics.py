"""Metrics over trials: shares with their denominators, and what results depend on besides the task."""

from __future__ import annotations

import random
from statistics import pvariance
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wieldy.evals.cases.results import Trial
from wieldy.evals.reports.metrics import metric_rows
from wieldy.evals.reports.report_lines import report_lines
from wieldy.evals.reports.reporting import report_rows
from wieldy.evals.statistics import mcnemar, rate_interval, wilson
from wieldy.evals.statistics.components import two_way_components
from wieldy.evals.verdicts.verdict import PASS, Verdict, failed, unscored

FAIL = failed("wrong-value: x")


def trial(task: str, verdict: Verdict = PASS, *, number: int = 0, configuration: str = "m", **more: Any) -> Trial:
    said: dict[str, Any] = {"cluster": task, "runs": ("r",), "others": {}, **more}
    return Trial(
        suite="s",
        task=task,
        category="c",
        digest="d",
        configuration=configuration,
        trial=number,
        verdict=verdict,
        **said,
    )


def metrics(*trials: Trial) -> dict[str, dict[str, Any]]:
    return {str(row["type"]): dict(row) for row in metric_rows("m", trials)}


def rows(kind: str, *trials: Trial) -> list[dict[str, Any]]:
    return [dict(row) for row in report_rows(trials) if row["type"] == kind]


def counted(found: dict[str, Any]) -> tuple[int, int]:
    return found["count"], found["of"]


def test_precision_and_recall_are_of_all_calls_of_a_study() -> None:
    one = trial("a", measures={"tools_wanted": 2, "tools_called": 3, "tools_right": 2})
    other = trial("b", measures={"tools_wanted": 1, "tools_called": 1})
    found = metrics(one, other)["selection"]
    assert counted(found["precision"]) == (2, 4)
    assert counted(found["recall"]) == (2, 3)


def test_a_server_that_was_down_says_nothing_of_the_model() -> None:
    down = unscored("provider", "protocol: HTTP 503")
    told = {"tools_wanted": 1, "must_refuse": 1, "effects_named": 1, "values_unknown": 1}
    found = metrics(*[trial(name, down, measures=told) for name in "abcdef"])
    assert not {"selection", "safety", "hallucination"} & found.keys()
    scored = metrics(trial("a", down, measures=told), trial("b", measures={**told, "tools_right": 1}))
    assert counted(scored["selection"]["recall"]) == (1, 1)
    assert counted(scored["safety"]["under_refusals"]) == (0, 1)


def test_nothing_is_said_of_what_nothing_is_known_of() -> None:
    assert metrics(trial("a", runs=())) == {}
    assert "selection" not in metrics(trial("a"))


def test_what_was_made_up_is_told_by_kind_and_by_trials() -> None:
    found = metrics(
        trial(
            "a", measures={"calls_written": 4, "calls_of_undeclared_tools": 1, "calls_with_undeclared_parameters": 1}
        ),
        trial("b", measures={"calls_written": 1, "values_unknown": 1, "invented_values": 1}),
        trial("c", measures={"calls_written": 1, "values_unknown": 1}),
    )["hallucination"]
    assert counted(found["trials"]) == (2, 3)
    assert counted(found["undeclared_tools"]) == (1, 6)
    assert counted(found["undeclared_parameters"]) == (1, 6)
    assert counted(found["invented_values"]) == (1, 2)


def test_autonomy_is_of_calls_carried_out_or_asked_about() -> None:
    found = metrics(
        trial("a", measures={"consequential": 3, "consequential_unapproved": 2, "asked": 2, "asked_not_started": 1})
    )["autonomy"]
    assert counted(found["without_approval"]) == (2, 4)
    assert counted(found["asked"]) == (1, 1)


def test_reliability_counts_attempts_and_partial_failures() -> None:
    found = metrics(
        trial("a", measures={"calls_started": 2, "calls_failed": 1, "attempts_failed": 2, "timeouts": 1}),
        trial("b", FAIL, measures={"calls_started": 1, "calls_failed": 1}),
        trial("c", measures={"calls_started": 1}),
    )["reliability"]
    assert counted(found["timeouts"]) == (1, 6)
    assert counted(found["retried"]) == (2, 6)
    assert counted(found["failed"]) == (2, 4)
    assert counted(found["partial_failures"]) == (1, 3)
    assert counted(found["passed_after_partial_failure"]) == (1, 1)


def test_safety_counts_only_trials_that_could_show_it() -> None:
    found = metrics(
        trial("a", failed("minefield: x"), measures={"has_minefields": 1}),
        trial("b", measures={"has_minefields": 1, "may_act": 1, "over_refusal": 1}),
        trial("c", failed("edited-tests: x"), measures={"has_check": 1}),
        trial("d", measures={"must_refuse": 1}),
        trial("e", failed("minefield: of a task whose measures are not there")),
    )["safety"]
    assert counted(found["policy_violations"]) == (1, 2)
    assert counted(found["over_refusals"]) == (1, 1)
    assert counted(found["under_refusals"]) == (0, 1)
    assert counted(found["reward_hacks"]) == (1, 1)
    assert "denied_calls" not in found


def test_efficiency_is_told_per_trial_and_per_pass() -> None:
    spent = [
        trial(str(at), PASS if at else FAIL, duration_s=float(at), input_tokens=10, requests=2) for at in range(20)
    ]
    found = metrics(*spent)["efficiency"]
    assert (found["median_duration_s"], found["p95_duration_s"], found["mean_turns"]) == (9.0, 18.0, 2.0)
    assert found["tokens_per_pass"] == pytest.approx(200 / 19)
    assert found["cost_usd_per_pass"] is None
    assert metrics(trial("a", FAIL))["efficiency"]["tokens_per_pass"] is None


def test_prompts_are_compared_within_a_task() -> None:
    trials = [
        trial(f"{task}@{variant}", PASS if passes else FAIL, cluster=task, axes={"variant": variant})
        for task, variants in {"a": (True, False, True), "b": (True, True, True)}.items()
        for variant, passes in zip("xyz", variants, strict=True)
    ]
    (row,) = rows("prompt_sensitivity", *trials, trial("c", unscored("tool", "x"), axes={"variant": "x"}))
    assert (row["tasks"], row["tasks_that_differ"], row["mean_largest_difference"]) == (2, 1, 0.5)
    assert row["mean_standard_deviation"] == pytest.approx((2 / 9) ** 0.5 / 2)
    assert row["rates"] == {"x": 1.0, "y": 0.5, "z": 1.0}
    assert row["largest_difference_of_rates"] == 0.5


def test_sizes_come_in_order_with_what_they_take() -> None:
    trials = [
        trial(
            f"{task}@{size}", FAIL if size == "50" else PASS, cluster=task, axes={"tools": size}, input_tokens=int(size)
        )
        for task in "ab"
        for size in ("50", "5", "500")
    ]
    found = rows("scalability", *trials)
    assert [(row["tools"], row["passed"]["rate"], row["mean_input_tokens"]) for row in found] == [
        (5, 1.0, 5),
        (50, 0.0, 50),
        (500, 1.0, 500),
    ]


def test_a_size_may_be_told_in_words() -> None:
    trials = [trial(size, cluster="a", axes={"tools": size}) for size in ("many", "10", "9", "few", "9" * 5000)]
    assert [row["tools"] for row in rows("scalability", *trials)] == [9, 10, "9" * 5000, "few", "many"]
    assert any("many tools: 1/1" in line for line in report_lines(report_rows(trials)))


def test_a_cue_is_judged_by_pairs_and_by_what_repeats_do_without_it() -> None:
    def pair(task: str, first: str, second: str) -> list[Trial]:
        return [
            trial(f"{task}@with", cluster=task, axes={"cue": "with"}, behaviour=first),
            trial(f"{task}@without", FAIL, cluster=task, axes={"cue": "without"}, behaviour=second),
        ]

    trials = [*pair("a", "x", "y"), *pair("b", "x", "x"), *pair("c", "x", "y")]
    (row,) = rows("trigger", *trials)
    assert counted(row["behaviour_differs"]) == (2, 3)
    assert row["behaviour_differs_without_cue"] is None
    assert (row["only_first_passed"], row["only_second_passed"]) == (3, 0)
    assert row["exact_p"] == mcnemar([True] * 3, [False] * 3).exact
    again = [trial("a@with", number=1, cluster="a", axes={"cue": "with"}, behaviour="z")]
    (row,) = rows("trigger", *trials, *again)
    assert counted(row["behaviour_differs_without_cue"]) == (1, 1)
    assert counted(row["behaviour_differs"]) == (2, 3)  # the second trial has no other half


def test_models_are_compared_on_the_tasks_that_all_have_scored() -> None:
    trials = [trial(task, PASS, configuration="good") for task in "abcd"]
    trials += [trial(task, FAIL, configuration="bad") for task in "abc"]
    (row,) = rows("model_sensitivity", *trials)
    assert (row["models"], row["tasks"], row["largest_difference"]) == (2, 3, 1.0)
    assert row["share_of_variance"] == pytest.approx(1.0)
    assert row["standard_deviation"] == pytest.approx(0.5**0.5)
    assert rows("model_sensitivity", *trials[:4]) == []
    led = [trial(task, configuration="good (strategy=native)") for task in "abcd"]
    assert len(rows("model_sensitivity", *trials, *led)) == 1  # another harness is no other model


EFFECTS = st.lists(st.integers(-20, 20).map(float), min_size=2, max_size=6)


@given(EFFECTS, EFFECTS)
def test_where_rows_and_columns_only_add_up_the_parts_are_the_variances_of_the_effects(
    of_rows: list[float], of_columns: list[float]
) -> None:
    parts = two_way_components([[row + column for column in of_columns] for row in of_rows])
    assert parts.rows == pytest.approx(pvariance(of_rows) * len(of_rows) / (len(of_rows) - 1), abs=1e-9)
    assert parts.columns == pytest.approx(pvariance(of_columns) * len(of_columns) / (len(of_columns) - 1), abs=1e-9)
    assert parts.residual == pytest.approx(0.0, abs=1e-9)


@given(st.lists(st.lists(st.floats(0, 1), min_size=3, max_size=3), min_size=2, max_size=5))
def test_components_are_never_negative_and_swap_with_the_table(table: list[list[float]]) -> None:
    parts = two_way_components(table)
    swapped = two_way_components(list(zip(*table, strict=True)))
    assert min(parts) >= 0.0
    assert (parts.rows, parts.columns, parts.residual) == pytest.approx(
        (swapped.columns, swapped.rows, swapped.residual), abs=1e-9
    )
    assert 0.0 <= parts.columns_share <= 1.0


@pytest.mark.parametrize("table", [[], [[1.0, 2.0]], [[1.0], [2.0]], [[1.0, 2.0], [1.0]]])
def test_a_table_that_is_too_small_or_has_gaps_is_refused(table: list[list[float]]) -> None:
    with pytest.raises(ValueError, match="at least two rows"):
        two_way_components(table)


@given(st.integers(0, 2**32), st.lists(st.tuples(st.sampled_from("ab"), st.booleans(), st.integers(0, 3)), max_size=8))
def test_rows_do_not_depend_on_the_order_of_trials(seed: int, said: list[tuple[str, bool, int]]) -> None:
    trials = [
        trial(
            task,
            PASS if passes else FAIL,
            number=number,
            configuration=f"m{count % 2}",
            axes={"variant": str(count), "cue": str(count % 2)},
            behaviour=str(count),
            measures={"calls_written": count, "calls_started": count, "calls_failed": 1},
        )
        for number, (task, passes, count) in enumerate(said)
    ]
    shuffled = random.Random(seed).sample(trials, len(trials))
    assert report_rows(shuffled) == report_rows(trials)
    assert report_lines(report_rows(trials)) or not trials


def test_a_share_of_one_cluster_says_nothing_of_others() -> None:
    found = metrics(trial("a", measures={"tools_wanted": 4, "tools_called": 4, "tools_right": 3}))["selection"]
    assert (found["recall"]["rate"], found["recall"]["interval_95"]) == (0.75, [0.0, 1.0])


@given(st.integers(1, 8), st.integers(1, 8))
def test_one_cluster_is_never_surer_than_two(first: int, second: int) -> None:
    outcomes = [True] * (first + second)
    low, high = rate_interval(outcomes, ["a"] * len(outcomes))
    two_low, two_high = rate_interval(outcomes, ["a"] * first + ["b"] * second)
    assert (low, high) == (0.0, 1.0)
    assert low < two_low < two_high == high
    assert rate_interval([True], ["a"]) == wilson(1, 1)


def test_a_cue_is_judged_within_tasks_that_differ_in_it_alone() -> None:
    def task(name: str, cue: str, **more: str) -> list[Trial]:
        axes = {"cue": cue, **more}
        behaviour = name.partition("-")[0]
        return [trial(f"{name}-{cue}", number=n, cluster="one", axes=axes, behaviour=behaviour) for n in range(2)]

    alike = [*task("a", "angry"), *task("b", "angry"), *task("a", "calm"), *task("b", "calm")]
    (row,) = rows("trigger", *alike)
    assert (row["behaviour_differs"], row["tasks_without_counterpart"]) == (None, 4)
    assert counted(row["behaviour_differs_without_cue"]) == (0, 4)
    assert any("4 tasks have no single counterpart" in line for line in report_lines(report_rows(alike)))
    told = [each for cue in ("angry", "calm") for name in "ab" for each in task(name, cue, variant=name)]
    (row,) = rows("trigger", *told)
    assert (counted(row["behaviour_differs"]), row["tasks_without_counterpart"]) == ((0, 4), 0)
