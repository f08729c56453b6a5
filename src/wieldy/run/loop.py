"""The one loop: ask the model, let its calls run, tell it what happened; until it answers or a limit is reached.

Law: every call that a model asks for ends exactly once, with exactly one result that carries its id, and the results
stand in the order of the calls; so the history always suits the strictest provider. Every step is in the journal before
the next, and what comes next is decided from the journal alone (`next_step`): a run that is resumed goes through the
same code as one that was never stopped. When a limit is reached the model is asked once more with `tool_choice` none.
The tools stay on offer in that request, because strict providers want to see the tools of the calls that a history
holds. Calls that the model makes all the same are not run; each is answered with an error result, so that the history
can be continued.
Deliberately not here: how a model is reached or led (the `Model` port), how a call is checked (`pipeline`) and run
(`executor`), what becomes of one that was interrupted (`recovery`), what is written (`recording`).
"""

from __future__ import annotations

import traceback
from contextlib import suppress
from dataclasses import asdict, replace
from itertools import groupby
from typing import TYPE_CHECKING

from wieldy.core.approvals import ApprovalRequest
from wieldy.core.errors import (
    BudgetError,
    JournalConflictError,
    JournalError,
    UsageError,
)
from wieldy.core.events import CallStarted, RunEvent, RunFinished, RunResult, RunStarted
from wieldy.core.limits import Usage, usable
from wieldy.core.messages import Message
from wieldy.core.outputs import Incomplete
from wieldy.core.ports import Draft, ModelReply
from wieldy.run.allowance import Allowance
from wieldy.run.asking import Asking
from wieldy.run.brake import Brake
from wieldy.run.budget import calls_left, check_limits, tighter
from wieldy.run.charges import Charges
from wieldy.run.control import Finish
from wieldy.run.dealing import Dealing
from wieldy.run.executor import first_of
from wieldy.run.holding import held, release
from wieldy.run.journal import kinds, read_run
from wieldy.run.late import LateCalls
from wieldy.run.next_step import (
    AskModel,
    Correct,
    DealWithCalls,
    End,
    ReachLimit,
    next_step,
    when_too_late,
    when_too_little,
)
from wieldy.run.offer import Offer
from wieldy.run.pipeline import Pipeline
from wieldy.run.policy import permitted
from wieldy.run.prices import cost_of
from wieldy.run.recording import Emit, Recording, end_of_run
from wieldy.run.records import definition_to_json, limits_to_json, message_to_json, output_to_json
from wieldy.run.replies import CallNumbers, adopt
from wieldy.run.request import RunRequest
from wieldy.run.results import Shaper
from wieldy.run.secrecy import concealing, secrecy_of, together
from wieldy.run.state import RunState

if TYPE_CHECKING:
    from wieldy.core.json import JsonObject
    from wieldy.core.limits import Limits, StopReason
    from wieldy.core.ports import Lease
    from wieldy.run.budget import Spent
    from wieldy.run.next_step import NextStep
    from wieldy.run.secrecy import Secrecy


def nothing(event: RunEvent) -> None:
    """For a run that nobody watches."""
    del event


async def run(request: RunRequest, emit: Emit = nothing) -> RunResult:
    """The run has ended or rests, and its result is what the last event carries.

    Raises:
        RunError: The model could not answer, or the journal could not be written; the journal tells how far it came.
        UsageError: The limits cannot be kept, or the run id is taken.
    """
    _check(request)
    secrecy = secrecy_of(request.secrets, request.masked, request.toolset.tools)
    _check_output(request, secrecy)
    with concealing(secrecy):
        lease = request.journal.lease(request.run_id)
        recording = Recording(
            run_id=request.run_id,
            journal=request.journal,
            emit=emit,
            now=request.now,
            secrecy=secrecy,
            tree=request.tree,
            has_one_call=request.only_call is not None,
        )
        return await _Run(request, recording, emit, secrecy).carry_out(lease, is_new=True)


async def resume(request: RunRequest, emit: Emit = nothing) -> RunResult:
    """The run that was started under this id has ended or rests, after whatever was left of it.

    A run that is over gives its result again.

    Raises:
        RunError: As `run`; also where another process is at work on the run, or its entries were changed.
        UsageError: There is no such run.
    """
    _check(request)
    secrecy = secrecy_of(request.secrets, request.masked, request.toolset.tools)
    _check_output(request, secrecy)
    with concealing(secrecy):
        lease = request.journal.lease(request.run_id)
        try:
            entries = read_run(request.journal, request.run_id)
            recording = Recording(
                run_id=request.run_id,
                journal=request.journal,
                emit=emit,
                now=request.now,
                entries=entries,
                secrecy=secrecy,
                tree=request.tree,
                has_one_call=request.only_call is not None,
            )
            state = recording.known.state()
            if state.status != "finished":
                request.tree.load(recording.known, request.journal)
            running = _Run(request, recording, emit, secrecy)
        except BaseException:
            release(lease)
            raise
        if state.status == "finished":
            release(lease)
            return running.tell(state)
        return await running.carry_out(lease, is_new=False)


