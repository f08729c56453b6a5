"""A file of the first format is brought up to date as a whole or not at all, and can be read as it is."""

import json
import sqlite3
import subprocess
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from wieldy.core.errors import JournalError
from wieldy.core.ports import Draft, Entry
from wieldy.run.journal import MemoryJournal, SqliteJournal, verify, verify_all

Python = Callable[..., "subprocess.CompletedProcess[str]"]

# As version 0.1 wrote it.
FORMAT_1 = """
CREATE TABLE entries (
    position INTEGER PRIMARY KEY,
    run_id TEXT NOT NULL,
    sequence INTEGER NOT NULL,
    kind TEXT NOT NULL,
    time REAL NOT NULL,
    data BLOB NOT NULL,
    UNIQUE (run_id, sequence)
);
CREATE INDEX run_starts ON entries (position) WHERE sequence = 0;
CREATE TRIGGER entries_are_never_changed BEFORE UPDATE ON entries
BEGIN SELECT RAISE(ABORT, 'a journal is append-only: an entry cannot be changed'); END;
CREATE TRIGGER entries_are_never_removed BEFORE DELETE ON entries
BEGIN SELECT RAISE(ABORT, 'a journal is append-only: an entry cannot be removed'); END;
CREATE TRIGGER entries_are_appended_in_order BEFORE INSERT ON entries
WHEN NEW.sequence <> (SELECT coalesce(max(sequence) + 1, 0) FROM entries WHERE run_id = NEW.run_id)
    OR EXISTS (SELECT 1 FROM entries WHERE position = NEW.position)
BEGIN SELECT RAISE(ABORT, 'a journal is append-only: entries are added in order'); END;
PRAGMA application_id = 1464419660;
PRAGMA user_version = 1;
PRAGMA journal_mode = WAL;
"""
RUNS = ("r2", "r1", "r2", "r1", "r3")
ENTRIES = 40


def write_format_1(path: Path) -> dict[str, list[Entry]]:
    """Runs whose entries stand between one another's; and what they are in the format of today."""
    expected = MemoryJournal(clock=lambda: 7.5)
    connection = sqlite3.connect(path)
    connection.executescript(FORMAT_1)
    for number in range(ENTRIES):
        run_id, data = RUNS[number % len(RUNS)], {"number": number, "text": "naïve \x00 🙂"}
        [entry] = expected.append(run_id, Draft("k", data))
        encoded = json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace("\x00", "\\u0000").encode()
        values = (run_id, entry.sequence, "k", 7.5, encoded)
        connection.execute("INSERT INTO entries (run_id, sequence, kind, time, data) VALUES (?, ?, ?, ?, ?)", values)
    connection.commit()
    connection.close()
    return {run_id: list(expected.read(run_id)) for run_id in expected.run_ids()}


def format_of(path: Path) -> int:
    connection = sqlite3.connect(path)
    [(version,)] = connection.execute("PRAGMA user_version").fetchall()
    connection.close()
    return version


def read_all(journal: SqliteJournal) -> dict[str, list[Entry]]:
    return {run_id: list(journal.read(run_id)) for run_id in journal.run_ids()}


def test_an_old_file_is_read_with_digests_and_is_not_changed(tmp_path: Path) -> None:
    path = tmp_path / "j.db"
    expected = write_format_1(path)
    before = path.read_bytes()
    with SqliteJournal(path, read_only=True) as journal:
        assert read_all(journal) == expected
        assert list(read_all(journal)) == list(expected)
        assert journal.read("r1", start=3) == expected["r1"][3:]
        assert journal.head() == expected["r3"][-1].digest
        assert journal.holder("r1") is None
        assert list(journal.read("r9")) == []
        with pytest.raises(JournalError, match="reading only"):
            journal.lease("r1")
    assert path.read_bytes() == before


