"""A journal that cannot be written in the middle of a run: the error says so, and nothing is lost or done twice."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from crash_checks import findings
from crash_plans import CONSENT
from crash_trials import Death, Laboratory, Life, Trial, Workers, snapshot


@pytest.fixture(scope="module")
def reference(laboratory: Laboratory) -> Trial:
    return laboratory.trial(CONSENT)


def errors(trial: Trial) -> list[str]:
    """What processes said whose journal could not be written."""
    return [life.told["message"] for life in trial.lives if life.lost_its_journal and life.told is not None]


def test_a_full_disk_is_named_and_the_run_goes_on_when_there_is_room(laboratory: Laboratory, reference: Trial) -> None:
    sizes = range(20_000, 220_000, 10_000)
    trials = laboratory.trials(CONSENT, ([Death(moment="full", number=size)] for size in sizes))
    places: set[int] = set()
    for size, trial in zip(sizes, trials, strict=True):
        assert findings(trial, reference) == [], size
        for message in errors(trial):
            assert "cannot be" in message, message
            assert "disk" in message, message
            assert "is kept" in message, message
            places.add(sum(map(len, trial.lives[0].journal.values())))
    assert len(places) > 5, "runs were stopped at different entries"


def test_a_journal_that_becomes_read_only_is_named_and_the_run_goes_on_when_it_can_be_written(
    laboratory: Laboratory, reference: Trial
) -> None:
    numbers = range(1, 25)
    trials = laboratory.trials(CONSENT, ([Death(moment="read-only", number=number)] for number in numbers))
    for number, trial in zip(numbers, trials, strict=True):
        assert findings(trial, reference) == [], number
        (message,) = errors(trial)
        assert "read-only" in message


# A disk of its own, where this machine lets its users make one


def a_disk_in_memory(folder: Path, size: int) -> list[str]:
    """A command that mounts one at the folder, for itself only, and becomes the command that follows."""
    mount = f'mount -t tmpfs -o size={size} none "$0" && exec "$@"'
    return ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", mount, str(folder)]


@pytest.fixture
def disk(tmp_path: Path) -> Path:
    try:
        tried = subprocess.run(
            [*a_disk_in_memory(tmp_path, 4096), "true"], capture_output=True, timeout=30, check=False
        )
    except OSError as error:
        pytest.skip(f"no disk can be made here: {error}")
    if tried.returncode:
        pytest.skip(f"no disk can be made here: {tried.stderr.decode(errors='replace').strip()}")
    return tmp_path


def copy_of(path: Path, folder: Path) -> Path:
    """The journal that a dead process has left; SQLite cannot be led into another process's folders."""
    for suffix in ("", "-wal"):
        if path.with_name(path.name + suffix).exists():
            shutil.copyfile(path.with_name(path.name + suffix), folder / (path.name + suffix))
    return folder / path.name


@pytest.mark.parametrize("room", [0, 40_000, 60_000, 90_000, 130_000])
def test_a_disk_that_is_really_full_loses_nothing(
    laboratory: Laboratory, reference: Trial, disk: Path, room: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    size = 1_000_000
    name, trial = f"disk {room}", Trial(plan=CONSENT)
    job = {
        "journal": str(disk / "runs.db"),
        "world": name,
        "plan": CONSENT.name,
        "port": laboratory.outside.port,
    }
    with Workers(within=a_disk_in_memory(disk, size)) as workers:
        workers.live()
        seen_from_here = Path(f"/proc/{workers.pid}/root") / disk.relative_to("/")
        filler = seen_from_here / "filler"
        filler.write_bytes(bytes(size - room - size % 4096))

        def live() -> dict[str, object]:
            (end,) = workers.live(job)
            laboratory.outside.ask(name, "quiet")
            trial.lives.append(
                Life(
                    death=None if not filler.exists() else Death(moment="full", number=room),
                    pid=end["pid"],
                    is_killed=end["killed"],
                    is_hung=end["hung"],
                    told=end["told"],
                    journal=snapshot(copy_of(seen_from_here / "runs.db", tmp_path_factory.mktemp("copy"))),
                    duration_s=0.0,
                )
            )
            return end["told"]

        for _ in range(2):
            told = live()
            assert told["error"] == "JournalError", told
            assert "full" in str(told["message"]), told
        filler.unlink()
        assert live()["stop_reason"] == "answered"
    report = laboratory.outside.ask(name, "report")
    trial.log, trial.values = report["log"], report["values"]
    assert findings(trial, reference) == []


READ_AFTER_WRITING = """
import subprocess, sys
from wieldy.core.ports import Draft
from wieldy.run.journal import SqliteJournal
with SqliteJournal(sys.argv[1] + "/j.db") as journal:
    journal.append("r", Draft("k", {"number": 1}))
subprocess.run(["mount", "-o", "remount,ro", "none", sys.argv[1]], check=True)
with SqliteJournal(sys.argv[1] + "/j.db", read_only=True) as journal:
    print(journal.read("r")[0].data)
"""


def test_a_journal_on_a_disk_that_nobody_can_write_to_is_read(disk: Path) -> None:
    command = [*a_disk_in_memory(disk, 1_000_000), sys.executable, "-W", "error", "-c", READ_AFTER_WRITING, str(disk)]
    finished = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (finished.stderr, finished.stdout) == ("", "{'number': 1}\n")
