"""The ends of the runs that a journal was writing last, so that an append need not look them up.

A bound on their number keeps a service that has written a million runs as small as one that has written ten. What is
remembered may be out of date, since others write as well: the database has the last word.
"""

from __future__ import annotations

from typing import Final

from wieldy.run.journal.chain import Head
from wieldy.run.journal.kinds import RUN_FAILED, RUN_FINISHED, RUN_INTERRUPTED, RUN_PAUSED

ENDS: Final = frozenset({RUN_FINISHED, RUN_FAILED, RUN_INTERRUPTED, RUN_PAUSED})
"""With these a run is over, or rests."""

MOST_RUNS: Final = 1024


class Heads:
    """The end of each of the runs that were written last; not safe to share between threads."""

    def __init__(self) -> None:
        self._heads: dict[str, Head] = {}

    def get(self, run_id: str) -> Head | None:
        """The end of the run as it was last written here."""
        return self._heads.get(run_id)

    def put(self, run_id: str, head: Head) -> None:
        """This is the end of the run now."""
        self._heads.pop(run_id, None)
        self._heads[run_id] = head
        if len(self._heads) > MOST_RUNS:
            del self._heads[next(iter(self._heads))]

    def forget(self, run_id: str) -> None:
        """The run is over, or what is known of it is wrong."""
        self._heads.pop(run_id, None)
