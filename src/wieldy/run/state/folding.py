"""A run's state as the fold of its entries: the only way in which a state is known.

The loop folds each entry as it appends it; `show`, recovery and audit fold what they read. Both see the same, because
an appended entry is given back as it will be read.
Law: the messages of a state are always a history to which a strict provider would not object, or the beginning of one:
results stand after their calls in the order of the calls, whatever the order in which the calls ended.
Deliberately not here: deciding anything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, ClassVar

from msgspec.structs import replace

from wieldy.core.calls import ToolCall
from wieldy.core.errors import JournalError
from wieldy.core.influence import Sources, joined
from wieldy.core.limits import StopReason, Usage
from wieldy.core.messages import Message
from wieldy.run.journal import kinds
from wieldy.run.records import (
    approval_from_json,
    message_from_json,
    request_from_json,
    result_from_json,
    usage_from_json,
)
from wieldy.run.state.doubts import Doubts, doubt_about, reference
from wieldy.run.state.history import MessagesSoFar
from wieldy.run.state.records import CallState, FailedAttempt, Parent, RunState, RunStatus

if TYPE_CHECKING:
    from wieldy.core.json import JsonObject
    from wieldy.core.ports import Entry


def fold(entries: Iterable[Entry]) -> RunState:
    """The state that the entries of one run add up to.

    Cost: linear in the number of entries.

    Raises:
        JournalError: There is no entry, one is missing, or one cannot be read.
    """
    folded = Fold()
    for entry in entries:
        folded.apply(entry)
    return folded.state()


class Fold:
    """The fold in progress: entries go in one by one, at a cost that does not grow with the history.

    Entries of kinds that this version does not know are passed over: they add to the record, not to the state.

    Attributes:
        length: How many entries went in.
        calls: By id, in the order in which the model asked for them.
        unanswered: The ids of calls whose results are not yet among the messages, in the model's order.
        usage: Nested runs included.
        turns: How often the model was asked.
        is_turn_open: Whether it was asked and has not answered.
        tool_choice: With which it was last asked.
        was_cut: Whether a limit on tokens ended its last reply.
        has_answer: Whether its last reply is the answer.
        is_finished_by_call: Whether it called `finish`.
        text: The answer; empty as long as there is none.
        is_closed_by_budget: Whether the answer's end was chosen to fit what was left of a limit.
        forced: JSON pointers to the values of the answer that were decided so.
        corrections: How often the model was told that its answer is not what it must be.
        limit: The limit that was reached, if one was.
        read: What the model had read when it last answered.
        tainted_by: The untrusted sources of which something is among the messages.
        was_tainted_by: Those of which something was among what it had read.
        began_tainted_by: Those that may have shaped what the run started from.
        prompt_tainted_by: Those that may have shaped its prompt: of a run within another, what that one had read.
        has_capped_results: Whether a result is shown only in part.
        untold: The ids of calls that came late, of which the model does not know yet.
        doubts: Calls of which the model does not know how they ended, also of runs within this one.
        active_s: How long the run was at work before it was last resumed, in seconds.
    """

    def __init__(self) -> None:
        self.length = 0
        self.calls: dict[str, CallState] = {}
        self.unanswered: list[str] = []
        self.usage = Usage()
        self.turns = 0
        self.is_turn_open = False
        self.tool_choice = "auto"
        self.was_cut = self.has_answer = self.is_finished_by_call = False
        self.limit: StopReason | None = None
        self.has_capped_results = False
        self.tainted_by: Sources = ()
        self.was_tainted_by: Sources = ()
        self.began_tainted_by: Sources = ()
        self.prompt_tainted_by: Sources = ()
        self.untold: list[str] = []
        self.doubts = Doubts()
        self.active_s = 0.0
        self._run_id = ""
        self._asked: list[str] = []
        self._messages: list[Message] = []
        self.read = MessagesSoFar(self._messages)
        self.is_closed_by_budget = False
        self.forced: tuple[str, ...] = ()
        self.corrections = 0
        self._model = self._prompt = self.text = ""
        self._status: RunStatus = "running"
        self._stop_reason: StopReason | None = None
        self._error: str | None = None
        self._principal: str | None = None
        self._parent: Parent | None = None
        self._metadata: JsonObject = {}
        self._output: JsonObject | None = None
        self._resumed = 0
        self._started = self._segment_started = self._latest = 0.0
        self._ended: float | None = None

    @property
    def messages(self) -> MessagesSoFar:
        """The history up to now."""
        return MessagesSoFar(self._messages)

    def turn(self) -> list[CallState]:
        """The calls of the last reply, in the model's order."""
        return [self.calls[call_id] for call_id in self._asked]

    @property
    def is_over(self) -> bool:
        """Whether the run has come to its end."""
        return self._status == "finished"

    @property
    def has_unknown(self) -> bool:
        """Whether there is a call of which the model does not know how it ended."""
        return bool(self.doubts.open)

    @property
    def run_id(self) -> str:
        """The run; empty if there was no entry yet."""
        return self._run_id

    @property
    def parent(self) -> Parent | None:
        """The call whose code started the run, or has last gone on with it."""
        return self._parent

    def apply(self, entry: Entry) -> None:
        """The state includes the entry.

        Raises:
            JournalError: It is not the next entry of this run, or it cannot be read.
        """
        if self.length == 0:
            self._run_id = entry.run_id
        if (entry.run_id, entry.sequence) != (self._run_id, self.length):
            raise JournalError(
                f"Expected entry {self.length} of run {self._run_id!r}, found entry {entry.sequence} of run "
                f"{entry.run_id!r}: entries are missing or mixed up."
            )
        self.length += 1
        step = self._STEPS.get(entry.kind)
        if step is None:
            return
        try:
            step(self, entry, entry.data)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise JournalError(
                f"Entry {entry.sequence} ({entry.kind}) of run {entry.run_id!r} cannot be read: it lacks or holds "
                f"something unexpected ({error!r}). The journal is damaged, or not written by Wieldy."
            ) from error
        if entry.kind != kinds.APPROVAL:  # a person's time is not the run's
            self._latest = entry.time

    def state(self) -> RunState:
        """The state up to now.

        Cost: linear in the history, which it copies.

        Raises:
            JournalError: There was no entry yet.
        """
        if self.length == 0:
            raise JournalError("There are no entries: expected those of a run. Is the run's id right?")
        return RunState(
            run_id=self._run_id,
            status=self._status,
            model=self._model,
            prompt=self._prompt,
            messages=tuple(self._messages),
            calls=tuple(self.calls.values()),
            turns=self.turns,
            usage=self.usage,
            stop_reason=self._stop_reason,
            text=self.text,
            is_cut=self.has_answer and self.was_cut,
            is_closed_by_budget=self.is_closed_by_budget,
            forced=self.forced,
            corrections=self.corrections,
            output=self._output,
            error=self._error,
            started=self._started,
            ended=self._ended,
            waiting=tuple(
                call.request for call in self.calls.values() if call.status == "waiting" and call.request is not None
            ),
            principal=self._principal,
            parent=self._parent,
            metadata=self._metadata,
            tainted_by=self.tainted_by,
            began_tainted_by=self.began_tainted_by,
            resumed=self._resumed,
        )

    # Data is what a journal holds: a shape that does not fit raises, and `apply` says where.

    def _start_run(self, entry: Entry, data: dict[str, Any]) -> None:
        self._started = self._segment_started = entry.time
        self._model = data["model"]
        self._messages.extend(message_from_json(message) for message in data["messages"])
        self._prompt = next((message.text for message in reversed(self._messages) if message.role == "user"), "")
        # Journals of before sources had names say only that there were some.
        around: list[str] = data.get("tainted_by", ["unknown"] if data.get("is_tainted") else [])
        self.prompt_tainted_by = tuple(around)
        results = [message.result for message in self._messages if message.result is not None]
        self.began_tainted_by = joined(around, *(result.untrusted_sources for result in results))
        self.tainted_by = self.began_tainted_by
        self._principal = data.get("principal")
        self._metadata = data.get("metadata", {})
        self._output = data.get("output")
        self._parent = _parent_of(data)

    def _resume_run(self, entry: Entry, data: dict[str, Any]) -> None:
        self.active_s += max(0.0, self._latest - self._segment_started)
        self._segment_started = entry.time
        self._resumed += 1
        self._status, self._error, self._ended, self._stop_reason = "running", None, None, None
        self._parent = _parent_of(data) or self._parent
        if not self.has_answer:
            self.limit = None  # limits may be others now

    def _start_turn(self, _entry: Entry, data: dict[str, Any]) -> None:
        self.turns = data["turn"]
        self._asked = []
        self.tool_choice = data["tool_choice"]
        self.is_turn_open = True
        self.has_answer = False

    def _take_reply(self, _entry: Entry, data: dict[str, Any]) -> None:
        message = message_from_json(data["message"])
        self.usage += usage_from_json(data["usage"]) + Usage(calls=len(message.calls))
        self.read, self.was_tainted_by = MessagesSoFar(self._messages), self.tainted_by
        self._messages.append(message)
        calls = message.calls
        self._asked = [call.id for call in calls]
        self.unanswered = self._asked.copy()
        self.calls.update({call.id: CallState(call=call, turn=self.turns) for call in calls})
        self.is_turn_open = False
        self.was_cut = data["finish"] == "length"
        self.has_answer = not calls or self.tool_choice == "none"
        self.text = message.text if self.has_answer else ""
        self.is_closed_by_budget = self.has_answer and data["finish"] == "closed_by_budget"
        self.forced = tuple(data.get("forced", ())) if self.has_answer else ()

    def _correct(self, _entry: Entry, data: dict[str, Any]) -> None:
        self._messages.append(message_from_json(data["message"]))
        self.corrections += 1
        self.has_answer, self.text, self.is_closed_by_budget, self.forced = False, "", False, ()

    def _ask_person(self, entry: Entry, data: dict[str, Any]) -> None:
        request = request_from_json(entry.run_id, data)
        call = self.calls[request.call_id]
        self.calls[request.call_id] = replace(call, status="waiting", request=request, approval=None)

    def _take_approval(self, _entry: Entry, data: dict[str, Any]) -> None:
        approval = approval_from_json(data)
        call = self.calls[approval.call_id]
        if call.request is not None and call.approval is not None and call.approval.digest == call.request.digest:
            return  # it is decided; two may have answered at the same time
        self.calls[approval.call_id] = replace(
            call, status="asked" if call.status == "waiting" else call.status, approval=approval
        )

    def _start_call(self, entry: Entry, data: dict[str, Any]) -> None:
        call = self.calls[data["call_id"]]
        origin = data.get("origin", "")
        self.calls[call.call.id] = replace(
            call,
            status="started",
            attempts=data["attempt"],
            tool_name=data["tool_name"],
            effect=data["effect"],
            arguments=data["arguments"],
            idempotency_key=data["idempotency_key"],
            repairs=tuple(data["repairs"]),
            started=entry.time,
            approved_by=data.get("approved_by"),
            repeats=tuple(data.get("repeats", ())),
            origins=call.origins if origin in call.origins[-1:] else (*call.origins, origin),
            is_in_doubt=True,
        )

    def _fail_attempt(self, _entry: Entry, data: dict[str, Any]) -> None:
        call = self.calls[data["call_id"]]
        failure = FailedAttempt(
            attempt=data["attempt"], error=data["error"], message=data["message"], wait_s=data["wait_s"]
        )
        nothing_done = data.get("nothing_done", False)
        self.calls[call.call.id] = replace(
            call,
            status="asked" if nothing_done else "started",
            is_in_doubt=not nothing_done,
            failures=(*call.failures, failure),
        )
        self._take_left(data)

    def _finish_call(self, _entry: Entry, data: dict[str, Any]) -> None:
        result = result_from_json(data["result"])
        call = self.calls[result.tool_call_id]
        if call.result is not None:
            raise ValueError(f"a second result for call {result.tool_call_id!r}")
        usage = usage_from_json(data["usage"]) if "usage" in data else None
        call = replace(
            call,
            status="finished",
            is_in_doubt=False,
            result=result,
            duration_s=data["duration_s"],
            detail=data.get("detail"),
            whole=data.get("whole"),
            recorded_as=data.get("recorded_as"),
            answered_by=data.get("answered_by"),
            usage=usage,
            is_unknown=data.get("is_unknown", False),
        )
        self.calls[result.tool_call_id] = call
        if usage is not None:
            self.usage += usage
        if call.whole is not None:
            self.has_capped_results = True
        for told in data.get("tells_of", ()):
            self.untold.remove(told)
            self._know(told)
        if data.get("finishes", False) and isinstance(call.call, ToolCall):
            self.is_finished_by_call = True
            self.text = data["answer"] if "answer" in data else str(call.call.arguments.get("answer", ""))
            self.forced = call.call.forced
            self.is_closed_by_budget = bool(self.forced)
        self._note_unknown(call)
        self._take_left(data)
        self._take_results()

    def _note_unknown(self, call: CallState) -> None:
        if call.is_unknown:
            self.doubts.add(doubt_about(call, self._run_id))
        elif call.recorded_as is not None:
            self._know(call.recorded_as)
        elif call.repeats and call.result is not None and not call.result.is_error:
            self._settle(call.repeats)

    def _take_left(self, data: dict[str, Any]) -> None:
        """What runs that the call had started do not know, or know since."""
        left = data.get("left")
        if left is not None:
            self.doubts.take(left, run_id=self._run_id)

    def _know(self, call_id: str) -> None:
        """The model knows what came late of this call."""
        late = self.calls[call_id].late
        self._settle((call_id,))
        if late is not None and not late.is_error:
            self._settle(self.calls[call_id].repeats)

    def _settle(self, calls: Iterable[str]) -> None:
        self.doubts.settle([reference(call, self._run_id) for call in calls], run_id=self._run_id)

    def _take_late(self, _entry: Entry, data: dict[str, Any]) -> None:
        result = result_from_json(data["result"])
        call = self.calls[result.tool_call_id]
        whole = data.get("whole")
        self.calls[result.tool_call_id] = replace(call, late=result, detail=data.get("detail"), whole=whole)
        self.has_capped_results = self.has_capped_results or whole is not None
        if "usage" in data:
            self.usage += usage_from_json(data["usage"])
        self.untold.append(result.tool_call_id)
        self.doubts.came_late(reference(call.call.id, self._run_id))

    def _take_results(self) -> None:
        while self.unanswered:
            result = self.calls[self.unanswered[0]].result
            if result is None:
                return
            self._messages.append(Message.tool(result))
            if result.trust != "trusted":
                self.tainted_by = joined(self.tainted_by, result.untrusted_sources)
            del self.unanswered[0]

    def _reach_limit(self, _entry: Entry, data: dict[str, Any]) -> None:
        self.limit = self._stop_reason = data["reason"]

    def _pause_run(self, entry: Entry, _data: dict[str, Any]) -> None:
        self._status = "waiting"
        self._stop_reason = "waiting_for_approval"
        self._ended = entry.time

    def _finish_run(self, entry: Entry, data: dict[str, Any]) -> None:
        self._status = "finished"
        self._stop_reason = data["stop_reason"]
        self._ended = entry.time

    def _fail_run(self, entry: Entry, data: dict[str, Any]) -> None:
        self._status = "failed"
        self._error = f"{data['error']}: {data['message']}"
        self._ended = entry.time

    def _interrupt_run(self, entry: Entry, data: dict[str, Any]) -> None:
        self._status = "interrupted"
        self._error = data["error"]
        self._ended = entry.time

    _STEPS: ClassVar[dict[str, Callable[[Fold, Entry, dict[str, Any]], None]]] = {
        kinds.RUN_STARTED: _start_run,
        kinds.RUN_RESUMED: _resume_run,
        kinds.TURN_STARTED: _start_turn,
        kinds.REPLY: _take_reply,
        kinds.CORRECTION: _correct,
        kinds.CALL_WAITING: _ask_person,
        kinds.APPROVAL: _take_approval,
        kinds.CALL_STARTED: _start_call,
        kinds.ATTEMPT_FAILED: _fail_attempt,
        kinds.CALL_FINISHED: _finish_call,
        kinds.CALL_CAME_LATE: _take_late,
        kinds.LIMIT_REACHED: _reach_limit,
        kinds.RUN_PAUSED: _pause_run,
        kinds.RUN_FINISHED: _finish_run,
        kinds.RUN_FAILED: _fail_run,
        kinds.RUN_INTERRUPTED: _interrupt_run,
    }


def _parent_of(data: dict[str, Any]) -> Parent | None:
    parent = data.get("parent")
    return None if parent is None else Parent(run_id=parent["run_id"], call_id=parent["call_id"])