def test_an_old_file_that_is_opened_for_appending_is_brought_up_to_date_and_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "j.db"
    expected = write_format_1(path)
    with SqliteJournal(path, read_only=True) as reader, SqliteJournal(path) as journal:
        assert read_all(journal) == expected == read_all(reader)
        assert list(read_all(journal)) == list(expected)
        assert journal.head() == expected["r3"][-1].digest
        [entry] = journal.append("r1", Draft("k", {}), length=len(expected["r1"]))
        journal.append("r4", Draft("k", {}))
        journal.lease("r1").release()
        assert journal.run_ids()[0] == "r4"
        assert verify_all(read_all(journal).values()) == []
        assert reader.read("r1")[-1] == entry
    assert format_of(path) == 2
    connection = sqlite3.connect(path)
    for statement in ("DELETE FROM entries", "UPDATE entries SET kind = ''"):
        with pytest.raises(sqlite3.IntegrityError, match="append-only"):
            connection.execute(statement)
    connection.close()
    new = tmp_path / "new.db"
    SqliteJournal(new).close()
    assert schema_of(path) == schema_of(new)


def schema_of(path: Path) -> set[str]:
    connection = sqlite3.connect(path)
    statements = {statement for (statement,) in connection.execute("SELECT sql FROM sqlite_master")}
    connection.close()
    return statements


KILLED = """
import os, signal, sys
from wieldy.run.journal import SqliteJournal, sqlite_file
link, left = sqlite_file.link, int(sys.argv[2])
def link_or_die(*arguments):
    global left
    left -= 1
    if left < 0:
        os.kill(os.getpid(), signal.SIGKILL)
    return link(*arguments)
sqlite_file.link = link_or_die
SqliteJournal(sys.argv[1])
"""


@pytest.mark.parametrize("after", [0, ENTRIES // 2, ENTRIES - 1])
def test_a_process_that_is_killed_while_it_upgrades_loses_nothing(tmp_path: Path, python: Python, after: int) -> None:
    path = tmp_path / "j.db"
    expected = write_format_1(path)
    assert python(KILLED, str(path), str(after)).returncode == -9
    assert format_of(path) == 1
    with SqliteJournal(path, read_only=True) as journal:
        assert read_all(journal) == expected
    with SqliteJournal(path) as journal:
        assert read_all(journal) == expected
        verify(journal.read("r1"))


NO_ROOM = """
import resource, sys
from wieldy.core.errors import JournalError
from wieldy.run.journal import SqliteJournal
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
try:
    SqliteJournal(sys.argv[1])
except JournalError as error:
    print(error)
"""


def test_an_upgrade_for_which_there_is_no_room_changes_nothing(tmp_path: Path, python: Python) -> None:
    path = tmp_path / "j.db"
    expected = write_format_1(path)
    finished = python(NO_ROOM, str(path))
    assert finished.stderr == ""
    assert "full" in finished.stdout
    with SqliteJournal(path) as journal:
        assert read_all(journal) == expected


def test_processes_that_upgrade_the_same_file_at_once_find_it_up_to_date(tmp_path: Path, python: Python) -> None:
    path = tmp_path / "j.db"
    expected = write_format_1(path)
    code = (
        "import sys; from wieldy.run.journal import SqliteJournal as S; from wieldy.core.ports import Draft as D; "
        "S(sys.argv[1]).append(sys.argv[2], D('k', {}))"
    )
    with ThreadPoolExecutor(3) as pool:
        finished = list(pool.map(lambda number: python(code, str(path), f"new-{number}"), range(3)))
    assert [process.stderr for process in finished] == [""] * 3
    with SqliteJournal(path) as journal:
        assert {run_id: run for run_id, run in read_all(journal).items() if run_id in expected} == expected
        assert len(list(journal.run_ids())) == len(expected) + 3


def test_an_old_entry_that_is_damaged_does_not_keep_the_others_from_being_upgraded(tmp_path: Path) -> None:
    path = tmp_path / "j.db"
    expected = write_format_1(path)
    connection = sqlite3.connect(path)
    connection.execute("INSERT INTO entries (run_id, sequence, kind, time, data) VALUES ('bad', 0, 'k', 1, x'7B')")
    connection.commit()
    connection.close()
    with SqliteJournal(path) as journal:
        assert {run_id: journal.read(run_id) for run_id in expected} == expected
        with pytest.raises(JournalError, match="cannot be read"):
            journal.read("bad")
