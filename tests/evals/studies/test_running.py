"""Studies: every trial once, resumable after a kill, and what was not the model's doing told apart."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import anyio
import pytest
from bfcl_examples import FIND, task, write_data

from wieldy import Message, Usage, UsageError
from wieldy.core.errors import RateLimitError, RunBusyError
from wieldy.core.ports import Model, ModelEvent, ModelReply, ModelRequest
from wieldy.evals.bfcl.categories import categories_named
from wieldy.evals.bfcl.suite import bfcl_suite
from wieldy.evals.cases.case import Attempt, Suite
from wieldy.evals.cases.results import JOURNAL, RESULTS, Trial, read_study, read_trials
from wieldy.evals.reports.page import read_study_results
from wieldy.evals.studies import workbench
from wieldy.evals.studies.running import ORACLE, Progress, Study, run_study
from wieldy.evals.tasks.datasets import suite_from
from wieldy.evals.verdicts.verdict import tally
from wieldy.run.journal import SqliteJournal
from wieldy.run.policy import Decision, Deny, Proposal

TASKS = [
    task(),
    task("parallel", answers=(*task().answers, *task().answers)),
    task("irrelevance"),
    task("live_relevance"),
    task(functions=(FIND,), answers=({"find": {"query": ["a"], "extra": [1]}},), id="simple_python_9"),
]

CATEGORIES = ("simple_python", "parallel", "irrelevance", "live_relevance")


@pytest.fixture
def suite(tmp_path: Path) -> Suite:
    return bfcl_suite(write_data(tmp_path / "data", TASKS), categories_named(CATEGORIES))


def study(suite: Suite, tmp_path: Path) -> Study:
    return Study(suite=suite, models=(ORACLE,), folder=tmp_path / "out", trials=2, jobs=3)


def nothing(progress: Progress) -> None:
    del progress


@pytest.mark.anyio
async def test_an_oracle_passes_everything_that_can_be_passed(suite: Suite, tmp_path: Path) -> None:
    seen = list[Progress]()
    trials = await run_study(study(suite, tmp_path), seen.append)
    counts = tally(trial.verdict for trial in trials)
    assert (counts.passed, counts.invalid, counts.total) == (8, 2, 10)
    assert [progress.done for progress in seen] == list(range(11))
    assert {progress.total for progress in seen} == {10}
    assert sorted(trial.key for trial in read_trials(tmp_path / "out")) == sorted(trial.key for trial in trials)
    journal = SqliteJournal(tmp_path / "out" / JOURNAL, read_only=True)
    for trial in trials:
        metadata = journal.read(trial.runs[0])[0].data["metadata"]
        assert metadata == {"eval": "bfcl", "task": trial.task, "configuration": ORACLE, "trial": trial.trial}


@pytest.mark.anyio
async def test_what_is_there_is_not_run_again_and_what_is_new_is(suite: Suite, tmp_path: Path) -> None:
    first = await run_study(replace(study(suite, tmp_path), trials=1), nothing)
    seen = list[Progress]()
    both = await run_study(study(suite, tmp_path), seen.append)
    assert (seen[0].done, seen[-1].ran) == (5, 5)
    assert [trial for trial in both if trial.trial == 0] == first
    changed = bfcl_suite(
        write_data(tmp_path / "more", [task(functions=(*task().functions, FIND))]), categories_named(CATEGORIES)
    )
    again = await run_study(replace(study(changed, tmp_path), trials=1), seen.append)
    assert seen[-1].ran == 1
    assert again[0].digest != first[0].digest


PROGRAM = """
import os, sys
from pathlib import Path
import anyio
from wieldy.evals.bfcl.categories import categories_named
from wieldy.evals.bfcl.suite import bfcl_suite
from wieldy.evals.studies.running import Study, run_study

def until(progress):
    if progress.ran == int(sys.argv[3]):
        os.kill(os.getpid(), 9)

suite = bfcl_suite(Path(sys.argv[1]), categories_named(sys.argv[4].split(',')))
anyio.run(run_study, Study(suite=suite, models=("script:oracle",), folder=Path(sys.argv[2]), trials=2), until)
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="there is no SIGKILL on this system")
@pytest.mark.parametrize("after", [1, 4, 9])
def test_a_killed_study_goes_on_where_it_was(suite: Suite, tmp_path: Path, after: int) -> None:
    command = [sys.executable, "-c", PROGRAM, str(tmp_path / "data"), str(tmp_path / "out"), str(after)]
    command.append(",".join(CATEGORIES))
    assert subprocess.run(command, check=False).returncode == -signal.SIGKILL
    before = list(read_trials(tmp_path / "out"))
    assert len(before) == after
    seen = list[Progress]()
    trials = anyio.run(run_study, study(suite, tmp_path), seen.append)
    assert seen[-1].ran == 10 - after
    assert list(read_trials(tmp_path / "out"))[:after] == before
    assert len({trial.key for trial in trials}) == 10


