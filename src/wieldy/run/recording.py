"""The record of one run as it is written: each step becomes an entry, the state includes it, and watchers hear of it.

Law: what is known is the fold of what was written; nothing is kept beside it. An effect's intent is written before the
effect, with the length that the journal is known to have: if another process added more than a person's answer, nothing
is written and the run stops here, so that no effect is started twice. Deliberately not here: what to do next.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from wieldy.core.calls import AUTO
from wieldy.core.errors import JournalConflictError
from wieldy.core.events import (
    CallFinished,
    CallProgress,
    CallRunning,
    CallStarted,
    CallWaiting,
    LimitReached,
    OutputRefused,
    RunEvent,
    RunStarted,
    TurnStarted,
)
from wieldy.core.influence import joined
from wieldy.core.ports import Draft
from wieldy.run.journal import kinds
from wieldy.run.outputs import correction
from wieldy.run.records import (
    approval_to_json,
    message_to_json,
    reply_to_json,
    request_to_json,
    result_to_json,
    usage_to_json,
)
from wieldy.run.repeats import is_repeat_of_news
from wieldy.run.results import with_note
from wieldy.run.state import Fold
from wieldy.run.tree import RunTree

if TYPE_CHECKING:
    from wieldy.core.approvals import Approval, ApprovalRequest
    from wieldy.core.calls import AnyCall, ToolResult
    from wieldy.core.errors import ModelVisibleError
    from wieldy.core.json import JsonObject
    from wieldy.core.limits import StopReason
    from wieldy.core.outputs import Incomplete
    from wieldy.core.ports import Entry, Journal, ModelReply
    from wieldy.run.next_step import AskModel
    from wieldy.run.outcomes import Outcome, Rest, Step
    from wieldy.run.secrecy import Secrecy

Emit: TypeAlias = Callable[[RunEvent], None]
"""Takes an event; must neither wait nor raise."""


class Recording:
    """Writes the entries of one run; what the executor tells it of calls, too.

    Args:
        has_one_call: Whether the run is over with its one call: both ends are then written as one.

    Attributes:
        known: What is known of the run.
        resting: Calls that wait for a run that they started.
    """

    def __init__(
        self,
        *,
        run_id: str,
        journal: Journal,
        emit: Emit,
        now: Callable[[], float],
        entries: Sequence[Entry] = (),
        secrecy: Secrecy | None = None,
        tree: RunTree | None = None,
        has_one_call: bool = False,
    ) -> None:
        self.known = Fold()
        self.resting: list[Rest] = []
        self._run_id = run_id
        self._journal = journal
        self._emit = emit
        self._now = now
        self._secrecy = secrecy
        self._tree = RunTree() if tree is None else tree
        self._has_one_call = has_one_call
        self._take_in(entries)
        self._tree.join(self.known, run_id)

    def write(self, *drafts: Draft, is_intent: bool = False) -> None:
        """The drafts are entries, and the state includes them.

        Raises:
            JournalConflictError: Another process went on with this run; nothing was written.
            JournalError: They could not be written.
        """
        if self._secrecy is not None:
            drafts = tuple(map(self._secrecy.draft, drafts))
        while True:
            try:
                entries = self._journal.append(self._run_id, *drafts, length=self.known.length, is_intent=is_intent)
            except JournalConflictError:
                self._catch_up()
                continue
            self._take_in(entries)
            return

    def _catch_up(self) -> None:
        """Takes in what a person answered meanwhile."""
        entries = self._journal.read(self._run_id, start=self.known.length)
        others = [entry.kind for entry in entries if entry.kind != kinds.APPROVAL]
        if others or not entries:
            raise JournalConflictError(
                f"Another process went on with run {self._run_id!r} ({', '.join(others) or 'its entries are gone'}), "
                "so this one stopped. What it had written is kept."
            )
        self._take_in(entries)

    def _take_in(self, entries: Sequence[Entry]) -> None:
        for entry in entries:
            # Somebody who did not know the secrets may have written it.
            self.known.apply(entry if self._secrecy is None else self._secrecy.entry(entry))

    def begin(self, data: JsonObject, reply: ModelReply | None, started: RunStarted) -> None:
        """The run has begun; where it is known what the model asks for, with the turn in which it does.

        Raises:
            JournalConflictError: There is such a run.
            JournalError: It could not be written.
        """
        drafts = [Draft(kinds.RUN_STARTED, data)]
        if reply is not None:
            drafts += [_turn(1, AUTO.mode, None), _reply(1, reply)]
        self.write(*drafts)
        self._emit(started)
        if reply is not None:
            self._emit(TurnStarted(turn=1))
            self._tell_calls()

    # The model

    def ask_model(self, step: AskModel) -> None:
        """The model is about to be asked."""
        turn = self.known.turns + (0 if self.known.is_turn_open else 1)
        self.write(_turn(turn, step.choice.mode, step.max_output_tokens))
        self._emit(TurnStarted(turn=turn))

    def reply(self, reply: ModelReply) -> None:
        """The model has answered."""
        self.write(_reply(self.known.turns, reply))
        self._tell_calls()

    def _tell_calls(self) -> None:
        for state in self.known.turn():
            self._emit(CallStarted(call=state.call))

    def correct(self, refused: Incomplete) -> None:
        """The answer does not fit, and the model is told why."""
        data: JsonObject = {"message": message_to_json(correction(refused))}
        if refused.detail is not None:
            data["detail"] = refused.detail
        self.write(Draft(kinds.CORRECTION, data))
        error = refused.error if self._secrecy is None else self._secrecy.mask.text(refused.error)
        self._emit(OutputRefused(error=error))

    def limit(self, reason: StopReason) -> None:
        """A limit is reached."""
        self.write(Draft(kinds.LIMIT_REACHED, {"reason": reason}))
        self._emit(LimitReached(reason=reason))

    # People

    def question(self, call: AnyCall, request: ApprovalRequest) -> None:
        """A person is asked, unless exactly this was asked before."""
        known = self.known.calls[call.id]
        if known.status != "waiting" or known.request != request:
            self.write(Draft(kinds.CALL_WAITING, request_to_json(request)))
        self._emit(CallWaiting(call=call, request=request))

    def answer(self, approval: Approval) -> None:
        """A person has answered."""
        self.write(Draft(kinds.APPROVAL, approval_to_json(approval)))

    # Calls, as the executor tells of them

    def may_start(self, step: Step) -> bool:
        """Whether what was decided still holds: the consent, and that no call for the same is in doubt meanwhile."""
        if step.approved_until is not None and self._now() >= step.approved_until:
            return False
        return not is_repeat_of_news(step, self._tree)

    def start(self, steps: Sequence[Step]) -> None:
        """The code of these calls is about to run."""
        self.write(*[Draft(kinds.CALL_STARTED, _start_to_json(step)) for step in steps], is_intent=True)
        for step in steps:
            self._emit(CallRunning(call=step.call, attempt=step.context.attempt))

    def retry(self, step: Step, error: ModelVisibleError, *, wait_s: float, nothing_done: bool) -> None:
        """An attempt failed, and another follows."""
        data: JsonObject = {
            "call_id": step.call.id,
            "attempt": step.context.attempt,
            "error": type(error).__name__,
            "message": str(error),
            "wait_s": wait_s,
            "nothing_done": nothing_done,
        }
        self._take_over(step.call.id, data)
        self.write(Draft(kinds.ATTEMPT_FAILED, data))

    def progress(self, step: Step, message: str, fraction: float | None) -> None:
        """The call's code says how far it is."""
        self._emit(CallProgress(call=step.call, message=message, fraction=fraction))

    def end(self, ended: Sequence[tuple[Step, Outcome]]) -> None:
        """These calls have ended."""
        if self.known.untold:  # the first of them tells of what came late
            for step, outcome in ended:
                self.finish(step.call, outcome)
            return
        self._write_ends(*[self._end_of(step.call, outcome) for step, outcome in ended])
        for step, outcome in ended:
            self._tell_end(step.call, outcome)

    def rest(self, step: Step, rest: Rest) -> None:
        """The call goes on when the run is resumed."""
        del step
        self.resting.append(rest)

    def late(self, step: Step, outcome: Outcome) -> None:
        """A call that had ended without an outcome has brought one."""
        del step
        self.write(Draft(kinds.CALL_CAME_LATE, _outcome_to_json(outcome)))

    def finish(self, call: AnyCall, outcome: Outcome, *, finishes: bool = False, answer: str | None = None) -> None:
        """The call has its one result; the model is told with it of calls that came late.

        Args:
            call: Which.
            outcome: What came of it.
            finishes: Whether it ended the run.
            answer: The text of the answer that it gave then; None if its argument is that text.
        """
        self._write_ends(self._end_of(call, outcome, finishes=finishes, answer=answer))
        self._tell_end(call, outcome)

    def _write_ends(self, *ends: Draft) -> None:
        if self._has_one_call:
            self.write(*ends, end_of_run("answered"), is_intent=True)
        else:
            self.write(*ends)

    def _end_of(self, call: AnyCall, outcome: Outcome, *, finishes: bool = False, answer: str | None = None) -> Draft:
        data = _outcome_to_json(outcome)
        untold = [call_id for call_id in self.known.untold if call_id != call.id]
        if untold:
            data["result"] = result_to_json(self._telling(outcome, untold))
            data["tells_of"] = list(untold)
        if finishes:
            data["finishes"] = True
        if answer is not None:
            data["answer"] = answer
        self._take_over(call.id, data)
        return Draft(kinds.CALL_FINISHED, data)

    def _tell_end(self, call: AnyCall, outcome: Outcome) -> None:
        result = self.known.calls[call.id].result or outcome.result
        self._emit(CallFinished(call=call, result=result, duration_s=outcome.duration_s))

    def _take_over(self, call_id: str, data: JsonObject) -> None:
        """What runs that the call has started do not know is from now on unknown here."""
        left = self._tree.left_by(call_id, self._run_id)
        if left is not None:
            data["left"] = left

    def _telling(self, outcome: Outcome, untold: Sequence[str]) -> ToolResult:
        """The result, with what came late; strangers' words in it make it theirs."""
        told = " ".join(self._tell(call_id) for call_id in untold if call_id != outcome.recorded_as)
        late = [self.known.calls[call_id].late for call_id in untold]
        strangers = joined(*(result.untrusted_sources for result in late if result is not None))
        content = with_note(outcome.result.content, told) if told else outcome.result.content
        if not strangers:
            return replace(outcome.result, content=content)
        tainted_by = joined(outcome.result.untrusted_sources, strangers)
        return replace(outcome.result, content=content, trust="untrusted", tainted_by=tainted_by)

    def _tell(self, call_id: str) -> str:
        late = self.known.calls[call_id]
        name = late.call.name
        content = late.late.content if late.late is not None else ""
        if late.late is not None and late.late.is_error:
            return f"Meanwhile your earlier call of `{name}`, which had given no answer in time, failed: {content}"
        return f"Meanwhile your earlier call of `{name}`, which had given no answer in time, completed: {content}"


