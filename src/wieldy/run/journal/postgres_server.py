"""A connection to the PostgreSQL server of a journal: made again when it was lost, and what to say when it cannot be.

psycopg is imported when a connection is made: it is optional, and slow to import. Deliberately not here: the tables
(`postgres_schema`), and what is asked of them (`postgres`).
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, LiteralString, TypeAlias

from wieldy.core.errors import JournalError
from wieldy.core.extras import installing
from wieldy.run.journal.postgres_schema import OUT_OF_ORDER, prepare

if TYPE_CHECKING:
    import psycopg

RECONNECT_AFTER_S: Final = (0.1, 0.4, 1.5)
"""How long to wait before each further try to reach a server that was lost: it may be starting anew."""

MOST_TRIES: Final = 5
"""How often a harmless query is asked when each new connection breaks under it."""

# Answers that say that another transaction was first: the same numbers, or the server's own ordering of transactions.
_LOST_RACES: Final = frozenset({OUT_OF_ORDER, "23505", "40001", "40P01"})

_DEFAULT_OPTIONS: Final = {
    "connect_timeout": 10,
    "fallback_application_name": "wieldy",
    # A network that swallows what is sent must not keep a run waiting for the quarter of an hour that is usual.
    "tcp_user_timeout": 30_000,
    "keepalives_idle": 30,
}
_URL: Final = "postgresql://user:password@host:5432/database"
# By the beginning of the server's code for what happened; the longest that fits.
_WORDS: Final = {
    "08": "cannot be reached. Check that the server runs, and the host, user, password and database of the URL",
    "28": "does not accept this user or password. Correct them in the URL",
    "3D000": "has no such database. Create it (`createdb`), or name another one in the URL",
    "3F000": "has no schema for its tables that this user may use. Create one, or name it in the user's search_path",
    "42501": "does not let this user do that. Let it SELECT and INSERT, change its leases, and CREATE the first time",
    "25006": "can only be read: it is a standby, or a read-only session. Name the primary server in the URL",
    "53100": "cannot be written: the server's disk is full. Make room; what was written before is kept",
    "53300": "has no connection left. Close some, or raise the server's max_connections",
    "57P": "is shutting down or starting. Try again when it runs",
    "22": "cannot hold that. Use a database whose encoding is UTF8, and names without NUL",
}

Parameters: TypeAlias = "Sequence[object] | Mapping[str, object]"


class LostRaceError(Exception):
    """Another transaction was first; nothing was written by this one. Never leaves the journal."""


class LostConnectionError(Exception):
    """The connection broke under a statement, which may or may not have been carried out. Never leaves the journal."""


class Server:
    """One connection to the server of a journal, for one thread at a time.

    Args:
        url: `postgresql://...`.
        read_only: Whether the session may only read, and finds the tables there.

    Raises:
        JournalError: psycopg is not installed, or the URL is none that it understands.
    """

    def __init__(self, url: str, *, read_only: bool) -> None:
        self._options, self.address = _options(url)
        self._read_only = read_only
        self._connection: psycopg.Connection[tuple[Any, ...]] | None = None
        self._lock = threading.Lock()
        self._pid = os.getpid()
        self._is_closed = False

    def fetch(self, query: LiteralString, parameters: Parameters = ()) -> list[tuple[Any, ...]]:
        """The rows that answer a query, which is asked again if the connection breaks: once more must do no harm.

        Raises:
            JournalError: There is no connection, or the server refuses.
        """
        for _ in range(MOST_TRIES):
            with suppress(LostConnectionError, LostRaceError):
                return self.ask(query, parameters)
        raise JournalError(f"The journal {self.address} breaks each connection. Look into the server's log.")

    def ask(self, query: LiteralString, parameters: Parameters = ()) -> list[tuple[Any, ...]]:
        """The rows that answer a query, which is asked once.

        Raises:
            LostRaceError: Another transaction was first.
            LostConnectionError: The connection broke meanwhile; the next query makes another one.
            JournalError: There is no connection, or the server refuses.
        """
        import psycopg  # noqa: PLC0415

        self._check()
        with self._lock:
            connection = self._connected()
            try:
                return connection.cursor(binary=True).execute(query, parameters).fetchall()
            except psycopg.Error as error:
                if error.sqlstate in _LOST_RACES:
                    raise LostRaceError from error
                if connection.closed:
                    raise LostConnectionError from error
                raise self.error(error) from error

    def close(self) -> None:
        """The connection is closed and stays so. In a forked process nothing happens: it is the parent's."""
        if os.getpid() != self._pid:
            return
        self._is_closed = True
        if self._connection is not None:
            self._connection.close()

    def error(self, error: psycopg.Error) -> JournalError:
        """The error in words that say what to do."""
        code = error.sqlstate or ("08" if self._connection is None or self._connection.closed else "")
        fitting = [beginning for beginning in _WORDS if code.startswith(beginning)]
        words = _WORDS[max(fitting, key=len)] if fitting else "cannot be used"
        said = " ".join((error.diag.message_primary or str(error)).split())
        return JournalError(f"The journal {self.address} {words}. (PostgreSQL: {said})")

    def _check(self) -> None:
        if os.getpid() != self._pid:
            raise JournalError(
                f"The journal {self.address} was opened by process {self._pid} and cannot be used in one forked from "
                "it. Open it again in the new process."
            )
        if self._is_closed:
            raise JournalError(f"The journal {self.address} is closed. Open it again.")

    def _connected(self) -> psycopg.Connection[tuple[Any, ...]]:
        import psycopg  # noqa: PLC0415

        if self._connection is not None and not self._connection.closed:
            return self._connection
        waits = RECONNECT_AFTER_S if self._connection is not None else ()
        for wait_s in waits:
            with suppress(psycopg.OperationalError):
                return self._connect()
            time.sleep(wait_s)
        try:
            return self._connect()
        except psycopg.Error as error:
            raise self.error(error) from error

    def _connect(self) -> psycopg.Connection[tuple[Any, ...]]:
        import psycopg  # noqa: PLC0415

        connection = psycopg.Connection[tuple[Any, ...]].connect(**self._options, autocommit=True)
        try:
            prepare(connection, self.address, read_only=self._read_only)
        except BaseException:
            connection.close()
            raise
        self._connection = connection
        return connection


def _options(url: str) -> tuple[dict[str, Any], str]:
    try:
        from psycopg import ProgrammingError  # noqa: PLC0415
        from psycopg.conninfo import conninfo_to_dict  # noqa: PLC0415
    except ImportError as error:
        raise JournalError(
            f"A journal in PostgreSQL needs psycopg, which is not installed or not whole ({error}): "
            f"{installing('postgres')}."
        ) from error
    try:
        given = conninfo_to_dict(url)
    except ProgrammingError:
        # Neither the URL nor the client's words about it are shown: a password may be part of both.
        raise JournalError(
            f"The URL of the journal is none that PostgreSQL's client understands. Expected {_URL}, with %XX for what "
            "has a meaning of its own in a URL, such as `@` or `/` in a password."
        ) from None
    person = f"{given['user']}@" if given.get("user") else ""
    port = f":{given['port']}" if given.get("port") else ""
    address = f"postgresql://{person}{given.get('host', '')}{port}/{given.get('dbname', '')}"
    return _DEFAULT_OPTIONS | given, address
