"""The results of many studies in one SQLite file, sliced by time, model, version and kind of task.

Law: the store is an index: what it says of a folder is what the folder's results say, and adding a folder again changes
nothing. A folder that is gone keeps what was last read of it. Paths are kept relative to the store's own folder, so
both can be moved together. Deliberately not here: what has changed between slices (`changes`).
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Generator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, cast

import msgspec

from wieldy.core.errors import UsageError
from wieldy.core.json import JsonObject
from wieldy.evals.cases.results import RESULTS, STUDY, Trial, counting, latest, read_study, read_trials

_NEEDS: Final = "Its folder must exist, let you write and have room."
SCHEMA_VERSION: Final = 1
_SCHEMA: Final = """
CREATE TABLE study (folder TEXT PRIMARY KEY, size_bytes INTEGER NOT NULL, changed_ns INTEGER NOT NULL);
CREATE TABLE trial (
    folder TEXT NOT NULL REFERENCES study ON DELETE CASCADE, suite TEXT NOT NULL, configuration TEXT NOT NULL,
    model TEXT NOT NULL, version TEXT NOT NULL, category TEXT NOT NULL, time REAL NOT NULL, line BLOB NOT NULL
);
CREATE INDEX trial_by_slice ON trial (suite, configuration, version, time);
"""
COLUMNS: Final = ("suite", "category", "model", "version", "configuration", "folder")
"""By which results are sliced; and `day` and `month`, which are the time's."""
TIMES: Final = ("day", "month")
_BOUNDS: Final = {"since": "time >= ?", "until": "time < ?"}

_decode: Final = msgspec.json.Decoder(Trial).decode


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """A trial with what its study says of it.

    Attributes:
        version: Of the harness.
        time: When its first run began, in seconds since the epoch.
    """

    trial: Trial
    suite: str
    category: str
    model: str
    version: str
    configuration: str
    folder: str
    time: float

    def slice(self, key: str) -> str:
        """Its value of one of the columns, or of a time."""
        if key in TIMES:
            return datetime.fromtimestamp(self.time, UTC).strftime("%Y-%m-%d" if key == "day" else "%Y-%m")
        return cast("str", getattr(self, key))


class Store:
    """A store in a file, which is made if it is not there.

    Raises:
        UsageError: It cannot be used, or is something else.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            with self._connected() as connection:
                (version,) = connection.execute("PRAGMA user_version").fetchone()
                is_empty = connection.execute("SELECT count(*) FROM sqlite_master").fetchone() == (0,)
                if version == 0 and is_empty:
                    connection.executescript(f"{_SCHEMA} PRAGMA user_version = {SCHEMA_VERSION};")
                elif version != SCHEMA_VERSION:
                    raise UsageError(
                        f"{path}: expected a store of this version of Wieldy, found something else. Name another file; "
                        "a store is made anew by `wieldy report FOLDER... --store FILE`."
                    )
        except (sqlite3.Error, OSError) as error:
            raise UsageError(f"{path}: the store cannot be used: {error}. {_NEEDS}") from error

    @contextmanager
    def _connected(self) -> Generator[sqlite3.Connection]:
        with closing(sqlite3.connect(self.path, timeout=30.0)) as connection, connection:
            connection.execute("PRAGMA foreign_keys = ON")
            yield connection

    def add(self, folder: Path) -> int:
        """What the folder's results say is in the store, instead of what they said before; how many trials that is.

        Raises:
            UsageError: There are no results in it, or the store cannot be written.
        """
        about = _about(folder)
        study = read_study(folder)
        trials = counting(latest(read_trials(folder)), study)
        deployments = study.get("deployments")
        known = cast("dict[str, Any]", deployments) if isinstance(deployments, dict) else {}
        name = os.path.relpath(folder.absolute(), self.path.absolute().parent)
        changed_s = (folder / RESULTS).stat().st_mtime
        rows = [_row(name, trial, known.get(trial.configuration) or {}, changed_s) for trial in trials]
        try:
            with self._connected() as connection:
                connection.execute("DELETE FROM study WHERE folder = ?", (name,))
                connection.execute("INSERT INTO study VALUES (?, ?, ?)", (name, *about))
                connection.executemany("INSERT INTO trial VALUES (?, ?, ?, ?, ?, ?, ?, ?)", rows)
        except sqlite3.Error as error:
            raise UsageError(f"{self.path}: the store cannot be written: {error}. {_NEEDS}") from error
        return len(rows)

    def refresh(self) -> list[str]:
        """Folders whose results have changed are read again; gives the names of those that are gone.

        Raises:
            UsageError: As `add`.
        """
        gone = list[str]()
        with self._connected() as connection:
            known = connection.execute("SELECT folder, size_bytes, changed_ns FROM study ORDER BY folder").fetchall()
        for name, *before in known:
            folder = self.path.absolute().parent / name
            if not (folder / RESULTS).is_file():
                gone.append(name)
            elif list(_about(folder)) != before:
                self.add(folder)
        return gone

    def trials(self, only: Mapping[str, str] | None = None) -> list[Stored]:
        """The trials of a slice, in the order of their time.

        Args:
            only: Values of `COLUMNS`, and `since` and `until` (a day, as 2026-11-30, in UTC; `until` is not included).

        Raises:
            UsageError: There is no such column, or this is no day.
        """
        conditions, values = list[str](), list[object]()
        for key, value in (only or {}).items():
            if key in COLUMNS:
                conditions.append(f"{key} = ?")
                values.append(value)
            elif key in _BOUNDS:
                conditions.append(_BOUNDS[key])
                values.append(seconds_of(value))
            else:
                raise UsageError(f"Expected one of {', '.join((*COLUMNS, *_BOUNDS))}, found {key!r}.")
        where = f"WHERE {' AND '.join(conditions)}" if conditions else ""
        columns = "folder, suite, configuration, model, version, category, time, line"
        with self._connected() as connection:
            rows = connection.execute(f"SELECT {columns} FROM trial {where} ORDER BY time, rowid", values).fetchall()
        return [_stored(row) for row in rows]


def seconds_of(day: str) -> float:
    """The beginning of a day in UTC, in seconds since the epoch.

    Raises:
        UsageError: This is none.
    """
    try:
        return datetime.strptime(day, "%Y-%m-%d").replace(tzinfo=UTC).timestamp()
    except ValueError as error:
        raise UsageError(f"Expected a day such as 2026-11-30, found {day!r}.") from error


def _about(folder: Path) -> tuple[int, int]:
    """What changes where the folder's results do, or the tasks of which they count."""
    try:
        about = [(folder / RESULTS).stat()]
    except OSError as error:
        raise UsageError(
            f"{folder}: there are no results here: {error.strerror}. `wieldy eval` writes them."
        ) from error
    about += [file.stat() for file in (folder / STUDY,) if file.exists()]
    return sum(each.st_size for each in about), max(each.st_mtime_ns for each in about)


def _row(folder: str, trial: Trial, deployment: JsonObject, changed_s: float) -> tuple[object, ...]:
    """A line from before trials had a time has that of its file."""
    model, version = deployment.get("model"), deployment.get("harness")
    time = trial.time or changed_s
    line = msgspec.json.encode(trial)
    of_study = (trial.suite, trial.configuration, str(model or trial.configuration), str(version or "unknown"))
    return folder, *of_study, trial.category, time, line


def _stored(row: Sequence[Any]) -> Stored:
    folder, suite, configuration, model, version, category, time, line = row
    return Stored(
        trial=_decode(line),
        suite=suite,
        category=category,
        model=model,
        version=version,
        configuration=configuration,
        folder=folder,
        time=time,
    )
