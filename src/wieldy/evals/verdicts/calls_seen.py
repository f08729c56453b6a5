"""What the entries of a run say of its calls, each with the numbers of the entries that say it.

`run.state` folds entries into what is known; this keeps besides where each thing is said, and reads journals that break
the rules, which a fold would refuse. Deliberately not here: what it means (`attribution`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, cast

from wieldy.core.json import JsonObject
from wieldy.core.ports import Entry
from wieldy.run.journal import kinds

_ENDS = (kinds.RUN_FINISHED, kinds.RUN_FAILED, kinds.RUN_INTERRUPTED, kinds.RUN_PAUSED)


@dataclass(slots=True, kw_only=True)
class CallSeen:
    """One call.

    Attributes:
        name: As the model wrote it; None where not even that could be read.
        arguments: As the model wrote them.
        unreadable: The text of a call that could not be read; None for one that was.
        entries: The numbers of the entries that tell of it.
        ran: The arguments with which its code was last started; None if it was not.
        repairs: What was changed in them, as the entry says.
        effect: What the code does to the world, as the entry says; None if it was not started.
        result: The first answer to it, as recorded.
        answered_at: The entry of that.
        is_unknown: Whether nobody knows if its effect took place.
        failed_attempts: How many attempts failed and were followed by another.
    """

    id: str
    name: str | None
    arguments: JsonObject
    unreadable: str | None = None
    entries: tuple[int, ...] = ()
    ran: JsonObject | None = None
    repairs: tuple[str, ...] = ()
    effect: str | None = None
    result: JsonObject | None = None
    answered_at: int | None = None
    is_unknown: bool = False
    failed_attempts: int = 0

    @property
    def answers_with_error(self) -> bool:
        """Whether its tool answered, in its own words and at once, that something is wrong."""
        return self.result is not None and self.result.get("source") is not None and not self.failed_attempts

    @property
    def started(self) -> bool:
        """Whether its code was started."""
        return self.ran is not None

    @property
    def succeeded(self) -> bool:
        """Whether it was answered, and not by an error."""
        return self.result is not None and self.result.get("is_error") is not True


@dataclass(slots=True, kw_only=True)
class RunSeen:
    """One run.

    Attributes:
        schemas: Input schemas by the name of the tool, as the model was offered them.
        replies: The entries of the model's replies.
        strangers: Results of calls that nobody made: entry and id.
        answered_again: Calls that were answered more than once: entry and name.
        end: The last entry that ends the run or lets it rest.
        model_s: How long the model was waited for, in seconds.
        tool_s: How long tools ran, in seconds.
    """

    start: Entry | None = None
    schemas: dict[str, JsonObject] = field(default_factory=dict[str, JsonObject])
    calls: dict[str, CallSeen] = field(default_factory=dict[str, CallSeen])
    replies: list[Entry] = field(default_factory=list[Entry])
    limits: list[Entry] = field(default_factory=list[Entry])
    strangers: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])
    answered_again: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])
    end: Entry | None = None
    last: int = 0
    model_s: float = 0.0
    tool_s: float = 0.0

    def is_beyond_limit(self, call: CallSeen) -> bool:
        """Whether it was answered unseen because a limit had been reached; the limit tells of that."""
        if call.started or not self.limits:
            return False
        is_of_last_turn = call.entries[0] > self.limits[0].sequence
        return is_of_last_turn or any(entry.data.get("reason") == "call_limit" for entry in self.limits)

    def made_good(self, call: CallSeen, arguments: JsonObject | None = None) -> bool:
        """Whether its tool did its work by a call of a later reply; one with these arguments may be of the same reply.

        Which of the calls of a reply is answered first does not matter.
        """
        return any(
            other is not call
            and other.succeeded
            and other.name == call.name
            and (
                other.entries[0] > call.entries[0]
                if arguments is None
                else other.entries[0] >= call.entries[0] and other.arguments == arguments
            )
            for other in self.calls.values()
        )

    def is_corrected(self, call: CallSeen) -> bool:
        """Whether a call of a later reply was started: of its tool, or of any where there is no tool of its name."""
        return any(
            other.started
            and other.entries[0] > call.entries[0]
            and (other.name == call.name or call.name not in self.schemas)
            for other in self.calls.values()
        )


def by_run(entries: Sequence[Entry]) -> list[list[Entry]]:
    """The entries of each run, in the order in which the runs come; of no entries one run without any."""
    return [list(group) for _, group in groupby(entries, key=lambda entry: entry.run_id)] or [[]]


def seen(entries: Sequence[Entry]) -> RunSeen:
    """What these entries of one run say."""
    run = RunSeen()
    asked_at: float | None = None
    for entry in entries:
        run.last = entry.sequence
        match entry.kind:
            case kinds.RUN_STARTED:
                run.start = entry
                run.schemas = _schemas(entry.data)
            case kinds.RUN_RESUMED:
                run.end = None
            case kinds.TURN_STARTED:
                asked_at = entry.time
            case kinds.REPLY:
                run.model_s += 0.0 if asked_at is None else max(0.0, entry.time - asked_at)
                _see_reply(run, entry)
            case kinds.LIMIT_REACHED:
                run.limits.append(entry)
            case kind if kind in _ENDS:
                run.end = entry
            case _:
                _see_call(run, entry)
    return run


def _schemas(data: JsonObject) -> dict[str, JsonObject]:
    tools = cast("list[dict[str, Any]]", data.get("tools") or [])
    return {tool["name"]: tool["input_schema"] for tool in tools}


def _see_reply(run: RunSeen, entry: Entry) -> None:
    run.replies.append(entry)
    for part in parts_of(entry):
        if part["type"] not in ("call", "invalid_call"):
            continue
        run.calls[part["id"]] = CallSeen(
            id=part["id"],
            name=part.get("name"),
            arguments=part.get("arguments") or {},
            unreadable=part["text"] if part["type"] == "invalid_call" else None,
            entries=(entry.sequence,),
        )


def parts_of(reply: Entry) -> list[dict[str, Any]]:
    """The parts of the message of a reply, as recorded."""
    message = cast("dict[str, Any]", reply.data.get("message") or {})
    return cast("list[dict[str, Any]]", message.get("parts") or [])


def _see_call(run: RunSeen, entry: Entry) -> None:
    data = cast("dict[str, Any]", entry.data)
    result = cast("dict[str, Any] | None", data.get("result"))
    call_id = str(data.get("call_id") if result is None else result.get("tool_call_id"))
    call = run.calls.get(call_id)
    if call is None:
        if entry.kind == kinds.CALL_FINISHED:
            run.strangers.append((entry.sequence, call_id))
        return
    call.entries = (*call.entries, entry.sequence)
    if entry.kind == kinds.CALL_STARTED:
        call.ran = data.get("arguments") or {}
        call.repairs = tuple(data.get("repairs") or ())
        call.effect = data.get("effect")
    elif entry.kind == kinds.ATTEMPT_FAILED:
        call.failed_attempts += 1
    elif entry.kind == kinds.CALL_FINISHED:
        if call.result is not None:
            run.answered_again.append((entry.sequence, call.name or call_id))
            return
        call.result, call.answered_at = result, entry.sequence
        call.is_unknown = data.get("is_unknown") is True
        run.tool_s += float(data.get("duration_s") or 0.0)
