"""`wieldy verify` over journals that somebody has edited by hand."""

from __future__ import annotations

import json
import sqlite3
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from wieldy import Agent
from wieldy.run.journal import SqliteJournal
from wieldy.testing import ScriptedModel, call, text

Result = subprocess.CompletedProcess[str]


def look(city: str) -> str:
    """Look at a city."""
    return f"{city} is fine"


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    """Three runs, each with a call."""
    file = tmp_path / "runs.db"
    for number in range(3):
        turns = [[call("look", {"city": f"town {number}"})], [text("Fine.")]]
        with SqliteJournal(file) as opened:
            Agent(ScriptedModel(turns), tools=[look], journal=opened).run_sync("How is it?")
    return file


def run_ids(journal: Path) -> list[str]:
    with SqliteJournal(journal, read_only=True) as opened:
        return list(opened.run_ids())


def edit(journal: Path, statement: str, *parameters: str | int) -> None:
    """What somebody does who has the file and some skill."""
    database = sqlite3.connect(journal, isolation_level=None)
    for (trigger,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
        database.execute(f"DROP TRIGGER {trigger}")
    assert database.execute(statement, parameters).rowcount > 0
    database.close()


def checked(result: Result, *, code: int) -> dict[str, Any]:
    assert result.returncode == code, result.stdout + result.stderr
    return json.loads(result.stdout)


def test_what_nobody_touched_is_whole_run_by_run(wieldy: Callable[..., Result], journal: Path) -> None:
    shown = wieldy("verify", "--journal", journal)
    told = checked(wieldy("verify", "--journal", journal, "--json"), code=0)

    assert shown.returncode == 0
    lines = shown.stdout.splitlines()
    for line, run in zip(lines, told["runs"], strict=False):
        assert line == f"✓ {run['run_id']}  {run['entries']} entries  {run['digest'][:16]}"
        assert run["findings"] == []
    assert [run["run_id"] for run in told["runs"]] == run_ids(journal)
    assert told["ok"] is True
    assert told["head"] in shown.stdout
    assert "Nothing was changed." in shown.stdout


def test_an_edited_entry_is_found_and_named(wieldy: Callable[..., Result], journal: Path) -> None:
    newest, edited, oldest = run_ids(journal)
    edit(
        journal,
        "UPDATE entries SET data = CAST(replace(CAST(data AS TEXT), 'town 1', 'town 7') AS BLOB)"
        " WHERE run_id = ? AND kind = 'reply'",
        edited,
    )

    shown = wieldy("verify", "--journal", journal)
    told = checked(wieldy("verify", "--journal", journal, "--json"), code=1)

    assert shown.returncode == 1
    assert f"✓ {newest}" in shown.stdout
    assert f"✗ {edited}" in shown.stdout
    assert f"✓ {oldest}" in shown.stdout
    assert "entry 2 (reply) was changed" in shown.stdout
    assert "Something was changed." in shown.stdout
    assert [run["run_id"] for run in told["runs"] if run["findings"]] == [edited]
    assert told["ok"] is False
    assert checked(wieldy("verify", edited, "--journal", journal, "--json"), code=1)["ok"] is False
    assert checked(wieldy("verify", oldest, "--journal", journal, "--json"), code=0)["ok"] is True


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("DELETE FROM entries WHERE run_id = ? AND sequence = 3", "entry 3 is missing"),
        ("UPDATE entries SET time = time + 1 WHERE run_id = ? AND sequence = 3", "entry 3 (call_started) was changed"),
        ("UPDATE entries SET kind = 'approval' WHERE run_id = ? AND sequence = 3", "entry 3 (approval) was changed"),
        ("UPDATE entries SET data = X'7B' WHERE run_id = ? AND sequence = 3", "found damaged data"),
        ("DELETE FROM entries WHERE run_id = ? AND sequence >= 3", "which was the journal's newest when run"),
        ("DELETE FROM entries WHERE run_id = ?", "which was the journal's newest when run"),
    ],
)
def test_whatever_is_removed_or_changed_is_found(
    wieldy: Callable[..., Result], journal: Path, statement: str, words: str
) -> None:
    edit(journal, statement, run_ids(journal)[1])

    shown = wieldy("verify", "--journal", journal)

    assert shown.returncode == 1
    assert words in shown.stdout
    assert "Traceback" not in shown.stderr


def test_a_head_that_was_noted_finds_what_was_cut_off_after_it(wieldy: Callable[..., Result], journal: Path) -> None:
    head = checked(wieldy("verify", "--journal", journal, "--json"), code=0)["head"]
    assert wieldy("verify", "--head", head, "--journal", journal).returncode == 0
    edit(journal, "DELETE FROM entries WHERE run_id = ?", run_ids(journal)[0])

    assert wieldy("verify", "--journal", journal).returncode == 0
    told = checked(wieldy("verify", "--head", head, "--journal", journal, "--json"), code=1)

    assert "its head was noted" in told["findings"][0]
    assert all(not run["findings"] for run in told["runs"])


def test_a_head_is_one_of_the_whole_journal(wieldy: Callable[..., Result], journal: Path) -> None:
    assert wieldy("verify", "last", "--head", "00", "--journal", journal).returncode == 2
    assert wieldy("verify", "--head", "00").returncode == 2  # there is no journal
