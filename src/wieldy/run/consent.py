"""What people must decide on in a run, and their decisions: readers and writers of the journal, for any process.

Law: a decision is about exactly what was shown. Deliberately not here: when somebody is asked (`policy`) and what a
decision allows (`pipeline`).
Cost: each entry of a run is read once, however many of its calls are decided on one after the other.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING, Final

from wieldy.core.approvals import Approval, ApprovalRequest
from wieldy.core.errors import ApprovalError, JournalConflictError, UsageError
from wieldy.core.ports import Draft
from wieldy.run.journal import check_run_id, kinds, read_run
from wieldy.run.nested import nested_runs
from wieldy.run.records import approval_to_json
from wieldy.run.state import Fold

if TYPE_CHECKING:
    from wieldy.core.ports import Entry, Journal


_MOST_KEPT: Final = 8
"""Of how many runs what was read is kept in memory."""


class Consent:
    """Questions and answers in the runs of one journal; usable from any thread."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._kept: dict[str, _Reading] = {}
        self._lock = Lock()

    def pending(self, run_id: str) -> tuple[ApprovalRequest, ...]:
        """The calls that wait for a person: the run's own, in the model's order, then those of runs within it.

        Raises:
            UsageError: There is no such run.
            JournalError: The journal cannot be read, or was changed.
        """
        with self._up_to_date(run_id) as reading:
            state = reading.known.state()
        nested = nested_runs(self._journal, state, only_open=True).values()
        return (*state.waiting, *(request for within in nested for request in self.pending(within)))

    def answer(
        self,
        run_id: str,
        call_id: str,
        *,
        is_granted: bool,
        by: str,
        reason: str = "",
        digest: str | None = None,
        now: Callable[[], float] = time.time,
    ) -> Approval:
        """The decision is in the journal, and counts when the run is resumed.

        Args:
            run_id: The run.
            call_id: The call that waits.
            is_granted: Whether it may run.
            by: Who decides.
            reason: Why, for the model, where the answer is no.
            digest: Of what the person was shown; None to decide on what waits now.
            now: Seconds since the epoch.

        Raises:
            ApprovalError: No such call waits, the time is over, or something else was shown.
            UsageError: There is no such run, or what was said is no text.
            JournalError: The journal cannot be read or written, or was changed.
        """
        _check_words(by, reason)
        while True:
            with self._up_to_date(run_id) as reading:
                request = _waiting(reading.known, run_id, call_id)
                length = reading.known.length
            if request.is_expired(now()):
                raise ApprovalError(
                    f"The question about call {call_id!r} has expired, so no answer counts any more. Resume the run to "
                    "be asked again."
                )
            if digest is not None and digest != request.digest:
                raise ApprovalError(
                    f"Call {call_id!r} is not what was shown: expected the digest {request.digest}, found {digest}. "
                    "Look at it again."
                )
            approval = Approval(call_id=call_id, digest=request.digest, is_granted=is_granted, by=by, reason=reason)
            try:
                self._journal.append(run_id, Draft(kinds.APPROVAL, approval_to_json(approval)), length=length)
            except JournalConflictError:  # somebody else wrote meanwhile, perhaps an answer to the same
                continue
            return approval

    @contextmanager
    def _up_to_date(self, run_id: str) -> Generator[_Reading]:
        """What the run's entries say by now, for one thread at a time; another one reads them for itself."""
        check_run_id(run_id)
        with self._lock:
            reading = self._kept.pop(run_id, None) or _Reading()
        for entry in read_run(self._journal, run_id, after=reading.last):
            reading.take(entry)
        try:
            yield reading
        finally:
            with self._lock:
                self._kept[run_id] = reading
                while len(self._kept) > _MOST_KEPT:
                    del self._kept[next(iter(self._kept))]


@dataclass(slots=True)
class _Reading:
    """What was read of a run so far."""

    known: Fold = field(default_factory=Fold)
    last: Entry | None = None

    def take(self, entry: Entry) -> None:
        self.known.apply(entry)
        self.last = entry


def _check_words(by: object, reason: object) -> None:
    # Not every program is checked for its types.
    if not isinstance(by, str) or not by.strip():
        raise UsageError(f"Expected the name of who decides, found {by!r:.80}.")
    if not isinstance(reason, str):
        raise UsageError(f"Expected the reason as text, found {reason!r:.80}.")


def _waiting(known: Fold, run_id: str, call_id: str) -> ApprovalRequest:
    call = known.calls.get(call_id) if isinstance(call_id, str) else None  # pyright: ignore[reportUnnecessaryIsInstance]
    if call is not None and call.status == "waiting" and call.request is not None:
        return call.request
    if call is not None and call.approval is not None:
        said = "yes" if call.approval.is_granted else "no"
        raise ApprovalError(f"Call {call_id!r} waits for nobody any more: {call.approval.by} said {said}.")
    waiting = ", ".join(repr(request.call_id) for request in known.state().waiting) or "none"
    raise ApprovalError(f"No call {call_id!r} of run {run_id!r} waits for a decision; waiting: {waiting}.")
