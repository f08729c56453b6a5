"""A journal in this process's memory, for tests and for programs that need no record afterwards.

It keeps every run until it is dropped itself: a program that runs for long gives its agent a file instead.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence

from wieldy.core.json import JsonObject
from wieldy.core.ports import Entry
from wieldy.run.journal.encoding import bytes_from_data, data_from_bytes


class MemoryJournal:
    """A `Journal` that ends with its process; usable from any thread."""

    def __init__(self, *, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._runs: dict[str, list[tuple[str, float, bytes]]] = {}

    def append(self, run_id: str, kind: str, data: JsonObject) -> Entry:
        """The entry is kept when this returns; later changes to `data` do not reach it."""
        encoded = bytes_from_data(data)
        now = self._clock()
        with self._lock:
            entries = self._runs.setdefault(run_id, [])
            entries.append((kind, now, encoded))
            sequence = len(entries) - 1
        return Entry(run_id=run_id, sequence=sequence, kind=kind, time=now, data=data_from_bytes(encoded))

    def read(self, run_id: str) -> Sequence[Entry]:
        """All entries of a run in order; empty if there is no such run."""
        with self._lock:
            entries = list(self._runs.get(run_id, ()))
        return [
            Entry(run_id=run_id, sequence=sequence, kind=kind, time=when, data=data_from_bytes(data))
            for sequence, (kind, when, data) in enumerate(entries)
        ]

    def run_ids(self) -> Sequence[str]:
        """All runs, the newest first."""
        with self._lock:
            return list(reversed(self._runs))
