"""A journal in one SQLite file that many threads and processes may share.

Write-ahead logging: an appended entry survives the death of the process. With `durability="machine"` intents and the
ends of runs survive a power cut as well, and with them all that was appended before; with "process" a power cut may
cost the last entries, never an older one and never the file. Readers never wait for the writer. The file itself refuses
to change or remove an entry (triggers). Deliberately not here: other databases. A forked process opens a journal of its
own: the one that it inherits refuses to be used, since SQLite's locks are not inherited.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
import weakref
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Literal, Self, TypeAlias, get_args

from wieldy.core.errors import JournalError, UsageError
from wieldy.core.ports import Draft, Entry, Lease
from wieldy.run.journal.chain import EMPTY, MOST_ENTRIES, START, Head, conflict, entry_of, extend, head_of, link, row_of
from wieldy.run.journal.encoding import Settled, as_read, bytes_from_name, settled
from wieldy.run.journal.heads import ENDS, Heads
from wieldy.run.journal.leases import Claim, HeldLease, busy, is_free, lost, new_claim
from wieldy.run.journal.sqlite_claims import drop_claim, find_claim, put_claim, renew_claim
from wieldy.run.journal.sqlite_file import (
    FORMAT_WITHOUT_DIGESTS,
    file_of,
    journal_error,
    open_for_appending,
    open_for_reading,
    transaction,
)

Durability: TypeAlias = Literal["process", "machine"]

_APPEND: Final = "INSERT INTO entries (run_id, sequence, kind, time, data, digest) VALUES (?, ?, ?, ?, ?, ?)"
_END: Final = "SELECT sequence + 1, digest FROM entries WHERE run_id = ? ORDER BY sequence DESC LIMIT 1"
_READ: Final = """
SELECT run_id, sequence, kind, time, data, digest FROM entries WHERE run_id = ? AND sequence >= ? ORDER BY sequence
"""
_READ_WITHOUT_DIGESTS: Final = "SELECT sequence, kind, time, data FROM entries WHERE run_id = ? ORDER BY sequence"
_RUN_IDS: Final = "SELECT run_id FROM entries WHERE sequence = 0 ORDER BY position DESC"
_HEAD: Final = "SELECT digest FROM entries ORDER BY position DESC LIMIT 1"
_NEWEST_RUN: Final = "SELECT run_id FROM entries ORDER BY position DESC LIMIT 1"


class SqliteJournal:
    """A `Journal` in a file; usable from any thread, and by many processes at once.

    Args:
        path: The file; it and its folder are made if they are missing (`~` is the home folder).
        read_only: Only read; the file must exist. No other file stays beside it that was not there before.
        durability: What appended entries survive: the death of the process, or of the machine (about 5 ms more for
            each intent and for the end of a run, by the disk).
        clock: Gives the time of an entry, in seconds since the epoch.

    Raises:
        JournalError: The file cannot be opened, is damaged, is something else, or was written by a newer Wieldy.
        UsageError: There is no such durability.
    """

    def __init__(
        self,
        path: Path | str,
        *,
        read_only: bool = False,
        durability: Durability = "process",
        clock: Callable[[], float] = time.time,
    ) -> None:
        if durability not in get_args(Durability):
            raise UsageError(f"Expected durability to be `process` or `machine`, found {durability!r}.")
        self.path = file_of(path)
        self._clock = clock
        self._durability: Durability = durability
        self._writing, self._reading = threading.Lock(), threading.Lock()
        self._pid = os.getpid()
        self._heads = Heads()
        self._is_full = True
        self._writer = None if read_only else open_for_appending(self.path)
        try:
            # A connection of its own, so that reading a long run does not hold up a run that is being written.
            self._reader, self._format = open_for_reading(self.path)
        except JournalError:
            _close_all((self._writer,), self._pid)
            raise
        self._close = weakref.finalize(self, _close_all, (self._writer, self._reader), self._pid)
        # The same file also if the process goes to another folder.
        self._place = os.fspath(self.path.absolute())
        self._file = _identity(self._place)

    @property
    def durability(self) -> Durability:
        """What appended entries survive: the death of the process, or of the machine."""
        return self._durability

    def append(
        self, run_id: str, *drafts: Draft, length: int | None = None, is_intent: bool = False
    ) -> Sequence[Entry]:
        """The entries, all of them or none, are in the file when this returns.

        Raises:
            JournalConflictError: The run has another length; nothing was written.
            JournalError: They could not be written (a full disk, a file made read-only or removed); what was there
                before is kept.
        """
        writer = self._writable()
        bytes_from_name(run_id)
        ready = [settled(draft) for draft in drafts]
        is_end = any(draft.kind in ENDS for draft in ready)
        now = self._clock()
        try:
            with self._writing:
                self._set_synchronous(writer, is_full=self._durability == "machine" and (is_intent or is_end))
                entries, head = self._add(writer, run_id, ready, now=now, length=length)
                if is_end:
                    self._heads.forget(run_id)
                else:
                    self._heads.put(run_id, head)
        except sqlite3.Error as error:
            raise journal_error(self.path, error) from error
        return entries

    def read(self, run_id: str, *, start: int = 0) -> Sequence[Entry]:
        """The entries of a run in order, from this sequence number on; empty if there is no such run.

        Raises:
            JournalError: The file is damaged or gone.
        """
        if self._format == FORMAT_WITHOUT_DIGESTS:
            return _chained(run_id, self._fetch(_READ_WITHOUT_DIGESTS, run_id))[max(start, 0) :]
        return [entry_of(row) for row in self._fetch(_READ, run_id, min(start, MOST_ENTRIES))]

    def run_ids(self) -> Sequence[str]:
        """All runs, the newest first.

        Raises:
            JournalError: The file is damaged or gone.
        """
        return [run_id for (run_id,) in self._fetch(_RUN_IDS)]

    def head(self) -> str | None:
        """The digest of the newest entry of all runs; None if there is none.

        Raises:
            JournalError: The file is damaged or gone.
        """
        if self._format == FORMAT_WITHOUT_DIGESTS:
            return next((self.read(run_id)[-1].digest for (run_id,) in self._fetch(_NEWEST_RUN)), None)
        return next((digest.hex() for (digest,) in self._fetch(_HEAD)), None)

    def lease(self, run_id: str) -> Lease:
        """The right to go on with the run is the caller's. A lease whose holder is dead is free.

        Raises:
            RunBusyError: Another one holds it, here or in another process; the error says who.
            JournalError: The file cannot be written.
        """
        writer = self._writable()
        bytes_from_name(run_id)
        try:
            with self._writing:
                self._set_synchronous(writer, is_full=False)  # no claim outlives the machine
                with transaction(writer):
                    held, now = find_claim(writer, run_id), self._clock()
                    if held is not None and not is_free(held, now=now):
                        raise busy(held)
                    claim = new_claim(run_id, now=now)
                    lease = HeldLease(self, claim)
                    put_claim(writer, claim)
        except sqlite3.Error as error:
            raise journal_error(self.path, error) from error
        return lease

    def holder(self, run_id: str) -> str | None:
        """Who holds the run's lease at this moment, for people; None if nobody alive does.

        Raises:
            JournalError: The file is damaged or gone.
        """
        if self._format == FORMAT_WITHOUT_DIGESTS:
            return None
        self._check()
        try:
            with self._reading:
                held = find_claim(self._reader, run_id)
        except UnicodeEncodeError:
            return None
        except sqlite3.Error as error:
            raise journal_error(self.path, error) from error
        return None if held is None or is_free(held, now=self._clock()) else str(held)

    def renew_claim(self, claim: Claim) -> None:
        """For `HeldLease`: the claim was renewed just now.

        Raises:
            RunBusyError: It is not there any more.
            JournalError: The file cannot be written.
        """
        writer = self._writable()
        try:
            with self._writing:
                self._set_synchronous(writer, is_full=False)
                if renew_claim(writer, claim, now=self._clock()):
                    return
                taken_by = find_claim(writer, claim.run_id)
        except sqlite3.Error as error:
            raise journal_error(self.path, error) from error
        raise lost(claim.run_id, taken_by)

    def drop_claim(self, claim: Claim) -> None:
        """For `HeldLease`: the claim is gone.

        Raises:
            JournalError: The file cannot be written.
        """
        writer = self._writable()
        try:
            with self._writing:
                self._set_synchronous(writer, is_full=False)
                drop_claim(writer, claim)
        except sqlite3.Error as error:
            raise journal_error(self.path, error) from error

    def close(self) -> None:
        """Close the file; doing so twice is harmless. A journal that is dropped closes itself."""
        self._close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def _add(
        self, writer: sqlite3.Connection, run_id: str, ready: Sequence[Settled], *, now: float, length: int | None
    ) -> tuple[list[Entry], Head]:
        known = self._heads.get(run_id) or (EMPTY if length == 0 else None)
        if known is not None and length in (None, known.length):
            with suppress(sqlite3.IntegrityError):  # somebody else has added to the run meanwhile
                return _insert(writer, run_id, known, ready, now=now)
        with transaction(writer):
            head = head_of(run_id, writer.execute(_END, (run_id,)).fetchone())
            if length is not None and length != head.length:
                raise conflict(run_id, expected=length, found=head.length)
            return _insert(writer, run_id, head, ready, now=now)

    def _set_synchronous(self, writer: sqlite3.Connection, *, is_full: bool) -> None:
        # What is not synchronised stands in the same log before what is: the next intent takes it along.
        if is_full != self._is_full:
            writer.execute(f"PRAGMA synchronous = {'FULL' if is_full else 'NORMAL'}")
            self._is_full = is_full

    def _writable(self) -> sqlite3.Connection:
        self._check()
        if self._writer is None:
            raise JournalError(f"The journal {self.path} was opened for reading only; open it without `read_only`.")
        return self._writer

    def _check(self) -> None:
        if os.getpid() != self._pid:
            raise JournalError(
                f"The journal {self.path} was opened by process {self._pid} and cannot be used in one forked from it. "
                "Open it again in the new process."
            )
        # What is written to a file that was removed is lost, and SQLite does not notice.
        if self._close.alive and _identity(self._place) != self._file:
            raise JournalError(
                f"The journal {self.path} was removed or replaced while it was in use. Put the file back, or open the "
                "new one; nothing was written."
            )

    # Rows are what the file holds; `data_from_bytes` checks the one part that could be anything.
    def _fetch(self, query: str, *parameters: str | int) -> list[tuple[Any, ...]]:
        self._check()
        try:
            with self._reading:
                return self._reader.execute(query, parameters).fetchall()
        except UnicodeEncodeError:  # a run id typed with bytes that are no text: no run has it
            return []
        except sqlite3.Error as error:
            raise journal_error(self.path, error) from error


def _insert(
    writer: sqlite3.Connection, run_id: str, head: Head, ready: Sequence[Settled], *, now: float
) -> tuple[list[Entry], Head]:
    rows, entries, head = extend(run_id, head, ready, now)
    if len(rows) == 1 or writer.in_transaction:
        writer.executemany(_APPEND, rows)
    else:
        with transaction(writer):
            writer.executemany(_APPEND, rows)
    return entries, head


def _chained(run_id: str, rows: Sequence[tuple[Any, ...]]) -> list[Entry]:
    entries, digest = list[Entry](), START
    for values in rows:
        _, sequence, kind, when, data, _ = row_of((run_id, *values, START))
        digest = link(digest, run_id, sequence, kind, when, as_read(data))
        entries.append(entry_of((run_id, sequence, kind, when, data, digest)))
    return entries


def _identity(path: str) -> tuple[int, int] | None:
    try:
        status = os.stat(path)  # noqa: PTH116  # before each append, where a path's own method would take three times as long
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _close_all(connections: Sequence[sqlite3.Connection | None], pid: int) -> None:
    if os.getpid() != pid:  # a forked process: the file is its parent's
        return
    for connection in filter(None, connections):
        with suppress(sqlite3.Error):  # a damaged file may refuse to be tidied up; there is nothing more to save
            connection.close()
