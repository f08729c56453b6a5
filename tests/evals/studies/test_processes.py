"""Studies of several processes: every trial once, whichever process is killed and when."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
from collections import Counter
from functools import partial
from pathlib import Path

import anyio
import process_studies
import pytest

from wieldy import UsageError, sandbox
from wieldy.core.errors import ModelNotAvailableError, RunBusyError, RunError, SandboxTierError
from wieldy.evals.cases.results import JOURNAL, Trial, read_study, read_trials
from wieldy.evals.studies.dealing import MOST_DEATHS
from wieldy.evals.studies.processes import run_in_processes
from wieldy.evals.studies.running import Progress, run_study
from wieldy.run.journal import SqliteJournal

pytestmark = pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="there is no SIGKILL on this system")

MOST_S = 240


def nothing(progress: Progress) -> None:
    del progress


def lines_in(folder: Path) -> Counter[str]:
    return Counter(trial.task for trial in read_trials(folder))


def alike(one: list[Trial], other: list[Trial]) -> bool:
    return [(each.key, each.verdict) for each in one] == [(each.key, each.verdict) for each in other]


async def has_sandbox() -> bool:
    try:
        async with sandbox.open(["jail-ns", "podman", "docker"]):
            return True
    except SandboxTierError:
        return False


def test_several_processes_find_what_one_finds(tmp_path: Path) -> None:
    seen = list[Progress]()
    many = run_in_processes(partial(process_studies.study, tmp_path / "many"), seen.append, processes=2)
    one = anyio.run(run_study, process_studies.study(tmp_path / "one"), nothing)
    assert alike(many, one)
    assert [progress.done for progress in seen] == list(range(21))
    assert set(lines_in(tmp_path / "many").values()) == {1}
    assert read_study(tmp_path / "many") == read_study(tmp_path / "one")
    journal = SqliteJournal(tmp_path / "many" / JOURNAL, read_only=True)
    assert all(journal.read(run_id) for each in many for run_id in each.runs)
    again = list[Progress]()
    assert run_in_processes(partial(process_studies.study, tmp_path / "many"), again.append, processes=2) == many
    assert again[-1].ran == 0
    assert multiprocessing.active_children() == []


def test_what_a_killed_worker_had_in_hand_is_run_again_and_nothing_twice(tmp_path: Path) -> None:
    killed = list[int]()

    def kill(progress: Progress) -> None:
        if progress.ran in (3, 9, 15) and progress.latest is not None:
            alive = [each.pid for each in multiprocessing.active_children() if each.pid not in killed]
            assert alive[0] is not None
            os.kill(alive[0], signal.SIGKILL)
            killed.append(alive[0])

    found = run_in_processes(partial(process_studies.study, tmp_path), kill, processes=2)
    assert len(killed) == 3
    assert {each.verdict.kind for each in found} == {"pass"}
    assert set(lines_in(tmp_path).values()) == {1}
    assert multiprocessing.active_children() == []


@pytest.mark.parametrize("name", ["refunds.jsonl", "shop.py", "workspaces.jsonl"])
def test_a_killed_worker_takes_its_environments_with_it_and_every_trial_begins_afresh(
    tmp_path: Path, name: str
) -> None:
    if name == "workspaces.jsonl" and not anyio.run(has_sandbox):
        pytest.skip("no sandbox with files of its own works here")
    killed = list[int]()

    def kill(progress: Progress) -> None:
        if progress.ran in (1, 3) and progress.latest is not None:
            alive = [each.pid for each in multiprocessing.active_children() if each.pid not in killed]
            assert alive[0] is not None
            os.kill(alive[0], signal.SIGKILL)
            killed.append(alive[0])

    found = run_in_processes(partial(process_studies.environments, tmp_path, (name,)), kill, processes=2)
    assert len(killed) == 2
    assert {each.verdict.kind for each in found} == {"pass"}
    assert set(lines_in(tmp_path).values()) == {3}
    alone = anyio.run(run_study, process_studies.environments(tmp_path / "alone", (name,)), nothing)
    assert alike(found, alone)


@pytest.mark.parametrize(("jobs", "processes"), [(1, 1), (4, 2)])
def test_a_trial_that_kills_its_processes_is_unscored_and_no_other_is_blamed_for_it(
    tmp_path: Path, jobs: int, processes: int
) -> None:
    make = partial(process_studies.study, tmp_path, 4, deadly=True, jobs=jobs)
    found = run_in_processes(make, nothing, processes=processes)
    first, *others = found
    assert (first.verdict.kind, first.verdict.layer, first.verdict.code) == ("unscored", "environment", "worker-died")
    assert f"{MOST_DEATHS} processes" in first.verdict.reason
    assert {each.verdict.kind for each in others} == {"pass"}
    assert set(lines_in(tmp_path).values()) == {1}


PROGRAM = """
import os, sys
from functools import partial
from pathlib import Path
sys.path.insert(0, sys.argv[3])
import process_studies
from wieldy.evals.studies.processes import run_in_processes

def until(progress):
    if progress.ran == int(sys.argv[2]):
        os.kill(os.getpid(), 9)

if __name__ == "__main__":
    run_in_processes(partial(process_studies.study, Path(sys.argv[1])), until, processes=2)
"""


@pytest.mark.parametrize("after", [0, 7])
def test_a_killed_master_leaves_no_worker_behind_and_is_gone_on_from(tmp_path: Path, after: int) -> None:
    out, program = tmp_path / "out", tmp_path / "program.py"
    program.write_text(PROGRAM)
    command = [sys.executable, program, out, str(after), Path(process_studies.__file__).parent]
    # Its workers hold the other end of this pipe: it is read to its end only once all of them are gone.
    done = subprocess.run(command, check=False, stdout=subprocess.PIPE, timeout=MOST_S)
    assert done.returncode == -signal.SIGKILL
    before = list(read_trials(out))
    assert len(before) == after
    seen = list[Progress]()
    found = run_in_processes(partial(process_studies.study, out), seen.append, processes=2)
    assert seen[-1].ran == 20 - after
    assert {each.verdict.kind for each in found} == {"pass"}
    assert list(read_trials(out))[:after] == before
    assert set(lines_in(out).values()) == {1}


def test_what_cannot_be_run_is_told_as_if_there_were_one_process(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="at least one process"):
        run_in_processes(partial(process_studies.study, tmp_path), nothing, processes=0)
    (tmp_path / "broken.gguf").write_text("no weights")
    with pytest.raises(ModelNotAvailableError, match=r"broken\.gguf"):
        run_in_processes(partial(process_studies.missing_model, tmp_path), nothing, processes=1)
    with pytest.raises(RunError, match="were changed while the study was begun"):
        run_in_processes(partial(process_studies.changing, tmp_path / "changing"), nothing, processes=1)
    assert multiprocessing.active_children() == []


def test_two_masters_do_not_share_a_folder(tmp_path: Path) -> None:
    tried = list[RunBusyError]()

    def second(progress: Progress) -> None:
        if progress.ran == 2:
            with pytest.raises(RunBusyError) as caught:
                run_in_processes(partial(process_studies.study, tmp_path), nothing, processes=1)
            tried.append(caught.value)

    run_in_processes(partial(process_studies.study, tmp_path, 4), second, processes=1)
    assert len(tried) == 1