def end_of_run(reason: StopReason) -> Draft:
    """The run is over."""
    return Draft(kinds.RUN_FINISHED, {"stop_reason": reason})


def _turn(turn: int, choice: str, max_output_tokens: int | None) -> Draft:
    data: JsonObject = {"turn": turn, "tool_choice": choice, "max_output_tokens": max_output_tokens}
    return Draft(kinds.TURN_STARTED, data)


def _reply(turn: int, reply: ModelReply) -> Draft:
    return Draft(kinds.REPLY, {"turn": turn, **reply_to_json(reply)})


def _start_to_json(step: Step) -> JsonObject:
    data: JsonObject = {
        "call_id": step.call.id,
        "tool_name": step.tool.name,
        "attempt": step.context.attempt,
        "origin": step.tool.origin,
        "effect": step.tool.effect,
        "arguments": step.arguments.json,
        "repairs": list(step.arguments.repairs),
        "idempotency_key": step.context.idempotency_key,
    }
    if step.approved_by is not None:
        data["approved_by"] = step.approved_by
    if step.repeats:
        data["repeats"] = [doubt.seen_from(step.context.run_id) for doubt in step.repeats]
    return data


def _outcome_to_json(outcome: Outcome) -> JsonObject:
    data: JsonObject = {"result": result_to_json(outcome.result), "duration_s": outcome.duration_s}
    if outcome.detail is not None:
        data["detail"] = outcome.detail
    if outcome.whole is not None:
        data["whole"] = outcome.whole
    if outcome.recorded_as is not None:
        data["recorded_as"] = outcome.recorded_as
    if outcome.answered_by is not None:
        data["answered_by"] = outcome.answered_by
    if outcome.usage is not None:
        data["usage"] = usage_to_json(outcome.usage)
    if outcome.is_unknown:
        data["is_unknown"] = True
    if outcome.failure is not None:
        data["failure"] = outcome.failure
    return data
