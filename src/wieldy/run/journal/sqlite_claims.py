"""The claims on runs in a SQLite file: one row for each run that somebody is at work on.

Deliberately not here: which claim is void (`leases`), and transactions, which the caller has opened.
"""

from __future__ import annotations

import sqlite3
from typing import Final

from wieldy.run.journal.leases import Claim
from wieldy.run.journal.processes import Process

_FIND: Final = "SELECT token, host, place, pid, started, since, renewed FROM leases WHERE run_id = ?"
_TYPES: Final = [str, str, str, int, str, float, float]
_PUT: Final = "INSERT OR REPLACE INTO leases VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
_RENEW: Final = "UPDATE leases SET renewed = ? WHERE run_id = ? AND token = ?"
_DROP: Final = "DELETE FROM leases WHERE run_id = ? AND token = ?"


def find_claim(connection: sqlite3.Connection, run_id: str) -> Claim | None:
    """The claim on the run, void or not; none if what is there is damaged."""
    row = connection.execute(_FIND, (run_id,)).fetchone()
    if row is None or [type(value) for value in row] != _TYPES:
        return None
    token, host, place, pid, started, since, renewed = row
    process = Process(host=host, place=place, pid=pid, started=started)
    return Claim(run_id=run_id, token=token, process=process, since=since, renewed=renewed)


def put_claim(connection: sqlite3.Connection, claim: Claim) -> None:
    """The claim is there, in the place of any other."""
    process = claim.process
    connection.execute(
        _PUT,
        (
            claim.run_id,
            claim.token,
            process.host,
            process.place,
            process.pid,
            process.started,
            claim.since,
            claim.renewed,
        ),
    )


def renew_claim(connection: sqlite3.Connection, claim: Claim, *, now: float) -> bool:
    """Whether the claim is still there; it was renewed at this time."""
    return connection.execute(_RENEW, (now, claim.run_id, claim.token)).rowcount == 1


def drop_claim(connection: sqlite3.Connection, claim: Claim) -> None:
    """The claim is gone, if it was there."""
    connection.execute(_DROP, (claim.run_id, claim.token))
