"""A call that may run, and how a call ended: what pipeline, executor and loop hand to one another."""

from __future__ import annotations

from msgspec import Struct

from wieldy.core.approvals import ApprovalRequest
from wieldy.core.calls import ToolCall, ToolResult
from wieldy.core.context import Context
from wieldy.core.limits import Usage
from wieldy.run.state.doubts import Doubt
from wieldy.tools import Tool, ValidArguments


class Step(Struct, frozen=True, kw_only=True):
    """A call that may run: found, validated and allowed.

    Attributes:
        context: What the tool's code may know; `context.attempt` is the number of the next attempt.
        approved_by: Who consented, if somebody was asked.
        approved_until: When that consent runs out, in seconds since the epoch; None for never.
        repeats: Earlier calls that asked for the same, of which nobody knows how they ended, the newest first.
        reconcile: Whether the tool is asked first if an earlier attempt took place.
        fallback: What runs instead if this fails for good without an effect; validated and allowed as well.
    """

    call: ToolCall
    tool: Tool
    arguments: ValidArguments
    context: Context
    approved_by: str | None = None
    approved_until: float | None = None
    repeats: tuple[Doubt, ...] = ()
    reconcile: bool = False
    fallback: Step | None = None


class Outcome(Struct, frozen=True, kw_only=True):
    """How a call ended.

    Attributes:
        duration_s: How long the tool's code ran, in seconds, all attempts together; 0 if it did not.
        detail: For the journal: a traceback.
        whole: For the journal: the full content, if the result was capped.
        recorded_as: The earlier call whose result this repeats.
        usage: What the tool's code used of models, if anything.
        is_unknown: Whether nobody knows if the effect took place.
        answered_by: The fallback tool that answered, if one did.
        failure: For the journal: what kind of failure it was, if it was one.
    """

    result: ToolResult
    duration_s: float = 0.0
    detail: str | None = None
    whole: str | None = None
    recorded_as: str | None = None
    usage: Usage | None = None
    is_unknown: bool = False
    answered_by: str | None = None
    failure: str | None = None


class Rest(Struct, frozen=True, kw_only=True):
    """The call cannot end yet: a run that its code started waits for a person. It goes on when this run is resumed.

    Attributes:
        waiting: What people must decide on.
    """

    waiting: tuple[ApprovalRequest, ...]
