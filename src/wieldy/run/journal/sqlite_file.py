"""Opening the SQLite file of a journal: what must be true of it, and what to say when it is not.

The format has a number (`PRAGMA user_version`) and a mark of ours (`PRAGMA application_id`); nothing is changed in a
file with another mark, or a higher number. Format 1 had neither digests nor leases: a file of it is brought up to date
when it is opened for appending, and read as it is otherwise.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from wieldy.core.errors import JournalError
from wieldy.run.journal.chain import START, link
from wieldy.run.journal.encoding import as_read

FORMAT_VERSION: Final = 2
FORMAT_WITHOUT_DIGESTS: Final = 1
APPLICATION_ID: Final = 0x57_49_45_4C
BUSY_TIMEOUT_S: Final = 10.0
"""How long to wait for another process's write, each of which takes well under a millisecond."""
_RETRY_S: Final = 0.005

_ENTRIES: Final = """
CREATE TABLE entries (
    position INTEGER PRIMARY KEY,
    run_id TEXT NOT NULL,
    sequence INTEGER NOT NULL,
    kind TEXT NOT NULL,
    time REAL NOT NULL,
    data BLOB NOT NULL,
    digest BLOB NOT NULL,
    UNIQUE (run_id, sequence)
);
"""
_REST: Final = """
CREATE INDEX run_starts ON entries (position) WHERE sequence = 0;
CREATE TRIGGER entries_are_never_changed BEFORE UPDATE ON entries
BEGIN SELECT RAISE(ABORT, 'a journal is append-only: an entry cannot be changed'); END;
CREATE TRIGGER entries_are_never_removed BEFORE DELETE ON entries
BEGIN SELECT RAISE(ABORT, 'a journal is append-only: an entry cannot be removed'); END;
-- INSERT OR REPLACE would remove an entry without the trigger above.
CREATE TRIGGER entries_are_appended_in_order BEFORE INSERT ON entries
WHEN NEW.sequence <> (SELECT coalesce(max(sequence) + 1, 0) FROM entries WHERE run_id = NEW.run_id)
    OR EXISTS (SELECT 1 FROM entries WHERE position = NEW.position)
BEGIN SELECT RAISE(ABORT, 'a journal is append-only: entries are added in order'); END;
CREATE TABLE leases (
    run_id TEXT PRIMARY KEY,
    token TEXT NOT NULL,
    host TEXT NOT NULL,
    place TEXT NOT NULL,
    pid INTEGER NOT NULL,
    started TEXT NOT NULL,
    since REAL NOT NULL,
    renewed REAL NOT NULL
) WITHOUT ROWID;
"""
# The new table takes the place of the old one, with which the old triggers and the old index go.
_MOVE_OLD: Final = "ALTER TABLE entries RENAME TO old_entries;"
_COPY_OLD: Final = """
INSERT INTO entries (position, run_id, sequence, kind, time, data, digest)
SELECT position, run_id, sequence, kind, time, data, wieldy_link(run_id, sequence, kind, time, data)
FROM (SELECT * FROM old_entries ORDER BY run_id, sequence);
"""
_DROP_OLD: Final = "DROP TABLE old_entries;"

_DAMAGED = (
    "is damaged. Keep the file, and recover what can be read with `sqlite3 FILE .recover`; use another file meanwhile"
)
_WORDS: Final = {
    sqlite3.SQLITE_BUSY: f"has been locked by another process for {BUSY_TIMEOUT_S:.0f} s. End it, or use another file",
    sqlite3.SQLITE_READONLY: "cannot be written: the file or its folder is read-only. Change that, or use another file",
    sqlite3.SQLITE_FULL: "cannot be written: the disk is full. Make room; what was written before is kept",
    sqlite3.SQLITE_IOERR: "cannot be read or written: the disk fails or is full. What was written before is kept",
    sqlite3.SQLITE_CANTOPEN: "cannot be opened. Check that its folder exists and that you may write to it, which "
    "reading needs as well; or copy the file, with the one that ends in -wal, to another folder",
    sqlite3.SQLITE_CORRUPT: _DAMAGED,
    sqlite3.SQLITE_NOTADB: "is not a journal, or its beginning is damaged: it is no SQLite file. Name another file",
}


def journal_error(path: Path, error: sqlite3.Error) -> JournalError:
    """The error in words that say what to do."""
    # The low byte is the kind of error, the rest says where in SQLite it arose; errors of the binding have no code.
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if isinstance(error, sqlite3.ProgrammingError):
        words = "is closed. Open it again"
    else:
        words = _WORDS.get(code, "cannot be used")
    return JournalError(f"The journal {path} {words}. (SQLite: {error})")


def connect(path: Path, *, read_only: bool) -> sqlite3.Connection:
    """A connection that commits each statement by itself and may be used from any thread, by one at a time."""
    # SQLite's own read-only mode is not used: whoever opens a file so and is the last to close it leaves the files of
    # its write-ahead log lying about, because it may not tidy up.
    mode = "immutable=1" if read_only and _can_nobody_write(path) else "mode=rw"
    connection = sqlite3.connect(
        f"{path.absolute().as_uri()}?{mode}",
        uri=True,
        isolation_level=None,
        check_same_thread=False,
        timeout=BUSY_TIMEOUT_S,
    )
    connection.execute(f"PRAGMA query_only = {int(read_only)}")
    return connection


