"""The way that a run took: milestones that it must pass, as a partial order, and minefields that it must not step on.

Each is a condition on a call, its result, the answer or the end state. A milestone comes `after` others where the model
had read what brought them before it made the call: calls of one reply follow on one another in writing only. Law: the
milestones are reached exactly if turns can be given to all of them that respect the order. Deliberately not here: calls
that are wanted one by one (`tasks`), and whose failure it is that one is missed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING, Final, NamedTuple

from wieldy.core.errors import UsageError
from wieldy.evals.tasks.pointers import check_pointer, value_at
from wieldy.evals.verdicts.equality import is_equal
from wieldy.evals.verdicts.saying import says
from wieldy.evals.verdicts.verdict import Verdict, failed

if TYPE_CHECKING:
    from wieldy.core.json import JsonValue
    from wieldy.evals.tasks.outcomes import CallMade, Outcome

MILESTONE: Final = "milestone"
OUT_OF_ORDER: Final = "milestone-order"
MINEFIELD: Final = "minefield"


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """Something that holds of an outcome, or not. Of what is given, all must hold, and of a call all for one call.

    Attributes:
        name: In words: what is told where it does not hold as wanted.
        tool: There is a call of this tool.
        arguments: Among its arguments are these.
        result: Its result contains this text.
        is_error: Whether it failed.
        answer: The answer contains this text.
        state: What the end state has at these JSON pointers.
        test: A function of yours of the outcome.
        after: Of a milestone: the names of those that come before it.
    """

    name: str
    tool: str | None = None
    arguments: Mapping[str, JsonValue] = field(default_factory=dict["str", "JsonValue"])
    result: str | None = None
    is_error: bool | None = None
    answer: str | None = None
    state: Mapping[str, JsonValue] = field(default_factory=dict["str", "JsonValue"])
    test: Callable[[Outcome], bool] | None = None
    after: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for place in self.state:
            check_pointer(place)
        of_call = self.tool is not None or self.arguments or self.result is not None or self.is_error is not None
        if not of_call and self.answer is None and not self.state and self.test is None:
            raise UsageError(f"The condition {self.name!r} always holds: expected what it asks for, found nothing.")

    @property
    def is_of_call(self) -> bool:
        """Whether it asks for a call."""
        return self.tool is not None or bool(self.arguments) or self.result is not None or self.is_error is not None


class Held(NamedTuple):
    """When a condition held.

    Attributes:
        turn: In which reply of the model; behind the last one for what holds in the end.
        entries: Of the call; empty for what holds in the end.
    """

    turn: int
    entries: tuple[int, ...]


def check_order(milestones: Sequence[Condition]) -> None:
    """The milestones have different names, and their order has no circle.

    Raises:
        UsageError: Not so, or one comes after a milestone that there is not.
    """
    names = [each.name for each in milestones]
    repeated = next((name for name in names if names.count(name) > 1), None)
    if repeated is not None:
        raise UsageError(f"Expected milestones of different names, found {repeated!r} twice.")
    for each in milestones:
        unknown = next((name for name in each.after if name not in names), None)
        if unknown is not None:
            raise UsageError(f"The milestone {each.name!r} comes after {unknown!r}: there is no milestone of that name")
    try:
        _sorted(milestones)
    except CycleError as error:
        circle = " after ".join(repr(name) for name in reversed(error.args[1]))
        raise UsageError(f"The order of the milestones has a circle: {circle}.") from None


def held(condition: Condition, outcome: Outcome, calls: Sequence[CallMade] | None = None) -> list[Held]:
    """All that the condition held of, in order; a call that meets it, or the end.

    Args:
        condition: What is asked for.
        outcome: What the run came to.
        calls: Those that may meet it; those that were carried out if left out.
    """
    if not _holds_in_the_end(condition, outcome):
        return []
    if condition.is_of_call:
        made = outcome.calls if calls is None else calls
        return [Held(call.turn, call.entries) for call in made if _is_met(condition, call)]
    last = max((call.turn for call in outcome.calls), default=-1)
    return [Held(last + 1, ())]


def missed(milestones: Sequence[Condition], outcome: Outcome) -> str | None:
    """Which milestone was not reached, or not in its order: a code, a colon and words; None if all were."""
    reached = dict[str, int]()
    for each in _sorted(milestones):
        times = [found.turn for found in held(each, outcome)]
        if not times:
            return f"{MILESTONE}: {each.name!r} was not reached"
        before = max((reached[name] for name in each.after), default=-1)
        later = [turn for turn in times if turn > before]
        if not later:
            names = ", ".join(map(repr, each.after))
            return f"{OUT_OF_ORDER}: {each.name!r} was reached, but not after {names}"
        reached[each.name] = min(later)  # the earliest leaves most room for what comes after
    return None


def stepped_on(
    minefields: Sequence[Condition], outcome: Outcome, written: Sequence[CallMade] | None = None
) -> Verdict | None:
    """A failure with the entries that show which minefield was stepped on; None if none was.

    Args:
        minefields: What must not be.
        outcome: What the run came to.
        written: The calls that count; those that were carried out if left out.
    """
    for each in minefields:
        found = held(each, outcome, written)
        if found:
            return failed(f"{MINEFIELD}: {each.name}", evidence=found[0].entries)
    return None


def _sorted(milestones: Sequence[Condition]) -> list[Condition]:
    """Each behind those that it comes after; otherwise as they are written."""
    by_name = {each.name: each for each in milestones}
    sorter = TopologicalSorter({each.name: each.after for each in milestones})
    return [by_name[name] for name in sorter.static_order()]


def _holds_in_the_end(condition: Condition, outcome: Outcome) -> bool:
    if condition.answer is not None and not says(outcome.text, condition.answer):
        return False
    missing = object()
    for pointer, value in condition.state.items():
        if not is_equal(value_at(outcome.state, pointer, missing), value):
            return False
    return condition.test is None or _is_so(condition.name, condition.test(outcome))


def _is_so(name: str, said: object) -> bool:
    """What a test of somebody's says; a sentence would be true whatever it says, and nothing at all would be false."""
    if not isinstance(said, bool):
        raise TypeError(f"expected True or False of the test of the condition {name!r}, found {said!r:.80}")
    return said


def _is_met(condition: Condition, call: CallMade) -> bool:
    if condition.tool is not None and call.name != condition.tool:
        return False
    if condition.is_error is not None and call.is_error is not condition.is_error:
        return False
    missing = object()
    if not all(is_equal(call.arguments.get(name, missing), value) for name, value in condition.arguments.items()):
        return False
    return condition.result is None or says(call.content, condition.result)
