"""Dealing with the calls of a reply: each is brought to its one result, or waits for a person.

First every call is prepared, in the model's order, and people are asked; then those that may run do, as the schedule
says. A call that has to wait for one that waits for a person waits with it. Deliberately not here: what one call goes
through (`pipeline`, `recovery`), running code (`executor`), asking the model (`loop`).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from wieldy.core.approvals import ApprovalRequest
from wieldy.core.calls import ToolCall, ToolResult
from wieldy.core.errors import ToolDeniedError
from wieldy.run.executor import execute
from wieldy.run.outcomes import Outcome, Step
from wieldy.run.policy import Approver, consult
from wieldy.run.recovery import recover
from wieldy.run.results import with_note
from wieldy.run.scheduler import Access, access_of, schedule

if TYPE_CHECKING:
    from wieldy.core.calls import AnyCall
    from wieldy.core.json import JsonObject
    from wieldy.run.brake import Brake
    from wieldy.run.control import Finish
    from wieldy.run.late import LateCalls
    from wieldy.run.pipeline import Pipeline, Prepared
    from wieldy.run.recording import Recording
    from wieldy.run.state import CallState

_RECORDED: Final = (
    "You asked exactly this before and nothing was changed since: this is the result of that call. Go on from it."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Dealing:
    """Deals with the calls of one run, turn after turn.

    Attributes:
        finish: The call by which the model may end the run; None if it may not.
        clock: Seconds that only grow.
        sleep: Waits between attempts, in seconds.
    """

    recording: Recording
    pipeline: Pipeline
    brake: Brake
    late: LateCalls
    approver: Approver | None
    finish: Finish | None
    clock: Callable[[], float]
    sleep: Callable[[float], Awaitable[None]]

    async def deal(self, *, allowed: float, seconds: Callable[[], float | None]) -> tuple[ApprovalRequest, ...]:
        """Every call that can be is brought to its end; what people must decide on, if something is left.

        Args:
            allowed: How many calls of this turn may run.
            seconds: Asked before the code of tools begins: how long it may take; None for as long as it takes.
        """
        turn = self.recording.known.turn()
        plan = await self._plan(turn, allowed)
        await self._execute(plan, seconds)
        resting = tuple(request for rest in self.recording.resting for request in rest.waiting)
        if plan.questions or resting:
            return (*plan.questions, *resting)
        left = [state.call for state in self.recording.known.turn() if state.result is None]
        if plan.finishing is not None and left == [plan.finishing]:
            self._end_by(plan.finishing)
            left = []
        if not left:  # what was left because of what happened meanwhile is dealt with next
            self.brake.observe(self.recording.known.turn(), is_settled=not self.recording.known.has_unknown)
        return ()

    def refuse(self) -> None:
        """Every call that is left is answered without being run, because a limit was reached."""
        for state in self.recording.known.turn():
            if state.result is None:
                self.recording.finish(state.call, self._beyond(state.call))

    async def _plan(self, turn: Sequence[CallState], allowed: float) -> _Plan:
        plan = _Plan()
        for place, state in enumerate(turn):
            if state.result is not None:
                plan.has_effect = plan.has_effect or state.effect not in (None, "read")
                continue
            call = state.call
            # What was started when there was still room is not to be called undone.
            is_beyond = place >= allowed and state.attempts == 0
            prepared = self._beyond(call) if is_beyond else await self._prepare(state, plan)
            match prepared:
                case Outcome():
                    self.recording.finish(call, prepared)
                case ApprovalRequest():
                    plan.questions.append(prepared)
                    plan.add(None, self._access(call, prepared.arguments))
                case Step():
                    plan.add(prepared, self._access(call, prepared.arguments.json))
                case ToolCall():
                    plan.finishing = prepared
        return plan

    async def _prepare(self, state: CallState, plan: _Plan) -> Prepared | ToolCall:
        """As the pipeline; the call itself if it ends the run."""
        call = state.call
        if plan.finishing is not None and not state.is_in_doubt:
            return self._refused(call, "the task was ended by an earlier call")
        if self.finish is not None and call.name == self.finish.definition.name and isinstance(call, ToolCall):
            refusal = self.finish.refusal(call.arguments)
            return call if refusal is None else self.pipeline.shaper.failed(call.id, refusal)
        prepared = await self._look_at(call, plan)
        if isinstance(prepared, ApprovalRequest):
            prepared = await self._consult(call, prepared, plan)
        return prepared if plan.has_effect else self._from_record(prepared)

    def _end_by(self, call: ToolCall) -> None:
        outcome = Outcome(result=ToolResult(tool_call_id=call.id, content="The task is ended."))
        answer = None if self.finish is None else self.finish.text_of(call.arguments)
        self.recording.finish(call, outcome, finishes=True, answer=answer)

    async def _look_at(self, call: AnyCall, plan: _Plan) -> Prepared:
        state = self.recording.known.calls[call.id]
        if state.is_in_doubt:
            return await recover(state, self.pipeline)
        return await self.pipeline.prepare(call, after_effect=plan.has_effect)

    async def _consult(self, call: AnyCall, request: ApprovalRequest, plan: _Plan) -> Prepared:
        """The person's answer counts at once; without one the call waits."""
        self.recording.question(call, request)
        if self.approver is None:
            return request
        approval = await consult(self.approver, request)
        if approval is None:
            return request
        self.recording.answer(approval)
        return await self._look_at(call, plan)

    def _from_record(self, prepared: Prepared) -> Prepared:
        """The earlier answer instead of a reading step that would only find it again."""
        if not isinstance(prepared, Step) or prepared.tool.effect != "read":
            return prepared
        recorded = self.brake.recorded(prepared.call.name, prepared.arguments.json)
        if recorded is None or recorded.result is None:
            return prepared
        result = replace(
            recorded.result,
            tool_call_id=prepared.call.id,
            content=with_note(recorded.result.content, _RECORDED),
        )
        return Outcome(result=result, recorded_as=recorded.call.id)

    async def _execute(self, plan: _Plan, seconds: Callable[[], float | None]) -> None:
        steps, waits = plan.runnable()
        if not steps:
            return
        left = seconds()
        await execute(
            steps,
            waits,
            recorder=self.recording,
            shaper=self.pipeline.shaper,
            late=self.late,
            clock=self.clock,
            sleep=self.sleep,
            deadline=None if left is None else self.clock() + left,
        )

    def _access(self, call: AnyCall, arguments: JsonObject) -> Access:
        tools = self.pipeline.tools
        tool = tools[call.name or ""]
        return access_of(tool, arguments, fallback=tools.get(tool.fallback or ""))

    def _beyond(self, call: AnyCall) -> Outcome:
        return self._refused(call, "this run has reached its limit", then="Answer from what is known.")

    def _refused(self, call: AnyCall, why: str, *, then: str = "") -> Outcome:
        error = ToolDeniedError(f"`{call.name}` was not run: {why}. {then}".strip())
        return self.pipeline.shaper.failed(call.id, error)


