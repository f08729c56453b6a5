"""Calls that are wanted, and whether those that were made are these.

Which of several made calls is which of those wanted is found so that as many fit as can; an argument that is left out
has its tool's default, also within an argument. Deliberately not here: the way that they were made in (`trajectory`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from wieldy.core.errors import UsageError
from wieldy.evals.verdicts.equality import is_equal, matched
from wieldy.run.policy.paths import with_defaults

if TYPE_CHECKING:
    from wieldy.core.json import JsonObject, JsonValue
    from wieldy.evals.tasks.outcomes import CallMade
    from wieldy.evals.verdicts.calls_seen import RunSeen

Order: TypeAlias = Literal["any", "as listed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedCall:
    """A call that is wanted.

    Attributes:
        arguments: The right value of each argument.
        alternatives: For arguments with more than one right value, all of them.
        exact: The arguments whose texts must be right to the letter, such as commands, code and paths.
    """

    name: str
    arguments: JsonObject = field(default_factory=dict["str", "JsonValue"])
    alternatives: Mapping[str, Sequence[JsonValue]] = field(default_factory=dict["str", "Sequence[JsonValue]"])
    exact: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        twice = self.arguments.keys() & self.alternatives.keys()
        if twice:
            raise UsageError(
                f"The wanted call of {self.name!r}: expected the right values of {min(twice)!r} in `arguments` or in "
                "`alternatives`, found both."
            )
        unknown = set(self.exact) - self.arguments.keys() - self.alternatives.keys()
        if unknown:
            raise UsageError(
                f"The wanted call of {self.name!r}: expected `exact` to name arguments with a right value, found "
                f"{min(unknown)!r}."
            )


class Selection(NamedTuple):
    """How many tools were wanted, how many were called, and how many of both are the same."""

    wanted: int
    called: int
    right: int


def selection(wanted: Sequence[ExpectedCall], made: Sequence[CallMade]) -> Selection:
    """Which tools were chosen, whatever their arguments."""
    ones, others = Counter(each.name for each in wanted), Counter(call.name for call in made)
    return Selection(ones.total(), others.total(), (ones & others).total())


def compare_calls(
    wanted: Sequence[ExpectedCall],
    made: Sequence[CallMade],
    run: RunSeen,
    *,
    order: Order = "any",
    extra_calls: bool = False,
) -> str | None:
    """What is wrong with the calls; None if they are those that are wanted."""
    if len(made) < len(wanted):
        return f"missing-call: {len(made)} calls instead of {len(wanted)}"
    if len(made) > len(wanted) and not extra_calls:
        return f"extra-call: {len(made)} calls instead of {len(wanted)}"
    fits = [[_is_wanted(call, expected, run) for call in made] for expected in wanted]
    served = matched(fits)
    if len(served) == len(wanted):
        is_in_order = order == "any" or _in_order(fits)
        return None if is_in_order else "wrong-order: the right calls, in another order"
    lacking = next(row for row in range(len(wanted)) if row not in served.values())
    return _what_is_wrong(wanted[lacking], wanted, made, [call for at, call in enumerate(made) if at not in served])


def may_become_right(
    wanted: Sequence[ExpectedCall], made: Sequence[CallMade], run: RunSeen, *, order: Order = "any"
) -> bool:
    """Whether calls can still follow with which these are the wanted ones, and no others."""
    if order == "as listed":
        return len(made) <= len(wanted) and all(map(_is_wanted, made, wanted, [run] * len(made)))
    return len(matched([[_is_wanted(call, expected, run) for expected in wanted] for call in made])) == len(made)


def _in_order(fits: list[list[bool]]) -> bool:
    """Whether every row finds a column behind that of the row before."""
    place = 0
    for row in fits:
        place = next((at + 1 for at in range(place, len(row)) if row[at]), 0)
        if place == 0:
            return False
    return True


def _is_wanted(made: CallMade, expected: ExpectedCall, run: RunSeen) -> bool:
    if made.name != expected.name:
        return False
    schema = run.schemas.get(made.name) or {}
    given, defaults = with_defaults(made.arguments, schema), with_defaults({}, schema)
    wanted = {**{name: [value] for name, value in expected.arguments.items()}, **expected.alternatives}
    missing = object()
    return all(
        any(
            is_equal(
                given.get(name, missing), with_defaults({name: option}, schema)[name], exact=name in expected.exact
            )
            for option in wanted.get(name, [defaults.get(name)])
        )
        for name in given.keys() | wanted.keys()
    )


def _what_is_wrong(
    lacking: ExpectedCall, wanted: Sequence[ExpectedCall], made: Sequence[CallMade], others: Sequence[CallMade]
) -> str:
    """Why a wanted call was not made; the others are those made that are none of the wanted."""
    of_same_tool = [call for call in others if call.name == lacking.name]
    if of_same_tool:
        return f"wrong-value: {lacking.name!r} was called with {of_same_tool[0].arguments!r:.120}"
    called = sum(call.name == lacking.name for call in made)
    if not called:
        return f"wrong-tool: {lacking.name!r} was not called"
    return f"wrong-tool: {called} calls of {lacking.name!r} instead of {sum(e.name == lacking.name for e in wanted)}"
