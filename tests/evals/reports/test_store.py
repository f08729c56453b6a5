"""Stores and changes: an index that says what the folders say, and regressions that are none by chance."""

from __future__ import annotations

import random
import sqlite3
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs
from trial_examples import FAIL, trial

from wieldy import UsageError
from wieldy.evals.cases.results import RESULTS, Results, Trial, write_study
from wieldy.evals.reports.changes import change_lines, change_rows, latest_split, slice_rows, split_by
from wieldy.evals.reports.plots import rates_svg
from wieldy.evals.reports.store import Store, Stored, seconds_of
from wieldy.evals.statistics import unpaired_difference
from wieldy.evals.verdicts.verdict import PASS, unscored

DAY_S = 86_400.0
NOVEMBER = seconds_of("2026-11-01")


def study(folder: Path, trials: Sequence[Trial], *, version: str = "0.1.0", model: str = "m") -> Path:
    with Results(folder) as results:
        for each in trials:
            results.add(each)
    names = {each.configuration for each in trials}
    write_study(folder, {"suite": "s", "deployments": {name: {"model": model, "harness": version} for name in names}})
    return folder


def at(made: Trial, day: float, **changes: Any) -> Trial:
    return structs.replace(made, time=NOVEMBER + day * DAY_S, **changes)


def passing(passed: int, *, of: int = 40, day: float = 0.0, prefix: str = "", **changes: Any) -> list[Trial]:
    return [at(trial(f"{prefix}{n}", PASS if n < passed else FAIL), day, **changes) for n in range(of)]


def key_of(each: Stored) -> tuple[object, ...]:
    return each.folder, each.trial.key


TRIALS = st.lists(
    st.builds(
        lambda task, name, number, verdict, day: at(
            trial(task, verdict, configuration=name, number=number, category=task[:1]), day
        ),
        st.sampled_from(["a1", "a2", "b1"]),
        st.sampled_from(["m", "n (x=1, y=2)"]),
        st.integers(0, 1),
        st.sampled_from([PASS, FAIL, unscored("tool", "x")]),
        st.integers(0, 40),
    ),
    max_size=8,
)


@settings(max_examples=20)  # each writes and syncs files
@given(TRIALS, TRIALS)
def test_a_store_says_what_the_folders_say_however_often_they_are_added(
    first: list[Trial], second: list[Trial]
) -> None:
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        store = Store(root / "results.db")
        folders = [study(root / "one", first), study(root / "two", second)]
        for folder in (*folders, folders[0], folders[0]):
            store.add(folder)
        stored = store.trials()
        last = {
            (place, made.key): made for place, own in zip(("one", "two"), (first, second), strict=True) for made in own
        }
        assert {key_of(each): each.trial for each in stored} == last
        assert len(stored) == len(last)
        assert [each.time for each in stored] == sorted(each.time for each in stored)
        for key in ("configuration", "category", "folder", "version", "day"):
            parts = {each.slice(key) for each in stored}
            if key != "day":
                assert sum(len(store.trials({key: part})) for part in parts) == len(stored)
        assert store.refresh() == []
        again = Store(root / "other.db")
        for folder in folders:
            again.add(folder)
        assert sorted(map(repr, again.trials())) == sorted(map(repr, stored))


def test_what_was_added_to_a_folder_is_read_again_and_a_folder_that_is_gone_is_kept(tmp_path: Path) -> None:
    store = Store(tmp_path / "results.db")
    folder = study(tmp_path / "one", [trial("a")])
    store.add(folder)
    study(folder, [trial("b")], version="0.2.0")
    assert store.refresh() == []
    assert [each.trial.task for each in store.trials()] == ["a", "b"]
    assert {each.version for each in store.trials()} == {"0.2.0"}
    (folder / RESULTS).unlink()
    assert store.refresh() == ["one"]
    assert len(store.trials()) == 2


def test_a_store_can_be_moved_with_its_folders(tmp_path: Path) -> None:
    (tmp_path / "here").mkdir()
    Store(tmp_path / "here" / "results.db").add(study(tmp_path / "here" / "one", [trial("a")]))
    (tmp_path / "here").rename(tmp_path / "there")
    assert Store(tmp_path / "there" / "results.db").refresh() == []


