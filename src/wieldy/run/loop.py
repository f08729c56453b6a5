"""The one loop: ask the model, let its calls run, tell it what happened; until it answers or a limit is reached.

Law: every call that a model asks for ends exactly once, with exactly one result that carries its id, and the results
stand in the order of the calls; so the history always suits the strictest provider. Every step is in the journal before
the next. When a limit is reached the model is asked once more with `tool_choice` none. The tools stay on offer in that
request, because strict providers want to see the tools of the calls that a history holds. Calls that the model makes
all the same are not run; each is answered with an error result, so that the history can be continued.
Deliberately not here: how a model is reached or led (the `Model` port), how a call is checked (`pipeline`) and run
(`executor`), who watches (`events`).
"""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from secrets import token_hex
from typing import TYPE_CHECKING, Literal, TypeAlias

from wieldy.core.calls import AUTO, NO_TOOLS, ToolResult
from wieldy.core.errors import JournalError, ToolDeniedError, UsageError
from wieldy.core.events import (
    CallFinished,
    CallStarted,
    LimitReached,
    RunEvent,
    RunFinished,
    RunResult,
    RunStarted,
    TurnStarted,
)
from wieldy.core.limits import Limits
from wieldy.core.messages import Message
from wieldy.core.ports import ModelRequest
from wieldy.run.brake import Brake
from wieldy.run.budget import Spent, calls_left, check_limits, reached, tokens_for_answer, tokens_for_turn
from wieldy.run.executor import Outcome, Step, execute, failed, first_of
from wieldy.run.journal import kinds
from wieldy.run.pipeline import Pipeline
from wieldy.run.policy import Policy, allow_all
from wieldy.run.records import (
    definition_to_json,
    limits_to_json,
    message_to_json,
    result_to_json,
    usage_to_json,
)
from wieldy.run.replies import CallNumbers, adopt, ask
from wieldy.run.results import with_note
from wieldy.run.scheduler import Access, schedule
from wieldy.run.state import Fold

if TYPE_CHECKING:
    from wieldy.core.calls import AnyCall, ToolChoice
    from wieldy.core.json import JsonObject
    from wieldy.core.limits import StopReason
    from wieldy.core.ports import Journal, Model
    from wieldy.tools import Toolset

Finish: TypeAlias = Literal["stop", "length"]

Emit: TypeAlias = Callable[[RunEvent], None]
"""Takes an event; must neither wait nor raise."""

_RECORDED = (
    "You asked exactly this before and nothing was changed since: this is the result of that call. Go on from it."
)


def new_run_id() -> str:
    """An id that no run has had."""
    return token_hex(8)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRequest:
    """Everything that one run needs.

    Attributes:
        messages: What the run starts from; a history that strict providers take, instructions first.
        toolset: Entered for as long as the run goes on.
        clock: Seconds that only grow, for limits and durations.
    """

    model: Model
    toolset: Toolset
    messages: Sequence[Message]
    journal: Journal
    limits: Limits = field(default_factory=Limits)
    policy: Policy = allow_all
    clock: Callable[[], float] = time.monotonic
    run_id: str = field(default_factory=new_run_id)


def nothing(event: RunEvent) -> None:
    """For a run that nobody watches."""
    del event


async def run(request: RunRequest, emit: Emit = nothing) -> RunResult:
    """The run has ended, and its result is what the last event carries.

    Raises:
        RunError: The model could not answer, or the journal could not be written; the journal tells how far it came.
        UsageError: The limits cannot be kept, or the run id is taken.
    """
    check_limits(request.limits)
    running = _Run(request, emit)
    running.start()
    try:
        return await running.finish()
    except Exception as error:
        running.end(kinds.RUN_FAILED, error)
        raise
    except BaseException as error:
        running.end(kinds.RUN_INTERRUPTED, error)
        raise


