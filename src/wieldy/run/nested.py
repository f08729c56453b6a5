"""Which runs the calls of a run have started, and the other way round.

A nested run has an id that is made from the key of its call: a second attempt at the call finds the run of the first,
and goes on with it. Deliberately not here: starting them (`wieldy.agent`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from wieldy.run.state import CallState, RunState, fold

if TYPE_CHECKING:
    from wieldy.core.ports import Journal

_ID_LENGTH: Final = 16


def nested_run_id(idempotency_key: str) -> str:
    """The id of the run that the call with this key starts."""
    return idempotency_key[:_ID_LENGTH]


def nested_runs(journal: Journal, state: RunState, *, only_open: bool = False) -> dict[str, str]:
    """The id of the run that a call has started, by the call's id.

    Args:
        journal: In which both are recorded.
        state: Of the run whose calls are meant.
        only_open: Whether only calls without an outcome are looked at.
    """
    calls = [call for call in state.calls if call.status == "started" or not only_open]
    found = {call.call.id: _nested(journal, state, call) for call in calls}
    return {call_id: run_id for call_id, run_id in found.items() if run_id is not None}


def root_of(journal: Journal, state: RunState) -> RunState:
    """The run that must be resumed so that this one goes on: itself, if no run that is there has started it."""
    entries = () if state.parent is None else journal.read(state.parent.run_id)
    return root_of(journal, fold(entries)) if entries else state


def _nested(journal: Journal, state: RunState, call: CallState) -> str | None:
    if call.idempotency_key is None:
        return None
    # Any run might have that id; its first entry says whether it is the call's.
    entries = journal.read(nested_run_id(call.idempotency_key))[:1]
    parent = fold(entries).parent if entries else None
    is_nested = parent is not None and (parent.run_id, parent.call_id) == (state.run_id, call.call.id)
    return entries[0].run_id if is_nested else None
