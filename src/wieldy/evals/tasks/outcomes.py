"""What a run came to, as conditions and checks of a task see it: the answer, the calls, the end state.

Deliberately not here: what a task wants of it (`tasks`, `trajectory`).
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
        turn: In which reply the model made it, counted from 0; results are read after all calls of a reply.
        entries: The numbers of the entries that tell of it.
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


def outcome_of(
    run: RunSeen,
    within: Sequence[RunSeen] = (),
    controls: frozenset[str] = CONTROLS,
    *,
    state: JsonValue = None,
) -> Outcome:
    """The answer, the calls that were carried out, and the end state.

    Args:
        run: What the model was asked.
        within: The runs that its code was, in order: what they called counts.
        controls: Names of tools of the harness, whose calls do not count.
        state: What was found when the end state was looked at.
    """
    parts = parts_of(run.replies[-1]) if run.replies else []
    text = "".join(part["text"] for part in parts if part["type"] == "text")
    runs = (run, *within)
    turns = _turns(runs)
    calls = [
        _made(call, turns[at, call.entries[0]])
        for at, each in enumerate(runs)
        for call in each.calls.values()
        if call.started and call.name not in controls
    ]
    return Outcome(text, tuple(calls), state)


def _turns(runs: Sequence[RunSeen]) -> dict[tuple[int, int], int]:
    """The place of each reply, by its run and its entry, among all replies in the order in which they came."""
    replies = [(reply.time, at, reply.sequence) for at, run in enumerate(runs) for reply in run.replies]
    return {(at, sequence): turn for turn, (_, at, sequence) in enumerate(sorted(replies))}


def _made(call: CallSeen, turn: int) -> CallMade:
    result = cast("dict[str, Any]", call.result or {})
    return CallMade(
        name=call.name or "",
        arguments=call.arguments,
        content=str(result.get("content", "")),
        is_error=call.result is None or not call.succeeded,
        turn=turn,
        entries=call.entries,
    )
