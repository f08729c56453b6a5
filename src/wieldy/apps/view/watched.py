"""One run for a browser: told step by step as in a report, with what its digests say, and its entries as they are.

Deliberately not here: how a run is told (`wieldy.evals.reports.page`), and the list (`run_list`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING, Any, Final

from wieldy.apps.cli.event_json import request_to_json
from wieldy.apps.view.rows import row_of, unreadable_row
from wieldy.apps.view.versions import versioned
from wieldy.core.errors import JournalError, JournalTamperedError, UsageError
from wieldy.evals.reports.page import Chunk
from wieldy.evals.reports.page.redaction import TOO_DEEP
from wieldy.run.journal import check_run_id, verify
from wieldy.run.state import fold

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wieldy.apps.cli.next_commands import NextCommands
    from wieldy.apps.view.versions import Answer
    from wieldy.core.approvals import ApprovalRequest
    from wieldy.core.json import JsonObject
    from wieldy.core.ports import Entry, Journal
    from wieldy.evals.reports.page import Redaction

MOST_WATCHED: Final = 8
"""Of how many runs what was told is kept."""
MOST_ENTRIES: Final = 200
"""Of a run's entries in one answer."""


@dataclass(slots=True, kw_only=True)
class WatchedRuns:
    """Runs that browsers look at; usable from any thread.

    A run is told anew only if there is something new: of one that is finished, an entry of its own; of any other, an
    entry of any run, or another holder.

    Attributes:
        redaction: Takes out what must not be shown.
        commands: Those that a person may want next.
        about: What every answer says besides.
    """

    redaction: Redaction
    commands: NextCommands
    about: Answer
    _kept: dict[str, tuple[object, Answer]] = field(default_factory=dict[str, "tuple[object, Answer]"])
    _lock: Lock = field(default_factory=Lock)

    def run(self, journal: Journal, run_id: str, *, anew: bool) -> Answer:
        """The run as it is now.

        Args:
            journal: Where it is recorded.
            run_id: The run.
            anew: Whether all of it is read again, whatever was kept: its entries may have been changed.

        Raises:
            UsageError: There is no such run.
            JournalError: The journal cannot be read at all.
        """
        stamp = journal.head(), journal.holder(run_id)
        with self._lock:
            kept = self._kept.pop(run_id, None)
        if anew or kept is None or not self._is_same(journal, run_id, stamp, kept):
            told = _run_to_json(journal, run_id, redaction=self.redaction, commands=self.commands)
            kept = stamp, versioned({**self.about, **told})
        with self._lock:
            self._kept[run_id] = kept
            if len(self._kept) > MOST_WATCHED:
                del self._kept[next(iter(self._kept))]
        return kept[1]

    def _is_same(self, journal: Journal, run_id: str, stamp: object, kept: tuple[object, Answer]) -> bool:
        told = kept[1]
        if kept[0] == stamp:
            return True
        return told["row"]["status"] == "finished" and not journal.read(run_id, start=told["check"]["entries"])


def _run_to_json(journal: Journal, run_id: str, *, redaction: Redaction, commands: NextCommands) -> dict[str, Any]:
    """The run: `row`, `runs` and `tools` (those within it too), `number` (where it stands), `check`, `notes`, ...

    Raises:
        UsageError: There is no such run.
        JournalError: The journal cannot be read at all.
    """
    check_run_id(run_id)
    notes = list[str]()
    chunk = Chunk(redaction, tell=notes.append)
    number, entries = chunk.add(journal, run_id)
    if not entries and not notes:
        raise _unknown(run_id)
    try:
        state = fold(entries)
        row, parent = row_of(state, journal, redaction=redaction), state.parent
    except JournalError as error:
        row, parent = unreadable_row(run_id, error, redaction=redaction), None
        if entries:
            notes.append(f"The entries do not add up to a run; they are told one by one. {error}")
    return {
        "row": row.to_json(),
        "number": number,
        **chunk.to_json(),
        "check": _check(entries),
        "notes": [redaction.text(note) for note in notes],
        "holder": journal.holder(run_id) if row.status == "running" else None,
        "parent": None if parent is None else {"run_id": parent.run_id, "call_id": parent.call_id},
        "waiting": [waiting_to_json(request, redaction=redaction, commands=commands) for request in row.waiting],
        "commands": [commands.show(run_id), *([] if row.status == "finished" else [commands.resume(run_id)])],
    }


def entries_to_json(journal: Journal, run_id: str, *, start: int, count: int, redaction: Redaction) -> dict[str, Any]:
    """The run's entries from this number on, at most so many, and how many there are.

    Raises:
        UsageError: There is no such run.
        JournalError: They cannot be read.
    """
    check_run_id(run_id)
    rest = journal.read(run_id, start=start)
    total = start + len(rest) if rest else len(journal.read(run_id))
    if not total:
        raise _unknown(run_id)
    return {
        "start": start,
        "total": total,
        "entries": [
            {
                "sequence": entry.sequence,
                "kind": redaction.text(entry.kind),
                "time": entry.time,
                "digest": entry.digest,
                "data": redaction.json(entry.data),
            }
            for entry in rest[:count]
        ],
    }


def waiting_to_json(request: ApprovalRequest, *, redaction: Redaction, commands: NextCommands) -> JsonObject:
    """What a person must decide on, all of it, and the commands that decide."""
    shown, arguments = request_to_json(request), redaction.json(request.arguments)
    return {
        **redaction.shown({name: shown[name] for name in ("name", "reason")}),
        **{name: shown[name] for name in ("run_id", "call_id", "expires", "digest")},
        "arguments": arguments,
        "is_whole": arguments != TOO_DEEP and not redaction.patterns,
        "approve": commands.approve(request.run_id, request.call_id),
        "deny": commands.deny(request.run_id, request.call_id),
    }


def _unknown(run_id: str) -> UsageError:
    return UsageError(f"Expected the id of a run in this journal, found {run_id!r:.80}. The list has those there are.")


def _check(entries: Sequence[Entry]) -> JsonObject:
    """What `wieldy verify` says of the run: its last digest, and what is wrong with it."""
    finding: str | None = None
    try:
        verify(entries)
    except JournalTamperedError as error:
        finding = str(error)
    return {"entries": len(entries), "digest": entries[-1].digest if entries else None, "finding": finding}
