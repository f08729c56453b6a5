"""What becomes of a call that was started and has no recorded outcome, when a run is resumed.

Law: an effect is never repeated blindly, and the model is never told what nobody knows. A read, an idempotent and a
keyed call run again, the last with the same key; a tool that can be asked whether it happened is asked; of any other
the model is told that its outcome is unknown. What the record says of the effect and what the tool says now must both
allow it: a tool may have been changed in the meantime. Deliberately not here: running anything (`executor`).
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from wieldy.core.calls import ToolCall
from wieldy.core.errors import OutcomeUnknownError
from wieldy.run.outcomes import Outcome, Step

if TYPE_CHECKING:
    from wieldy.core.calls import Effect
    from wieldy.run.pipeline import Pipeline, Prepared
    from wieldy.run.state import CallState
    from wieldy.tools import Tool

_SURE: Final[tuple[Effect, ...]] = ("read", "idempotent", "keyed", "reconcile")
"""Effects that can be brought to a known end."""


async def recover(state: CallState, pipeline: Pipeline) -> Prepared:
    """The step that brings the call to a known end, what a person must decide on first, or that its end is unknown."""
    call = state.call
    # Where a fallback had taken over, it is the fallback whose effect is in question.
    tool = pipeline.tools.get(state.tool_name or call.name or "")
    if not isinstance(call, ToolCall) or tool is None or not _may_go_on(state, tool):
        return unknown(state, pipeline)
    prepared = await pipeline.prepare_again(call, tool)
    if isinstance(prepared, Outcome):  # what is not allowed now may have happened before
        return unknown(state, pipeline, why_left=prepared.result.content)
    if isinstance(prepared, Step):
        if prepared.arguments.json != state.arguments:  # the tool reads them differently now
            return unknown(state, pipeline)
        return replace(prepared, reconcile="reconcile" in (state.effect, tool.effect))
    return prepared


def unknown(state: CallState, pipeline: Pipeline, *, why_left: str = "") -> Outcome:
    """The outcome of a call of which nobody knows how it ended.

    Args:
        state: What is known of it.
        pipeline: Of its run.
        why_left: Why it was not brought to a known end, though it might have been.
    """
    when = datetime.fromtimestamp(state.started or 0.0, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    text = (
        f"`{state.call.name}` was started at {when}, and was stopped, or its process died, before an outcome was "
        "recorded: outcome unknown. It may have taken place or not. Do not take it for done or undone: check if you "
        "can, or say so."
    )
    error = OutcomeUnknownError(f"{text} It was not tried again: {why_left}" if why_left else text)
    return pipeline.shaper.failed(state.call.id, error, is_unknown=state.effect != "read")


def _may_go_on(state: CallState, tool: Tool) -> bool:
    if state.effect == tool.effect:
        return tool.effect in _SURE or tool.goes_on
    # Changed since: both must be repeatable without help from the other.
    repeatable = ("read", "idempotent")
    return state.effect in repeatable and tool.effect in repeatable
