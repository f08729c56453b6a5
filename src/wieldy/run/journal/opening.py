"""A journal by its name: the path of a file, or the URL of a PostgreSQL database."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from wieldy.core.errors import JournalError
from wieldy.run.journal.postgres import PostgresJournal
from wieldy.run.journal.sqlite import Durability, SqliteJournal

SCHEMES: Final = ("postgresql://", "postgres://")


def is_url(name: Path | str) -> bool:
    """Whether this names a database; everything else is a path."""
    return isinstance(name, str) and name.startswith(SCHEMES)


def open_journal(
    name: Path | str,
    *,
    read_only: bool = False,
    durability: Durability = "process",
    clock: Callable[[], float] = time.time,
) -> SqliteJournal | PostgresJournal:
    """The journal of this name, made if it is missing and not only to be read.

    Args:
        name: A path, or `postgresql://user:password@host:port/database`.
        read_only: Only read; it must exist.
        durability: What entries in a file survive (see `SqliteJournal`); a database has settings of its own for that.
        clock: Gives the time of an entry, in seconds since the epoch.

    Raises:
        JournalError: It cannot be opened; the error says why and what to do.
    """
    if isinstance(name, str) and is_url(name):
        return PostgresJournal(name, read_only=read_only, clock=clock)
    if isinstance(name, str) and "://" in name:
        raise JournalError(
            f"A journal is a file or a PostgreSQL database, found {name.partition('://')[0]}://... Expected a path, or "
            "a URL that begins with postgresql://."
        )
    return SqliteJournal(name, read_only=read_only, durability=durability, clock=clock)
