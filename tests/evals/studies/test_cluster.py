"""Studies swept by a real Ray cluster on this machine: the same results, the same records, whatever dies."""

from __future__ import annotations

import os
from collections import Counter
from functools import partial
from pathlib import Path

import anyio
import process_studies
import pytest

from wieldy import UsageError
from wieldy.core.errors import RunError
from wieldy.evals.cases.results import JOURNAL, read_study, read_trials
from wieldy.evals.studies.cluster import run_on_cluster
from wieldy.evals.studies.dealing import MOST_DEATHS
from wieldy.evals.studies.running import Progress, run_study
from wieldy.run.journal import SqliteJournal
from wieldy.run.state import fold

ray = pytest.importorskip("ray", reason="the extra `ray` is not installed")

pytestmark = pytest.mark.filterwarnings("ignore")  # Ray's own; they change with every version of it


@pytest.fixture(scope="module", autouse=True)
def cluster():
    paths = os.pathsep.join([str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    ray.init(
        address="local",
        num_cpus=2,
        include_dashboard=False,
        log_to_driver=False,
        logging_level="ERROR",
        runtime_env={
            "env_vars": {"PYTHONPATH": paths}
        },  # a cluster has what the tasks name; here that is a test's module
    )
    yield
    ray.shutdown()


def nothing(progress: Progress) -> None:
    del progress


def test_a_cluster_finds_what_one_process_finds_and_keeps_its_records(tmp_path: Path) -> None:
    seen = list[Progress]()
    swept = run_on_cluster(partial(process_studies.study, tmp_path / "many", 8), seen.append, workers=2)
    one = anyio.run(run_study, process_studies.study(tmp_path / "one", 8), nothing)
    assert [(each.key, each.verdict) for each in swept] == [(each.key, each.verdict) for each in one]
    assert [progress.done for progress in seen] == list(range(9))
    assert read_study(tmp_path / "many") == read_study(tmp_path / "one")
    journal = SqliteJournal(tmp_path / "many" / JOURNAL, read_only=True)
    for each in swept:
        entries = journal.read(each.runs[0])
        assert fold(entries).status == "finished"
        assert entries[0].time == each.time
        assert entries[-1].time - entries[0].time == pytest.approx(each.duration_s)
    again = list[Progress]()
    assert run_on_cluster(partial(process_studies.study, tmp_path / "many", 8), again.append, workers=2) == swept
    assert again[-1].ran == 0


def test_a_trial_that_kills_its_actors_is_unscored_and_keeps_no_other_from_being_run(tmp_path: Path) -> None:
    make = partial(process_studies.study, tmp_path, 3, deadly=True, jobs=1)
    first, *others = run_on_cluster(make, nothing, workers=1)
    assert (first.verdict.kind, first.verdict.layer, first.verdict.code) == ("unscored", "environment", "worker-died")
    assert f"{MOST_DEATHS} processes" in first.verdict.reason
    assert {each.verdict.kind for each in others} == {"pass"}
    assert set(Counter(trial.task for trial in read_trials(tmp_path)).values()) == {1}


def test_what_cannot_be_swept_is_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="at least one worker"):
        run_on_cluster(partial(process_studies.study, tmp_path), nothing, workers=0)
    with pytest.raises(RunError, match="were changed while the study was begun"):
        run_on_cluster(partial(process_studies.changing, tmp_path / "changing"), nothing, workers=1)
