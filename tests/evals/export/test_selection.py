"""What becomes a row, what is learned from, and what is left out and counted."""

from __future__ import annotations

import json
import tempfile
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from trial_examples import trial

from wieldy import Agent, Limits, tool
from wieldy.core.errors import UsageError
from wieldy.evals.cases.results import JOURNAL, Results, Trial, write_study
from wieldy.evals.export import VIEWS, Counts, Sources, Wanted, check_new, passes_only, selected, write_rows
from wieldy.evals.export.branches import branches_of
from wieldy.evals.export.row import Row, split_of
from wieldy.evals.reports.page import Redaction
from wieldy.evals.verdicts.verdict import PASS, Verdict, abstained, failed, invalid_task, unscored
from wieldy.run.journal import MemoryJournal, open_journal
from wieldy.testing import ScriptedModel, call, text

VERDICTS = (
    PASS,
    failed("wrong: x"),
    failed("tool-failed: x", layer="tool"),
    abstained("abstained: x"),
    unscored("provider", "unreachable: x"),
    invalid_task("task: x"),
)


@tool(effect="read")
def double(number: int) -> int:
    """Double a number.

    Args:
        number: Any number.
    """
    return 2 * number


def ran(journal: Any, turns: list[Any], prompt: Any = "How much is twice 4?", **settings: Any) -> Any:
    agent = Agent(model=ScriptedModel(turns), tools=[double], journal=journal, **settings)
    return agent.run_sync(prompt)


GOOD = [[call("double", {"number": 4})], [text("It is 8.")]]
COERCED = [[call("double", {"number": "4"})], [text("It is 8.")]]
WRONG = [[call("halve", {"number": 4})], [text("I cannot.")]]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    file = tmp_path_factory.mktemp("runs") / JOURNAL
    with open_journal(file) as journal:  # type: ignore[union-attr]
        ids = {
            "good": ran(journal, GOOD).run_id,
            "coerced": ran(journal, COERCED).run_id,
            "wrong": ran(journal, WRONG).run_id,
            "cut": ran(
                journal, [[text("It is eight, and that is certain. " * 9)]], limits=Limits(output_tokens=5)
            ).run_id,
        }
    return file, ids


def study(folder: Path, journal: Path, trials: list[Trial]) -> Path:
    with Results(folder) as results:
        for each in trials:
            results.add(each)
    (folder / JOURNAL).symlink_to(journal)
    return folder


def rows_of(folder: Path, wanted: Wanted) -> tuple[list[Row], Counts]:
    counts = Counts()
    return list(selected(Sources(folders=[folder]), wanted, counts)), counts


def in_study(runs: tuple[Path, dict[str, str]], names: dict[str, Verdict], **wanted: Any) -> tuple[list[Row], Counts]:
    file, ids = runs
    with tempfile.TemporaryDirectory() as folder:
        trials = [replace(trial(name, verdict), runs=(ids[name],)) for name, verdict in names.items()]
        return rows_of(study(Path(folder) / "study", file, trials), Wanted(**wanted))


