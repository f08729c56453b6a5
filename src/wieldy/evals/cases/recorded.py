"""A run whose record is what counts: whatever stops it is in its journal, and raises nothing here."""

from __future__ import annotations

from contextlib import aclosing
from typing import TYPE_CHECKING

from wieldy.core.events import RunStarted
from wieldy.run.nested import entries_within
from wieldy.run.state import fold

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wieldy.agent import Agent
    from wieldy.agent.agent import Prompt
    from wieldy.core.ports import Entry, Journal


async def recorded(agent: Agent, prompt: Prompt) -> str:
    """The id of a run that has ended or rests.

    Raises:
        UsageError: The run cannot begin as it is asked for.
        JournalError: It could not be recorded that it began.
    """
    run_id: str | None = None
    try:
        async with aclosing(agent.stream(prompt)) as events:
            async for event in events:
                if isinstance(event, RunStarted):
                    run_id = event.run_id
    except Exception:  # of a model or a tool, which may raise anything; the journal has it
        if run_id is None:
            raise
    assert run_id is not None
    return run_id


def entries_of(journal: Journal, run_id: str) -> Sequence[Entry]:
    """The entries of a run, and behind them those of the runs that its calls have started, such as by code."""
    entries = journal.read(run_id)
    state = fold(entries)
    within = [entries_within(journal, run_id, call) for call in state.calls]
    return [*entries, *(entry for run in within for entry in run)]
