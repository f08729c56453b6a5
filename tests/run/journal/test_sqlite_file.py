"""A journal in a file keeps what it was given, and says clearly what is wrong with the file."""

import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from wieldy.core.errors import JournalError, JournalTamperedError, UsageError
from wieldy.core.ports import Draft
from wieldy.run.journal import SqliteJournal, verify

Python = Callable[..., "subprocess.CompletedProcess[str]"]


def test_an_entry_is_seen_by_other_openings_of_the_file_while_it_is_being_written(tmp_path: Path) -> None:
    path = tmp_path / "new folder" / "a?b#c%20d.db"
    with SqliteJournal(path) as writer, SqliteJournal(path, read_only=True) as reader, SqliteJournal(path) as other:
        for number in range(3):
            writer.append("r", Draft("k", {"number": number}))
            assert len(reader.read("r")) == number + 1
        assert other.append("r", Draft("k", {}))[0].sequence == 3


def test_a_reader_does_not_wait_for_a_write_that_is_under_way(tmp_path: Path) -> None:
    with SqliteJournal(tmp_path / "j.db") as journal:
        journal.append("r", Draft("k", {}))
        with sqlite3.connect(tmp_path / "j.db", isolation_level=None) as writing:
            writing.execute("BEGIN IMMEDIATE")
            assert len(journal.read("r")) == 1
            writing.execute("ROLLBACK")
        writing.close()


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE entries SET kind = 'forged'",
        "DELETE FROM entries",
        "REPLACE INTO entries VALUES (NULL, 'r', 0, 'forged', 1, x'7B7D', x'')",
        "REPLACE INTO entries VALUES (1, 's', 0, 'forged', 1, x'7B7D', x'')",
        "INSERT INTO entries VALUES (NULL, 'r', 5, 'forged', 1, x'7B7D', x'')",
    ],
)
def test_the_file_itself_refuses_to_change_remove_or_skip_an_entry(tmp_path: Path, statement: str) -> None:
    path = tmp_path / "j.db"
    with SqliteJournal(path) as journal:
        journal.append("r", Draft("k", {}))
    connection = sqlite3.connect(path)
    with pytest.raises(sqlite3.IntegrityError, match="append-only"):
        connection.execute(statement)
    connection.close()
    with SqliteJournal(path) as journal:
        assert [entry.kind for entry in journal.read("r")] == ["k"]


def test_disk_use_is_linear_in_what_is_appended(tmp_path: Path) -> None:
    def size_bytes(entries: int) -> int:
        path = tmp_path / f"{entries}.db"
        with SqliteJournal(path) as journal:
            for _ in range(entries):
                journal.append("r", Draft("k", {"text": "x" * 1000}))
        return path.stat().st_size

    assert size_bytes(800) < 4.5 * size_bytes(200)


def test_a_newer_format_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "j.db"
    with SqliteJournal(path) as journal:
        journal.append("r", Draft("k", {}))
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version = 3")
    connection.close()
    before = path.read_bytes()
    for read_only in (True, False):
        with pytest.raises(JournalError, match=r"has format 3.*Upgrade Wieldy"):
            SqliteJournal(path, read_only=read_only)
    assert path.read_bytes() == before


def foreign_database(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE entries (x)")
    connection.commit()
    connection.close()


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda path: path.write_text("not a database, " * 100), "no SQLite file"),
        (foreign_database, "not a journal of Wieldy"),
        (lambda path: path.mkdir(), "Name a file"),
    ],
)
def test_a_path_that_is_something_else_is_refused_and_left_alone(
    tmp_path: Path, make: Callable[[Path], object], words: str
) -> None:
    path = tmp_path / "j.db"
    make(path)
    before = path.read_bytes() if path.is_file() else None
    with pytest.raises(JournalError, match=words):
        SqliteJournal(path)
    assert (path.read_bytes() if path.is_file() else None) == before


def test_a_missing_or_empty_file_is_made_for_writing_and_named_for_reading(tmp_path: Path) -> None:
    missing, empty = tmp_path / "missing.db", tmp_path / "empty.db"
    empty.touch()
    with pytest.raises(JournalError, match=r"no journal at .*missing\.db"):
        SqliteJournal(missing, read_only=True)
    assert not missing.exists()
    with pytest.raises(JournalError, match="is empty"):
        SqliteJournal(empty, read_only=True)
    for path in (missing, empty):
        with SqliteJournal(path) as journal:
            assert journal.append("r", Draft("k", {}))[0].sequence == 0


@pytest.mark.parametrize("path", ["/proc/nowhere/j.db", "a\0b", "x" * 300, ""])
def test_a_path_where_no_file_can_be_is_refused(path: str) -> None:
    with pytest.raises(JournalError, match="cannot be made"):
        SqliteJournal(path)


def test_the_home_of_nobody_is_refused() -> None:
    with pytest.raises(JournalError, match="nobody's home folder"):
        SqliteJournal("~nobody-has-this-name/j.db")


def test_a_durability_that_does_not_exist_is_refused_before_a_file_is_made(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="found 'always'"):
        SqliteJournal(tmp_path / "j.db", durability="always")  # type: ignore[arg-type]
    assert not list(tmp_path.iterdir())