@dataclass(slots=True)
class _Plan:
    """What is to be done about the calls of a turn.

    Attributes:
        steps: In the model's order; None for a call that waits for a person.
        accesses: What each of them touches.
        finishing: The call that ends the run.
        has_effect: Whether a call before the next one may have changed something.
    """

    steps: list[Step | None] = field(default_factory=list["Step | None"])
    accesses: list[Access] = field(default_factory=list[Access])
    questions: list[ApprovalRequest] = field(default_factory=list[ApprovalRequest])
    finishing: ToolCall | None = None
    has_effect: bool = False

    def add(self, step: Step | None, access: Access) -> None:
        self.steps.append(step)
        self.accesses.append(access)
        self.has_effect = self.has_effect or access.effect != "read"

    def runnable(self) -> tuple[list[Step], list[tuple[int, ...]]]:
        """The steps that do not have to wait for a person, and for each the places of those that it waits for."""
        places: dict[int, int] = {}
        steps: list[Step] = []
        waits: list[tuple[int, ...]] = []
        for index, earlier in enumerate(schedule(self.accesses)):
            step = self.steps[index]
            if step is not None and all(other in places for other in earlier):
                places[index] = len(steps)
                steps.append(step)
                waits.append(tuple(places[other] for other in earlier))
        return steps, waits
