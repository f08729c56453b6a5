"""Milestones as a partial order, minefields, and conditions on calls, results, answers and the end state."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wieldy import UsageError
from wieldy.evals.tasks.outcomes import CallMade, Outcome
from wieldy.evals.tasks.trajectory import Condition, check_order, held, missed, stepped_on

TOOLS = "abcd"


def made(tool: str, turn: int, content: str = "", **arguments: object) -> CallMade:
    return CallMade(tool, arguments, content, False, turn, (turn,))  # type: ignore[arg-type]


def outcome(*turns: str, text: str = "", state: object = None) -> Outcome:
    """An outcome of turns, each some calls of one letter."""
    calls = tuple(made(tool, turn) for turn, tools in enumerate(turns) for tool in tools)
    return Outcome(text, calls, state)  # type: ignore[arg-type]


def milestone(name: str, *after: str) -> Condition:
    return Condition(name=name, tool=name, after=after)


@st.composite
def orders(draw: st.DrawFn) -> list[Condition]:
    """Milestones, each after some of those before it in the alphabet, as they may be written."""
    names = draw(st.lists(st.sampled_from(TOOLS), unique=True, max_size=4).map(sorted))
    found = [
        milestone(name, *draw(st.lists(st.sampled_from(names[:at]), unique=True))) if at else milestone(name)
        for at, name in enumerate(names)
    ]
    return draw(st.permutations(found))


@given(orders(), st.lists(st.text(alphabet=TOOLS, max_size=3), max_size=4))
def test_milestones_are_reached_exactly_if_turns_can_be_given_to_them(
    milestones: list[Condition], turns: list[str]
) -> None:
    check_order(milestones)
    times = [[turn for turn, tools in enumerate(turns) if each.name in tools] for each in milestones]
    names = [each.name for each in milestones]
    fits = any(
        all(
            chosen[names.index(before)] < at
            for each, at in zip(milestones, chosen, strict=True)
            for before in each.after
        )
        for chosen in product(*times)
    )
    assert (missed(milestones, outcome(*turns)) is None) is fits


@given(orders(), st.lists(st.text(alphabet=TOOLS, max_size=3), max_size=4), st.lists(st.sampled_from(TOOLS)))
def test_more_turns_behind_never_undo_a_milestone(
    milestones: list[Condition], turns: list[str], more: list[str]
) -> None:
    if missed(milestones, outcome(*turns)) is None:
        assert missed(milestones, outcome(*turns, *more)) is None


@given(st.lists(st.text(alphabet=TOOLS, max_size=3), max_size=4), st.sampled_from(TOOLS))
def test_a_minefield_is_stepped_on_exactly_if_its_call_was_carried_out(turns: list[str], tool: str) -> None:
    verdict = stepped_on([Condition(name="never", tool=tool)], outcome(*turns))
    first = next((turn for turn, tools in enumerate(turns) if tool in tools), None)
    assert (None if verdict is None else verdict.evidence) == (None if first is None else (first,))
    assert verdict is None or (verdict.kind, verdict.code) == ("fail", "minefield")


@pytest.mark.parametrize(
    ("turns", "code"),
    [
        (("a", "b"), None),
        (("ab",), "milestone-order"),  # b was written before the result of a was read
        (("b", "a"), "milestone-order"),
        (("b", "a", "b"), None),
        (("a",), "milestone"),
        ((), "milestone"),
    ],
)
def test_what_comes_after_was_written_when_the_result_was_read(turns: tuple[str, ...], code: str | None) -> None:
    said = missed([milestone("b", "a"), milestone("a")], outcome(*turns))
    assert (said and said.partition(":")[0]) == code


@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        (Condition(name="c", tool="pay", arguments={"sum": 5.0}), True),
        (Condition(name="c", tool="pay", arguments={"sum": 5, "to": "x"}), False),
        (Condition(name="c", tool="pay", arguments={"sum": None, "to": None}), False),
        (Condition(name="c", tool="pay", result="PAID 5"), True),
        (Condition(name="c", tool="pay", result="paid 50"), False),
        (Condition(name="c", is_error=True), False),
        (Condition(name="c", tool="pay", is_error=False), True),
        (Condition(name="c", answer="paid"), True),
        (Condition(name="c", answer="refunded"), False),
        (Condition(name="c", state={"/orders/17": "paid"}), True),
        (Condition(name="c", state={"/orders/18": None}), False),
        (Condition(name="c", state={"/orders/17": "paid"}, tool="pay"), True),
        (Condition(name="c", state={"/orders/17": "open"}, tool="pay"), False),
        (Condition(name="c", test=lambda seen: len(seen.calls) == 1), True),
        (Condition(name="c", test=lambda seen: len(seen.calls) == 2, tool="pay"), False),
    ],
)
def test_a_condition_holds_where_all_of_it_does(condition: Condition, holds: bool) -> None:
    calls = (made("pay", 0, "paid 5.00", sum=5, to="y"),)
    assert bool(held(condition, Outcome("It is paid.", calls, {"orders": {"17": "paid"}}))) is holds


@pytest.mark.parametrize("said", [None, "yes", "", 1, 0, []])
def test_a_test_that_says_neither_true_nor_false_is_an_error(said: Any) -> None:
    with pytest.raises(TypeError, match="True or False of the test of the condition 'c'"):
        held(Condition(name="c", test=lambda _: said), outcome("a"))


def test_what_holds_in_the_end_comes_after_every_call() -> None:
    end = Condition(name="said", answer="done", after=("a",))
    assert missed([end, milestone("a")], outcome("b", "a", text="done")) is None
    assert missed(
        [Condition(name="a", tool="a", after=("said",)), Condition(name="said", answer="done")],
        outcome("a", text="done"),
    )


@pytest.mark.parametrize(
    ("milestones", "words"),
    [
        ([milestone("a"), milestone("a")], "'a' twice"),
        ([milestone("a", "b")], "no milestone of that name"),
        ([milestone("a", "b"), milestone("b", "a")], "circle"),
        ([milestone("a", "a")], "circle"),
    ],
)
def test_an_order_that_cannot_be_is_refused(milestones: list[Condition], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        check_order(milestones)


def test_a_condition_that_asks_for_nothing_is_refused() -> None:
    with pytest.raises(UsageError, match="always holds"):
        Condition(name="nothing")