class _Run:
    """One run in progress. What it knows is the fold of what it wrote."""

    def __init__(self, request: RunRequest, emit: Emit) -> None:
        self._request = request
        self._emit = emit
        self._fold = Fold()
        self._brake = Brake()
        self._numbers = CallNumbers(request.messages)
        # Taken once: what a model was shown is what it may call, also if a set changes meanwhile.
        tools = {tool.name: tool for tool in request.toolset.tools}
        self._definitions = tuple(tool.definition for tool in tools.values())
        self._pipeline = Pipeline(run_id=request.run_id, tools=tools, policy=request.policy)
        self._started = request.clock()

    def start(self) -> None:
        request = self._request
        entry = request.journal.append(
            request.run_id,
            kinds.RUN_STARTED,
            {
                "model": request.model.name,
                "messages": [message_to_json(message) for message in request.messages],
                "tools": [definition_to_json(definition) for definition in self._definitions],
                "limits": limits_to_json(request.limits),
            },
        )
        if entry.sequence != 0:
            raise UsageError(
                f"Expected a run id that no run has, found {request.run_id!r}: that run has entries already."
            )
        self._fold.apply(entry)
        self._emit(RunStarted(run_id=request.run_id, model=request.model.name))

    async def finish(self) -> RunResult:
        """Turn after turn, until there is an answer."""
        while True:
            spent = self._spent()
            reason = reached(self._request.limits, spent)
            if reason is not None:
                return await self._answer_without_tools(reason, spent)
            finish = await self._turn(AUTO, max_output_tokens=tokens_for_turn(self._request.limits, spent))
            calls = self._fold.messages[-1].calls
            if calls:
                await self._deal_with(calls, spent)
            elif finish == "length":  # what there is of it is the answer, and nobody is told that it is whole
                self._reach("output_token_limit")
                return self._end("output_token_limit")
            else:
                return self._end("answered")

    def end(self, kind: str, error: BaseException) -> None:
        """The run was stopped by an error, which the journal says if it still can be written."""
        cause = first_of(error)
        detail = "".join(traceback.format_exception(cause))
        with suppress(JournalError):  # what stopped the run is more important, and is raised by our caller
            self._append(kind, {"error": type(cause).__name__, "message": str(cause), "detail": detail})

    # One turn

    async def _turn(self, choice: ToolChoice, *, max_output_tokens: int | None) -> Finish:
        """The reply is the last of the messages, as the journal has it."""
        turn = self._fold.turns + 1
        self._append(
            kinds.TURN_STARTED,
            {"turn": turn, "tool_choice": choice.mode, "max_output_tokens": max_output_tokens},
        )
        self._emit(TurnStarted(turn=turn))
        request = ModelRequest(
            messages=self._fold.messages,
            tools=self._definitions,
            tool_choice=choice,
            max_output_tokens=max_output_tokens,
        )
        reply = adopt(await ask(self._request.model, request, emit=self._emit), self._numbers)
        self._append(
            kinds.REPLY,
            {
                "turn": turn,
                "message": message_to_json(reply.message),
                "usage": usage_to_json(reply.usage),
                "finish": reply.finish,
            },
        )
        return reply.finish

    async def _deal_with(self, calls: Sequence[AnyCall], spent: Spent) -> None:
        allowed = calls_left(self._request.limits, spent)
        steps: list[Step] = []
        for position, call in enumerate(calls):
            prepared = self._beyond(call) if position >= allowed else await self._prepare(call, steps)
            if isinstance(prepared, Outcome):
                self._emit(CallStarted(call=call))
                self._record(call, prepared)
            else:
                steps.append(prepared)
        await execute(
            steps,
            schedule([_access(step) for step in steps]),
            on_start=self._start_call,
            on_end=lambda step, outcome: self._record(step.call, outcome),
            clock=self._request.clock,
        )
        self._brake.observe([self._fold.calls[call.id] for call in calls])

    async def _prepare(self, call: AnyCall, earlier: Sequence[Step]) -> Step | Outcome:
        step = await self._pipeline.prepare(call)
        if (
            isinstance(step, Outcome)
            or step.tool.effect != "read"
            or any(other.tool.effect != "read" for other in earlier)
        ):
            return step
        recorded = self._brake.recorded(step.call.name, step.arguments.json)
        if recorded is None or recorded.result is None:
            return step
        result = ToolResult(
            tool_call_id=call.id,
            content=with_note(recorded.result.content, _RECORDED),
            structured_content=recorded.result.structured_content,
        )
        return Outcome(result=result, recorded_as=recorded.call.id)

    def _start_call(self, step: Step) -> None:
        self._append(
            kinds.CALL_STARTED,
            {
                "call_id": step.call.id,
                "effect": step.tool.effect,
                "arguments": step.arguments.json,
                "repairs": list(step.arguments.repairs),
                "idempotency_key": step.context.idempotency_key,
            },
        )
        self._emit(CallStarted(call=step.call))

    def _record(self, call: AnyCall, outcome: Outcome) -> None:
        data: JsonObject = {"result": result_to_json(outcome.result), "duration_s": outcome.duration_s}
        for name, value in (
            ("detail", outcome.detail),
            ("whole", outcome.whole),
            ("recorded_as", outcome.recorded_as),
        ):
            if value is not None:
                data[name] = value
        self._append(kinds.CALL_FINISHED, data)
        result = self._fold.calls[call.id].result or outcome.result
        self._emit(CallFinished(call=call, result=result, duration_s=outcome.duration_s))

    # The end

    async def _answer_without_tools(self, reason: StopReason, spent: Spent) -> RunResult:
        self._reach(reason)
        tokens = tokens_for_answer(self._request.limits, spent)
        if tokens is not None and tokens <= 0:
            return self._end(reason)
        await self._turn(NO_TOOLS, max_output_tokens=tokens)
        for call in self._fold.messages[-1].calls:
            self._emit(CallStarted(call=call))
            self._record(call, self._beyond(call))
        return self._end(reason)

    def _beyond(self, call: AnyCall) -> Outcome:
        return failed(
            call.id,
            ToolDeniedError(f"`{call.name}` was not run: this run has reached its limit. Answer from what is known."),
        )

    def _reach(self, reason: StopReason) -> None:
        self._append(kinds.LIMIT_REACHED, {"reason": reason})
        self._emit(LimitReached(reason=reason))

    def _end(self, reason: StopReason) -> RunResult:
        self._append(kinds.RUN_FINISHED, {"stop_reason": reason})
        state = self._fold.state()
        result = RunResult(
            run_id=state.run_id,
            text=state.text,
            stop_reason=reason,
            usage=state.usage,
            messages=state.messages,
        )
        self._emit(RunFinished(result=result))
        return result

    def _spent(self) -> Spent:
        return Spent(
            turns=self._fold.turns,
            calls=len(self._fold.calls),
            output_tokens=self._fold.usage.output_tokens,
            elapsed_s=self._request.clock() - self._started,
            repeats=self._brake.repeats,
        )

    def _append(self, kind: str, data: JsonObject) -> None:
        self._fold.apply(self._request.journal.append(self._request.run_id, kind, data))


def _access(step: Step) -> Access:
    arguments = step.arguments.json
    return Access(effect=step.tool.effect, reads=step.tool.reads_of(arguments), writes=step.tool.writes_of(arguments))
