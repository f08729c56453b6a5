"""What a run came to, as conditions and checks of a task see it: the answer, the calls, the end state.

The calls of a trial are those that the model wrote in its run and by its code in the runs below, tools of the harness
aside (`written_calls`); those that were carried out are part of the outcome. Law: a call counts the same whether the
model made it itself or by code. Deliberately not here: what a task wants of it (`tasks`, `trajectory`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

from wieldy.evals.verdicts.calls_seen import CallSeen, RunSeen, parts_of
from wieldy.run.results import READ_RESULT
from wieldy.run.searching import SEARCH_TOOLS

if TYPE_CHECKING:
    from wieldy.core.json import JsonObject, JsonValue

CONTROLS: Final = frozenset({"finish", "python", READ_RESULT, SEARCH_TOOLS})
"""Tools of the harness itself: by them a model searches, reads on, writes code and ends."""


class CallMade(NamedTuple):
    """A call that was carried out, and what came back.

    Attributes:
        arguments: With which it ran: what the model wrote, and where that was repaired, what came of it.
        turn: In which reply the model made it, counted from 0; results are read after all calls of a reply.
        entries: The numbers of the entries that tell of it; none for a call by code, whose entries are another run's.
    """

    name: str
    arguments: JsonObject
    content: str
    is_error: bool
    turn: int = 0
    entries: tuple[int, ...] = ()


class Outcome(NamedTuple):
    """What a check is shown.

    Attributes:
        text: The answer.
        calls: Those that were carried out, in the order in which the model made them.
        state: What the environment was in the end, as JSON; None where the task has none.
    """

    text: str
    calls: tuple[CallMade, ...]
    state: JsonValue = None


class WrittenCall(NamedTuple):
    """A call that the model wrote, carried out or not.

    Attributes:
        made: The call as conditions see it; what came back is empty where it was not carried out.
        seen: What the journal says of it.
        run: Which of the trial's runs it is of: 0 for the model's own, the others by code.
        is_corrected: Whether a call of a later reply, which was carried out, stands for it.
    """

    made: CallMade
    seen: CallSeen
    run: int
    is_corrected: bool


def written_calls(runs: Sequence[RunSeen], controls: frozenset[str] = CONTROLS) -> tuple[WrittenCall, ...]:
    """The calls of a trial, run by run and each in the order in which the model wrote them.

    Args:
        runs: What the model was asked, and behind it the runs that its code was.
        controls: Names of tools of the harness, whose calls do not count.
    """
    turns = _turns(runs)
    return tuple(
        WrittenCall(
            made=_made(call, turns[at, call.entries[0]], call.entries if at == 0 else ()),
            seen=call,
            run=at,
            is_corrected=run.is_corrected(call),
        )
        for at, run in enumerate(runs)
        for call in run.calls.values()
        if call.name not in controls
    )


def outcome_of(run: RunSeen, written: Sequence[WrittenCall], *, state: JsonValue = None) -> Outcome:
    """The answer, the calls that were carried out, and the end state.

    Args:
        run: What the model was asked.
        written: The calls of the trial.
        state: What was found when the end state was looked at.
    """
    parts = parts_of(run.replies[-1]) if run.replies else []
    text = "".join(part["text"] for part in parts if part["type"] == "text")
    return Outcome(text, tuple(call.made for call in written if call.seen.started), state)


def _turns(runs: Sequence[RunSeen]) -> dict[tuple[int, int], int]:
    """The place of each reply, by its run and its entry, among all replies in the order in which they came."""
    replies = [(reply.time, at, reply.sequence) for at, run in enumerate(runs) for reply in run.replies]
    return {(at, sequence): turn for turn, (_, at, sequence) in enumerate(sorted(replies))}


def _made(call: CallSeen, turn: int, entries: tuple[int, ...]) -> CallMade:
    result = cast("dict[str, Any]", (call.result if call.started else None) or {})
    return CallMade(
        name=call.name or "",
        arguments=call.arguments if call.ran is None else call.ran,
        content=str(result.get("content", "")),
        is_error=call.result is None or not call.succeeded,
        turn=turn,
        entries=entries,
    )
