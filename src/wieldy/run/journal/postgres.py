"""A journal in a PostgreSQL database that threads, processes and machines share.

The same chain, compare-and-set and leases as in a file. What makes an append safe is the numbering: of two writers who
both add what they take for the next entry, the server refuses one. So a connection that breaks under an append leaves
nothing to guess: after the next connection it is looked up whether the entries are there. Deliberately not here:
connections (`postgres_server`) and tables (`postgres_schema`). A forked process opens a journal of its own.
"""

from __future__ import annotations

import threading
import time
import uuid
import weakref
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Final, Literal, NamedTuple, Self

from wieldy.core.errors import JournalConflictError, JournalError
from wieldy.core.ports import Draft, Entry, Lease
from wieldy.run.journal.chain import EMPTY, MOST_ENTRIES, Head, Row, conflict, entry_of, extend, head_of
from wieldy.run.journal.encoding import Settled, bytes_from_name, settled
from wieldy.run.journal.heads import ENDS, Heads
from wieldy.run.journal.leases import Claim, HeldLease, busy, is_free, lost, new_claim
from wieldy.run.journal.postgres_server import LostConnectionError, LostRaceError, Server
from wieldy.run.journal.processes import Process

MOST_TRIES: Final = 100
"""How often an append gives way to others who were first; each time, one of them has added something."""

_APPEND: Final = """
INSERT INTO wieldy_entries (run_id, sequence, kind, time, data, digest, append_id)
SELECT %(run_id)s, sequence, kind, %(time)s, data, digest, %(append_id)s
FROM unnest(%(sequences)b::bigint[], %(kinds)s::text[], %(data)b::bytea[], %(digests)b::bytea[])
    AS added (sequence, kind, data, digest)
ORDER BY sequence
RETURNING sequence
"""
_END: Final = "SELECT sequence + 1, digest FROM wieldy_entries WHERE run_id = %s ORDER BY sequence DESC LIMIT 1"
_COLUMNS: Final = "run_id, sequence, kind, time, data, digest"
_READ: Final = f"SELECT {_COLUMNS} FROM wieldy_entries WHERE run_id = %s AND sequence >= %s ORDER BY sequence"
_WRITTEN: Final = f"SELECT {_COLUMNS} FROM wieldy_entries WHERE run_id = %s AND append_id = %s ORDER BY sequence"
_RUN_IDS: Final = "SELECT run_id FROM wieldy_entries WHERE sequence = 0 ORDER BY position DESC"
_HEAD: Final = "SELECT digest FROM wieldy_entries ORDER BY position DESC LIMIT 1"
_DURABILITY: Final = "SELECT current_setting('fsync') = 'on' AND current_setting('synchronous_commit') <> 'off'"

_NOW: Final = "extract(epoch FROM clock_timestamp())::float8"
_FIND_CLAIM: Final = f"""
SELECT {_NOW}, token, host, place, pid, started, since, renewed
FROM (SELECT) AS one LEFT JOIN wieldy_leases ON run_id = %s
"""
# Only in the place of the void claim that was seen, if any: of two who see the same one, the second changes nothing.
_TAKE: Final = f"""
INSERT INTO wieldy_leases VALUES (%(run_id)s, %(token)s, %(host)s, %(place)s, %(pid)s, %(started)s, {_NOW}, {_NOW})
ON CONFLICT (run_id) DO UPDATE SET token = excluded.token, host = excluded.host, place = excluded.place,
    pid = excluded.pid, started = excluded.started, since = excluded.since, renewed = excluded.renewed
WHERE wieldy_leases.token = %(void)s
RETURNING token
"""
_RENEW: Final = f"UPDATE wieldy_leases SET renewed = {_NOW} WHERE run_id = %s AND token = %s RETURNING token"
_DROP: Final = "DELETE FROM wieldy_leases WHERE run_id = %s AND token = %s RETURNING token"


class _Addition(NamedTuple):
    """What is to be appended; its id tells whether it was."""

    run_id: str
    ready: Sequence[Settled]
    time: float
    length: int | None
    append_id: uuid.UUID


