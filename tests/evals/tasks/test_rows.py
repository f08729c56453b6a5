"""Lines of a data set: whatever they say, a task comes of them or an error that names the place."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from wieldy import UsageError, tool
from wieldy.evals.tasks.datasets import read_lines
from wieldy.evals.tasks.expected import compare_calls
from wieldy.evals.tasks.outcomes import CallMade
from wieldy.evals.tasks.rows import TASK_KEYS
from wieldy.evals.tasks.task import Condition, ExpectedCall, Task, tool_names
from wieldy.evals.tasks.task_cases import case_of
from wieldy.evals.tasks.workspaces import Workspace
from wieldy.evals.verdicts.calls_seen import seen

VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 2) | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(st.sampled_from(["name", "tool", "arguments", "check", "files", "a"]), inner, max_size=3)
    ),
    max_leaves=6,
)
ROWS = st.fixed_dictionaries(
    {"id": st.just("t"), "prompt": st.just("Do it.") | VALUES},
    optional=dict.fromkeys(sorted(TASK_KEYS - {"id", "prompt"}), VALUES),
)
TOOL = {"tool": {"name": "add", "results": [{"arguments": {}, "result": 1}]}}


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(ROWS)
def test_whatever_a_line_says_it_is_a_task_or_the_error_names_the_place(tmp_path: Path, row: dict[str, Any]) -> None:
    path = tmp_path / "tasks.jsonl"
    path.write_text(f"{json.dumps(TOOL)}\n{json.dumps(row)}\n", encoding="utf-8")
    task = read(path)
    if isinstance(task, str):
        assert task.startswith(f"{path}:2: expected a tool or a task: ")
    else:
        assert case_of(task).digest == case_of(read_lines(path)[0]).digest


def read(path: Path) -> Task | str:
    """The one task of the file, or what the error says."""
    try:
        (task,) = read_lines(path)
    except UsageError as error:
        return str(error)
    return task


def lines(path: Path, workspace: dict[str, Any]) -> Path:
    path.write_text(json.dumps({"id": "w", "prompt": "Work.", "workspace": workspace}), encoding="utf-8")
    return path


def test_a_workspace_lies_beside_the_file_of_tasks(tmp_path: Path) -> None:
    (tmp_path / "start" / "tests").mkdir(parents=True)
    (tmp_path / "start" / "tests" / "a.py").write_bytes(b"1")
    row = {"folder": "start", "check": "python tests/a.py", "protected": ["tests/*"], "timeout_s": 3}
    (task,) = read_lines(lines(tmp_path / "tasks.jsonl", row))
    assert isinstance(task.environment, Workspace)
    assert (task.environment.files, task.environment.timeout_s) == ({"tests/a.py": b"1"}, 3.0)
    assert task.tools == ()


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ({"check": "python a.py"}, "expected one of `files`, `folder` and `bundle`"),
        ({"files": {}, "folder": "x", "check": "python a.py"}, "expected one of"),
        ({"folder": "nowhere", "check": "python a.py"}, "found no file"),
        ({"files": {"a.py": ""}, "check": "make"}, "no other program"),
        ({"files": {"a.py": ""}, "check": "python a.py", "tests": []}, "'tests' is no part of a workspace"),
        ({"bundle": "nowhere.bundle", "check": "python a.py"}, "git bundle"),
    ],
)
def test_a_workspace_that_cannot_be_is_refused(tmp_path: Path, row: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        read_lines(lines(tmp_path / "tasks.jsonl", row))


def nested(depth: int) -> str:
    return f'{{"id": "t", "prompt": "Do it.", "calls": [], "axes": {"[" * depth}{"]" * depth}}}'


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (nested(100), "at most 100 levels"),
        (nested(990), "at most 100 levels"),
        (nested(100_000), "at most 100 levels"),
        ('{"id": "\\ud800", "prompt": "x", "calls": []}', "half a character"),
        ('{"id": "t", "kind": "\\ud800", "prompt": "x", "calls": []}', "half a character"),
        ('{"id": "t", "prompt": "x", "calls": [], "calls": []}', "stands twice"),
        ('{"id": "t", "prompt": "x", "calls": [{"name": "f", "arguments": {"a": NaN}}]}', "no JSON value"),
        ('{"id": "t", "prompt": "", "calls": []}', "a prompt that says something"),
        ('{"id": "t", "prompt": " ", "calls": []}', "a prompt that says something"),
        ('{"id": "t", "prompt": [], "calls": []}', "a prompt that says something"),
        ('{"id": "t", "prompt": "x", "variants": [""], "calls": []}', "a prompt that says something"),
        (f'{{"id": {"1" * 5000}, "prompt": "x", "calls": []}}', "a number of 5000 digits is too long"),
        ('"tool"', "expected an object"),
        ('{"tool": {"name": "f", "results": [{"set": {"": 1}}]}}', "to something within the state"),
        ('{"tool": {"name": "f", "results": [{"set": {"a": 1}}]}}', "expected a JSON pointer"),
        ('{"id": "t", "prompt": "x", "calls": [], "state": {}, "changes": ["a"]}', "expected a JSON pointer"),
    ],
)
def test_a_line_of_which_nothing_could_come_is_refused_with_its_place(tmp_path: Path, line: str, words: str) -> None:
    path = tmp_path / "tasks.jsonl"
    path.write_text(f"\n{line}\n", encoding="utf-8")
    with pytest.raises(UsageError, match=f":2: expected a tool or a task: .*{words}"):
        read_lines(path)


def test_two_tools_of_one_name_are_refused_with_the_place_of_the_second(tmp_path: Path) -> None:
    found = of_lines(tmp_path / "tasks.jsonl", TOOL, SETTING, TOOL)
    assert found == f"{tmp_path / 'tasks.jsonl'}:3: expected a tool or a task: found a second tool 'add'"


def test_a_file_may_begin_with_a_mark_of_its_bytes(tmp_path: Path) -> None:
    path = tmp_path / "tasks.jsonl"
    path.write_text('{"id": "t", "prompt": "x", "calls": []}', encoding="utf-8-sig")
    assert [task.id for task in read_lines(path)] == ["t"]


@pytest.mark.parametrize(
    "part", [{"id": "\ud800"}, {"kind": "\udfff"}, {"cluster": "\ud800"}, {"axes": {"cue": "\ud800"}}]
)
def test_half_a_character_names_nothing(part: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="found half of one"):
        Task(**{"id": "t", "prompt": "x", "calls": (), **part})


@pytest.mark.parametrize(
    ("part", "words"),
    [
        ({"order": "whatever"}, "expected `order` to be one of any, as listed"),
        ({"refuse": 1}, "expected `refuse` to be true or false"),
        ({"policy": ["no"]}, "expected `policy` to be a text"),
        ({"minefields": [{"name": "x", "result": 5}]}, "expected `result` to be a text"),
    ],
)
def test_what_would_silently_mean_nothing_is_refused(tmp_path: Path, part: dict[str, Any], words: str) -> None:
    (tmp_path / "tasks.jsonl").write_text(json.dumps({"id": "t", "prompt": "Do it.", "calls": [], **part}))
    with pytest.raises(UsageError, match=words):
        read_lines(tmp_path / "tasks.jsonl")


@pytest.mark.parametrize(
    ("part", "offered"), [({}, ["add"]), ({"tools": None}, ["add"]), ({"tools": []}, []), ({"tools": ["add"]}, ["add"])]
)
def test_no_tools_are_none_and_left_out_they_are_all(tmp_path: Path, part: dict[str, Any], offered: list[str]) -> None:
    path = tmp_path / "tasks.jsonl"
    row = {"id": "t", "prompt": "Do it.", "calls": [], **part}
    path.write_text(f"{json.dumps(TOOL)}\n{json.dumps(row)}\n", encoding="utf-8")
    (task,) = read_lines(path)
    assert list(tool_names(task)) == offered


REFUND = {
    "tool": {
        "name": "refund",
        "effect": "unsafe",
        "parameters": {
            "type": "object",
            "properties": {"order_id": {"type": "string"}},
            "required": ["order_id"],
            "additionalProperties": False,
        },
        "results": [{"arguments": {"order_id": "17"}, "result": "refunded"}],
    }
}


SETTING = {"tool": {"name": "mark", "results": [{"arguments": {}, "result": "ok", "set": {"/orders/0": "marked"}}]}}


@pytest.mark.parametrize(
    ("part", "words"),
    [
        ({}, "'mark' changes a state by `set`: expected a `state`, or `tools` without it"),
        ({"state": None, "tools": ["mark"]}, "'mark' changes a state by `set`"),
        ({"workspace": {"files": {}, "check": "python a.py"}, "tools": ["mark"]}, "'mark' changes a state by `set`"),
        ({"state": {"orders": {"0": "open"}}}, None),
        ({"state": {"orders": ["open"]}}, None),
        ({"workspace": {"files": {}, "check": "python a.py"}}, None),
        ({"tools": []}, None),
    ],
)
def test_what_changes_a_state_needs_one(tmp_path: Path, part: dict[str, Any], words: str | None) -> None:
    task = of_lines(tmp_path / "tasks.jsonl", SETTING, {"id": "t", "prompt": "Do it.", "answer": ["done"], **part})
    assert isinstance(task, Task) if words is None else (isinstance(task, str) and words in task and ":2: " in task)


@pytest.mark.parametrize("name", sorted(TASK_KEYS - {"id", "prompt"}))
def test_a_part_that_is_null_is_left_out(tmp_path: Path, name: str) -> None:
    row = {"id": "t", "prompt": "Do it.", "minefields": [{"name": "m", "answer": "no"}], "answer": ["done"]}
    row.pop(name, None)
    found = [of_lines(tmp_path / "tasks.jsonl", TOOL, each) for each in (row, {**row, name: None})]
    assert isinstance(found[0], Task)
    assert isinstance(found[1], Task)
    assert case_of(found[0]).digest == case_of(found[1]).digest


def of_lines(path: Path, *rows: dict[str, Any]) -> Task | str:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return read(path)


@pytest.mark.parametrize(
    ("part", "words"),
    [
        ({"answer": "refunded"}, "expected `answer` to be a list of texts, found 'refunded'"),
        ({"answer": {"refunded": 1}}, "expected `answer` to be a list of texts"),
        ({"answer": [""]}, "every answer contains"),
        ({"answer": [True]}, "a list of texts"),
        ({"refuse": "true"}, "expected `refuse` to be true or false, found 'true'"),
        ({"tool_errors": "false"}, "expected `tool_errors` to be true or false"),
        ({"extra_calls": "false"}, "expected `extra_calls` to be true or false"),
        ({"order": "ANY"}, "expected `order` to be one of any, as listed"),
        ({"variants": "ab"}, "expected `variants` to be a list of prompts"),
        ({"unknown": "refund.order_id"}, "expected `unknown` to be a list of texts"),
        ({"unknown": ["refund.order_number"]}, "expected a parameter of 'refund'"),
        ({"unknown": ["refnd.order_id"]}, "expected a tool that is offered"),
        ({"tools": "refund"}, "expected `tools` to be a list of texts"),
        ({"calls": [{"name": "refund", "argument": {}}]}, "'argument' is no part of a call"),
        ({"calls": [{"name": "refund", "alternatives": {"order_id": "17"}}]}, "an object of lists"),
        ({"calls": {"name": "refund"}}, "expected `calls` to be a list of objects"),
        ({"scripts": {"x": [{"name": 1}]}}, "expected `name` to be a text"),
        ({"axes": {"cue": ["angry"]}}, "expected `axes` to be an object of texts"),
        ({"cluster": True}, "expected `cluster` to be a text"),
        ({"judge": ["polite"]}, "expected `judge` to be a text"),
        ({"changes": ["/orders"]}, "expected a `state` beside `changes`, found none"),
        ({"state": None, "changes": []}, "expected a `state` beside `changes`, found none"),
        ({"state": {"a": []}, "changes": ["/a/01"]}, "the number of an item of the list at '/a'"),
        ({"state": {"a": []}, "changes": ["/a/*/-"], "milestones": [{"name": "m", "state": {"/a/-": 1}}]}, "found '-'"),
        ({"state": {"a": []}, "minefields": [{"name": "m", "state": {f"/a/{'9' * 5000}": 1}}]}, "an item of the list"),
        ({"state": {}, "changes": "/orders"}, "expected `changes` to be a list of texts"),
        ({"state": {}, "minefields": [{"name": "m", "state": {"orders/17": "refunded"}}]}, "expected a JSON pointer"),
        ({"minefields": [{"name": "m", "state": {"/orders/17": "refunded"}}]}, "has no environment"),
        ({"minefields": [{"name": "m", "tool": "refnd"}]}, "forbids nothing: expected a tool that is offered"),
        ({"minefields": [{"name": "m", "tool": "refund", "arguments": {"order": "17"}}]}, "expected a parameter of"),
        ({"minefields": [{"name": "m", "tool": "refund", "is_error": "false"}]}, "`is_error` to be true or false"),
        ({"milestones": [{"name": "m", "tool": "refund", "after": "m"}]}, "expected `after` to be a list of texts"),
        ({"workspace": {"files": {}, "check": "python a.py", "protected": "tests/*"}}, "`protected` to be a list"),
        ({"workspace": {"files": {}, "check": "python a.py", "timeout_s": "9"}}, "to be a number above 0"),
    ],
)
def test_a_part_of_another_kind_is_refused_and_never_read_as_something_else(
    tmp_path: Path, part: dict[str, Any], words: str
) -> None:
    task = of_lines(tmp_path / "tasks.jsonl", REFUND, {"id": "t", "prompt": "Do it.", "answer": ["done"], **part})
    assert isinstance(task, str)
    assert words in task
    assert ":2: " in task


@pytest.mark.parametrize(
    ("part", "words"),
    [
        ({"result": "refunded"}, "'result' is no part of a tool"),
        ({"parameters": {"$ref": "http://localhost/x"}}, "without outside references, found: a reference to 'http"),
        ({"results": {"arguments": {}}}, "expected `results` to be a list of objects"),
        ({"results": [{"argument": {}}]}, "'argument' is no part of a result"),
        ({"results": [{"arguments": "17"}]}, "expected `arguments` to be an object"),
        ({"description": ["a"]}, "expected `description` to be a text"),
    ],
)
def test_a_tool_that_would_answer_nothing_of_what_it_should_is_refused(
    tmp_path: Path, part: dict[str, Any], words: str
) -> None:
    task = of_lines(tmp_path / "tasks.jsonl", {"tool": {"name": "f", **part}}, {"id": "t", "prompt": "x", "calls": []})
    assert isinstance(task, str)
    assert words in task


WRONG: dict[str, Any] = {
    "answer": "done",
    "unknown": "refund.order_id",
    "calls": "refund",
    "variants": "ab",
    "refuse": "true",
    "extra_calls": "false",
    "tool_errors": 1,
    "order": "ANY",
}


@pytest.mark.parametrize("name", WRONG)
def test_tasks_in_python_are_held_to_the_same(name: str) -> None:
    with pytest.raises(UsageError, match=f"`{name}`"):
        Task(**{"id": "t", "prompt": "Do it.", "answer": ("done",), name: WRONG[name]})


def test_what_a_task_in_python_forbids_must_be_there() -> None:
    @tool
    def refund(order_id: str) -> str:
        """Refund."""
        return order_id

    def forbidding(**more: Any) -> Task:
        return Task(id="t", prompt="Do it.", tools=[refund], **more)

    case_of(forbidding(unknown=("refund.order_id",), minefields=(Condition(name="m", tool="refund"),)))
    for wrong in ({"unknown": ("refund.id",)}, {"minefields": (Condition(name="m", tool="refnd"),)}):
        with pytest.raises(UsageError, match="forbids nothing"):
            case_of(forbidding(**wrong))


RUN = {"tool": {"name": "run", "parameters": {"type": "object", "properties": {"command": {}}}}}


@pytest.mark.parametrize("written", ["rm -r a / b", "rm  -r a/b", "RM -r a/b", "rm -r a/b"])
@pytest.mark.parametrize("exact", [[], ["command"]])
def test_an_exact_argument_is_right_to_the_letter(tmp_path: Path, written: str, exact: list[str]) -> None:
    wanted = {"name": "run", "arguments": {"command": ["rm -r a/b"]}, "exact": exact}
    row = {"id": "t", "prompt": "Do it.", "calls": [wanted]}
    path = tmp_path / "tasks.jsonl"
    path.write_text(f"{json.dumps(RUN)}\n{json.dumps(row)}\n", encoding="utf-8")
    (task,) = read_lines(path)
    assert task.calls is not None
    made = CallMade(name="run", arguments={"command": [written]}, content="", is_error=False)
    wrong = compare_calls(task.calls, [made], seen([]))
    assert (wrong is None) is (not exact or written == "rm -r a/b")


def test_an_exact_argument_has_a_right_value() -> None:
    with pytest.raises(UsageError, match="`exact` to name arguments with a right value, found 'b'"):
        ExpectedCall(name="run", arguments={"a": 1}, exact=("b",))
