"""A run that a call of another run starts: found again by a second attempt, kept to what is left, told of in one way.

The nested run is recorded beside the one that started it, acts on behalf of the same principal, counts towards its
usage as it goes, and keeps its secrets out of the record without having them. Deliberately not here: what the nested
run is asked, and what becomes of its answer (`agent`, `code`).
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from wieldy.core.errors import BudgetError, RunError
from wieldy.core.influence import joined
from wieldy.run.loop import Emit, nothing, resume, run
from wieldy.run.nested import RunStoppedError, nested_run_id, stopped_by, used_for
from wieldy.run.results.masks import Mask
from wieldy.run.secrecy import conceal, together
from wieldy.run.state import Parent
from wieldy.run.tree import RunTree

if TYPE_CHECKING:
    from wieldy.core.context import Context
    from wieldy.core.events import RunResult
    from wieldy.core.ports import Journal
    from wieldy.run.request import RunRequest

Opening: TypeAlias = "Callable[[str, bool], AbstractAsyncContextManager[RunRequest]]"
"""Opens what a run with this id needs; the flag says whether it begins, and so needs its messages."""


async def run_within(
    ctx: Context,
    name: str,
    opening: Opening,
    *,
    journal: Journal,
    secrets: Mapping[str, str],
    emit: Emit = nothing,
) -> RunResult:
    """The run that this call starts, or goes on with, has ended or rests.

    Args:
        ctx: Of the call.
        name: Of the tool, for what the model is told.
        opening: What the nested run needs, beside what it has from the run around it.
        journal: Where it is recorded if the run around it says nothing.
        secrets: The nested run's own.
        emit: Takes its events.

    Raises:
        ToolError: The nested run failed; the text is for the model of the run around it.
        RuntimeError: Something failed that nobody foresaw; the text is for the operator, and says no secrets.
    """
    mask = Mask(together(secrets, together(ctx.secrets, ctx.masked)))
    try:
        return await _carry_out(ctx, opening, emit, journal=journal if ctx.journal is None else ctx.journal)
    except RunError as error:
        conceal(error, mask.text)
        raise stopped_by(name, error) from error
    except BudgetError as error:
        raise RunStoppedError(f"`{name}` could not answer: {mask.text(str(error))}") from error
    except Exception as error:
        # What a tool's code raises is written down by the run around it, which does not know the secrets here.
        told = mask.text("".join(traceback.format_exception(error)))
        raise RuntimeError(told) from None


async def _carry_out(ctx: Context, opening: Opening, emit: Emit, *, journal: Journal) -> RunResult:
    # The same for every attempt at this call, so that a second one goes on where the first was stopped.
    run_id = nested_run_id(ctx.idempotency_key)
    parent = Parent(run_id=ctx.run_id, call_id=ctx.call_id)
    entries = journal.read(run_id)
    if entries:
        ctx.charge(used_for(parent, entries))
    async with opening(run_id, not entries) as request:
        within = replace(
            request,
            journal=journal,
            parent=parent,
            masked=together(ctx.secrets, ctx.masked),
            principal=request.principal if ctx.principal is None else ctx.principal,
            tainted_by=joined(request.tainted_by, ctx.tainted_by),
            around=ctx.limits_left,
            charge=ctx.charge,
            tree=ctx.tree if isinstance(ctx.tree, RunTree) else RunTree(),
        )
        return await (resume(within, emit) if entries else run(within, emit))
