"""A journal in one SQLite file that many threads and processes may share.

Write-ahead logging with `synchronous=NORMAL`: an appended entry survives the death of the process; the last ones may be
lost in a power cut. Readers never wait for the writer. The file itself refuses to change or remove an entry (triggers).
Deliberately not here: leases, hash chains and other databases. A connection must not be carried into a forked process.
"""

from __future__ import annotations

import sqlite3
import threading
import time
import weakref
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from wieldy.core.errors import JournalError
from wieldy.core.json import JsonObject
from wieldy.core.ports import Entry
from wieldy.run.journal.encoding import bytes_from_data, data_from_bytes
from wieldy.run.journal.sqlite_file import connect, journal_error, open_for_appending, open_for_reading

_APPEND: Final = """
INSERT INTO entries (run_id, sequence, kind, time, data)
SELECT ?1, coalesce(max(sequence) + 1, 0), ?2, ?3, ?4 FROM entries WHERE run_id = ?1
RETURNING sequence
"""
_READ: Final = "SELECT sequence, kind, time, data FROM entries WHERE run_id = ? ORDER BY sequence"
_RUN_IDS: Final = "SELECT run_id FROM entries WHERE sequence = 0 ORDER BY position DESC"


class SqliteJournal:
    """A `Journal` in a file; usable from any thread, and by many processes at once.

    Args:
        path: The file; it and its folder are made if they are missing (`~` is the home folder).
        read_only: Only read; the file must exist. No other file stays beside it that was not there before.
        clock: Gives the time of an entry, in seconds since the epoch.

    Raises:
        JournalError: The file cannot be opened, is damaged, is something else, or was written by a newer Wieldy.
    """

    def __init__(self, path: Path | str, *, read_only: bool = False, clock: Callable[[], float] = time.time) -> None:
        self.path = Path(path).expanduser()
        self._clock = clock
        self._writing, self._reading = threading.Lock(), threading.Lock()
        if read_only:
            self._writer = None
            self._reader = open_for_reading(self.path)
            connections = (self._reader,)
        else:
            self._writer = open_for_appending(self.path)
            # A connection of its own, so that reading a long run does not hold up a run that is being written.
            self._reader = connect(self.path, read_only=False)
            connections = (self._writer, self._reader)
        self._close = weakref.finalize(self, _close_all, connections)

    def append(self, run_id: str, kind: str, data: JsonObject) -> Entry:
        """The entry is in the file when this returns.

        Raises:
            JournalError: It could not be written (a full disk, a file made read-only); what was there before is kept.
        """
        if self._writer is None:
            raise JournalError(f"The journal {self.path} was opened for reading only; open it without `read_only`.")
        encoded = bytes_from_data(data)
        now = self._clock()
        try:
            with self._writing:
                [(sequence,)] = self._writer.execute(_APPEND, (run_id, kind, now, encoded)).fetchall()
        except sqlite3.Error as error:
            raise journal_error(self.path, error) from error
        return Entry(run_id=run_id, sequence=sequence, kind=kind, time=now, data=data_from_bytes(encoded))

    def read(self, run_id: str) -> Sequence[Entry]:
        """All entries of a run in order; empty if there is no such run.

        Raises:
            JournalError: The file is damaged or gone.
        """
        return [
            Entry(run_id=run_id, sequence=sequence, kind=kind, time=when, data=data_from_bytes(data))
            for sequence, kind, when, data in self._fetch(_READ, run_id)
        ]

    def run_ids(self) -> Sequence[str]:
        """All runs, the newest first.

        Raises:
            JournalError: The file is damaged or gone.
        """
        return [run_id for (run_id,) in self._fetch(_RUN_IDS)]

    def close(self) -> None:
        """Close the file; doing so twice is harmless. A journal that is dropped closes itself."""
        self._close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    # Rows are what the file holds; `data_from_bytes` checks the one part that could be anything.
    def _fetch(self, query: str, *parameters: str) -> list[tuple[Any, ...]]:
        try:
            with self._reading:
                return self._reader.execute(query, parameters).fetchall()
        except UnicodeEncodeError:  # a run id typed with bytes that are no text: no run has it
            return []
        except sqlite3.Error as error:
            raise journal_error(self.path, error) from error


def _close_all(connections: Sequence[sqlite3.Connection]) -> None:
    for connection in connections:
        with suppress(sqlite3.Error):  # a damaged file may refuse to be tidied up; there is nothing more to save
            connection.close()
