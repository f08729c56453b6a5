from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from wieldy.apps.cli.journals import find_run, open_for_appending, open_for_reading
from wieldy.core.errors import UsageError
from wieldy.core.ports import Draft
from wieldy.run.journal import MemoryJournal, open_journal

RUNS = ("bb22", "bb11", "aa11")


def holding(*run_ids: str, nested: str | None = None) -> MemoryJournal:
    """A journal with these runs, the newest first."""
    journal = MemoryJournal()
    for run_id in reversed(run_ids):
        parent = {"parent": {"run_id": "x", "call_id": "c1"}} if run_id == nested else {}
        journal.append(run_id, Draft("run_started", {"model": "m", "messages": [], **parent}))
    return journal


def test_a_run_is_found_by_its_id_by_a_unique_beginning_and_as_the_last_one() -> None:
    assert find_run(holding(*RUNS), "bb11") == "bb11"
    assert find_run(holding(*RUNS), "a") == "aa11"
    assert find_run(holding(*RUNS), "last") == "bb22"


def test_the_last_run_is_no_run_within_a_run() -> None:
    assert find_run(holding(*RUNS, nested="bb22"), "last") == "bb11"


def test_a_whole_id_wins_over_being_the_beginning_of_another() -> None:
    assert find_run(holding("abc", "ab"), "ab") == "ab"


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        ("bb", "2 runs begin with 'bb': bb22, bb11"),
        ("x", "No run's id begins with 'x'"),
        ("", "Expected a run's id, the beginning of one, or `last`, found ''"),
        (" ", "found ' '"),
    ],
)
def test_an_unclear_run_is_refused_with_what_would_be_clear(wanted: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        find_run(holding(*RUNS), wanted)


def test_reading_creates_no_file(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no journal"):
        open_for_reading(tmp_path / "new" / "runs.db")

    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["new/runs.db", "a\0b", "x" * 5000, "mysql://host/database", "~no-such-user/runs.db"])
def test_appending_to_runs_needs_a_journal_that_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match="no journal"):
        open_for_appending(name)

    assert not list(tmp_path.iterdir())


def test_a_journal_is_a_file_or_a_database(tmp_path: Path, postgres: Any) -> None:
    for name in (str(tmp_path / "runs.db"), f"{postgres.url}?options=-csearch_path%3Dpublic"):
        with open_journal(name) as journal:
            journal.append("a run", Draft("run_started", {}))
        with closing(open_for_appending(name)) as recorded:  # type: ignore[type-var]
            recorded.append("a run", Draft("approval", {}))
        with closing(open_for_reading(name)) as recorded:  # type: ignore[type-var]
            assert [entry.kind for entry in recorded.read(find_run(recorded, "a"))] == [
                "run_started",
                "approval",
            ]


def test_a_default_journal_that_does_not_exist_yet_is_none_to_read_and_missing_to_append(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("HOME", str(tmp_path))
    assert open_for_reading(None) is None
    with pytest.raises(UsageError, match="no journal"):
        open_for_appending(None)