@given(
    st.dictionaries(
        st.tuples(st.sampled_from("abc"), st.sampled_from("mn"), st.integers(0, 2)),
        st.tuples(st.sampled_from(VERDICTS), st.sampled_from(("good", "wrong", "cut"))),
        min_size=1,
    ),
    st.sampled_from(sorted(VIEWS)),
    st.sampled_from((0.0, 0.5, 1.0)),
)
def test_every_trial_is_in_a_row_or_counted_and_groups_are_whole(
    runs: tuple[Path, dict[str, str]], made: dict[Any, tuple[Verdict, str]], to: str, share: float
) -> None:
    file, ids = runs
    view = VIEWS[to]
    trials = [
        replace(trial(task, verdict, configuration=configuration, number=number), runs=(ids[run],))
        for (task, configuration, number), (verdict, run) in made.items()
    ]
    with tempfile.TemporaryDirectory() as name:
        folder = study(Path(name) / "study", file, trials)
        where = passes_only(frozenset()) if view.purpose == "imitation" else {}
        rows, counts = rows_of(folder, Wanted(view=view, share=share, where=where))
        out = Path(name) / "rows.jsonl"
        if not view.is_parquet:
            write_rows(out, rows, view)
            assert [json.loads(line) for line in out.read_text().splitlines()] == [
                json.loads(json.dumps(view.write(row, as_text=False))) for row in rows
            ]
    assert counts.seen == len(trials) == len(rows) + counts.left_out.total()
    whole = Counter((task, configuration) for task, configuration, _ in made)
    most = defaultdict[str, int](int)
    for (_, configuration), count in whole.items():
        most[configuration] = max(most[configuration], count)
    for row in rows:
        verdict, run = made[row.task_id.removeprefix("s/"), row.configuration, row.trial]
        assert run != "cut"
        assert verdict in VERDICTS[:2] or verdict == VERDICTS[3]  # what only the model is to be blamed for
        assert row.reward == (1.0 if verdict == PASS else 0.0)
        assert {other.split for other in rows if other.task_id == row.task_id} == {row.split}
        if view.purpose == "imitation":
            assert verdict == PASS
            assert run == "good" or (view.takes_mask and run == "wrong")
        if view.purpose == "reinforcement":
            group = [other for other in rows if other.group_id == row.group_id]
            assert (
                len(group) == whole[row.task_id.removeprefix("s/"), row.configuration or ""] == most[row.configuration]
            )
            assert ("zero_variance" in row.flags) == (len({other.reward for other in group}) == 1)


@given(st.text(), st.floats(0, 1), st.floats(0, 1))
def test_a_task_is_in_one_split_and_stays_in_training_as_that_grows(task: str, one: float, other: float) -> None:
    assert split_of(task, 1) == "train"
    assert split_of(task, 0) == "test"
    if split_of(task, min(one, other)) == "train":
        assert split_of(task, max(one, other)) == "train"


def test_a_reply_with_a_wrong_call_is_shown_and_not_learned_from(runs: Any) -> None:
    rows, counts = in_study(runs, {"wrong": PASS, "coerced": PASS}, view=VIEWS["sft"])
    assert [row.train for row in rows] == [(False, False, False, True)] * 2
    assert counts.untrained == {"invalid_call": 1, "repaired_call": 1}
    called = rows[1].messages()[1]["tool_calls"]
    assert called[0]["function"]["arguments"] == {"number": "4"}  # what was written, not what ran
    rows, _ = in_study(runs, {"coerced": PASS}, view=VIEWS["sft"], include=frozenset({"repaired_call"}))
    assert rows[0].train == (False, True, False, True)
    by_reward, _ = in_study(runs, {"wrong": PASS}, view=VIEWS["grpo"])
    assert by_reward[0].train == (False, True, False, True)  # a sample stays whole: its reward says what it was worth


def test_what_was_cut_and_who_was_not_judged_is_included_only_where_that_is_asked_for(runs: Any) -> None:
    assert in_study(runs, {"cut": PASS}, view=VIEWS["sft"])[1].left_out == {"truncated": 1}
    assert len(in_study(runs, {"cut": PASS}, view=VIEWS["sft"], include=frozenset({"truncated"}))[0]) == 1
    file, _ = runs
    for include, expected in ((frozenset[str](), 0), (frozenset({"unjudged"}), 3)):
        with open_journal(file, read_only=True) as journal:  # type: ignore[union-attr]
            wanted = Wanted(view=VIEWS["sft"], include=include)
            rows = list(selected(Sources(journal=journal), wanted, Counts()))
        assert len(rows) == expected
        assert all(row.reward is None and row.verdict is None for row in rows)


@pytest.mark.parametrize(
    ("settings", "is_retold"),
    [({}, False), ({"actions": "react"}, True), ({"strategy": "guided"}, True), ({"actions": "code"}, False)],
)
def test_a_model_that_was_told_in_other_words_is_not_imitated(
    runs: Any, tmp_path: Path, settings: dict[str, str], is_retold: bool
) -> None:
    file, ids = runs
    folder = study(tmp_path / "s", file, [replace(trial("t"), runs=(ids["good"],))])
    write_study(folder, {"deployments": {"m": {"settings": settings, "harness": "1"}}})
    rows, counts = rows_of(folder, Wanted(view=VIEWS["rows"]))
    assert counts.left_out == ({"retold": 1} if is_retold else {})
    assert [row.harness_version for row in rows] == ([] if is_retold else ["1"])


