"""The tables of a journal in PostgreSQL, made if they are missing.

They lie in the schema that the session's search path names first. The server itself refuses to change or remove an
entry, and to skip a number: a protection against accidents, not against the owner of the tables. `wieldy_journal` has
the number of the format; where it is higher than what this version knows, nothing is changed.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, LiteralString

from wieldy.core.errors import JournalError

if TYPE_CHECKING:
    import psycopg

FORMAT_VERSION: Final = 1

OUT_OF_ORDER: Final = "WIE01"
"""What the trigger answers to an entry that does not follow the last one: as good as a number that is taken."""

_SCHEMA_LOCK: Final = 0x57_49_45_4C
_SCHEMA: Final[LiteralString] = f"""
CREATE TABLE wieldy_entries (
    position bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    run_id text COLLATE "C" NOT NULL,
    sequence bigint NOT NULL,
    kind text NOT NULL,
    time double precision NOT NULL,
    data bytea NOT NULL,
    digest bytea NOT NULL,
    append_id uuid NOT NULL,
    UNIQUE (run_id, sequence)
);
CREATE INDEX wieldy_run_starts ON wieldy_entries (position) WHERE sequence = 0;
CREATE FUNCTION wieldy_refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION 'a journal is append-only: an entry cannot be changed or removed'; END $$;
CREATE FUNCTION wieldy_check_order() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    IF NEW.sequence <> (SELECT coalesce(max(sequence) + 1, 0) FROM wieldy_entries WHERE run_id = NEW.run_id) THEN
        RAISE EXCEPTION 'a journal is append-only: entries are added in order' USING ERRCODE = '{OUT_OF_ORDER}';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER wieldy_entries_are_kept BEFORE UPDATE OR DELETE ON wieldy_entries
FOR EACH ROW EXECUTE FUNCTION wieldy_refuse();
CREATE TRIGGER wieldy_entries_are_all_kept BEFORE TRUNCATE ON wieldy_entries
FOR EACH STATEMENT EXECUTE FUNCTION wieldy_refuse();
CREATE TRIGGER wieldy_entries_are_added_in_order BEFORE INSERT ON wieldy_entries
FOR EACH ROW EXECUTE FUNCTION wieldy_check_order();
CREATE TABLE wieldy_leases (
    run_id text COLLATE "C" PRIMARY KEY,
    token text NOT NULL,
    host text NOT NULL,
    place text NOT NULL,
    pid bigint NOT NULL,
    started text NOT NULL,
    since double precision NOT NULL,
    renewed double precision NOT NULL
);
CREATE TABLE wieldy_journal (format integer NOT NULL);
"""


def prepare(connection: psycopg.Connection[tuple[Any, ...]], address: str, *, read_only: bool) -> None:
    """The tables are there, and are such that this version knows.

    Raises:
        JournalError: They are of a newer version, or missing where they may only be read.
        psycopg.Error: The server refuses.
    """
    if read_only:
        connection.execute("SET default_transaction_read_only = on")
    elif _format(connection) is None:
        _make(connection)
    version = _format(connection)
    if version is None:
        raise JournalError(f"There is no journal at {address}. Name the database that the run was written to.")
    if version > FORMAT_VERSION:
        raise JournalError(
            f"The journal {address} has format {version}; this version of Wieldy knows formats up to {FORMAT_VERSION}. "
            "Upgrade Wieldy, or use another database. Nothing was changed."
        )


def _make(connection: psycopg.Connection[tuple[Any, ...]]) -> None:
    from psycopg.errors import DuplicateTable  # an optional package  # noqa: PLC0415

    # One process after the other, so that the second is told of the table and not of the server's own catalogue.
    with suppress(DuplicateTable), connection.transaction():
        connection.execute("SELECT pg_advisory_xact_lock(%s)", [_SCHEMA_LOCK])
        connection.execute(_SCHEMA)
        connection.execute("INSERT INTO wieldy_journal VALUES (%s)", [FORMAT_VERSION])


def _format(connection: psycopg.Connection[tuple[Any, ...]]) -> int | None:
    [(found,)] = connection.execute("SELECT to_regclass('wieldy_journal') IS NOT NULL").fetchall()
    if not found:
        return None
    return next((number for (number,) in connection.execute("SELECT format FROM wieldy_journal")), None)
