"""The entries of a run, found to be there and unchanged: what everybody reads who goes on from them."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from wieldy.core.errors import JournalError, UsageError
from wieldy.run.journal.chain import verify
from wieldy.run.journal.encoding import bytes_from_name

if TYPE_CHECKING:
    from wieldy.core.ports import Entry, Journal


def check_run_id(run_id: object) -> None:
    """Nothing, if it can be the id of a run.

    Raises:
        UsageError: It is something else.
    """
    if isinstance(run_id, str) and run_id.strip():
        with suppress(JournalError):
            bytes_from_name(run_id)
            return
    raise UsageError(
        f"Expected the id of a run as text, found {run_id!r:.80}. It is `result.run_id`, and `wieldy runs` lists those "
        "of a journal."
    )


def read_run(journal: Journal, run_id: str, *, after: Entry | None = None) -> Sequence[Entry]:
    """All entries of a run in order, or those that follow one that was read before.

    Raises:
        UsageError: There is no such run.
        JournalTamperedError: An entry was changed, or is missing.
        JournalError: The journal cannot be read.
    """
    check_run_id(run_id)
    entries = journal.read(run_id, start=0 if after is None else after.sequence + 1)
    if not entries and after is None:
        raise UsageError(f"Expected the id of a run in this journal, found {run_id!r}. Is it another file?")
    verify(entries, after=after)
    return entries
