"""What the user's environment holds: keys of model services, the journal, and what other journals need."""

from __future__ import annotations

import os
from pathlib import Path

from wieldy.apps.cli.checks.machine import is_there, why_not_writable
from wieldy.apps.cli.checks.records import Check
from wieldy.apps.cli.journals import default_journal
from wieldy.core.errors import JournalError
from wieldy.core.extras import installing
from wieldy.run.journal import Durability, SqliteJournal

DURABILITY_WORDS: dict[Durability, str] = {
    "process": "what is written survives the death of the process; a power cut may cost the last entries",
    "machine": "what is written survives a power cut",
}

KEYS = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY")


def check_keys() -> Check:
    """Which keys of model services are set; their values are nobody's business."""
    found = [name for name in KEYS if os.environ.get(name)]
    return Check(
        name="Keys",
        state="good" if found else "note",
        found=f"{' and '.join(found)} set" if found else "none",
        details={name: name in found for name in KEYS},
        advice=None if found else f"Only services need one; set {' or '.join(KEYS)} to use theirs.",
    )


def check_journal() -> Check:
    """Where runs are recorded unless `--journal` says otherwise, whether that works, and what it survives."""
    file = default_journal()
    durability: Durability = "process"  # what every command opens it with
    reason = _why_not_usable(file)
    state = reason or f"{'writable' if is_there(file) else 'created by the first run'}; {DURABILITY_WORDS[durability]}"
    return Check(
        name="Journal",
        state="good" if reason is None else "lacking",
        found=f"{file}, {state}",
        details={
            "path": str(file),
            "exists": is_there(file),
            "writable": reason is None,
            "durability": durability,
        },
        advice=None if reason is None else "Put that right, or name another file with --journal.",
    )


def check_postgres() -> Check:
    """Whether a journal can be in a PostgreSQL database; whether one can be reached is seen when it is used."""
    try:
        # Optional; its library in C may be missing too.
        import psycopg  # noqa: PLC0415
    except ImportError as error:
        return Check(
            name="PostgreSQL",
            state="note",
            found=f"no journal can be in a PostgreSQL database: {' '.join(str(error).split())}",
            details={"installed": False, "version": None},
            advice=f"Only --journal postgresql://... needs it: {installing('postgres')}",
        )
    return Check(
        name="PostgreSQL",
        state="good",
        found=f"--journal postgresql://... can be used (psycopg {psycopg.__version__})",
        details={"installed": True, "version": psycopg.__version__},
    )


def _why_not_usable(file: Path) -> str | None:
    if not is_there(file):
        return why_not_writable(file.parent)
    try:
        SqliteJournal(file, read_only=True).close()
    except JournalError as error:
        return f"which cannot be read: {error}"
    return None if os.access(file, os.W_OK) and os.access(file.parent, os.W_OK) else "which cannot be written"