class _Run:
    """One run in progress. What it knows is the fold of what was written."""

    def __init__(self, request: RunRequest, recording: Recording, emit: Emit, secrecy: Secrecy | None) -> None:
        self._request = request
        self._secrecy = secrecy
        self._recording = recording
        self._emit = emit
        self._known = recording.known
        self._brake = Brake(is_on=not request.is_code)
        self._charges = Charges(self._known, request.charge)
        self._allowance = Allowance(
            own=request.limits,
            around=request.around,
            known=self._known,
            charges=self._charges,
            brake=self._brake,
            clock=request.clock,
            counts_turns=not request.is_code,
        )
        self._shaper = Shaper(
            run_id=request.run_id,
            rules=request.results,
            secrets=together(request.secrets, request.masked),
            as_data=request.is_code,
        )
        self._late = LateCalls(recording)
        finish = Finish(request.output) if request.finish else None
        self._offer = Offer(
            request.toolset.tools,
            self._known,
            finish=finish,
            page_bytes=request.results.limit_bytes,
            search=request.search,
            allowed=lambda tool: permitted(tool, request.principal) is None,
        )
        self._dealing = self._dealing_with(self._pipeline(), finish)
        self._asking = self._asking_of_model()

    def _pipeline(self) -> Pipeline:
        request = self._request
        return Pipeline(
            run_id=request.run_id,
            tools=self._offer.tools,
            beside=request.beside,
            policy=request.policy,
            known=self._known,
            tree=request.tree,
            shaper=self._shaper,
            journal=request.journal,
            principal=request.principal,
            secrets=request.secrets,
            masked=request.masked,
            secrecy=self._secrecy,
            charges=self._charges,
            runs_forced=request.runs_forced,
            limits_left=self._allowance.left,
            now=request.now,
        )

    def _dealing_with(self, pipeline: Pipeline, finish: Finish | None) -> Dealing:
        return Dealing(
            recording=self._recording,
            pipeline=pipeline,
            brake=self._brake,
            late=self._late,
            approver=self._request.approver,
            finish=finish,
            clock=self._request.clock,
            sleep=self._request.sleep,
        )

    def _asking_of_model(self) -> Asking:
        request = self._request
        return Asking(
            model=request.model,
            recording=self._recording,
            offer=self._offer,
            secrecy=self._secrecy,
            wanted=request.output,
            prices=request.prices,
            charge=request.charge,
            emit=self._emit,
            is_watched=self._emit is not nothing,
            is_request=not request.is_code,
        )

    async def carry_out(self, lease: Lease, *, is_new: bool) -> RunResult:
        """From the first entry to the last."""
        with held(lease):
            try:
                self._begin() if is_new else self._go_on()
                return await self._finish()
            except Exception as error:
                self._stop(kinds.RUN_FAILED, error)
                raise
            except BaseException as error:
                self._stop(kinds.RUN_INTERRUPTED, error)
                raise
            finally:
                await self._late.aclose()

    def _begin(self) -> None:
        request = self._request
        data: JsonObject = {
            "model": request.model.name,
            "messages": [message_to_json(message) for message in request.messages],
            "tools": [definition_to_json(definition) for definition in self._asking.definitions],
            "limits": limits_to_json(usable(self._allowance.limits(self._allowance.spent()))),
            "journal_head": request.journal.head(),
        }
        if request.output is not None:
            data["output"] = output_to_json(request.output.output)
        if request.principal is not None:
            data["principal"] = request.principal.name
        if request.tainted_by:
            data["tainted_by"] = list(request.tainted_by)
        if request.parent is not None:
            data["parent"] = asdict(request.parent)
        if request.metadata:
            data["metadata"] = request.metadata
        started = RunStarted(run_id=request.run_id, model=self._shaper.mask(request.model.name))
        try:
            self._recording.begin(data, self._only_reply(), started)
        except JournalConflictError as error:
            raise UsageError(
                f"Expected a run id that no run has, found {request.run_id!r}: that run has entries already. To go on "
                "with it, resume it."
            ) from error

    def _only_reply(self) -> ModelReply | None:
        call = self._request.only_call
        if call is None:
            return None
        self._request.charge(Usage(calls=1))
        reply = ModelReply(message=Message.assistant(calls=[call]), usage=Usage())
        return adopt(reply, CallNumbers(self._request.messages), is_request=False)

    def _go_on(self) -> None:
        request = self._request
        data: JsonObject = {
            "by": request.journal.holder(request.run_id),
            "limits": limits_to_json(usable(self._allowance.limits(self._allowance.spent()))),
        }
        if request.parent is not None:
            data["parent"] = asdict(request.parent)
        self._recording.write(Draft(kinds.RUN_RESUMED, data))
        for _, calls in groupby(self._known.calls.values(), key=lambda call: call.turn):
            turn = list(calls)
            if all(call.result is not None for call in turn):
                self._brake.observe(turn, is_settled=not self._known.has_unknown)
        self._offer.update()
        self._emit(RunStarted(run_id=request.run_id, model=self._shaper.mask(request.model.name)))
        for call_id in self._known.unanswered:  # whoever watches only from here hears of them as well
            self._emit(CallStarted(call=self._known.calls[call_id].call))

    async def _finish(self) -> RunResult:
        """Step after step, until there is an answer or somebody must decide."""
        while True:
            self._late.check()
            spent = self._allowance.spent()
            limits = self._allowance.limits(spent)
            step = self._next(limits, spent)
            if isinstance(step, AskModel):
                step = await self._ask_if_possible(step, limits, spent)
            match step:
                case DealWithCalls(may_run=False):
                    self._dealing.refuse()
                case DealWithCalls():
                    if (ended := await self._deal(limits, spent)) is not None:
                        return ended
                case Correct(refused=refused):
                    self._recording.correct(refused)
                case ReachLimit(reason=reason):
                    self._recording.limit(reason)
                case End(reason=reason):
                    return self._end(reason)
                case None:
                    pass

    async def _deal(self, limits: Limits, spent: Spent) -> RunResult | None:
        """The calls of the last reply are dealt with; the result, if the run rests or was over with them."""
        allowed = calls_left(limits, spent.calls - len(self._known.turn()))
        waiting = await self._dealing.deal(allowed=allowed, seconds=self._allowance.seconds)
        if waiting:
            return self._pause(waiting)
        if self._known.is_over:
            return self.tell(self._known.state())
        self._offer.update()
        return None

    def _next(self, limits: Limits, spent: Spent) -> NextStep:
        return next_step(
            self._known,
            limits,
            spent,
            wanted=self._request.output,
            has_tools=bool(self._offer.definitions),
            may_conclude=self._allowance.may_conclude,
        )

    # The model

    async def _ask_if_possible(self, step: AskModel, limits: Limits, spent: Spent) -> ReachLimit | End | None:
        """The model has answered; what follows instead, where time or tokens are not enough for an answer."""
        try:
            return None if await self._asking.ask(step) else when_too_late(self._known)
        except BudgetError:
            following = when_too_little(self._known, limits, spent)
            if following is None:
                raise
            return following

    # The end

    def _pause(self, waiting: tuple[ApprovalRequest, ...]) -> RunResult:
        self._recording.write(Draft(kinds.RUN_PAUSED, {"waiting": [request.call_id for request in waiting]}))
        # What calls that wait have used is recorded when they end.
        return self.tell(replace(self._known.state(), waiting=waiting, usage=self._allowance.spent().usage))

    def _end(self, reason: StopReason) -> RunResult:
        self._recording.write(end_of_run(reason), is_intent=True)
        return self.tell(self._known.state())

    def tell(self, state: RunState) -> RunResult:
        """The result, which watchers hear of too."""
        result = RunResult(
            run_id=state.run_id,
            text=state.text,
            stop_reason=state.stop_reason or "answered",
            usage=state.usage,
            messages=state.messages,
            waiting=state.waiting,
            is_tainted=state.is_tainted,
            output=self._output(state),
            closed_by_budget=state.is_closed_by_budget,
            forced=state.forced,
        )
        self._emit(RunFinished(result=result))
        return result

    def _output(self, state: RunState) -> object:
        wanted = self._request.output
        if wanted is None or state.status != "finished":
            return None
        value = wanted.read(state.text, is_cut=state.is_cut)
        if not isinstance(value, Incomplete):
            return value
        # What the program's own checks say may hold a secret that the answer does not.
        detail = None if value.detail is None else self._shaper.mask(value.detail)
        return replace(value, error=self._shaper.mask(value.error), detail=detail)

    def _stop(self, kind: str, error: BaseException) -> None:
        """The run was stopped by an error, which the journal says if it still can be written."""
        cause = first_of(error)
        detail = self._shaper.mask("".join(traceback.format_exception(cause)))
        data: JsonObject = {
            "error": type(cause).__name__,
            "message": self._shaper.mask(str(cause)),
            "detail": detail,
        }
        if self._known.length == 0:
            return  # the run did not begin
        with suppress(JournalError):  # what stopped the run is more important, and is raised by our caller
            self._recording.write(Draft(kind, data))


def _check_output(request: RunRequest, secrecy: Secrecy | None) -> None:
    if request.output is None or secrecy is None:
        return
    output = output_to_json(request.output.output)
    if secrecy.mask.value(output) != output:
        raise UsageError(
            "Expected an output that holds no secret, found one: the model would be shown it. Leave it out."
        )


def _check(request: RunRequest) -> None:
    check_limits(request.limits)
    limits = request.limits if request.around is None else tighter(request.limits, request.around())
    price = cost_of(request.prices, request.model.name, Usage(requests=1))
    if limits.cost_usd is not None and price is None:
        raise UsageError(
            f"Limits(cost_usd=...) needs the price of {request.model.name!r}, which is not known. Give it: "
            "prices={..., 'provider:name': Price(...)}."
        )
