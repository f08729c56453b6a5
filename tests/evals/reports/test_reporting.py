"""Reports: denominators and intervals with every rate, and differences task by task."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from trial_examples import FAIL, trial

from wieldy.evals.bfcl.board import board_row, board_rows
from wieldy.evals.bfcl.categories import CATEGORIES, CONVERSATIONS, SIZES, categories_named
from wieldy.evals.cases.results import Trial
from wieldy.evals.reports.report_lines import report_lines
from wieldy.evals.reports.reporting import report_rows
from wieldy.evals.statistics import clustered_wilson, wilson
from wieldy.evals.verdicts.verdict import PASS, Verdict, abstained, invalid_task, unscored


def rows(kind: str, *trials: Trial) -> list[dict[str, Any]]:
    return [dict(row) for row in report_rows(trials) if row["type"] == kind]


def test_rates_are_of_those_scored_and_the_others_stand_beside_them() -> None:
    trials = [trial("a"), trial("b", FAIL), trial("c", abstained("no-call")), trial("d", unscored("tool", "crash"))]
    (row,) = rows("configuration", *trials, trial("e", invalid_task("none")))
    counts = [row[name] for name in ("passed", "failed", "abstained", "scored", "invalid_tasks", "total", "tasks")]
    assert counts == [1, 1, 1, 3, 1, 5, 5]
    assert row["unscored"] == {"tool": 1}
    assert row["rate"] == pytest.approx(1 / 3)
    assert row["interval_95"] == pytest.approx(wilson(1, 3))
    assert row["cost_usd"] is None
    text = "\n".join(report_lines(report_rows(trials)))
    assert "all: 1/3 = 33.3% [" in text
    assert "1 of these abstained; 1 unscored (tool 1); 4 trials" in text
    assert "why: 1/4 fail, model: wrong-value (as b, run run-b, entries 2)" in text


def test_what_is_wrong_with_a_task_is_told_in_words() -> None:
    lines = report_lines(report_rows([trial("a", invalid_task("contradiction: 'f' is wanted, and is not offered"))]))
    assert any("invalid-task: contradiction: 'f' is wanted, and is not offered (as a" in line for line in lines)


def test_alike_tasks_are_not_counted_as_independent() -> None:
    trials = [trial(str(index), PASS if index < 20 else FAIL, cluster=str(index // 10)) for index in range(40)]
    (row,) = rows("configuration", *trials)
    outcomes = [index < 20 for index in range(40)]
    assert row["clusters"] == 4
    assert row["interval_95"] == pytest.approx(clustered_wilson(outcomes, [index // 10 for index in range(40)]))
    low, high = wilson(20, 40)
    assert row["interval_95"][0] < low < high < row["interval_95"][1]


def test_trials_of_one_cluster_alone_leave_everything_possible() -> None:
    trials = [trial("a", number=number) for number in range(50)]
    trials += [trial("b", unscored("provider", "down"), number=number) for number in range(2)]
    (row,) = rows("configuration", *trials)
    assert (row["clusters"], row["interval_95"]) == (1, [0.0, 1.0])
    (errors,) = rows("provider_errors", *[each for each in trials if each.task == "b"])
    assert errors["rate_interval_95"] == [0.0, 1.0]


def test_repeats_count_what_could_not_be_scored_and_say_so() -> None:
    trials = [trial("a", number=0), trial("a", FAIL, number=1), trial("b", number=0)]
    trials += [trial("b", unscored("provider", "down"), number=1)]
    found = rows("repeats", *trials)
    assert [row["k"] for row in found] == [1, 2]
    assert (found[1]["pass_at_k"], found[1]["pass_hat_k"]) == (1.0, 0.0)
    assert found[0]["unscored_trials_counted_as_not_passed"] == 1
    assert rows("repeats", trial("a"), trial("b")) == []
    assert any("k=2: pass@k 100.0%" in line for line in report_lines(report_rows(trials)))


def test_configurations_are_compared_on_the_tasks_that_both_have_scored() -> None:
    first = [trial(str(index), PASS if index < 4 else FAIL, configuration="one") for index in range(10)]
    second = [trial(str(index), PASS, configuration="two") for index in range(9)]
    second.append(trial("9", unscored("provider", "down"), configuration="two"))
    (row,) = rows("comparison", *first, *second)
    assert (row["first"], row["second"], row["tasks"], row["tasks_of_one_only"]) == ("one", "two", 9, 1)
    assert row["difference"] == pytest.approx(5 / 9)
    assert row["mcnemar"]["only_second"] == 5
    assert row["mcnemar"]["exact_p"] == pytest.approx(row["permutation_p"]) == pytest.approx(2 / 2**5)
    text = "\n".join(report_lines(report_rows([*first, *second])))
    assert "two less one: +55.6% [" in text
    assert "McNemar p = 0.0625" in text


def test_what_a_benchmarks_own_rules_say_stands_beside_ours() -> None:
    trials = [trial("a", FAIL, official=PASS), trial("b", official=PASS)]
    (row,) = rows("configuration", *trials)
    assert (row["rate"], row["official"]["rate"]) == (0.5, 1.0)
    assert any(line.strip().startswith("official: 2/2") for line in report_lines(report_rows(trials)))


def test_only_parts_that_are_complete_are_scored_by_the_leaderboards_weights() -> None:
    simple = {"simple_python": (3, 4), "simple_java": (1, 2), "simple_javascript": (1, 1)}
    whole = {**simple, "multiple": (1, 1), "parallel": (0, 1), "parallel_multiple": (1, 2), "live_simple": (1, 1)}
    row = board_row("m", whole)
    assert row["non_live"] == pytest.approx((0.75 + 1.0 + 0.0 + 0.5) / 4)
    assert (row["live"], row["irrelevance"], row["multi_turn"]) == (None, None, None)
    assert row["missing"] == {"live": 0.1, "irrelevance": 0.1, "multi_turn": 0.3, "web search and memory": 0.4}
    conversations = {f"multi_turn_{name}": (1, 2) for name in ("base", "miss_func", "miss_param")}
    assert board_row("m", conversations)["multi_turn"] is None
    assert board_row("m", {**conversations, "multi_turn_long_context": (2, 2)})["multi_turn"] == pytest.approx(0.625)
    trials = [trial("a", category="irrelevance", official=PASS), trial("b", category="live_irrelevance", official=FAIL)]
    (found,) = board_rows([*trials, trial("a", number=1, category="irrelevance", official=FAIL)])
    assert found["irrelevance"] == 0.5
    lines = report_lines([*report_rows(trials), found])
    words = "irrelevance 50.0% (2 of 1,124 tasks); no overall score without non_live (10%)"
    assert any(words in line for line in lines)
    whole_part = board_row("m", {"irrelevance": (120, 240), "live_irrelevance": (442, 884)})
    all_of_them = report_lines([*report_rows(trials), whole_part])
    assert any("rules: irrelevance 50.0%; no overall" in line for line in all_of_them)


def test_the_categories_have_as_many_tasks_as_is_said_of_them() -> None:
    assert list(SIZES) == [category.name for category in categories_named(["everything"])]
    assert sum(SIZES[name] for name in CATEGORIES) == 3_641
    assert sum(SIZES[name] for name in CONVERSATIONS) == 800


VERDICTS = st.sampled_from([PASS, FAIL, abstained("no-call"), unscored("tool", "crash"), invalid_task("none")])
TRIALS = st.dictionaries(
    st.tuples(st.sampled_from("abcd"), st.sampled_from("mn"), st.integers(0, 1)), VERDICTS, min_size=1, max_size=16
)


@given(TRIALS, st.randoms(use_true_random=False))
def test_the_order_of_trials_does_not_matter(found: dict[tuple[str, str, int], Verdict], chance: random.Random) -> None:
    trials = [
        trial(task, verdict, configuration=name, number=number, cluster="x" if task in "ab" else task)
        for (task, name, number), verdict in found.items()
    ]
    expected = report_rows(trials)
    chance.shuffle(trials)
    assert report_rows(trials) == expected
    assert report_lines(expected)
    total = sum(int(row["total"]) for row in expected if row["type"] == "configuration")  # type: ignore[arg-type]
    assert total == len(trials)
