"""Commands that a person may want next, ready to be copied.

Deliberately not here: when to name which of them.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit, urlunsplit


@dataclass(frozen=True, slots=True, kw_only=True)
class NextCommands:
    """Commands about runs in one journal.

    Attributes:
        journal: As `--journal` was given, if it was.
    """

    journal: str | None

    def show(self, run_id: str) -> str:
        """Shows all of the run."""
        return self._command("show", run_id)

    def resume(self, run_id: str) -> str:
        """Goes on with the run."""
        return self._command("resume", run_id)

    def waiting(self, run_id: str) -> str:
        """Lists the calls that wait."""
        return self._command("approve", run_id)

    def approve(self, run_id: str, call_id: str) -> str:
        """Lets the call run."""
        return self._command("approve", run_id, call_id)

    def deny(self, run_id: str, call_id: str) -> str:
        """Keeps the call from running."""
        return self._command("deny", run_id, call_id)

    def _command(self, *words: str) -> str:
        journal = () if self.journal is None else ("--journal", without_password(self.journal))
        return shlex.join(("wieldy", *words, *journal))


def command_line(arguments: Sequence[str]) -> str:
    """The command that a person typed, as it may be shown to anybody."""
    return shlex.join(("wieldy", *map(without_password, arguments[1:])))


def without_password(journal: str) -> str:
    """The path or address of a journal as it may be shown to anybody."""
    if "://" not in journal:
        return journal
    try:
        address = urlsplit(journal)
    except ValueError:  # no address at all; what its parts are is anybody's guess
        return journal.partition("://")[0] + "://..."
    user, at, place = address.netloc.rpartition("@")
    query = "&".join(part for part in address.query.split("&") if not part.lower().startswith("password="))
    return urlunsplit(address._replace(netloc=f"{user.partition(':')[0]}{at}{place}", query=query))
