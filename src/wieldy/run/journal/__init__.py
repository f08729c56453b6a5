"""The journal: an append-only record of runs, and the only saved state there is.

Law: intent is written before an effect and outcome after it, so that whatever kills the process, the last entry tells
what was under way. An entry holds only what is new, never the history: a run costs disk in proportion to what happened.
Deliberately not here: what the entries add up to (`run.state`).
"""

from wieldy.run.journal.chain import Finding, verify, verify_all
from wieldy.run.journal.memory import MemoryJournal
from wieldy.run.journal.opening import is_url, open_journal
from wieldy.run.journal.postgres import PostgresJournal
from wieldy.run.journal.reading import check_run_id, read_run
from wieldy.run.journal.sqlite import Durability, SqliteJournal

__all__ = [
    "Durability",
    "Finding",
    "MemoryJournal",
    "PostgresJournal",
    "SqliteJournal",
    "check_run_id",
    "is_url",
    "open_journal",
    "read_run",
    "verify",
    "verify_all",
]
