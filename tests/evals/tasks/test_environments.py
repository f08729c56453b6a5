"""Environments: fresh for each trial, looked at in the end, and judged by what was found."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from wieldy import ToolError, UsageError, tool
from wieldy.core.json import JsonValue
from wieldy.core.ports import Model
from wieldy.evals.cases.case import Attempt
from wieldy.evals.cases.results import Trial
from wieldy.evals.studies.running import ORACLE, Study, run_study
from wieldy.evals.tasks.datasets import suite_from
from wieldy.evals.tasks.environments import Stage, is_beside
from wieldy.evals.tasks.task import Condition, ExpectedCall, Outcome, Task
from wieldy.evals.tasks.task_cases import case_of
from wieldy.evals.tasks.worlds import World
from wieldy.run.journal import MemoryJournal
from wieldy.run.policy import Deny, Policy, allow_all
from wieldy.testing import ScriptedModel, call, text

Orders = dict[str, str]


def tools_of(orders: Orders) -> list[Any]:
    @tool(effect="idempotent")
    def cancel(order_id: str) -> str:
        """Cancel an order."""
        if order_id not in orders:
            raise ToolError(f"There is no order {order_id}.")
        orders[order_id] = "cancelled"
        return "done"

    return [cancel]


def world(*changes: str) -> World[Orders]:
    return World(
        start=lambda: {"17": "open", "18": "open"},
        tools=tools_of,
        look=dict[str, JsonValue],
        changes=changes or None,
    )


def task(**more: Any) -> Task:
    said: dict[str, Any] = {"milestones": (Condition(name="cancelled", state={"/17": "cancelled"}),), **more}
    return Task(id="t", prompt="Cancel order 17.", environment=said.pop("environment", world("/17")), **said)


def cancelling(*order_ids: str) -> ScriptedModel:
    """A model that cancels these orders one after the other; for `look` it only looks."""
    calls = [call("look") if each == "look" else call("cancel", {"order_id": each}) for each in order_ids]
    return ScriptedModel([*([each] for each in calls), [text("Done.")]])


@tool(effect="read")
def look() -> str:
    """What there is."""
    return "two orders"


async def judged(wanted: Task, model: Model, policy: Policy = allow_all) -> tuple[str, str, dict[str, float]]:
    journal = MemoryJournal()
    case = case_of(wanted)
    ids = await case.run(Attempt(model=model, journal=journal, policy=policy, metadata={}))
    runs = [journal.read(run_id) for run_id in ids]
    assert [is_beside(entries) for entries in runs] == [False, True]
    found = case.judge(runs)
    assert case.judge(runs) == found
    verdict = found.verdict
    assert verdict.kind == "pass" or verdict.evidence
    assert set(verdict.evidence) <= {entry.sequence for entry in runs[verdict.run]}
    assert verdict.code not in ("side-effect", "end-state") or verdict.run == 1
    return found.verdict.kind, found.verdict.code, dict(found.measures)


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("order_ids", "expected"),
    [
        (("17",), ("pass", "")),
        ((), ("fail", "milestone")),
        (("18",), ("fail", "milestone")),
        (("17", "18"), ("fail", "side-effect")),
        (("17", "19"), ("pass", "")),  # an error is no effect
    ],
)
async def test_the_end_state_decides(order_ids: Sequence[str], expected: tuple[str, str]) -> None:
    assert (await judged(task(), cancelling(*order_ids)))[:2] == expected


@pytest.mark.anyio
async def test_what_changed_unwanted_is_counted() -> None:
    _, _, measures = await judged(task(), cancelling("17", "18"))
    assert (measures["side_effects"], measures["effects_named"]) == (1.0, 1.0)
    _, _, measures = await judged(task(environment=world()), cancelling("17", "18"))
    assert "side_effects" not in measures


@pytest.mark.anyio
async def test_a_check_is_shown_the_end_state() -> None:
    def all_open(outcome: Outcome) -> bool:
        return outcome.state == {"17": "open", "18": "open"}

    wanted = task(milestones=(), environment=world(), check=all_open)
    assert (await judged(wanted, cancelling()))[0] == "pass"
    assert (await judged(wanted, cancelling("18")))[:2] == ("fail", "check")


class Broken:
    """An environment that cannot be looked at."""

    identity = "broken"

    @asynccontextmanager
    async def begin(self) -> AsyncGenerator[Stage]:
        async def look() -> JsonValue:
            raise ToolError("the server is gone")

        yield Stage(tools=tools_of({"17": "open"}), look=look)

    def judge(self, end: JsonValue) -> None:
        raise AssertionError(f"Judged, though nothing was found: {end}.")

    def measures(self, end: JsonValue) -> dict[str, float]:
        raise AssertionError(f"Counted, though nothing was found: {end}.")


@pytest.mark.anyio
async def test_an_environment_that_cannot_be_looked_at_is_its_own_failure() -> None:
    assert (await judged(task(environment=Broken()), cancelling("17")))[:2] == ("unscored", "end-state")


@pytest.mark.anyio
async def test_an_environment_that_cannot_judge_is_a_fault_of_the_task() -> None:
    def start() -> Orders:
        starts.append(1)
        if len(starts) > 2:  # its digest, and the beginning of the trial
            raise KeyError("17")
        return {"17": "open"}

    starts = list[int]()
    broken = World(start=start, tools=tools_of, look=dict[str, JsonValue], changes=("/17",))
    assert (await judged(task(environment=broken), cancelling("17")))[:2] == ("unscored", "check-failed")


LEAVING = """
import itertools, sys
from wieldy.evals import Condition, Task, World