def file_of(path: Path | str) -> Path:
    """The path, with `~` for the home folder.

    Raises:
        JournalError: There is no such home.
    """
    try:
        return Path(path).expanduser()
    except RuntimeError as error:
        raise JournalError(f"The journal {path} names nobody's home folder. Name a file. ({error})") from error


def open_for_reading(path: Path) -> tuple[sqlite3.Connection, int]:
    """A connection to a journal that exists, and the number of its format.

    Raises:
        JournalError: There is no such file, or it is no journal that this version can read.
    """
    if not _is_file(path):
        raise JournalError(f"There is no journal at {path}. Name the file that the run was written to.")
    return _open(path, check_format, read_only=True)


def open_for_appending(path: Path) -> sqlite3.Connection:
    """A connection to a journal of the newest format, made if there is none.

    Raises:
        JournalError: The file cannot be made or written, or is no journal that this version can write.
    """
    _make_file(path)
    return _open(path, _prepare, read_only=False)[0]


def check_format(path: Path, connection: sqlite3.Connection) -> int:
    """The format of the file, which this version can read.

    Raises:
        JournalError: It is no journal, or one that a newer version wrote.
    """
    (application_id,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if _is_empty(connection):
        raise JournalError(f"The file {path} is empty: expected a journal with runs. Name another file.")
    if application_id != APPLICATION_ID:
        raise JournalError(f"The file {path} is a SQLite database, but not a journal of Wieldy. Name another file.")
    if version > FORMAT_VERSION:
        raise JournalError(
            f"The journal {path} has format {version}; this version of Wieldy knows formats up to {FORMAT_VERSION}. "
            "Upgrade Wieldy, or use another file. The file was not changed."
        )
    return version


@contextmanager
def transaction(connection: sqlite3.Connection) -> Generator[None]:
    """What is done within is done as a whole or not at all; no other writer comes between."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _open(
    path: Path, check: Callable[[Path, sqlite3.Connection], int], *, read_only: bool
) -> tuple[sqlite3.Connection, int]:
    try:
        connection = connect(path, read_only=read_only)
        try:
            version = check(path, connection)
        except BaseException:
            connection.close()
            raise
    except sqlite3.Error as error:
        raise journal_error(path, error) from error
    return connection, version


def _prepare(path: Path, connection: sqlite3.Connection) -> int:
    if not _is_empty(connection):
        check_format(path, connection)
    _write_ahead(connection)
    connection.execute("PRAGMA synchronous = FULL")
    # Also proves that the file can be written: better now than at the first entry. Whether it is empty or old is asked
    # within: another process may have been first.
    with transaction(connection):
        if _is_empty(connection):
            _run(connection, _ENTRIES + _REST)
            connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            connection.execute(f"PRAGMA user_version = {FORMAT_VERSION}")
        elif check_format(path, connection) == FORMAT_WITHOUT_DIGESTS:
            _upgrade(connection)
    return check_format(path, connection)


def _write_ahead(connection: sqlite3.Connection) -> None:
    """Readers do not wait for writers. Where processes change that at once, SQLite gives up without waiting."""
    deadline = time.monotonic() + BUSY_TIMEOUT_S
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL").fetchall()
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(_RETRY_S)
        else:
            return


def _upgrade(connection: sqlite3.Connection) -> None:
    connection.create_function("wieldy_link", 5, _Linker(), deterministic=False)
    _run(connection, _MOVE_OLD + _ENTRIES + _COPY_OLD + _DROP_OLD + _REST)
    connection.execute(f"PRAGMA user_version = {FORMAT_VERSION}")


class _Linker:
    """The digest of each entry, if they come run by run and in order."""

    def __init__(self) -> None:
        self._run_id, self._digest = None, START

    def __call__(self, run_id: str, sequence: int, kind: str, time: float, data: bytes) -> bytes:
        previous = self._digest if run_id == self._run_id else START
        self._run_id, self._digest = run_id, link(previous, run_id, sequence, kind, time, as_read(data))
        return self._digest


def _run(connection: sqlite3.Connection, script: str) -> None:
    # `executescript` would commit the transaction that makes all of it appear as a whole.
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            connection.execute(statement)
            statement = ""


def _is_empty(connection: sqlite3.Connection) -> bool:
    return connection.execute("SELECT count(*) FROM sqlite_master").fetchone() == (0,)


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def _can_nobody_write(path: Path) -> bool:
    """Whether it lies on a read-only file system with no write-ahead log, which could not be read there."""
    log = path.with_name(f"{path.name}-wal")
    # Not on every system; the types of one that has it say that it is.
    flags: int = os.statvfs(path).f_flag if hasattr(os, "statvfs") else 0
    return bool(flags & getattr(os, "ST_RDONLY", 0)) and not log.exists()


def _make_file(path: Path) -> None:
    if _is_file(path):
        return
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    except (OSError, ValueError) as error:
        raise JournalError(
            f"The journal {path} cannot be made: {error}. Name a file in a folder that you may write to."
        ) from error
    if not _is_file(path):
        raise JournalError(f"The journal {path} cannot be made: expected a file, found something else. Name a file.")