def test_a_damaged_page_is_reported_when_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "j.db"
    with SqliteJournal(path) as journal:
        for _ in range(200):
            journal.append("r", Draft("k", {"text": "x" * 500}))
    damaged = bytearray(path.read_bytes())
    for page in range(4096, len(damaged), 4096):
        damaged[page : page + 2000] = b"\xff" * 2000
    path.write_bytes(damaged)
    with pytest.raises(JournalError, match="is damaged"), SqliteJournal(path) as journal:
        journal.read("r")
    assert path.exists()


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("data", b"{"),
        ("data", "{}"),
        ("data", b"[]"),
        ("digest", "text"),
        ("digest", b"1"),
        ("time", "x"),
        ("kind", b""),
    ],
)
def test_a_damaged_entry_is_reported_wherever_it_is_used(tmp_path: Path, column: str, value: object) -> None:
    path = tmp_path / "j.db"
    with SqliteJournal(path) as journal:
        journal.append("r", Draft("k", {}))
    overwrite(path, f"UPDATE entries SET {column} = ?", value)
    with SqliteJournal(path) as journal:
        with pytest.raises(JournalError, match="cannot be read"):
            journal.read("r")
        if column == "digest":
            with pytest.raises(JournalError, match="nothing can follow it"):
                journal.append("r", Draft("k", {}))


def overwrite(path: Path, statement: str, *values: object) -> None:
    """What somebody does who knows how to remove triggers."""
    connection = sqlite3.connect(path)
    connection.execute("DROP TRIGGER entries_are_never_changed")
    connection.execute("DROP TRIGGER entries_are_never_removed")
    connection.execute(statement, values)
    connection.commit()
    connection.close()


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE entries SET data = CAST('{\"paid\":100}' AS BLOB) WHERE sequence = 1",
        "UPDATE entries SET time = time + 1 WHERE sequence = 1",
        "UPDATE entries SET kind = 'denied' WHERE sequence = 0",
        "DELETE FROM entries WHERE sequence = 1",
    ],
)
def test_an_entry_that_was_changed_in_the_file_is_found(tmp_path: Path, statement: str) -> None:
    path = tmp_path / "j.db"
    with SqliteJournal(path) as journal:
        journal.append("r", *(Draft("paid", {"paid": number}) for number in range(3)))
        verify(journal.read("r"))
    overwrite(path, statement)
    with SqliteJournal(path, read_only=True) as journal, pytest.raises(JournalTamperedError, match=r"entry [01] "):
        verify(journal.read("r"))


USES: list[Callable[[SqliteJournal], object]] = [
    lambda journal: journal.append("r", Draft("k", {})),
    lambda journal: journal.read("r"),
    lambda journal: journal.run_ids(),
    lambda journal: journal.head(),
    lambda journal: journal.lease("r"),
    lambda journal: journal.holder("r"),
]


def test_a_file_that_vanishes_is_noticed_before_anything_is_lost(tmp_path: Path) -> None:
    path = tmp_path / "j.db"
    with SqliteJournal(path) as journal:
        journal.append("r", Draft("k", {}))
        path.rename(tmp_path / "away.db")
        for use in USES:
            with pytest.raises(JournalError, match="was removed or replaced while it was in use"):
                use(journal)
        (tmp_path / "away.db").rename(path)
        journal.append("r", Draft("k", {}))
    with SqliteJournal(path, read_only=True) as journal:
        assert len(journal.read("r")) == 2


def test_a_relative_path_names_the_same_file_also_from_another_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    with SqliteJournal("j.db") as journal:
        monkeypatch.chdir(tmp_path / "elsewhere")
        journal.append("r", Draft("k", {}))
        assert len(journal.read("r")) == 1
    assert [file.name for file in tmp_path.rglob("*.db")] == ["j.db"]


def test_a_file_that_was_replaced_by_another_is_not_taken_for_it(tmp_path: Path) -> None:
    path, other = tmp_path / "j.db", tmp_path / "other.db"
    SqliteJournal(other).close()
    with SqliteJournal(path) as journal:
        journal.append("r", Draft("k", {}))
        other.replace(path)
        for use in USES:
            with pytest.raises(JournalError, match="was removed or replaced while it was in use"):
                use(journal)


def test_a_closed_journal_says_so_and_may_be_closed_twice(tmp_path: Path) -> None:
    journal = SqliteJournal(tmp_path / "j.db")
    journal.close()
    journal.close()
    with pytest.raises(JournalError, match="is closed"):
        journal.append("r", Draft("k", {}))
    with pytest.raises(JournalError, match="is closed"):
        journal.read("r")


def test_a_journal_opened_for_reading_refuses_to_append(tmp_path: Path) -> None:
    SqliteJournal(tmp_path / "j.db").close()
    with SqliteJournal(tmp_path / "j.db", read_only=True) as journal, pytest.raises(JournalError, match="reading only"):
        journal.append("r", Draft("k", {}))


# Other processes


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that every user may enter, unlike pytest's own."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    yield folder
    folder.chmod(0o755)
    shutil.rmtree(folder)


