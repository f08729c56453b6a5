"""The same tasks in other words, and with more tools."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from bfcl_examples import FIND, write_data
from bfcl_examples import task as bfcl_task
from hypothesis import given
from hypothesis import strategies as st

from wieldy import Message, UsageError, tool
from wieldy.core.calls import ToolDefinition
from wieldy.core.messages import messages_from
from wieldy.evals.bfcl.pool import bfcl_pool
from wieldy.evals.reports.metric_lines import metric_lines
from wieldy.evals.reports.report_lines import report_lines
from wieldy.evals.reports.reporting import report_rows
from wieldy.evals.studies.running import ORACLE, Study, run_study
from wieldy.evals.tasks.datasets import suite_from
from wieldy.evals.tasks.scaling import scaled
from wieldy.evals.tasks.task import ExpectedCall, Task
from wieldy.evals.tasks.variants import AS_WRITTEN, FORMATS, with_variants
from wieldy.evals.tasks.workspaces import Workspace
from wieldy.evals.tasks.worlds import World
from wieldy.tools import tools_from


@tool(effect="read")
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


TASK = Task(
    id="sum",
    prompt="Add 1 and 2.",
    tools=[add],
    calls=(ExpectedCall(name="add", arguments={"a": 1, "b": 2}),),
    variants=("What is 1 plus 2?",),
)
POOL = [
    ToolDefinition(name=f"tool_{at}", description="", input_schema={"type": "object", "properties": {}})
    for at in range(60)
]


def said(task: Task) -> str:
    return "".join(getattr(part, "text", "") for part in messages_from(task.prompt)[-1].parts)


@given(st.integers(1, 20))
def test_variants_that_a_line_leaves_out_are_told_of(count: int) -> None:
    rates = {f"v{number}": 1.0 for number in range(count)}
    row = {"type": "prompt_sensitivity", "tasks": 1, "tasks_that_differ": 0, "rates": rates}
    row |= {"mean_largest_difference": 0.0, "mean_standard_deviation": 0.0}
    (line,) = metric_lines(row)
    shown = line.count(" 100.0%")
    assert shown == count or line.endswith(f", and {count - shown} more (--json)")


@given(st.text())
def test_formats_lose_nothing_of_what_is_said(text: str) -> None:
    assert json.loads(FORMATS["json"](text)) == {"request": text}
    assert [line.removeprefix("> ") for line in FORMATS["quote"](text).split("\n")] == text.split("\n")
    assert FORMATS["tags"](text) == f"<request>\n{text}\n</request>"
    assert FORMATS["heading"](text).endswith(f"\n\n{text}")


def test_each_task_comes_in_its_words_and_in_each_format() -> None:
    found = with_variants([TASK])
    assert [each.axes["variant"] for each in found] == [AS_WRITTEN, "words 1", *FORMATS]
    assert len({each.id for each in found}) == len(found) == len({said(each) for each in found})
    assert {each.cluster for each in found} == {"sum"}
    assert said(found[0]) == "Add 1 and 2."
    assert said(found[1]) == "What is 1 plus 2?"


def test_only_the_last_message_of_the_user_changes_its_format() -> None:
    talk = [Message.user("Hello."), Message.assistant("Hello!"), Message.user("Add.")]
    for each in with_variants([replace(TASK, prompt=talk, variants=())])[1:]:
        assert list(messages_from(each.prompt))[:2] == talk[:2]
        assert "Add." in said(each)
        assert said(each) != "Add."


def names(task: Task) -> list[str]:
    return [each.name for each in tools_from(task.tools).tools]


@given(st.lists(st.integers(1, 61), min_size=1, max_size=4, unique=True).map(sorted))
def test_larger_sizes_hold_the_smaller_ones(sizes: list[int]) -> None:
    found = scaled([TASK], sizes, POOL)
    assert [len(names(each)) for each in found] == sizes
    for smaller, larger in pairwise(found):
        assert {"add"} <= set(names(smaller)) < set(names(larger))
    assert len({each.id for each in found}) == len(sizes)


@tool(effect="read")
async def status() -> str:
    """How far it is."""
    return "far"


def test_sizes_count_what_can_be_done_in_an_environment() -> None:
    world = World(start=dict[str, Any], tools=lambda _: [status], look=dict[str, Any])
    (found,) = scaled([replace(TASK, environment=world)], [5], POOL)
    assert len(names(found)) == 4
    assert "status" not in names(found)
    with pytest.raises(UsageError, match="2 tools of its own"):
        scaled([replace(TASK, environment=world)], [1], POOL)
    unknown = Workspace(files={}, check="python -c pass")
    with pytest.raises(UsageError, match="not known before"):
        scaled([replace(TASK, environment=unknown)], [5], POOL)


def test_sizes_that_cannot_be_are_refused() -> None:
    with pytest.raises(UsageError, match="1 tools of its own"):
        scaled([TASK], [0], POOL)
    with pytest.raises(UsageError, match="Expected enough tools"):
        scaled([TASK], [62], POOL)


def test_the_pool_has_each_name_of_bfcl_once(tmp_path: Path) -> None:
    place = write_data(
        tmp_path, [bfcl_task(), bfcl_task(id="simple_python_1"), bfcl_task("multiple", functions=(FIND,))]
    )
    found = [each.name for each in bfcl_pool(place)]
    assert len(found) == len(set(found)) == 2


def nothing(progress: object) -> None:
    del progress


LINES = (
    {
        "tool": {
            "name": "price",
            "parameters": {"type": "object", "properties": {"of": {"type": "string"}}, "required": ["of"]},
            "results": [{"arguments": {"of": "lamp"}, "result": 40}],
        }
    },
    {
        "id": "lamp",
        "prompt": "What is a lamp?",
        "calls": [{"name": "price", "arguments": {"of": "lamp"}}],
        "answer": ["40"],
    },
)


@pytest.mark.anyio
async def test_a_study_of_each_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "tasks.jsonl"
    path.write_text("\n".join(map(json.dumps, LINES)))

    async def reported(name: str, change: Any) -> list[dict[str, Any]]:
        suite = suite_from(path, change=change)
        trials = await run_study(Study(suite=suite, models=(ORACLE,), folder=tmp_path / name), nothing)
        rows = report_rows(trials)
        text = "\n".join(report_lines(rows))
        assert ("prompts:" in text, "30 tools:" in text) == (name == "words", name == "sizes")
        return [dict(row) for row in rows]

    words = {row["type"]: row for row in await reported("words", with_variants)}
    assert (words["prompt_sensitivity"]["tasks"], words["prompt_sensitivity"]["mean_largest_difference"]) == (1, 0.0)
    sizes = await reported("sizes", lambda tasks: scaled(tasks, [1, 30], POOL))  # type: ignore[reportUnknownLambdaType]
    assert [(row["tools"], row["passed"]["rate"]) for row in sizes if row["type"] == "scalability"] == [
        (1, 1.0),
        (30, 1.0),
    ]
