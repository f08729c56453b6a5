"""What people must decide on in a run, and their decisions: readers and writers of the journal, for any process.

Law: a decision is about exactly what was shown. Deliberately not here: when somebody is asked (`policy`) and what a
decision allows (`pipeline`).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from wieldy.core.approvals import Approval, ApprovalRequest
from wieldy.core.errors import ApprovalError, JournalConflictError, UsageError
from wieldy.core.ports import Draft
from wieldy.run.journal import kinds, read_run
from wieldy.run.nested import nested_runs
from wieldy.run.records import approval_to_json
from wieldy.run.state import Fold, RunState

if TYPE_CHECKING:
    from wieldy.core.ports import Journal


def pending(journal: Journal, run_id: str) -> tuple[ApprovalRequest, ...]:
    """The calls that wait for a person: the run's own, in the model's order, then those of runs that its calls started.

    Raises:
        UsageError: There is no such run.
        JournalError: The journal cannot be read, or was changed.
    """
    state = _read(journal, run_id).state()
    nested = nested_runs(journal, state, only_open=True).values()
    return (*state.waiting, *(request for within in nested for request in pending(journal, within)))


def answer(
    journal: Journal,
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
        journal: That the run is recorded in.
        run_id: The run.
        call_id: The call that waits.
        is_granted: Whether it may run.
        by: Who decides.
        reason: Why, for the model, where the answer is no.
        digest: Of what the person was shown; None to decide on what waits now.
        now: Seconds since the epoch.

    Raises:
        ApprovalError: No such call waits, the time is over, or something else was shown.
        UsageError: There is no such run.
        JournalError: The journal cannot be read or written, or was changed.
    """
    # Not every program is checked for its types.
    if not isinstance(by, str) or not by.strip():  # pyright: ignore[reportUnnecessaryIsInstance]
        raise UsageError(f"Expected the name of who decides, found {by!r}.")
    while True:
        known = _read(journal, run_id)
        request = _waiting(known.state(), call_id)
        if request.is_expired(now()):
            raise ApprovalError(
                f"The question about call {call_id!r} has expired, so no answer counts any more. Resume the run to be "
                "asked again."
            )
        if digest is not None and digest != request.digest:
            raise ApprovalError(
                f"Call {call_id!r} is not what was shown: expected the digest {request.digest}, found {digest}. Look "
                "at it again."
            )
        approval = Approval(call_id=call_id, digest=request.digest, is_granted=is_granted, by=by, reason=reason)
        try:
            journal.append(run_id, Draft(kinds.APPROVAL, approval_to_json(approval)), length=known.length)
        except JournalConflictError:  # somebody else wrote meanwhile, perhaps an answer to the same
            continue
        return approval


def _read(journal: Journal, run_id: str) -> Fold:
    known = Fold()
    for entry in read_run(journal, run_id):
        known.apply(entry)
    return known


def _waiting(state: RunState, call_id: str) -> ApprovalRequest:
    found = next((request for request in state.waiting if request.call_id == call_id), None)
    if found is not None:
        return found
    call = next((call for call in state.calls if call.call.id == call_id), None)
    if call is not None and call.approval is not None:
        said = "yes" if call.approval.is_granted else "no"
        raise ApprovalError(f"Call {call_id!r} waits for nobody any more: {call.approval.by} said {said}.")
    waiting = ", ".join(repr(request.call_id) for request in state.waiting) or "none"
    raise ApprovalError(f"No call {call_id!r} of run {state.run_id!r} waits for a decision; waiting: {waiting}.")