def test_slices_are_by_time_model_version_and_kind(tmp_path: Path) -> None:
    store = Store(tmp_path / "results.db")
    store.add(study(tmp_path / "one", passing(1, of=2, day=0), version="0.1.0", model="a"))
    store.add(study(tmp_path / "two", passing(1, of=3, day=20), version="0.2.0", model="b"))
    counts = {
        len(store.trials({key: value}))
        for key, value in (("model", "a"), ("version", "0.1.0"), ("until", "2026-11-10"), ("folder", "one"))
    }
    assert counts == {2}
    assert len(store.trials({"since": "2026-11-21"})) == 3
    assert store.trials({"since": "2026-11-22"}) == []
    with pytest.raises(UsageError, match="Expected one of suite"):
        store.trials({"colour": "red"})
    with pytest.raises(UsageError, match="a day such as"):
        store.trials({"since": "yesterday"})


def test_files_that_are_no_stores_are_left_alone(tmp_path: Path) -> None:
    other = tmp_path / "other.db"
    with sqlite3.connect(other) as connection:
        connection.execute("CREATE TABLE mine (x)")
    connection.close()
    before = other.read_bytes()
    text = tmp_path / "text.db"
    text.write_text("This is no database, but a text that is somewhat longer than a header would be." * 20)
    for path, words in ((other, "found something else"), (text, "cannot be used"), (tmp_path, "cannot be used")):
        with pytest.raises(UsageError, match=words):
            Store(path)
    assert other.read_bytes() == before
    with pytest.raises(UsageError, match="no results here"):
        Store(tmp_path / "results.db").add(tmp_path / "none")


# Changes


def stored(*slices: tuple[str, list[Trial]]) -> list[Stored]:
    return [
        Stored(
            trial=each,
            suite=each.suite,
            category=each.category,
            model="m",
            version=version,
            configuration=each.configuration,
            folder=version,
            time=each.time,
        )
        for version, own in slices
        for each in own
    ]


def changes(split: str, *slices: tuple[str, list[Trial]]) -> list[dict[str, Any]]:
    return [dict(row) for row in change_rows(split_by(split, stored(*slices)))]


def test_a_regression_is_found_in_pairs_where_tasks_are_shared_and_in_rates_where_they_are_not() -> None:
    (row,) = changes("version=1,2", ("1", passing(36)), ("2", passing(20, day=1)))
    assert (row["paired"], row["is_regression"], row["tasks"]) == (True, True, 40)
    assert row["difference"] == pytest.approx(-0.4)
    (other,) = changes("version=1,2", ("1", passing(36)), ("2", passing(20, day=1, prefix="new")))
    assert (other["paired"], other["is_regression"], other["tasks"]) == (False, True, 80)
    (changed,) = changes("version=1,2", ("1", passing(36)), ("2", passing(20, day=1, digest="another")))
    assert changed["paired"] is False
    (better,) = changes("version=2,1", ("1", passing(36)), ("2", passing(20, day=1)))
    assert (better["is_regression"], better["difference"]) == (False, pytest.approx(0.4))
    (same,) = changes("version=1,2", ("1", passing(20)), ("2", passing(19, day=1)))
    assert same["is_regression"] is False


def test_what_is_not_scored_any_more_is_told_and_is_lost() -> None:
    before = ("1", passing(36))
    nothing_scored = [at(trial(str(n), unscored("provider", "down")), 1) for n in range(40)]
    for after, why in (
        (passing(1, day=1, configuration="renamed"), "there are no trials after"),
        (passing(1, day=1, suite="renamed"), "there are no trials after"),
        (nothing_scored, "nothing is scored after"),
    ):
        rows = changes("version=1,2", before, ("2", after))
        assert {row["type"] for row in rows} == {"not_compared"}
        assert [row["why"] for row in rows if row["is_lost"]] == [why]
        lines = change_lines(rows)
        assert sum("LOST" in line for line in lines) == 1
    rows = changes("version=1,2", before, ("2", [*nothing_scored, *passing(40, day=1, configuration="new")]))
    assert {(row["configuration"], row["why"], row["is_lost"]) for row in rows} == {
        ("m", "nothing is scored after", True),
        ("new", "there are no trials before", False),
    }
    (alone,) = changes("version=1,2", ("1", [trial("a")]), ("2", [trial("a")]))
    assert (alone["is_lost"], alone["scored_before"], alone["scored_after"]) == (False, 1, 1)


