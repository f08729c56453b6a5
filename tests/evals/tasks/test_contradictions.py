"""Tasks that no run could pass are told from those that a run can."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wieldy import tool
from wieldy.evals.cases.case import Attempt
from wieldy.evals.tasks.contradictions import contradiction
from wieldy.evals.tasks.task import Condition, ExpectedCall, Task
from wieldy.evals.tasks.task_cases import case_of, oracle
from wieldy.evals.tasks.worlds import World
from wieldy.run.journal import MemoryJournal


@tool(effect="read")
def status(order_id: str, detail: Literal["short", "Full"] = "short") -> str:
    """How far an order is."""
    return f"{order_id} {detail}"


@tool
def refund(order_id: str, amount: int = 5) -> str:
    """Give money back."""
    return f"{order_id} {amount}"


def wants(name: str, alternatives: dict[str, list[Any]] | None = None, **arguments: Any) -> ExpectedCall:
    return ExpectedCall(name=name, arguments=arguments, alternatives=alternatives or {})


def task(*calls: ExpectedCall, **more: Any) -> Task:
    return Task(
        **{
            "id": "t",
            "prompt": "Do it.",
            "tools": () if "environment" in more else [status, refund],
            "calls": calls or None,
            **more,
        }
    )


ASKED = Condition(name="asked", tool="status")
PAID = Condition(name="paid", state={"/orders/17": "paid"})


def says(text: str) -> Condition:
    return Condition(name=text, answer=text)


def at(place: str, value: Any) -> Condition:
    return Condition(name=place, state={place: value})


def shop(changes: list[str] | None = None) -> World[Any]:
    return World(
        start=lambda: {"orders": {"17": "open", "18": "open"}, "list": [1]},
        tools=lambda _: [status, refund],
        look=lambda state: state,
        changes=None if changes is None else tuple(changes),
    )


WORLD = World(start=lambda: 0, tools=lambda _: [status], look=lambda state: state)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (task(wants("nosuch")), "'nosuch' is wanted, and is not offered"),
        (task(wants("refund", order_id="1"), tools=[], environment=WORLD), "'refund' is wanted, and is not offered"),
        (task(wants("status", order_id=17)), "do not fit its schema"),
        (task(wants("status")), "do not fit its schema"),
        (task(wants("status", order_id="1", nosuch=1)), "do not fit its schema"),
        (task(wants("status", order_id="1", detail="long")), "do not fit its schema"),
        (task(wants("refund", {"amount": ["5", None]}, order_id="1")), "do not fit its schema"),
        (task(wants("status", {"order_id": []})), "has no value for 'order_id'"),
        (task(wants("refund", order_id="1"), refuse=True), "`refuse` says that nothing may be changed"),
        (task(milestones=(Condition(name="m", tool="refund"),), refuse=True), "nothing may be changed"),
        (task(calls=(), refuse=False), "nothing may be called"),
        (task(tools=[status], refuse=False), "no tool that is offered may change anything"),
        (task(tools=[], environment=WORLD, refuse=False), "no tool that is offered may change anything"),
        (task(milestones=(Condition(name="m", tool="nosuch"),)), "which is not offered"),
        (task(wants("refund", order_id="1"), milestones=(ASKED,)), "none of the `calls`"),
        (task(milestones=(ASKED,), minefields=(Condition(name="b", tool="status"),)), "steps on the minefield 'b'"),
        (
            task(
                milestones=(Condition(name="a", tool="status", arguments={"order_id": "1"}, result="x"),),
                minefields=(Condition(name="b", arguments={"order_id": "1"}),),
            ),
            "steps on the minefield 'b'",
        ),
        (
            task(wants("status", order_id="1"), minefields=(Condition(name="b", arguments={"order_id": "1"}),)),
            "a wanted call steps on the minefield 'b'",
        ),
        (task(wants("refund", order_id="1"), unknown=("refund.order_id",)), "which is `unknown`"),
        (task(milestones=(replace(ASKED, arguments={"order_id": 5}),)), "do not fit the schema of 'status'"),
        (task(milestones=(replace(ASKED, arguments={"nosuch": 5}),)), "do not fit the schema of 'status'"),
        (task(milestones=(replace(ASKED, arguments={"detail": "long"}),)), "do not fit the schema of 'status'"),
        (task(answer=("It was Shipped.",), minefields=(says("shipped"),)), "steps on the minefield 'shipped'"),
        (task(milestones=(says("40 euros"),), minefields=(says("40"),)), "steps on the minefield '40'"),
        (task(milestones=(PAID,), environment=shop(), refuse=True), "wants another state"),
        (task(milestones=(PAID,), environment=shop([])), "none of `changes`"),
        (task(milestones=(PAID,), environment=shop(["/orders/18"])), "none of `changes`"),
        (task(milestones=(at("/orders", {"17": "paid"}),), environment=shop(["/orders/17"])), "none of `changes`"),
    ],
)
@pytest.mark.anyio
async def test_what_no_run_could_pass_is_an_invalid_task(wrong: Task, words: str) -> None:
    assert words in (contradiction(wrong) or "")
    journal = MemoryJournal()
    case = case_of(wrong)
    model = oracle(task(wants("status", order_id="1")))
    ids = await case.run(Attempt(model=model, journal=journal, metadata={}))
    judged = case.judge([journal.read(run_id) for run_id in ids])
    assert (judged.verdict.kind, judged.verdict.code) == ("invalid-task", "contradiction")
    assert judged.measures == {}


@pytest.mark.parametrize(
    "right",
    [
        task(wants("status", {"detail": ["long", "Full"]}, order_id="1")),
        task(wants("status", order_id="1", detail="FULL")),  # texts are the same whatever their case
        task(wants("refund", {"order_id": ["1", "2"]}), minefields=(Condition(name="b", arguments={"order_id": "1"}),)),
        task(wants("status", order_id="1"), minefields=(Condition(name="b", tool="status", is_error=True),)),
        task(wants("status", order_id="1"), refuse=True),
        task(milestones=(replace(ASKED, arguments={"detail": "FULL"}),)),
        task(answer=("40",), minefields=(says("140"), says("4"), replace(says("40"), tool="status"))),
        task(milestones=(PAID,), environment=shop(["/orders/17"])),
        task(milestones=(PAID,), environment=shop(["/orders/*"])),
        task(milestones=(at("/orders/17", "Open"),), environment=shop([]), refuse=True),
        task(milestones=(at("/orders", {"17": "paid", "18": "open"}),), environment=shop(["/orders/17"])),
        task(milestones=(at("/new/place", 1),), environment=shop(["/new"])),
        task(milestones=(at("/list/7", 1),), environment=shop(["/list"])),
        task(wants("refund", order_id="1"), milestones=(ASKED,), extra_calls=True),
        task(
            milestones=(ASKED,),
            minefields=(Condition(name="b", tool="status", arguments={"order_id": "1"}),),
            refuse=True,
        ),
    ],
)
def test_what_a_run_could_pass_is_none(right: Task) -> None:
    assert contradiction(right) is None


VALUES = st.none() | st.integers(0, 3) | st.sampled_from(["1", "short", "full", "x"])


@given(st.dictionaries(st.sampled_from(["order_id", "amount", "detail"]), VALUES), st.sampled_from([status, refund]))
def test_arguments_are_possible_as_the_tool_says(arguments: dict[str, Any], wanted: Any) -> None:
    def of(value: dict[str, Any]) -> bool:
        names = {"status": {"order_id", "detail"}, "refund": {"order_id", "amount"}}[wanted.name]
        return (
            value.keys() <= names
            and isinstance(value.get("order_id"), str)
            and value.get("detail", "short") in ("short", "full")
            and isinstance(value.get("amount", 5), int)
        )

    assert (contradiction(task(wants(wanted.name, **arguments))) is None) is of(arguments)
