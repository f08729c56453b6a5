"""The journal that a command reads or writes: a file or a database, and which run in it a person means.

Reading never creates a file. Deliberately not here: the journal itself (`wieldy.run.journal`).
"""

from __future__ import annotations

from pathlib import Path

import platformdirs

from wieldy.core.errors import JournalError, UsageError
from wieldy.core.ports import Journal
from wieldy.run.journal import is_url, open_journal
from wieldy.run.state import fold


def default_journal() -> Path:
    """The file in the user's data folder that is used where `--journal` names none."""
    return platformdirs.user_data_path("wieldy", appauthor=False) / "runs.db"


def open_for_reading(name: str | Path | None) -> Journal | None:
    """The journal, or None if the default one does not exist yet.

    Args:
        name: As `--journal` was given: a path, or a `postgresql://` URL.

    Raises:
        UsageError: `name` was given and there is no such file.
        JournalError: The journal cannot be read, or is none.
    """
    if name is None and not default_journal().exists():
        return None
    return open_journal(_existing(name), read_only=True)


def open_for_appending(name: str | Path | None) -> Journal:
    """The journal of runs that are there already.

    Args:
        name: As `--journal` was given: a path, or a `postgresql://` URL.

    Raises:
        UsageError: There is no such file, the default one included.
        JournalError: The journal cannot be written, or is none.
    """
    return open_journal(_existing(name))


def _existing(name: str | Path | None) -> str | Path:
    if name is not None and is_url(name):
        return name
    file = default_journal() if name is None else Path(name)
    try:
        file = file.expanduser()
        is_there = file.exists()
    except (OSError, ValueError, RuntimeError):
        is_there = False
    if not is_there:
        raise UsageError(f"{file}: there is no journal here. Name the file that `wieldy run --journal` wrote.")
    return file


def find_run(journal: Journal | None, wanted: str) -> str:
    """The one run that `wanted` names: its id, the beginning of it, or `last`, which is no run within a run.

    Raises:
        UsageError: No run or more than one fits.
    """
    known = [] if journal is None else list(journal.run_ids())
    if journal is None or not known:
        raise UsageError("The journal holds no run yet. Start one with `wieldy run`.")
    if wanted == "last":
        return next((run_id for run_id in known if not _is_nested(journal, run_id)), known[0])
    if wanted in known:
        return wanted
    if not wanted.strip():
        raise UsageError(
            f"Expected a run's id, the beginning of one, or `last`, found {wanted!r}. `wieldy runs` lists them."
        )
    fitting = [run_id for run_id in known if run_id.startswith(wanted)]
    if len(fitting) == 1:
        return fitting[0]
    if not fitting:
        raise UsageError(f"No run's id begins with {wanted!r}. `wieldy runs` lists them.")
    some = ", ".join(fitting[:5]) + (", ..." if len(fitting) > 5 else "")
    raise UsageError(f"{len(fitting)} runs begin with {wanted!r}: {some}. Write more of the id.")


def _is_nested(journal: Journal, run_id: str) -> bool:
    try:
        return fold(journal.read(run_id)[:1]).parent is not None
    except JournalError:  # it cannot be read, which whoever wants to see it is told then
        return False
