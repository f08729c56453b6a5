"""What is known of a run and of its calls, as plain records. Deliberately not here: how it became known (`folding`)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from msgspec import Struct

from wieldy.core.approvals import Approval, ApprovalRequest
from wieldy.core.calls import AnyCall, Effect, ToolResult
from wieldy.core.influence import Sources
from wieldy.core.json import JsonObject
from wieldy.core.limits import StopReason, Usage
from wieldy.core.messages import Message

RunStatus: TypeAlias = Literal["running", "waiting", "finished", "failed", "interrupted"]
"""`running` is also what the journal says of a run whose process died: nobody was left to write otherwise."""

CallStatus: TypeAlias = Literal["asked", "waiting", "started", "finished"]
"""`waiting`: a person must decide. `started` without an outcome: the effect may or may not have happened."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedAttempt:
    """An attempt that failed and was followed by another.

    Attributes:
        error: The class of what it failed with.
        wait_s: How long the runtime waited after it, in seconds.
    """

    attempt: int
    error: str
    message: str
    wait_s: float


class CallState(Struct, frozen=True, kw_only=True):
    """What is known of one call.

    Every entry about a call makes a new one; a dataclass with as many fields would take a hundred times as long.

    Attributes:
        turn: The turn in which the model asked for it.
        attempts: How often its code was started.
        tool_name: Whose code was last started: another's than the call names where its fallback took over.
        effect: The tool's declared effect; None if its code was not started.
        arguments: As validated; None if its code was not started.
        idempotency_key: The same for all attempts; None if its code was not started.
        repairs: What was changed in the arguments so that they fit.
        started: When its code was last started, in seconds since the epoch.
        failures: The attempts that failed before the last one.
        request: What a person was last asked about it.
        approval: What they answered.
        approved_by: Who consented to what was started.
        origins: Where the code that was started comes from, the last one last: a fallback may have taken over.
        repeats: The earlier calls that asked for the same, of which nobody knew how they had ended, the newest first:
            their ids, those of other runs as `RUN/CALL`.
        is_in_doubt: Whether an attempt was started that may have had an effect, and no outcome is recorded.
        result: The one answer, as the model reads it.
        duration_s: How long its code ran, in seconds.
        detail: For the operator: a traceback.
        whole: The full content, where `result` shows only its beginning and end.
        recorded_as: The id of the earlier call whose result was given again.
        answered_by: The fallback tool that answered.
        usage: What its code used of models.
        is_unknown: Whether it ended without anybody knowing if the effect took place.
        late: What it brought after it had ended so.
    """

    call: AnyCall
    turn: int
    status: CallStatus = "asked"
    attempts: int = 0
    tool_name: str | None = None
    effect: Effect | None = None
    arguments: JsonObject | None = None
    idempotency_key: str | None = None
    repairs: tuple[str, ...] = ()
    started: float | None = None
    failures: tuple[FailedAttempt, ...] = ()
    request: ApprovalRequest | None = None
    approval: Approval | None = None
    approved_by: str | None = None
    origins: tuple[str, ...] = ()
    repeats: tuple[str, ...] = ()
    is_in_doubt: bool = False
    result: ToolResult | None = None
    duration_s: float = 0.0
    detail: str | None = None
    whole: str | None = None
    recorded_as: str | None = None
    answered_by: str | None = None
    usage: Usage | None = None
    is_unknown: bool = False
    late: ToolResult | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Parent:
    """The call whose code started a run."""

    run_id: str
    call_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RunState:
    """What is known of one run.

    Attributes:
        prompt: The text of the last user message that the run started from.
        messages: The whole history; while calls are under way, only the results that all earlier calls have too.
        calls: In the order in which the model asked for them.
        turns: How often the model was asked.
        usage: Nested runs included.
        text: The answer; empty as long as there is none.
        is_cut: Whether a limit on tokens ended it before its end.
        is_closed_by_budget: Whether its end was chosen to fit what was left of a limit.
        forced: JSON pointers to the values of it that were decided so.
        corrections: How often the model was told that its answer is not what it must be.
        output: What it must be, as `run_started` has it; None if nothing was wanted but text.
        error: What stopped the run, if it failed or was interrupted.
        waiting: What people must decide on.
        principal: On whose behalf, if that was said.
        parent: The call that this run belongs to, if another run started it.
        metadata: What the program that started the run wanted to remember.
        tainted_by: The untrusted sources of which something was read.
        began_tainted_by: Those of them that may have shaped what the run started from.
        resumed: How often somebody went on with it.
        started: Seconds since the epoch.
        ended: Seconds since the epoch; None while it is running.
    """

    run_id: str
    status: RunStatus
    model: str
    prompt: str
    messages: tuple[Message, ...]
    calls: tuple[CallState, ...]
    turns: int
    usage: Usage
    stop_reason: StopReason | None
    text: str
    error: str | None
    started: float
    ended: float | None
    waiting: tuple[ApprovalRequest, ...] = ()
    is_cut: bool = False
    is_closed_by_budget: bool = False
    forced: tuple[str, ...] = ()
    corrections: int = 0
    output: JsonObject | None = None
    principal: str | None = None
    parent: Parent | None = None
    metadata: JsonObject
    tainted_by: Sources = ()
    began_tainted_by: Sources = ()
    resumed: int = 0

    @property
    def is_tainted(self) -> bool:
        """Whether something from an untrusted source was read."""
        return bool(self.tainted_by)
