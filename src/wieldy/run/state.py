"""A run's state as the fold of its entries: the only way in which a state is known.

The loop folds each entry as it appends it; `show`, recovery and audit fold what they read. Both see the same, because
an appended entry is given back as it will be read.
Law: the messages of a state are always a history to which a strict provider would not object, or the beginning of one:
results stand after their calls in the order of the calls, whatever the order in which the calls ended.
Deliberately not here: deciding anything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias, cast, overload

from wieldy.core.calls import ToolResult
from wieldy.core.errors import JournalError
from wieldy.core.limits import StopReason, Usage
from wieldy.core.messages import Message
from wieldy.run.journal import kinds
from wieldy.run.records import message_from_json, result_from_json, usage_from_json

if TYPE_CHECKING:
    from wieldy.core.calls import AnyCall, Effect
    from wieldy.core.json import JsonObject
    from wieldy.core.ports import Entry

RunStatus: TypeAlias = Literal["running", "finished", "failed", "interrupted"]
"""`running` is also what the journal says of a run whose process died: nobody was left to write otherwise."""

CallStatus: TypeAlias = Literal["asked", "started", "finished"]
"""`started` without an outcome means that the effect may or may not have happened."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallState:
    """What is known of one call.

    Attributes:
        turn: The turn in which the model asked for it.
        effect: The tool's declared effect; None if its code was not started.
        arguments: As validated; None if its code was not started.
        repairs: What was changed in the arguments so that they fit.
        started: When its code was started, in seconds since the epoch.
        result: The one answer, as the model reads it.
        duration_s: How long its code ran, in seconds.
        detail: For the operator: a traceback.
        whole: The full content, where `result` shows only its beginning and end.
        recorded_as: The id of the earlier call whose result was given again.
    """

    call: AnyCall
    turn: int
    status: CallStatus = "asked"
    effect: Effect | None = None
    arguments: JsonObject | None = None
    repairs: tuple[str, ...] = ()
    started: float | None = None
    result: ToolResult | None = None
    duration_s: float = 0.0
    detail: str | None = None
    whole: str | None = None
    recorded_as: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunState:
    """What is known of one run.

    Attributes:
        prompt: The text of the last user message that the run started from.
        messages: The whole history; while calls are under way, only the results that all earlier calls have too.
        calls: In the order in which the model asked for them.
        turns: How often the model was asked.
        text: The answer; empty as long as there is none.
        error: What stopped the run, if it failed or was interrupted.
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


class MessagesSoFar(Sequence[Message]):
    """The first messages of a list to which others only append: taken at no cost, and never changing."""

    __slots__ = ("_length", "_messages")

    def __init__(self, messages: list[Message]) -> None:
        self._messages = messages
        self._length = len(messages)

    def __len__(self) -> int:
        return self._length

    @overload
    def __getitem__(self, index: int) -> Message: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Message, ...]: ...
    def __getitem__(self, index: int | slice) -> Message | tuple[Message, ...]:
        if isinstance(index, slice):
            return tuple(self._messages[position] for position in range(*index.indices(self._length)))
        if not -self._length <= index < self._length:
            raise IndexError(index)
        return self._messages[index % self._length]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self[:]!r})"


class Fold:
    """The fold in progress: entries go in one by one, at a cost that does not grow with the history.

    Entries of kinds that this version does not know are passed over: they add to the record, not to the state.
    """

    def __init__(self) -> None:
        self.calls: dict[str, CallState] = {}
        self.usage = Usage()
        self.turns = 0
        self._run_id = ""
        self._length = 0
        self._messages: list[Message] = []
        self._unanswered: list[str] = []  # calls whose results are not yet among the messages, in call order
        self._model = self._prompt = self._text = ""
        self._status: RunStatus = "running"
        self._stop_reason: StopReason | None = None
        self._error: str | None = None
        self._tool_choice = "auto"
        self._started = 0.0
        self._ended: float | None = None

    @property
    def messages(self) -> MessagesSoFar:
        """The history up to now."""
        return MessagesSoFar(self._messages)

    def apply(self, entry: Entry) -> None:
        """The state includes the entry.

        Raises:
            JournalError: It is not the next entry of this run, or it cannot be read.
        """
        if self._length == 0:
            self._run_id = entry.run_id
        if (entry.run_id, entry.sequence) != (self._run_id, self._length):
            raise JournalError(
                f"Expected entry {self._length} of run {self._run_id!r}, found entry {entry.sequence} of run "
                f"{entry.run_id!r}: entries are missing or mixed up."
            )
        self._length += 1
        step = self._STEPS.get(entry.kind)
        if step is None:
            return
        try:
            step(self, entry, cast("dict[str, Any]", entry.data))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise JournalError(
                f"Entry {entry.sequence} ({entry.kind}) of run {entry.run_id!r} cannot be read: it lacks or holds "
                f"something unexpected ({error!r}). The journal is damaged, or not written by Wieldy."
            ) from error

    def state(self) -> RunState:
        """The state up to now.

        Cost: linear in the history, which it copies.

        Raises:
            JournalError: There was no entry yet.
        """
        if self._length == 0:
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
            text=self._text,
            error=self._error,
            started=self._started,
            ended=self._ended,
        )

    # Data is what a journal holds: a shape that does not fit raises, and `apply` says where.

    def _start_run(self, entry: Entry, data: dict[str, Any]) -> None:
        self._started = entry.time
        self._model = data["model"]
        self._messages.extend(message_from_json(message) for message in data["messages"])
        self._prompt = next((message.text for message in reversed(self._messages) if message.role == "user"), "")

    def _start_turn(self, _entry: Entry, data: dict[str, Any]) -> None:
        self.turns = data["turn"]
        self._tool_choice = data["tool_choice"]

    def _take_reply(self, _entry: Entry, data: dict[str, Any]) -> None:
        message = message_from_json(data["message"])
        self.usage += usage_from_json(data["usage"])
        self._messages.append(message)
        self._unanswered = [call.id for call in message.calls]
        self.calls.update({call.id: CallState(call=call, turn=self.turns) for call in message.calls})
        is_answer = not message.calls or self._tool_choice == "none"
        self._text = message.text if is_answer else ""

    def _start_call(self, entry: Entry, data: dict[str, Any]) -> None:
        self.calls[data["call_id"]] = replace(
            self.calls[data["call_id"]],
            status="started",
            effect=data["effect"],
            arguments=data["arguments"],
            repairs=tuple(data["repairs"]),
            started=entry.time,
        )

    def _finish_call(self, _entry: Entry, data: dict[str, Any]) -> None:
        result = result_from_json(data["result"])
        call = self.calls[result.tool_call_id]
        if call.result is not None:
            raise ValueError(f"a second result for call {result.tool_call_id!r}")
        self.calls[result.tool_call_id] = replace(
            call,
            status="finished",
            result=result,
            duration_s=data["duration_s"],
            detail=data.get("detail"),
            whole=data.get("whole"),
            recorded_as=data.get("recorded_as"),
        )
        self._take_results()

    def _take_results(self) -> None:
        while self._unanswered:
            result = self.calls[self._unanswered[0]].result
            if result is None:
                return
            self._messages.append(Message.tool(result))
            del self._unanswered[0]

    def _reach_limit(self, _entry: Entry, data: dict[str, Any]) -> None:
        self._stop_reason = data["reason"]

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
        kinds.TURN_STARTED: _start_turn,
        kinds.REPLY: _take_reply,
        kinds.CALL_STARTED: _start_call,
        kinds.CALL_FINISHED: _finish_call,
        kinds.LIMIT_REACHED: _reach_limit,
        kinds.RUN_FINISHED: _finish_run,
        kinds.RUN_FAILED: _fail_run,
        kinds.RUN_INTERRUPTED: _interrupt_run,
    }
