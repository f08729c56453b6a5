"""What the user's environment holds: keys of model services and the journal."""

from __future__ import annotations

import os
from pathlib import Path

from wieldy.apps.cli.checks.machine import is_there, why_not_writable
from wieldy.apps.cli.checks.records import Check
from wieldy.apps.cli.journals import default_journal
from wieldy.core.errors import JournalError
from wieldy.run.journal import SqliteJournal

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
    """Where runs are recorded unless `--journal` says otherwise, and whether that works."""
    file = default_journal()
    reason = _why_not_usable(file)
    return Check(
        name="Journal",
        state="good" if reason is None else "lacking",
        found=f"{file}, {reason or ('writable' if is_there(file) else 'created by the first run')}",
        details={"path": str(file), "exists": is_there(file), "writable": reason is None},
        advice=None if reason is None else "Put that right, or name another file with --journal.",
    )


def _why_not_usable(file: Path) -> str | None:
    if not is_there(file):
        return why_not_writable(file.parent)
    try:
        SqliteJournal(file, read_only=True).close()
    except JournalError as error:
        return f"which cannot be read: {error}"
    return None if os.access(file, os.W_OK) and os.access(file.parent, os.W_OK) else "which cannot be written"