class Failing:
    """A model behind a provider that refuses more requests until somebody says otherwise."""

    name = "failing"
    works = False

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        if not self.works:
            raise RateLimitError("slow down")
        del request
        yield ModelReply(message=Message.assistant("I cannot do that."), usage=Usage())


@pytest.mark.anyio
async def test_trials_that_could_not_be_scored_stay_and_are_run_again_if_wanted(
    suite: Suite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = Failing()

    def resolve(name: str | Model, **settings: object) -> Model:
        del name, settings
        return model

    monkeypatch.setattr(workbench, "resolved", resolve)
    own = Study(suite=suite, models=("failing",), folder=tmp_path / "out")

    async def kinds(**changes: bool) -> list[str]:
        trials = await run_study(replace(own, **changes), nothing)
        return [trial.verdict.kind for trial in trials]

    assert await kinds() == ["unscored", "invalid-task", "unscored", "unscored", "unscored"]
    model.works = True
    assert await kinds() == ["unscored", "invalid-task", "unscored", "unscored", "unscored"]
    assert await kinds(reruns_unscored=True) == ["abstain", "invalid-task", "abstain", "pass", "abstain"]


@pytest.mark.anyio
async def test_a_folder_holds_one_suite_and_one_deployment(suite: Suite, tmp_path: Path) -> None:
    await run_study(study(suite, tmp_path), nothing)
    with pytest.raises(UsageError, match="found those of 'bfcl'"):
        await run_study(study(replace(suite, name="other"), tmp_path), nothing)
    path = tmp_path / "out" / "study.json"
    known = json.loads(path.read_text())
    known["deployments"][ORACLE]["harness"] = "0.0.1"
    path.write_text(json.dumps(known))
    with pytest.raises(UsageError, match="another folder"):
        await run_study(study(suite, tmp_path), nothing)
    assert read_study(tmp_path / "out") == known


def write_tasks(path: Path, prompts: dict[str, str]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        "".join(
            json.dumps({"id": name, "prompt": words, "answer": ["Done."]}) + "\n" for name, words in prompts.items()
        )
    )
    return path


@pytest.mark.anyio
async def test_only_tasks_of_the_last_study_count_as_they_were_then(tmp_path: Path) -> None:
    file, out = tmp_path / "tasks.jsonl", tmp_path / "out"
    for prompts, left_out in (
        ({"a": "A?", "b": "B?", "c": "C?"}, 0),
        ({"a": "A?", "b": "B?"}, 2),  # one was removed: nothing is left to be run
        ({"a": "A?", "b": "Changed?"}, 4),
        ({"a": "New?", "b": "New?"}, 7),
        ({"a": "A?", "b": "B?", "c": "C?"}, 3),  # and as at first, of which all results are there still
    ):
        own = Study(suite=suite_from(write_tasks(file, prompts)), models=(ORACLE,), folder=out)
        found = await run_study(replace(own, trials=2 if prompts.get("a") == "A?" else 1), nothing)
        read = read_study_results(out)
        counted = {trial.task_key for trial in found}
        assert {trial.task_key for trial in read.trials} == counted
        assert len({trial.task for trial in read.trials}) == len(counted) == len(prompts)
        assert read.left_out == len({trial.key for trial in read_trials(out)}) - len(read.trials)
        assert (read.left_out > 0) == (left_out > 0) == bool(read.notes)


@pytest.mark.anyio
async def test_a_folder_holds_the_tasks_of_one_file_and_may_be_moved_with_it(tmp_path: Path) -> None:
    files = [write_tasks(tmp_path / "here" / name / "tasks.jsonl", {name: "What?"}) for name in ("a", "b")]
    one, other = (Study(suite=suite_from(file), models=(ORACLE,), folder=tmp_path / "here" / "out") for file in files)
    await run_study(one, nothing)
    with pytest.raises(UsageError, match=r"another one.*a/tasks\.jsonl.*b/tasks\.jsonl"):
        await run_study(other, nothing)
    (tmp_path / "here").rename(tmp_path / "there")
    there, seen = tmp_path / "there", list[Progress]()
    moved = Study(suite=suite_from(there / "a" / "tasks.jsonl"), models=(ORACLE,), folder=there / "out")
    await run_study(moved, seen.append)
    assert (seen[0].done, seen[0].total) == (1, 1)


@pytest.mark.anyio
async def test_results_under_two_policies_are_not_kept_under_one_name(suite: Suite, tmp_path: Path) -> None:
    own = study(suite, tmp_path)
    await run_study(own, nothing)

    def deny_all(proposal: Proposal) -> Decision:
        return Deny(reason=f"no {proposal.tool.name}")

    with pytest.raises(UsageError, match=r'policy was "allow_all" and is .*deny_all'):
        await run_study(replace(own, policy=deny_all), nothing)
    with pytest.raises(UsageError, match='policy was "allow_all" and is "none"'):
        await run_study(replace(own, policy=deny_all, policies={"none": deny_all}, trials=3), nothing)
    assert {trial.trial for trial in read_trials(tmp_path / "out")} == {0, 1}


@pytest.mark.anyio
async def test_two_processes_do_not_write_to_one_folder(suite: Suite, tmp_path: Path) -> None:
    own = study(suite, tmp_path)

    async def second() -> None:
        with pytest.raises(RunBusyError):
            await run_study(own, nothing)

    tried = list[Trial]()

    def try_once(progress: Progress) -> None:
        if progress.latest is not None and not tried:
            tried.append(progress.latest)
            group.start_soon(second)

    async with anyio.create_task_group() as group:
        await run_study(own, try_once)


@pytest.mark.anyio
async def test_a_task_that_cannot_be_run_does_not_keep_the_others_from_it(suite: Suite, tmp_path: Path) -> None:
    async def refuse(attempt: Attempt) -> list[str]:
        raise UsageError(f"{attempt.model.name} cannot begin")

    first, *others = suite.cases
    broken = replace(suite, cases=(replace(first, run=refuse), *others))
    trials = await run_study(replace(study(broken, tmp_path), trials=1), nothing)
    assert (trials[0].verdict.kind, trials[0].verdict.layer, trials[0].verdict.code) == (
        "unscored",
        "task",
        "cannot-begin",
    )
    assert [trial.verdict.kind for trial in trials].count("pass") == 3


@pytest.mark.anyio
async def test_what_stops_a_study_is_raised_as_it_is(suite: Suite, tmp_path: Path) -> None:
    def full(progress: Progress) -> None:
        if progress.ran == 2:
            raise OSError("the disk is full")

    with pytest.raises(OSError, match="the disk is full"):
        await run_study(study(suite, tmp_path), full)
    assert len(await run_study(study(suite, tmp_path), nothing)) == 10


@pytest.mark.anyio
async def test_what_cannot_be_studied_is_refused(suite: Suite, tmp_path: Path) -> None:
    own = study(suite, tmp_path)
    for changed, words in (
        (replace(own, models=("script:robust",)), "a scripted model that the task"),
        (replace(own, models=("nonsense",)), "Expected a model"),
        (replace(own, trials=0), "at least one trial"),
        (replace(own, suite=replace(suite, cases=())), "at least one task"),
    ):
        with pytest.raises(UsageError, match=words):
            await run_study(changed, nothing)
    assert not (tmp_path / "out" / RESULTS).exists()
    blocked = tmp_path / "file"
    blocked.write_text("")
    with pytest.raises(UsageError, match="cannot be written here"):
        await run_study(replace(own, folder=blocked / "in"), nothing)


@pytest.mark.anyio
async def test_the_folder_names_each_program_that_ran_trials_once(suite: Suite, tmp_path: Path) -> None:
    for program, trials in (
        ("first --a", 1),
        ("second", 2),
        ("nothing was left for it", 2),
        ("first --a", 3),
        (None, 4),
    ):
        await run_study(replace(study(suite, tmp_path), begun_by=program, trials=trials), nothing)
    assert read_study(tmp_path / "out")["begun_by"] == ["first --a", "second", sys.argv[0]]


@pytest.mark.anyio
@pytest.mark.parametrize("lost", ["study.json", JOURNAL])
async def test_results_without_what_says_of_what_they_are_or_without_their_journal_are_left_alone(
    suite: Suite, tmp_path: Path, lost: str
) -> None:
    own = replace(study(suite, tmp_path), trials=1)
    first = await run_study(own, nothing)
    aside = {file: file.read_bytes() for file in own.folder.iterdir() if file.name.startswith(lost)}
    results = (own.folder / RESULTS).read_bytes()
    for file in aside:
        file.unlink()
    for more in (own, replace(own, trials=2)):
        for _ in range(2):  # what a refused start leaves behind opens no door
            with pytest.raises(UsageError, match=f"5 results here, and .*{lost}.* Put it back"):
                await run_study(more, nothing)
    if lost == "study.json":
        (own.folder / lost).write_text("{}")
        with pytest.raises(UsageError, match="Put it back"):
            await run_study(own, nothing)
    for file in own.folder.glob(f"{lost}*"):
        file.unlink()
    for file, content in aside.items():
        file.write_bytes(content)
    assert await run_study(own, nothing) == first
    assert (own.folder / RESULTS).read_bytes() == results
