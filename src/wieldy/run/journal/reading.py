"""The entries of a run, found to be there and unchanged: what everybody reads who goes on from them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from wieldy.core.errors import UsageError
from wieldy.run.journal.chain import verify

if TYPE_CHECKING:
    from wieldy.core.ports import Entry, Journal


def read_run(journal: Journal, run_id: str) -> Sequence[Entry]:
    """All entries of a run, in order.

    Raises:
        UsageError: There is no such run.
        JournalTamperedError: An entry was changed, or is missing.
        JournalError: The journal cannot be read.
    """
    entries = journal.read(run_id)
    if not entries:
        raise UsageError(f"Expected the id of a run in this journal, found {run_id!r}. Is it another file?")
    verify(entries)
    return entries