class PostgresJournal:
    """A `Journal` in a PostgreSQL database; usable from any thread, and by many processes at once.

    An append takes a round trip to the server, and a commit there.

    Args:
        url: `postgresql://user:password@host:port/database`; what it leaves out is taken from PostgreSQL's own
            environment variables and password file. Its tables are made if they are missing.
        read_only: Only read; the tables must exist.
        clock: Gives the time of an entry, in seconds since the epoch. Leases go by the server's clock.

    Raises:
        JournalError: The server cannot be reached or refuses, or its journal was written by a newer Wieldy.
    """

    def __init__(self, url: str, *, read_only: bool = False, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._read_only = read_only
        self._heads = Heads()
        self._adding = threading.Lock()
        self._reader = Server(url, read_only=read_only)
        # A connection of its own, so that reading a long run does not hold up a run that is being written.
        self._writer = Server(url, read_only=read_only)
        self._close = weakref.finalize(self, _close_all, (self._reader, self._writer))
        self.address = self._reader.address
        # Also proves that the server can be used: better now than at the first entry.
        [(is_safe,)] = (self._reader if read_only else self._writer).fetch(_DURABILITY)
        self._durability: Literal["process", "machine"] = "machine" if is_safe else "process"

    @property
    def durability(self) -> Literal["process", "machine"]:
        """What appended entries survive, by the server's settings: its process's death, or its machine's."""
        return self._durability

    def append(
        self, run_id: str, *drafts: Draft, length: int | None = None, is_intent: bool = False
    ) -> Sequence[Entry]:
        """The entries, all of them or none, are committed when this returns.

        Raises:
            JournalConflictError: The run has another length; nothing was written.
            JournalError: They could not be written; what was there before is kept. Where the connection was lost and
                cannot be made again, nobody knows whether they were; reading the run later will tell.
        """
        self._check_writable()
        ready = [settled(draft) for draft in drafts]
        addition = _Addition(run_id, ready, self._clock(), length, uuid.uuid4())
        with self._adding:
            entries, head = self._add(addition)
            if any(draft.kind in ENDS for draft in ready):
                self._heads.forget(run_id)
            else:
                self._heads.put(run_id, head)
        return entries

    def read(self, run_id: str, *, start: int = 0) -> Sequence[Entry]:
        """The entries of a run in order, from this sequence number on; empty if there is no such run.

        Raises:
            JournalError: The server cannot be reached, or an entry is damaged.
        """
        if not _is_possible(run_id):
            return []
        return [entry_of(row) for row in self._reader.fetch(_READ, (run_id, min(max(start, 0), MOST_ENTRIES)))]

    def run_ids(self) -> Sequence[str]:
        """All runs, the newest first.

        Raises:
            JournalError: The server cannot be reached.
        """
        return [run_id for (run_id,) in self._reader.fetch(_RUN_IDS)]

    def head(self) -> str | None:
        """The digest of the newest entry of all runs; None if there is none.

        Raises:
            JournalError: The server cannot be reached.
        """
        return next((digest.hex() for (digest,) in self._reader.fetch(_HEAD)), None)

    def lease(self, run_id: str) -> Lease:
        """The right to go on with the run is the caller's. A lease whose holder is dead is free.

        Raises:
            RunBusyError: Another one holds it, here or in another process; the error says who.
            JournalError: The server cannot be reached.
        """
        self._check_writable()
        bytes_from_name(run_id)
        claim = new_claim(run_id, now=self._clock())
        lease = HeldLease(self, claim)
        while True:
            now, held = _find_claim(self._writer, run_id)
            if held is not None and not is_free(held, now=now):
                raise busy(held)
            if _put_claim(self._writer, claim, void=held.token if held else ""):
                return lease

    def holder(self, run_id: str) -> str | None:
        """Who holds the run's lease at this moment, for people; None if nobody alive does.

        Raises:
            JournalError: The server cannot be reached.
        """
        if not _is_possible(run_id):
            return None
        now, held = _find_claim(self._reader, run_id)
        return None if held is None or is_free(held, now=now) else str(held)

    def renew_claim(self, claim: Claim) -> None:
        """For `HeldLease`: the claim was renewed just now.

        Raises:
            RunBusyError: It is not there any more.
            JournalError: The server cannot be reached.
        """
        if not self._writer.fetch(_RENEW, (claim.run_id, claim.token)):
            raise lost(claim.run_id, _find_claim(self._writer, claim.run_id)[1])

    def drop_claim(self, claim: Claim) -> None:
        """For `HeldLease`: the claim is gone.

        Raises:
            JournalError: The server cannot be reached; others find out that its holder is gone.
        """
        self._writer.fetch(_DROP, (claim.run_id, claim.token))

    def close(self) -> None:
        """Close the connections; doing so twice is harmless. A journal that is dropped closes itself."""
        self._close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def _check_writable(self) -> None:
        if self._read_only:
            raise JournalError(f"The journal {self.address} was opened for reading only; open it without `read_only`.")

    def _add(self, addition: _Addition) -> tuple[Sequence[Entry], Head]:
        is_in_doubt = False
        head = self._heads.get(addition.run_id) or (EMPTY if addition.length == 0 else None)
        for _ in range(MOST_TRIES):
            try:
                return self._try_to_add(addition, head, is_in_doubt=is_in_doubt)
            except LostConnectionError:
                is_in_doubt = True
            except LostRaceError:
                pass
            except JournalConflictError:
                raise
            except JournalError as error:
                if is_in_doubt:
                    raise _unknown(addition.run_id, error) from error
                raise
            head = None
        raise JournalConflictError(
            f"Others were faster {MOST_TRIES} times to add to run {addition.run_id}. Nothing was written; try again."
        )

    def _try_to_add(self, addition: _Addition, head: Head | None, *, is_in_doubt: bool) -> tuple[Sequence[Entry], Head]:
        run_id, length = addition.run_id, addition.length
        if head is None or length not in (None, head.length):
            head = self._end(run_id)
        # In this order: what the server still does with an earlier try, after the end was read, takes the numbers of
        # this one, which then loses.
        if is_in_doubt and (written := self._written(addition)):
            return written, Head(written[-1].sequence + 1, bytes.fromhex(written[-1].digest))
        if length not in (None, head.length):
            raise conflict(run_id, expected=length, found=head.length)
        rows, entries, end = extend(run_id, head, addition.ready, addition.time)
        if rows:
            self._insert(rows, addition.append_id)
        return entries, end

    def _insert(self, rows: Sequence[Row], append_id: uuid.UUID) -> None:
        run_ids, sequences, kinds, times, data, digests = zip(*rows, strict=True)
        values = {
            "run_id": run_ids[0],
            "time": times[0],
            "append_id": append_id,
            "sequences": list(sequences),
            "kinds": list(kinds),
            "data": list(data),
            "digests": list(digests),
        }
        self._writer.ask(_APPEND, values)

    def _end(self, run_id: str) -> Head:
        bytes_from_name(run_id)
        return head_of(run_id, next(iter(self._writer.fetch(_END, (run_id,))), None))

    def _written(self, addition: _Addition) -> Sequence[Entry]:
        return [entry_of(row) for row in self._writer.fetch(_WRITTEN, (addition.run_id, addition.append_id))]


def _find_claim(server: Server, run_id: str) -> tuple[float, Claim | None]:
    [(now, token, host, place, pid, started, since, renewed)] = server.fetch(_FIND_CLAIM, (run_id,))
    if token is None:
        return now, None
    process = Process(host=host, place=place, pid=pid, started=started)
    return now, Claim(run_id=run_id, token=token, process=process, since=since, renewed=renewed)


def _put_claim(server: Server, claim: Claim, *, void: str) -> bool:
    process = claim.process
    values = {
        "run_id": claim.run_id,
        "token": claim.token,
        "host": process.host,
        "place": process.place,
        "pid": process.pid,
        "started": process.started,
        "void": void,
    }
    try:
        return bool(server.ask(_TAKE, values))
    except LostConnectionError:  # the server may have done it all the same
        held = _find_claim(server, claim.run_id)[1]
        return held is not None and held.token == claim.token
    except LostRaceError:
        return False


def _unknown(run_id: str, error: JournalError) -> JournalError:
    return JournalError(
        f"{error} The connection was lost while entries of run {run_id} were being written, and it is not known "
        "whether they were; what was there before is kept. Resume the run when the server can be reached."
    )


def _is_possible(run_id: str) -> bool:
    try:
        bytes_from_name(run_id)
    except JournalError:
        return False
    return True


def _close_all(servers: Sequence[Server]) -> None:
    for server in servers:
        server.close()
