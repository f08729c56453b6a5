"""What was meant by a conversation: the same state after each turn, and everything found out that was to be found out.

It differs from the official rules in both directions. How the state was reached does not matter, so calls that change
something need not be the listed ones, and where a folder was entered or an error met on the way, nobody has to do the
same. What is to be found out is the result of calls that change nothing: it must have come up in this turn or one
before. Values are compared as JSON has them, not as Python or as text: 5 and 5.0 are the same, 1 and true are not.
Where the user wants what cannot be done yet, any call is wrong, and what it brought counts for nothing later.

| reason | says |
|---|---|
| `premature-change` | something was changed in a turn that allows nothing to be done |
| `needless-call` | a call in such a turn, which changed nothing |
| `no-call` | nothing was called in a turn that needed calls |
| `wrong-state` | a service is not as it should be after the turn |
| `not-found-out` | the result of a call that finds something out has not come up |
| `unfinished` | the conversation ended before its last turn |

Deliberately not here: journals, and whose failure it was (`scoring`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from wieldy.evals.bfcl.conversations.data import BfclConversation, Mistake, Turn
from wieldy.evals.bfcl.conversations.states import difference, is_same, state_of
from wieldy.evals.bfcl.conversations.worlds import World
from wieldy.evals.bfcl.conversations.written import read_call


class Made(NamedTuple):
    """A call that a model made.

    Attributes:
        arguments: With which it was carried out.
        is_carried_out: False for one that was refused, so that nothing came of it.
    """

    name: str
    arguments: Mapping[str, Any]
    is_carried_out: bool = True


class Finding(NamedTuple):
    """What a call has found out.

    Attributes:
        arguments: All of them, by name.
        value: Its result.
        is_error: Whether that is an error, be it one that the service reports.
        is_drawn: Whether that is drawn by chance, so that only the call itself can be asked for.
    """

    name: str
    arguments: dict[str, Any]
    value: Any
    is_error: bool
    is_drawn: bool = False


class Wanted(NamedTuple):
    """What a turn should come to.

    Attributes:
        state: Of the services after it.
        findings: What is to be known by then.
    """

    state: dict[str, Any]
    findings: tuple[Finding, ...]


def check(conversation: BfclConversation, turns: Sequence[Sequence[Made]]) -> Mistake | None:
    """The first thing that is wrong; None if nothing is.

    Args:
        conversation: The task.
        turns: The calls of each turn, in order; fewer than the conversation has if it ended before.

    Raises:
        UsageError: The services cannot be had.
    """
    world, known = conversation.world(), list[Finding]()
    before = state_of(world)
    for at, (turn, goal) in enumerate(zip(conversation.turns, wanted(conversation), strict=True)):
        if at >= len(turns):
            return Mistake(at, f"unfinished: the conversation ended before turn {at + 1} of {len(conversation.turns)}")
        brought = [_found(world, call.name, (), call.arguments) for call in turns[at] if call.is_carried_out]
        now = state_of(world)
        if turn.calls:
            known += brought
            reason = _wrong_in_turn(turns[at], now, goal, known)
        else:
            reason = _wrong_in_idle_turn(turns[at], before, now)
        if reason is not None:
            return Mistake(at, reason)
        before = now
    return None


def _wrong_in_turn(made: Sequence[Made], now: dict[str, Any], goal: Wanted, known: list[Finding]) -> str | None:
    wrong, other = None, difference(now, goal.state)
    lacking = next((each for each in goal.findings if not _is_known(each, known)), None)
    if other is not None:
        wrong = f"wrong-state: {other}"
    elif lacking is not None:
        wrong = f"not-found-out: the result of {lacking.name}({lacking.arguments!r:.80})"
    if wrong is not None and not made:
        return f"no-call: nothing was called, and {wrong}"
    return wrong


def _wrong_in_idle_turn(made: Sequence[Made], before: dict[str, Any], now: dict[str, Any]) -> str | None:
    if not made:
        return None
    changed = difference(now, before)
    if changed is not None:
        return f"premature-change: {changed}"
    return f"needless-call: {made[0].name!r} where nothing can be done yet"


def _is_known(wanted: Finding, known: list[Finding]) -> bool:
    if wanted.is_drawn:
        return any(each.name == wanted.name and is_same(each.arguments, wanted.arguments) for each in known)
    return any(is_same(each.value, wanted.value) for each in known)


# The right calls


@lru_cache(maxsize=1024)
def wanted(conversation: BfclConversation) -> tuple[Wanted, ...]:
    """What each turn should come to, by its right calls."""
    world = conversation.world()
    return tuple(_wanted_in(world, turn) for turn in conversation.turns)


def _wanted_in(world: World, turn: Turn) -> Wanted:
    findings = list[Finding]()
    before, hidden = state_of(world), world.hidden()
    for text in turn.calls:
        found = _found(world, *read_call(text))
        now, left = state_of(world), world.hidden()
        if not found.is_error and is_same(now, before) and left.is_where(hidden):
            findings.append(found._replace(is_drawn=left.chance != hidden.chance))
        before, hidden = now, left
    return Wanted(before, tuple(findings))


def _found(world: World, name: str, positional: Sequence[Any], named: Mapping[str, Any]) -> Finding:
    outcome = world.call(name, positional, named)
    try:
        arguments = world.arguments(name, positional, named)
    except (TypeError, KeyError):
        arguments = dict(named)
    value = _value(outcome.text)
    is_error = outcome.is_error or (isinstance(value, dict) and "error" in value)
    return Finding(name, arguments, value, is_error)


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text