@pytest.mark.parametrize(("trainer", "spread"), [("trl", 0.57735), ("art", 0.5)])
def test_advantages_are_those_of_the_named_trainer(runs: Any, trainer: str, spread: float) -> None:
    file, ids = runs
    trials = [
        replace(trial("t", PASS if number < 2 else VERDICTS[1], number=number), runs=(ids["good"],))
        for number in range(4)
    ]
    with tempfile.TemporaryDirectory() as name:
        rows, _ = rows_of(study(Path(name) / "s", file, trials), Wanted(view=VIEWS["grpo"], advantage=trainer))
        plain, _ = rows_of(Path(name) / "s", Wanted(view=VIEWS["grpo"]))
    assert [row.advantage for row in rows] == pytest.approx([0.5 / spread] * 2 + [-0.5 / spread] * 2, rel=1e-3)
    assert {row.advantage for row in plain} == {None}


def test_repeats_and_what_must_not_be_shown_are_left_out(runs: Any) -> None:
    file, ids = runs
    trials = [replace(trial("t", number=number), runs=(ids["good"],)) for number in range(3)]
    with tempfile.TemporaryDirectory() as name:
        folder = study(Path(name) / "s", file, trials)
        rows, counts = rows_of(folder, Wanted(view=VIEWS["rows"], dedupe=True))
        assert (len(rows), counts.left_out) == (1, {"repeat": 2})
        redacted, counts = rows_of(folder, Wanted(view=VIEWS["sft"], redaction=Redaction(["It is 8"])))
    assert "It is 8" not in json.dumps([row.messages() for row in redacted])
    assert redacted[0].train == (False, True, False, False)  # it did not write that
    assert counts.untrained == {"redacted": 3}


def test_runs_that_go_on_from_one_another_are_one_history_and_others_are_not() -> None:
    journal = MemoryJournal()
    first = ran(journal, GOOD)
    second = ran(journal, [[text("16.")]], [*first.messages, {"role": "user", "content": "And twice that?"}])
    (branch,) = branches_of(journal, [first.run_id, second.run_id])
    assert [said.reasons for said in branch.said if said.message.role == "assistant"] == [(), (), ()]
    short = [
        {"role": "user", "content": "Twice 4?"},
        first.messages[-1],
        {"role": "user", "content": "And twice that?"},
    ]
    shortened = ran(journal, [[text("16.")]], short)
    both = list(branches_of(journal, [first.run_id, shortened.run_id]))
    assert [branch.runs for branch in both] == [(first.run_id,), (shortened.run_id,)]
    assert [said.reasons for said in both[1].said] == [("given",)] * 3 + [()]


def test_a_run_within_a_run_is_a_row_of_its_own() -> None:
    journal = MemoryJournal()
    inner = Agent(model=ScriptedModel([[text("8")]]), journal=journal)
    ask = inner.as_tool(name="ask", description="Ask somebody.")
    turns = [[call("ask", {"prompt": "How much is 4+4?"})], [text("8.")]]
    agent = Agent(model=ScriptedModel(turns), tools=[ask], journal=journal)
    outer = agent.run_sync("Ask how much 4+4 is.")
    branches = list(branches_of(journal, [outer.run_id]))
    assert [branch.parent for branch in branches] == [None, outer.run_id]
    assert branches[1].said[-1].message.text == "8"


def test_nothing_is_written_over(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_text("{}\n")
    with pytest.raises(UsageError, match="left as it is"):
        check_new(file)
    with pytest.raises(UsageError, match="folder that exists"):
        check_new(tmp_path / "no" / "rows.jsonl")


def test_a_failure_of_somebody_else_has_no_reward_even_where_it_is_included(runs: Any) -> None:
    include = frozenset({"other_layer", "unscored"})
    for verdict in (VERDICTS[2], VERDICTS[4]):
        rows, _ = in_study(runs, {"good": verdict}, view=VIEWS["rows"], include=include)
        assert [row.reward for row in rows] == [None]
