"""An action by code as the journal has it: what a skill can be made from, and what its example answers from.

Pure reading. Deliberately not here: making a function of it (`snippets`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from wieldy.core.calls import ToolCall
from wieldy.core.errors import SkillError
from wieldy.run.actions.code.ended import ended_from_text
from wieldy.run.actions.code.levels import level_of
from wieldy.run.actions.code.skills.skill import RecordedCall, ToolRecord
from wieldy.run.actions.code.values import value_of
from wieldy.run.nested import entries_within, root_of
from wieldy.run.state import RunState, fold

if TYPE_CHECKING:
    from wieldy.core.calls import ToolResult
    from wieldy.core.influence import Sources
    from wieldy.core.json import JsonValue
    from wieldy.core.ports import Entry, Journal
    from wieldy.run.state import CallState


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedAction:
    """Code that came to its end, and what it did.

    Attributes:
        calls: That it made, in order.
        value: That it brought.
        tools: That it could call.
        run_id: Of the run that the code was.
        started: When that began, in seconds since the epoch.
        origin: The run and the call that people know it by.
        tainted_by: The untrusted sources that may have shaped the code, not those that it read.
    """

    code: str
    calls: tuple[RecordedCall, ...]
    value: JsonValue
    tools: tuple[ToolRecord, ...]
    run_id: str
    started: float
    origin: str
    tainted_by: Sources


def recorded_action(journal: Journal, run_id: str, call_id: str | None = None) -> RecordedAction:
    """The action that a call of a run was; that of the run's only one if no call is named.

    Raises:
        SkillError: There is no such action, it did not come to its end, or its value is nothing that JSON has.
        JournalError: The journal cannot be read.
    """
    entries = journal.read(run_id)
    if not entries:
        raise SkillError(f"There is no run {run_id!r} in the journal.")
    state = fold(entries)
    if level_of(state.model) is not None and call_id is None:
        return _action(entries, origin=run_id)
    found = {call.call.id: within for call in state.calls if (within := _code_of(journal, run_id, call))}
    if call_id is None and len(found) == 1:
        [call_id] = found
    if call_id is None or call_id not in found:
        there = ", ".join(found) or "none"
        wanted = "a call that ran code" if call_id is None else f"the call {call_id!r} to have run code"
        raise SkillError(f"Expected {wanted} in run {run_id}. The calls that did: {there}.")
    return _action(found[call_id], origin=f"{run_id} {call_id}")


def calls_around(journal: Journal, run_id: str) -> tuple[RecordedCall, ...]:
    """Every call that has succeeded in this run, in those around it and in those within them, in their order.

    A result of which a model was shown only a part, or the words of strangers set apart, is left out: it is not what
    the tool returned.
    """
    entries = journal.read(run_id)
    return tuple(_calls_below(journal, root_of(journal, fold(entries)))) if entries else ()


def _calls_below(journal: Journal, state: RunState) -> Iterator[RecordedCall]:
    for call in state.calls:
        within = entries_within(journal, state.run_id, call)
        if within:
            yield from _calls_below(journal, fold(within))
        elif level_of(state.model) is not None or _is_as_returned(call):
            yield from _recorded([call])


def _is_as_returned(call: CallState) -> bool:
    result = call.result
    return result is not None and call.whole is None and (_has_data(result) or result.trust == "trusted")


def _has_data(result: ToolResult) -> bool:
    return result.structured_content is not None


def _code_of(journal: Journal, run_id: str, call: CallState) -> tuple[Entry, ...]:
    entries = entries_within(journal, run_id, call)
    return tuple(entries) if entries and level_of(fold(entries[:1]).model) else ()


def _action(entries: Iterable[Entry], *, origin: str) -> RecordedAction:
    entries = tuple(entries)
    state = fold(entries)
    ended = ended_from_text(state.text)
    if ended is None or ended.status != "done":
        how = state.stop_reason or state.status if ended is None else ended.status
        raise SkillError(f"Expected code that came to its end in {origin}, found that it did not ({how}).")
    if ended.value_repr is not None:
        raise SkillError(f"Expected a value that JSON has of {origin}, found {ended.value_repr[:200]}.")
    unreadable = [call.call.id for call in state.calls if not isinstance(call.call, ToolCall)]
    if unreadable:
        raise SkillError(f"The code of {origin} made calls that could not be read: {', '.join(unreadable)}.")
    defined = cast("list[dict[str, Any]]", entries[0].data.get("tools") or [])  # as `run_started` is written
    return RecordedAction(
        code=state.prompt,
        calls=tuple(_recorded(state.calls)),
        value=ended.value,
        tools=tuple(ToolRecord(definition=definition) for definition in defined),
        run_id=state.run_id,
        started=state.started,
        origin=origin,
        tainted_by=state.began_tainted_by,
    )


def _recorded(calls: Iterable[CallState]) -> Iterator[RecordedCall]:
    for state in calls:
        call, result = state.call, state.result
        if not isinstance(call, ToolCall) or result is None or state.is_unknown:
            continue
        if result.is_error:
            yield RecordedCall(
                name=call.name, arguments=call.arguments, failure=result.failure or "tool", message=result.content
            )
        else:
            yield RecordedCall(name=call.name, arguments=call.arguments, value=value_of(result))
