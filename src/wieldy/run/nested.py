"""Which runs the calls of a run have started, and the other way round.

A nested run has an id that is made from the key of its call: a second attempt at the call finds the run of the first,
and goes on with it. Deliberately not here: starting them (`wieldy.agent`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, ClassVar, Final

from wieldy.core.errors import JournalError, RunError, ToolError
from wieldy.core.limits import Usage
from wieldy.run.journal import kinds
from wieldy.run.state import CallState, Fold, Parent, RunState, fold

if TYPE_CHECKING:
    from wieldy.core.errors import FailureLayer
    from wieldy.core.ports import Entry, Journal

_ID_LENGTH: Final = 16
_BEGINNINGS: Final = (kinds.RUN_STARTED, kinds.RUN_RESUMED)


def nested_run_id(idempotency_key: str) -> str:
    """The id of the run that the call with this key starts."""
    return idempotency_key[:_ID_LENGTH]


def used_for(parent: Parent, entries: Iterable[Entry]) -> Usage:
    """What a run has used since this call began to carry it out.

    What it used before counts for another call, which was stopped and which this one repeats.
    """
    known = Fold()
    is_found = False
    for entry in entries:
        if not is_found and entry.kind in _BEGINNINGS:
            is_found = entry.data.get("parent") == asdict(parent)
            known.usage = Usage()
        known.apply(entry)
    return known.usage if is_found else Usage()


class ModelFailedError(ToolError):
    """A run that a call started could not go on, because a model or its provider failed."""

    layer: ClassVar[FailureLayer] = "provider"


class RunStoppedError(ToolError):
    """A run that a call started ended without an answer, or could not be recorded."""

    layer: ClassVar[FailureLayer] = "harness"


def stopped_by(name: str, error: RunError) -> ToolError:
    """What the model is told where the run that this tool started failed."""
    if isinstance(error, JournalError):
        return RunStoppedError(f"`{name}` could not go on, because its run cannot be recorded: {error}")
    return ModelFailedError(f"`{name}` could not go on, because its model failed: {error}")


def nested_runs(journal: Journal, state: RunState, *, only_open: bool = False) -> dict[str, str]:
    """The id of the run that a call has started, by the call's id.

    Args:
        journal: In which both are recorded.
        state: Of the run whose calls are meant.
        only_open: Whether only calls without an outcome are looked at.
    """
    calls = [call for call in state.calls if call.status == "started" or not only_open]
    found = {call.call.id: entries_within(journal, state.run_id, call) for call in calls}
    return {call_id: entries[0].run_id for call_id, entries in found.items() if entries}


def root_of(journal: Journal, state: RunState) -> RunState:
    """The run that must be resumed so that this one goes on: itself, if no run that is there has started it."""
    entries = () if state.parent is None else journal.read(state.parent.run_id)
    return root_of(journal, fold(entries)) if entries else state


def entries_within(journal: Journal, run_id: str, call: CallState) -> Sequence[Entry]:
    """The entries of the run that a call of this run has started, or has last gone on with; none if there is none."""
    if call.idempotency_key is None:
        return ()
    # Any run might have that id; its entries say whose it is, and a repeat of the call may have taken it over.
    entries = journal.read(nested_run_id(call.idempotency_key))
    parents = (
        entry.data["parent"] for entry in reversed(entries) if entry.kind in _BEGINNINGS and "parent" in entry.data
    )
    return entries if next(parents, None) == {"run_id": run_id, "call_id": call.call.id} else ()