def test_rates_beside_a_difference_are_of_the_tasks_that_it_is_of() -> None:
    """40 before and 20 after, of which 10 are shared: they went from good to bad, all others the other way."""
    before = [at(trial(str(n), PASS if n < 10 else FAIL), 0) for n in range(40)]
    after = [at(trial(str(n), FAIL if n < 10 else PASS), 1) for n in (*range(10), *range(50, 60))]
    (row,) = changes("version=1,2", ("1", before), ("2", after))
    assert (row["paired"], row["tasks"], row["tasks_before"], row["tasks_after"]) == (True, 10, 40, 20)
    assert (row["rate_before"], row["rate_after"], row["difference"]) == (1.0, 0.0, -1.0)
    assert any("10 tasks in pairs (of 40 and 20)" in line for line in change_lines([row]))


@given(TRIALS, TRIALS)
def test_a_difference_is_that_of_the_rates_beside_it(first: list[Trial], second: list[Trial]) -> None:
    if not first or not second:
        return
    for row in change_rows(split_by("version=1,2", stored(("1", first), ("2", second)))):
        if row["type"] == "change":
            rates: list[Any] = [row["rate_before"], row["rate_after"]]
            assert rates[1] - rates[0] == pytest.approx(row["difference"])


@pytest.mark.parametrize(("scored_before", "scored_after", "is_lost"), [(40, 3, True), (40, 20, False), (3, 3, False)])
def test_a_server_that_goes_away_in_the_middle_is_no_green_build(
    scored_before: int, scored_after: int, is_lost: bool
) -> None:
    def slice_of(scored: int, day: int) -> list[Trial]:
        return [at(trial(str(n), PASS if n < scored else unscored("provider", "down")), day) for n in range(40)]

    own = stored(("1", slice_of(scored_before, 0)), ("2", slice_of(scored_after, 1)))
    rows: list[dict[str, Any]] = [
        dict(row) for row in (*slice_rows(own, "version"), *change_rows(latest_split("version", own)))
    ]
    (change,) = [row for row in rows if row["type"] == "change"]
    assert (change["is_lost"], change["unscored_after"]) == (is_lost, 40 - scored_after)
    assert rows[1]["unscored"] == {"provider": 40 - scored_after}
    lines = change_lines(rows)
    assert any(f"; {40 - scored_after} unscored (provider {40 - scored_after})" in line for line in lines)
    assert any("LOST" in line for line in lines) is is_lost


@given(TRIALS, TRIALS)
def test_every_group_is_compared_or_it_is_told_why_not(first: list[Trial], second: list[Trial]) -> None:
    both = stored(("1", first), ("2", second))
    if not first or not second:
        return
    rows = change_rows(split_by("version=1,2", both))
    groups = {(each.suite, each.category, each.configuration) for each in both}
    assert sorted((row["suite"], row["category"], row["configuration"]) for row in rows) == sorted(groups)
    assert change_lines(rows)


def test_many_tests_find_no_more_by_chance() -> None:
    chance = random.Random(20_261_130)
    alarms = 0
    for _ in range(20):
        own = [
            [
                at(trial(f"{k}-{n}", PASS if chance.random() < 0.7 else FAIL, category=str(k)), day)
                for k in range(8)
                for n in range(25)
            ]
            for day in (0, 1)
        ]
        rows = changes("version=1,2", ("1", own[0]), ("2", own[1]))
        assert len(rows) == rows[0]["tests"] == 8
        alarms += any(row["holm_p"] < 0.05 for row in rows)
    assert alarms <= 3  # one in twenty is the level


