"""A journal in this process's memory, for tests and for programs that need no record afterwards.

It keeps every run until it is dropped itself: a program that runs for long gives its agent a file instead. Leases hold
within the process. A forked process has a copy of its own, and what either adds the other does not see.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import Literal

from wieldy.core.ports import Draft, Entry, Lease
from wieldy.run.journal.chain import EMPTY, Head, Row, conflict, entry_of, extend
from wieldy.run.journal.encoding import bytes_from_name, settled
from wieldy.run.journal.leases import Claim, HeldLease, busy, is_free, lost, new_claim


class MemoryJournal:
    """A `Journal` that ends with its process; usable from any thread.

    Args:
        clock: Gives the time of an entry, in seconds since the epoch.
    """

    durability: Literal["none"] = "none"

    def __init__(self, *, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._runs: dict[str, list[Row]] = {}
        self._claims: dict[str, Claim] = {}
        self._newest: bytes | None = None

    def append(
        self, run_id: str, *drafts: Draft, length: int | None = None, is_intent: bool = False
    ) -> Sequence[Entry]:
        """The entries are kept when this returns; later changes to their data do not reach them.

        Raises:
            JournalConflictError: The run has another length; nothing was written.
            JournalError: They are not JSON.
        """
        ready = list(map(settled, drafts))
        now = self._clock()
        with self._lock:
            kept = self._runs.get(run_id, [])
            head = Head(len(kept), kept[-1][-1]) if kept else EMPTY
            if length is not None and length != head.length:
                raise conflict(run_id, expected=length, found=head.length)
            rows, entries, head = extend(run_id, head, ready, now)
            if rows:
                kept += rows
                self._runs[run_id] = kept
                self._newest = head.digest
        return entries

    def read(self, run_id: str, *, start: int = 0) -> Sequence[Entry]:
        """The entries of a run in order, from this sequence number on; empty if there is no such run."""
        with self._lock:
            rows = self._runs.get(run_id, [])[max(start, 0) :]
        return [entry_of(row) for row in rows]

    def run_ids(self) -> Sequence[str]:
        """All runs, the newest first."""
        with self._lock:
            return list(reversed(self._runs))

    def head(self) -> str | None:
        """The digest of the newest entry of all runs; None if there is none."""
        return self._newest.hex() if self._newest else None

    def lease(self, run_id: str) -> Lease:
        """The right to go on with the run is the caller's.

        Raises:
            RunBusyError: It is held already.
        """
        bytes_from_name(run_id)
        with self._lock:
            held, now = self._claims.get(run_id), self._clock()
            if held is not None and not is_free(held, now=now):
                raise busy(held)
            claim = new_claim(run_id, now=now)
            lease = HeldLease(self, claim)
            self._claims[run_id] = claim
        return lease

    def holder(self, run_id: str) -> str | None:
        """Who holds the run's lease, for people; None if nobody does."""
        with self._lock:
            held = self._claims.get(run_id)
        return None if held is None or is_free(held, now=self._clock()) else str(held)

    def renew_claim(self, claim: Claim) -> None:
        """For `HeldLease`: the claim is still there.

        Raises:
            RunBusyError: It is not.
        """
        with self._lock:
            held = self._claims.get(claim.run_id)
        if held is None or held.token != claim.token:
            raise lost(claim.run_id, held)

    def drop_claim(self, claim: Claim) -> None:
        """For `HeldLease`: the claim is gone."""
        with self._lock:
            held = self._claims.get(claim.run_id)
            if held is not None and held.token == claim.token:
                del self._claims[claim.run_id]
