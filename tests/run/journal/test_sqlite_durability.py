"""What a file survives: which appends wait for the disk."""

import sqlite3
from pathlib import Path
from typing import Any

import pytest

from wieldy.core.ports import Draft
from wieldy.run.journal import MemoryJournal, PostgresJournal, SqliteJournal


@pytest.fixture
def statements(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What SQLite is told, by every connection that is opened from now on."""
    told: list[str] = []
    connect = sqlite3.connect

    def connect_and_listen(*arguments: Any, **options: Any) -> sqlite3.Connection:
        connection = connect(*arguments, **options)
        connection.set_trace_callback(told.append)
        return connection

    monkeypatch.setattr(sqlite3, "connect", connect_and_listen)
    return told


def synchronous_appends(told: list[str]) -> list[str]:
    """The setting under which each append was carried out."""
    setting, settings = "", list[str]()
    for before, statement in zip(["", *told], told, strict=False):
        if statement == before:  # told once more because of a trigger; no two appends add the same row
            continue
        if statement.startswith("PRAGMA synchronous = "):
            setting = statement.removeprefix("PRAGMA synchronous = ")
        elif statement.startswith("INSERT INTO entries"):
            settings.append(setting)
    return settings


END = "run_finished"


def append_each_kind(journal: SqliteJournal) -> None:
    journal.append("r", Draft("run_started", {}))
    journal.append("r", Draft("call_started", {}), is_intent=True)
    journal.append("r", Draft("call_finished", {}))
    journal.append("r", Draft("reply", {}), Draft(END, {}))
    journal.append("r2", Draft("run_started", {}))


def test_intents_and_ends_wait_for_the_disk_and_take_along_what_came_before(
    tmp_path: Path, statements: list[str]
) -> None:
    with SqliteJournal(tmp_path / "j.db", durability="machine") as journal:
        append_each_kind(journal)
        assert journal.durability == "machine"
    assert synchronous_appends(statements) == ["NORMAL", "FULL", "NORMAL", "FULL", "FULL", "NORMAL"]


def test_nothing_waits_for_the_disk_unless_told_so(tmp_path: Path, statements: list[str]) -> None:
    with SqliteJournal(tmp_path / "j.db") as journal:
        append_each_kind(journal)
        assert journal.durability == "process"
    assert set(synchronous_appends(statements)) == {"NORMAL"}


def test_every_journal_says_what_it_survives(postgres_url: str) -> None:
    assert MemoryJournal().durability == "none"
    with PostgresJournal(postgres_url) as journal:
        assert journal.durability == "process"  # the server of these tests does not wait for its disk
