"""A run, the runs that its calls have started, and those of theirs: what none of them must repeat blindly.

Law: what is in doubt in one of them is in doubt in all. While runs are at work they see one another's records here;
when a call ends, what the run within it does not know becomes part of the outer run's record, so that another process
finds it there. Deliberately not here: which call is a repeat (`repeats`), and what follows from it (`pipeline`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from wieldy.run.nested import entries_within
from wieldy.run.state import Doubt, Fold, Parent, doubt_about, left_to_json

if TYPE_CHECKING:
    from wieldy.core.json import JsonObject
    from wieldy.core.ports import Entry, Journal


class RunTree:
    """The runs that belong together, as far as they are at work in this process or were under way when theirs died."""

    def __init__(self) -> None:
        self._runs: dict[str, Fold] = {}
        self._stopped: set[str] = set()

    def join(self, known: Fold, run_id: str) -> None:
        """The run is at work, and this is what is known of it from moment to moment."""
        self._runs[run_id] = known
        self._stopped.discard(run_id)

    def load(self, known: Fold, journal: Journal) -> None:
        """What the record says of the runs around this one and of those that its interrupted calls had started.

        Cost: reads these runs.

        Raises:
            JournalError: They cannot be read.
        """
        if known.parent is not None and known.parent.run_id not in self._runs:
            self._add(journal.read(known.parent.run_id), journal)
        for call in known.calls.values():
            if call.is_in_doubt:
                self._add(entries_within(journal, known.run_id, call), journal)

    def path(self, run_id: str) -> str:
        """The tools whose calls started this run and those around it, from the outermost on, with a `/` behind each."""
        names = list[str]()
        # No more than there are runs: a damaged record may say that a run has started itself.
        for _ in self._runs:
            parent = self._runs[run_id].parent
            if parent is None or parent.run_id not in self._runs:
                break
            run_id = parent.run_id
            names.insert(0, f"{self._started_by(parent)}/")
        return "".join(names)

    @property
    def has_doubts(self) -> bool:
        """Whether there is a call of which nobody knows how it ended."""
        for known in self._runs.values():  # asked for every call, so that it must be quick
            if known.doubts.open:
                return True
        return bool(self._stopped)

    def doubts(self) -> Iterator[Doubt]:
        """The calls of which nobody knows how they ended."""
        settled = {ref for known in self._runs.values() for ref in known.doubts.settled}
        for run_id, known in self._runs.items():
            path = self.path(run_id)
            for doubt in _unknown(known) if run_id in self._stopped else known.doubts:
                # Each run says itself what is in doubt of its own.
                if doubt.ref not in settled and (doubt.run_id == run_id or doubt.run_id not in self._runs):
                    yield _seen_from_outside(doubt, path)

    def left_by(self, call_id: str, run_id: str) -> JsonObject | None:
        """What the runs that this call has started leave to its run, for its record; they belong to it no more.

        None if it has started none, or nothing is in doubt or known since because of them.
        """
        if len(self._runs) == 1:
            return None
        parent = Parent(run_id=run_id, call_id=call_id)
        around = self._runs[run_id]
        doubts, settled = list[Doubt](), list[str]()
        for within in [each for each, known in self._runs.items() if known.parent == parent]:
            known = self._runs.pop(within)
            self._stopped.discard(within)
            unknown = list(_unknown(known))
            refs = {doubt.ref for doubt in unknown}
            # A run that was stopped earlier had left what it has brought to its end since.
            own = [each.ref for each in around.doubts if each.run_id == within and each.ref not in refs]
            settled += [*known.doubts.settled, *own]
            doubts += [_seen_from_outside(doubt, f"{self._started_by(parent)}/") for doubt in unknown]
        return left_to_json(doubts, settled) if doubts or settled else None

    def _add(self, entries: Sequence[Entry], journal: Journal) -> None:
        if not entries or entries[0].run_id in self._runs:
            return
        known = Fold()
        for entry in entries:
            known.apply(entry)
        self._runs[known.run_id] = known
        self._stopped.add(known.run_id)
        self.load(known, journal)

    def _started_by(self, parent: Parent) -> str:
        call = self._runs[parent.run_id].calls.get(parent.call_id)
        return "" if call is None else call.tool_name or ""


def _unknown(known: Fold) -> Iterator[Doubt]:
    """Also the calls that are under way, as nobody will say any more how they end."""
    yield from known.doubts
    for call in known.calls.values():
        if call.is_in_doubt and call.effect != "read":
            yield doubt_about(call, known.run_id)


def _seen_from_outside(doubt: Doubt, path: str) -> Doubt:
    return replace(doubt, names=tuple(f"{path}{name}" for name in doubt.names)) if path else doubt