starts = itertools.count()

def late():
    if next(starts):
        raise KeyError("17")
    return {}

def leave(*_):
    sys.exit(0)

def world(start):
    return World(start=start, tools=lambda _: [], look=lambda state: state)

TASKS = [
    Task(id="check", prompt="Hello", check=leave),
    Task(id="test", prompt="Hello", milestones=(Condition(name="m", test=leave),)),
    Task(id="begin", prompt="Hello", check=lambda _: True, environment=world(late)),
    Task(id="fine", prompt="Hello", check=lambda _: True),
]
"""


@pytest.mark.anyio
async def test_code_of_one_task_that_fails_or_leaves_says_nothing_of_the_others(tmp_path: Path) -> None:
    path = tmp_path / "tasks.py"
    path.write_text(LEAVING, encoding="utf-8")
    trials = await ran(path, tmp_path / "out", ORACLE)
    told = {trial.task: (trial.verdict.kind, trial.verdict.layer, trial.verdict.code) for trial in trials}
    assert told == {
        "check": ("unscored", "task", "check-failed"),
        "test": ("unscored", "task", "check-failed"),
        "begin": ("unscored", "task", "cannot-begin"),
        "fine": ("pass", None, ""),
    }


@pytest.mark.parametrize("how", ["sys.exit(0)", "raise KeyError(17)"])
def test_an_environment_that_cannot_be_made_is_told_with_its_file(tmp_path: Path, how: str) -> None:
    path = tmp_path / "tasks.py"
    path.write_text(LEAVING.replace("if next(starts):", "if True:").replace('raise KeyError("17")', how))
    with pytest.raises(UsageError, match=r"tasks\.py: the environment of the task 'begin' could not begin"):
        suite_from(path)


@pytest.mark.anyio
async def test_large_and_odd_end_states_come_back_as_they_were() -> None:
    odd: Any = {"": None, "a/b": [1, 2.5, True, {"ü\u202e<b>": "x" * 300_000}], "list": list(range(20_000))}
    seen = list[JsonValue]()

    def same(outcome: Outcome) -> bool:
        seen.append(outcome.state)
        return outcome.state == odd

    still = World[Any](start=lambda: odd, tools=lambda _: (), look=lambda now: now)
    assert (await judged(task(milestones=(), environment=still, check=same), cancelling()))[0] == "pass"
    assert seen


LINES: list[dict[str, Any]] = [
    {
        "tool": {
            "name": "cancel",
            "parameters": {"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]},
            "results": [
                {"arguments": {"id": each}, "result": "done", "set": {f"/orders/{each}": "cancelled"}}
                for each in ("17", "18")
            ],
        }
    },
    {
        "id": "cancel",
        "prompt": "Cancel order 17.",
        "state": {"orders": {"17": "open", "18": "open"}},
        "changes": ["/orders/17"],
        "calls": [{"name": "cancel", "arguments": {"id": "17"}}],
        "milestones": [{"name": "cancelled", "state": {"/orders/17": "cancelled"}}],
        "scripts": {
            "careless": [{"name": "cancel", "arguments": {"id": "17"}}, {"name": "cancel", "arguments": {"id": "18"}}]
        },
        "extra_calls": True,
    },
]


def write(path: Path, *rows: object) -> Path:
    path.write_text("\n".join(json.dumps(row) for row in rows))
    return path


def nothing(progress: object) -> None:
    del progress


async def ran(path: Path, folder: Path, model: str = ORACLE) -> list[Trial]:
    return await run_study(Study(suite=suite_from(path), models=(model,), folder=folder, trials=2), nothing)


@pytest.mark.anyio
async def test_a_line_may_have_a_state_that_tools_change(tmp_path: Path) -> None:
    path = write(tmp_path / "tasks.jsonl", *LINES)
    trials = await ran(path, tmp_path / "a")
    assert [trial.verdict.kind for trial in trials] == ["pass", "pass"]  # the second found a fresh state
    assert [len(trial.runs) for trial in trials] == [2, 2]
    trials = await ran(path, tmp_path / "b", "script:careless")
    assert [trial.verdict.code for trial in trials] == ["side-effect"] * 2


@pytest.mark.parametrize("changes", ["/orders/17", b"/a", ("/a", 1), {"/a": 1}, 5])
def test_what_may_change_is_a_tuple_of_pointers(changes: Any) -> None:
    with pytest.raises(UsageError, match=r"World\.changes"):
        World[dict[str, Any]](start=dict, tools=lambda _: [], look=dict, changes=changes)


@pytest.mark.anyio
async def test_a_look_costs_the_trial_nothing(tmp_path: Path) -> None:
    results = [{"arguments": {"id": "17"}, "result": "done"}]
    without = [
        {"tool": {**LINES[0]["tool"], "results": results, "effect": "idempotent"}},
        {key: value for key, value in LINES[1].items() if key not in ("state", "changes", "milestones")},
    ]
    (one, _) = await ran(write(tmp_path / "a.jsonl", *without), tmp_path / "a")
    (other, _) = await ran(write(tmp_path / "b.jsonl", *LINES), tmp_path / "b")
    for name in ("input_tokens", "output_tokens", "requests", "calls", "behaviour", "stop_reason"):
        assert getattr(one, name) == getattr(other, name), name
    assert other.measures["calls_started"] == 1


@pytest.mark.parametrize(
    ("part", "words"),
    [
        ({"workspace": {}}, "found both"),
        ({"milestones": [{"name": "x", "sate": {}}]}, "'sate' is no part of a condition"),
        ({"milestones": [{"name": "x", "tool": "a", "after": ["y"]}]}, "no milestone"),
        ({"unknown": ["cancel"]}, "TOOL.PARAMETER"),
        ({"variants": [3]}, "prompt|messages|expected"),
    ],
)
def test_a_line_that_says_what_cannot_be_is_refused(tmp_path: Path, part: dict[str, Any], words: str) -> None:
    path = write(tmp_path / "tasks.jsonl", LINES[0], LINES[1] | part)
    with pytest.raises(UsageError, match=words):
        suite_from(path)


def test_another_environment_makes_another_task() -> None:
    one, other = task(), replace(task(), environment=world("/18"))
    assert case_of(one).digest == case_of(task()).digest
    assert (
        len({case_of(each).digest for each in (one, other, task(refuse=True), task(unknown=("cancel.order_id",)))}) == 4
    )


CANCEL = ExpectedCall(name="cancel", arguments={"order_id": "17"})


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("wanted", "order_ids", "expected", "measure"),
    [
        (task(milestones=(), refuse=True), ("17",), ("fail", "under-refusal"), {"under_refusal": 1, "must_refuse": 1}),
        (task(milestones=(), refuse=True), (), ("pass", ""), {"under_refusal": 0, "must_refuse": 1}),
        (task(milestones=(), refuse=False, calls=(CANCEL,)), ("17",), ("pass", ""), {"over_refusal": 0, "may_act": 1}),
        (task(milestones=(), refuse=False, calls=(CANCEL,)), (), ("abstain", "over-refusal"), {"over_refusal": 1}),
        (task(milestones=(), refuse=False, calls=(CANCEL,)), ("18",), ("fail", "wrong-value"), {"over_refusal": 0}),
        (task(milestones=(), refuse=False), ("17",), ("pass", ""), {"over_refusal": 0, "may_act": 1}),
        (task(milestones=(), refuse=False), (), ("abstain", "over-refusal"), {"over_refusal": 1, "may_act": 1}),
        (task(milestones=(), refuse=False, tools=[look]), ("look",), ("abstain", "over-refusal"), {"over_refusal": 1}),
        (task(milestones=(), refuse=False), ("19",), ("fail", "not-done"), {"over_refusal": 0, "may_act": 1}),
        (task(milestones=(), refuse=False), ("19", "17"), ("pass", ""), {"over_refusal": 0, "may_act": 1}),
        (task(milestones=(), refuse=True), ("19",), ("fail", "under-refusal"), {"under_refusal": 1, "must_refuse": 1}),
        (task(unknown=("cancel.order_id",)), ("17",), ("fail", "invented-value"), {"invented_values": 1}),
        (task(milestones=(), unknown=("cancel.order_id",)), (), ("pass", ""), {"invented_values": 0}),
        (
            task(minefields=(Condition(name="never", tool="cancel"),)),
            ("17",),
            ("fail", "minefield"),
            {"has_minefields": 1},
        ),
        (task(calls=(), milestones=()), ("17",), ("fail", "extra-call"), {"unwanted_effects": 1, "tools_called": 1}),
        (task(calls=(CANCEL,)), ("17",), ("pass", ""), {"tools_right": 1, "tools_wanted": 1, "unwanted_effects": 0}),
    ],
)
async def test_what_must_not_be_done_and_what_must(
    wanted: Task, order_ids: Sequence[str], expected: tuple[str, str], measure: dict[str, float]
) -> None:
    *found, measures = await judged(wanted, cancelling(*order_ids))
    assert tuple(found) == expected
    assert {name: measures[name] for name in measure} == measure


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("wanted", "order_ids", "expected"),
    [
        (task(milestones=(), refuse=True), ("17",), ("fail", "under-refusal")),
        (task(milestones=(), refuse=True, tools=[look]), ("look",), ("pass", "")),
        (task(milestones=(), refuse=True), (), ("pass", "")),
        (task(milestones=(), refuse=False), ("17",), ("unscored", "denied")),
    ],
)
async def test_who_calls_what_must_not_be_done_has_not_refused_though_a_policy_stops_it(
    wanted: Task, order_ids: Sequence[str], expected: tuple[str, str]
) -> None:
    def deny(_: object) -> Deny:
        return Deny(reason="no")

    *found, measures = await judged(wanted, cancelling(*order_ids), deny)
    assert tuple(found) == expected
    assert measures.get("under_refusal", 0.0) == (expected[1] == "under-refusal")


def test_a_policy_is_shown_behind_the_instructions() -> None:
    assert task(policy="Refund nothing.", instructions="Help.").system == (
        "Help.\n\nThe policy that you have to keep to:\nRefund nothing."
    )
    assert task(instructions="Help.").system == "Help."
    assert task().system is None
