"""How a run stands, in one word: what the journal says of it, and whether anybody is at work on it.

A process that is killed cannot write that it ended; that nobody holds the run's lease says it. Deliberately not here:
who holds a lease (`wieldy.run.journal`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from wieldy.core.ports import Journal
    from wieldy.run.state import RunState

Status: TypeAlias = Literal["running", "waiting", "died", "finished", "failed", "interrupted"]

STATUS_STYLES: dict[Status, str] = {
    "running": "cyan",
    "waiting": "yellow",
    "died": "red",
    "finished": "green",
    "failed": "red",
    "interrupted": "yellow",
}


def status_of(state: RunState, journal: Journal) -> Status:
    """The run's status; `died` if nobody is left of those who were at work on it.

    Raises:
        JournalError: The journal cannot be read.
    """
    if state.status == "running" and journal.holder(state.run_id) is None:
        return "died"
    return state.status