OPEN_TO_WRITE = """
import os, sys
from wieldy.core.errors import JournalError, JournalTamperedError, UsageError
from wieldy.core.ports import Draft
from wieldy.run.journal import SqliteJournal
if os.geteuid() == 0:  # the administrator may write anywhere, so it is somebody else who tries
    os.setuid(65534)
try:
    SqliteJournal(sys.argv[1])
except JournalError as error:
    print(error)
"""


@pytest.mark.parametrize("name", ["j.db", "new.db"])
def test_a_read_only_file_or_folder_is_named_when_it_is_opened(open_folder: Path, name: str, python: Python) -> None:
    with SqliteJournal(open_folder / "j.db") as journal:
        journal.append("r", Draft("k", {}))
    (open_folder / "j.db").chmod(0o444)
    open_folder.chmod(0o555)
    finished = python(OPEN_TO_WRITE, str(open_folder / name))
    assert finished.stderr == ""
    assert ("read-only" if name == "j.db" else "cannot be made") in finished.stdout
    with SqliteJournal(open_folder / "j.db", read_only=True) as journal:
        assert len(journal.read("r")) == 1


FILL_THE_DISK = """
import resource, sys
from wieldy.core.errors import JournalError, JournalTamperedError, UsageError
from wieldy.core.ports import Draft
from wieldy.run.journal import SqliteJournal
journal = SqliteJournal(sys.argv[1])
resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
for number in range(1000):
    try:
        journal.append("r", Draft("k", {"text": "x" * 1000}), Draft("k", {"text": "x" * 1000}))
    except JournalError as error:
        print(2 * number, error)
        break
"""


@pytest.mark.skipif(sys.platform == "win32", reason="the size of files is limited in POSIX's way")
def test_a_full_disk_is_reported_and_keeps_what_was_written(tmp_path: Path, python: Python) -> None:
    finished = python(FILL_THE_DISK, str(tmp_path / "j.db"))
    assert finished.stderr == ""
    written, message = finished.stdout.split(" ", 1)
    assert "full" in message
    with SqliteJournal(tmp_path / "j.db") as journal:
        assert len(journal.read("r")) == int(written) > 10
        journal.append("r", Draft("k", {}))
        verify(journal.read("r"))


APPEND_UNTIL_KILLED = """
import sys
from wieldy.core.ports import Draft
from wieldy.run.journal import SqliteJournal
journal = SqliteJournal(sys.argv[1])
for number in range(10**9):
    journal.append("r", Draft("k", {"number": number}))
    print(number, flush=True)
"""


def test_a_killed_writer_leaves_every_entry_that_it_was_told_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "j.db"
    with subprocess.Popen([sys.executable, "-c", APPEND_UNTIL_KILLED, str(path)], stdout=subprocess.PIPE) as writer:
        assert writer.stdout is not None
        told = [int(writer.stdout.readline()) for _ in range(500)]
        writer.send_signal(signal.SIGKILL)
    with SqliteJournal(path) as journal:
        entries = journal.read("r")
        assert [entry.data["number"] for entry in entries] == list(range(len(entries)))
        assert len(entries) >= len(told)
        journal.append("r", Draft("k", {}))
        verify(journal.read("r"))


def test_processes_that_make_the_same_file_at_once_all_write_to_it(tmp_path: Path, python: Python) -> None:
    code = (
        "import sys; from wieldy.run.journal import SqliteJournal as S; from wieldy.core.ports import Draft as D; "
        "S(sys.argv[1]).append(sys.argv[2], D('k', {}))"
    )
    path = tmp_path / "j.db"
    outcomes: list[subprocess.CompletedProcess[str]] = []
    threads = [
        threading.Thread(target=lambda number=number: outcomes.append(python(code, str(path), f"r{number}")))
        for number in range(6)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [finished.stderr for finished in outcomes] == [""] * 6
    with SqliteJournal(path) as journal:
        assert sorted(journal.run_ids()) == [f"r{number}" for number in range(6)]


def test_reading_leaves_nothing_beside_the_file(tmp_path: Path) -> None:
    path = tmp_path / "j.db"
    with SqliteJournal(path) as journal:
        journal.append("a", Draft("kind", {}))
    for _ in range(2):
        with SqliteJournal(path, read_only=True) as reader:
            assert [entry.sequence for entry in reader.read("a")] == [0]
    assert [file.name for file in tmp_path.iterdir()] == ["j.db"]


def test_a_reader_that_closes_takes_nothing_from_a_writer_that_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "j.db"
    with SqliteJournal(path) as writer:
        writer.append("a", Draft("kind", {"number": 0}))
        for number in (1, 2):
            with SqliteJournal(path, read_only=True) as reader:
                writer.append("a", Draft("kind", {"number": number}))
                assert [entry.data["number"] for entry in reader.read("a")] == list(range(number + 1))
        writer.append("a", Draft("kind", {"number": 3}))
    with SqliteJournal(path, read_only=True) as reader:
        assert [entry.data["number"] for entry in reader.read("a")] == [0, 1, 2, 3]