def test_slices_to_compare_are_named_or_the_last_two() -> None:
    own = stored(("1", passing(10)), ("2", passing(10, day=5)), ("10", passing(10, day=9)))
    by_day = split_by("day=2026-11-06", own)
    assert (len(by_day.first), len(by_day.second)) == (40, 80)
    latest = latest_split("version", own)
    assert (latest.before, latest.after) == ("2", "10")
    named = [at(trial("a", configuration=name), day) for name, day in (("m", 0.0), ("m (x=1, y=2)", 1.0))]
    assert split_by("configuration=m,m (x=1, y=2)", stored(("1", named))).after == "m (x=1, y=2)"
    for wrong, words in (
        ("version=1", "with two of 1, 2, 10"),
        ("version=1,3", "with two of"),
        ("day=2025-01-01", "results before it"),
        ("colour=a,b", "two slices by"),
    ):
        with pytest.raises(UsageError, match=words):
            split_by(wrong, own)
    with pytest.raises(UsageError, match="two values of version"):
        latest_split("version", own[:40])


def test_changes_are_told_with_regressions_first() -> None:
    own = stored(("1", passing(36)), ("2", passing(20, day=1)))
    rows = [*slice_rows(own, "version"), *change_rows(latest_split("version", own))]
    lines = change_lines(rows)
    assert "  1: 36/40 = 90.0% [76.9%, 96.0%]" in lines
    assert "  s, c, m: REGRESSION" in lines
    assert lines[-1] == "1 regression"
    assert max(map(len, lines)) <= 100


@given(
    st.lists(st.sampled_from(["<b>", "a & b", "\x00x", "]]>", "ünï", '"']), min_size=1, max_size=6, unique=True),
    st.integers(1, 9),
)
def test_a_plot_is_good_xml_whatever_names_hold(names: list[str], slices: int) -> None:
    own = stored(
        *(
            (
                f"{version} {name}",
                [at(trial(str(n), PASS if n else FAIL, configuration=name), version) for n in range(3)],
            )
            for version in range(slices)
            for name in names
        )
    )
    svg = rates_svg(list(slice_rows(own, "version")))
    root = ElementTree.fromstring(svg)
    texts = ["".join(each.itertext()) for each in root.iter("{http://www.w3.org/2000/svg}text")]
    assert any("&" in each for each in texts) == any("&" in name for name in names)
    dots = [each for each in texts if "2/3 = 66.7%" in each]
    assert len(dots) == slices * len(names)


def test_a_plot_of_nothing_is_one_as_well() -> None:
    ElementTree.fromstring(rates_svg([]))


# The statistic


@given(st.integers(2, 12), st.integers(2, 12), st.data())
def test_a_difference_of_rates_turns_with_its_sides(first: int, second: int, data: st.DataObject) -> None:
    one = data.draw(st.lists(st.booleans(), min_size=first, max_size=first))
    other = data.draw(st.lists(st.booleans(), min_size=second, max_size=second))
    clusters: dict[str, Any] = {"first_clusters": range(first), "second_clusters": range(second)}
    turned: dict[str, Any] = {"first_clusters": range(second), "second_clusters": range(first)}
    found = unpaired_difference(one, other, **clusters, resamples=200)
    back = unpaired_difference(other, one, **turned, resamples=200)
    assert found.low <= found.mean <= found.high
    assert (back.mean, back.low, back.high) == pytest.approx((-found.mean, -found.high, -found.low))
    assert 0.0 < found.p <= 1.0


def test_the_interval_is_the_published_one() -> None:
    # Newcombe (1998), table II, contrast (a): 56/70 less 48/80 by method 10.
    first, second = [n < 48 for n in range(80)], [n < 56 for n in range(70)]
    found = unpaired_difference(first, second, first_clusters=range(80), second_clusters=range(70))
    assert (found.low, found.high) == pytest.approx((0.0524, 0.3339), abs=5e-5)
    assert found.p == pytest.approx(0.01, abs=0.006)
    with pytest.raises(ValueError, match="at least two clusters"):
        unpaired_difference([True], [False, True], first_clusters=[1], second_clusters=[1, 2])
