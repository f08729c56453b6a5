"""Results survive whatever ends the process, and say the same however often they are read."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from wieldy import UsageError
from wieldy.evals.cases.results import (
    RESULTS,
    STUDY,
    Results,
    Trial,
    counting,
    latest,
    read_study,
    read_trials,
    write_study,
)
from wieldy.evals.verdicts.verdict import PASS, Verdict, failed, unscored


def trial(task: str = "a", number: int = 0, verdict: Verdict = PASS, configuration: str = "m") -> Trial:
    return Trial(
        suite="s",
        task=task,
        category="c",
        cluster=task,
        digest="d",
        configuration=configuration,
        trial=number,
        runs=("r",),
        verdict=verdict,
        others={"official": failed("x")},
    )


TEXT = st.text(max_size=8).map(lambda text: text.encode("utf-8", "replace").decode())


@given(st.lists(st.tuples(TEXT, st.integers(0, 3), TEXT), max_size=8), st.integers(0, 200))
def test_a_torn_end_costs_the_last_trial_alone(rows: list[tuple[str, int, str]], cut: int) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        written = [trial(task, number, failed(reason)) for task, number, reason in rows]
        with Results(folder) as results:
            for each in written:
                results.add(each)
        file = folder / RESULTS
        content = file.read_bytes()
        kept = content[: max(0, len(content) - cut)]
        file.write_bytes(kept)
        whole = kept.count(b"\n")
        assert list(read_trials(folder)) == written[:whole]
        with Results(folder) as results:
            results.add(trial("more"))
        assert list(read_trials(folder)) == [*written[:whole], trial("more")]


def test_a_line_for_the_same_trial_replaces_the_one_before(tmp_path: Path) -> None:
    with Results(tmp_path) as results:
        results.add(trial("a", verdict=unscored("provider", "down")))
        results.add(trial("b"))
        results.add(trial("a"))
    assert latest(read_trials(tmp_path)) == [trial("a"), trial("b")]


LINES = st.lists(
    st.builds(lambda task, digest, number: structs.replace(trial(task, number), digest=digest),
        st.sampled_from("abc"), st.sampled_from("xyz"), st.integers(0, 1)), max_size=12
)  # fmt: skip
TASKS_OF_A_STUDY = st.dictionaries(st.sampled_from("abc"), st.sampled_from("xyz"))


@given(LINES, TASKS_OF_A_STUDY)
def test_what_counts_is_of_the_tasks_of_the_study_and_one_version_of_each(
    lines: list[Trial], tasks: dict[str, str]
) -> None:
    every = latest(iter(lines))
    told = counting(every, {"tasks": {**tasks}})
    assert told == [each for each in every if each.task_key in tasks.items()]
    silent = counting(every, {})
    assert {each.task for each in silent} == {each.task for each in every}
    assert len({each.task_key for each in silent}) == len({each.task for each in silent})


def test_a_damaged_line_is_named(tmp_path: Path) -> None:
    with Results(tmp_path) as results:
        results.add(trial())
    with (tmp_path / RESULTS).open("a") as file:
        file.write('{"suite": 1}\n')
    with pytest.raises(UsageError, match=r"results\.jsonl:2: expected a trial's result"):
        list(read_trials(tmp_path))


def test_folders_without_results_are_refused_in_words(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there are no results here"):
        list(read_trials(tmp_path / "none"))
    blocked = tmp_path / "file"
    blocked.write_text("")
    with pytest.raises(UsageError, match="cannot be written here"):
        Results(blocked / "folder")


def test_what_was_studied_is_written_whole_and_read_back(tmp_path: Path) -> None:
    assert read_study(tmp_path) == {}
    write_study(tmp_path, {"suite": "s"})
    write_study(tmp_path, {"suite": "t"})
    assert read_study(tmp_path) == {"suite": "t"}
    assert [path.name for path in tmp_path.iterdir()] == [STUDY]
    (tmp_path / STUDY).write_text("[1]")
    with pytest.raises(UsageError, match="expected a JSON object"):
        read_study(tmp_path)
    (tmp_path / STUDY).write_text("{")
    with pytest.raises(UsageError, match="found something else"):
        read_study(tmp_path)
