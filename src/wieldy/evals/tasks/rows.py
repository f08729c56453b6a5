"""Lines of a data set as Python: tools that say what they are told to, and tasks.

A tool's row has `name`, `description`, `parameters` (a JSON Schema) and `results`, a list of what it says to which
arguments: `{"arguments": ..., "result": ...}`, or with `error`; `set` changes a task's `state` at JSON pointers. A
task's row has the words of `tasks.Task`; `state` and `changes` make a world of it, `workspace` a workspace.
Deliberately not here: files of such lines (`datasets`).
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast, get_args

from wieldy.core.calls import ToolDefinition
from wieldy.core.errors import ToolError, UsageError
from wieldy.core.json import canonical_json, digest
from wieldy.evals.tasks import parts
from wieldy.evals.tasks.expected import Order
from wieldy.evals.tasks.offered import check_names
from wieldy.evals.tasks.pointers import check_pointer, check_steps, set_at
from wieldy.evals.tasks.task import Condition, ExpectedCall, Task
from wieldy.evals.tasks.workspaces import Workspace, files_in_bundle, files_in_folder
from wieldy.evals.tasks.worlds import World
from wieldy.evals.verdicts.equality import is_equal
from wieldy.tools import Tool
from wieldy.tools.from_schema import tool_from_schema

if TYPE_CHECKING:
    from wieldy.core.calls import Effect
    from wieldy.core.context import Context
    from wieldy.core.json import JsonObject, JsonValue
    from wieldy.evals.tasks.environments import Environment

Value = TypeVar("Value")

_FILES: Final = ("files", "folder", "bundle")
TASK_KEYS: Final = frozenset(each.name for each in fields(Task)) - {"environment", "check"} | {
    "state",
    "changes",
    "workspace",
}
_CONDITION_KEYS: Final = frozenset(each.name for each in fields(Condition)) - {"test"}
_CALL_KEYS: Final = frozenset(each.name for each in fields(ExpectedCall))
_WORKSPACE_KEYS: Final = frozenset(each.name for each in fields(Workspace)) | {*_FILES, "ref"}
_TOOL_KEYS: Final = frozenset({"name", "description", "parameters", "results", "effect"})
_RESULT_KEYS: Final = frozenset({"arguments", "result", "error", "set"})


def task_from(row: Mapping[str, Any], tools: Mapping[str, Mapping[str, Any]], folder: Path) -> Task:
    """The task.

    Args:
        row: What the line says.
        tools: The rows of the tools that it may use, by name.
        folder: Where files are that it names.

    Raises:
        UsageError: It has a part that tasks do not have, or uses a tool that there is not.
        ValueError, TypeError, KeyError, AttributeError: A part is something else than it should be.
    """
    parts.check_keys(row, TASK_KEYS, "a task")
    has_state, has_workspace = (row.get(name) is not None for name in ("state", "workspace"))
    names = list(tools if row.get("tools") is None and not has_workspace else parts.texts(row, "tools"))
    missing = set(names) - tools.keys()
    if missing:
        raise UsageError(f"no line above defines the tool {min(missing)!r}")
    offered, calls = [tools[name] for name in names], parts.rows(row, "calls")
    task = Task(
        id=_needed(parts.label(row, "id"), "id"),
        prompt=_needed(row.get("prompt"), "prompt"),
        tools=() if has_state else tuple(map(tool_from, offered)),
        calls=None if calls is None else tuple(map(_expected, calls)),
        order=_order("any" if row.get("order") is None else row["order"]),
        extra_calls=parts.flag(row, "extra_calls") or False,
        milestones=_conditions(row, "milestones"),
        minefields=_conditions(row, "minefields"),
        answer=parts.words(row, "answer"),
        environment=_environment(row, offered, folder),
        refuse=parts.flag(row, "refuse"),
        unknown=parts.texts(row, "unknown"),
        policy=parts.text(row, "policy"),
        tool_errors=parts.flag(row, "tool_errors") or False,
        instructions=parts.text(row, "instructions"),
        judge=parts.text(row, "judge"),
        kind=parts.label(row, "kind") or "task",
        cluster=parts.label(row, "cluster"),
        axes=parts.labels(row, "axes"),
        variants=parts.prompts(row, "variants"),
        scripts={name: _script(row["scripts"], name) for name in parts.options(row, "scripts")},
    )
    check_names(task)
    return task


def tool_from(row: Mapping[str, Any], state: JsonValue = None) -> Tool:
    """The tool, which acts on this state.

    Raises:
        UsageError: Its name or its schema is none.
        ValueError, TypeError, KeyError, AttributeError: A part is something else than it should be.
    """
    parts.check_keys(row, _TOOL_KEYS, "a tool")
    schema = parts.members(row, "parameters") or {"type": "object", "properties": {}}
    description = parts.text(row, "description") or ""
    definition = ToolDefinition(
        name=_needed(parts.text(row, "name"), "name"), description=description, input_schema=schema
    )
    results = [_result(each) for each in parts.rows(row, "results") or ()]
    places = _places_set(row)
    for place in places:
        check_pointer(place)
        if not place:
            raise UsageError("expected a JSON pointer in `set` to something within the state, found ''")

    async def answer(arguments: JsonObject, context: Context) -> object:
        found = next((each for each in results if is_equal(each.get("arguments") or {}, arguments)), None)
        if found is None:
            raise ToolError(f"`{context.tool_name}` knows nothing of {canonical_json(arguments)}.")
        if found.get("error") is not None:
            raise ToolError(str(found["error"]))
        changed = {} if state is None else dict(found.get("set") or {})
        for pointer, value in changed.items():
            set_at(state, pointer, value)
        return found.get("result")

    effect = cast("Effect", parts.text(row, "effect") or ("idempotent" if places else "read"))
    return tool_from_schema(definition, answer, origin=f"dataset:{digest(definition.name, results)}", effect=effect)


def _environment(row: Mapping[str, Any], tools: Iterable[Mapping[str, Any]], folder: Path) -> Environment | None:
    state, rows = row.get("state"), list(tools)
    if state is None:
        _check_no_state(row, rows)
        return None if row.get("workspace") is None else _workspace(row["workspace"], folder)
    if row.get("workspace") is not None:
        raise UsageError("expected `state` or `workspace`, found both")
    conditions = [*(parts.rows(row, "milestones") or ()), *(parts.rows(row, "minefields") or ())]
    looked_at = [place for each in conditions for place in parts.members(each, "state")]
    for place in (*parts.texts(row, "changes"), *looked_at, *(place for each in rows for place in _places_set(each))):
        check_steps(state, place)
    return World[Any](
        start=lambda: copy.deepcopy(state),
        tools=lambda now: [tool_from(each, now) for each in rows],
        look=lambda now: now,
        changes=None if row.get("changes") is None else parts.texts(row, "changes"),
    )


def _check_no_state(row: Mapping[str, Any], tools: Iterable[Mapping[str, Any]]) -> None:
    """Nothing is said of a state that there is not.

    Raises:
        UsageError: It is.
    """
    if row.get("changes") is not None:
        raise UsageError("expected a `state` beside `changes`, found none")
    name = next((each["name"] for each in tools if _places_set(each)), None)
    if name is not None:
        raise UsageError(f"{name!r} changes a state by `set`: expected a `state`, or `tools` without it, found neither")


def _places_set(tool: Mapping[str, Any]) -> list[str]:
    """The pointers that a tool's results set."""
    return [place for each in parts.rows(tool, "results") or () for place in parts.members(each, "set")]


def _workspace(row: Mapping[str, Any], folder: Path) -> Workspace:
    parts.check_keys(row, _WORKSPACE_KEYS, "a workspace")
    if sum(row.get(name) is not None for name in _FILES) != 1:
        raise UsageError("a workspace: expected one of `files`, `folder` and `bundle`")
    if row.get("files") is not None:
        files = {name: content.encode() for name, content in parts.labels(row, "files").items()}
    elif row.get("folder") is not None:
        files = files_in_folder(folder / _needed(parts.text(row, "folder"), "folder"))
    else:
        bundle = folder / _needed(parts.text(row, "bundle"), "bundle")
        files = files_in_bundle(bundle, parts.text(row, "ref") or "HEAD")
    lists = {name: parts.texts(row, name) for name in ("protected", "fail_to_pass", "pass_to_pass", "packages")}
    return Workspace(
        files=files,
        check=_needed(parts.text(row, "check"), "check"),
        setup=parts.text(row, "setup"),
        timeout_s=parts.seconds(row, "timeout_s") or 20.0,
        image=parts.text(row, "image"),
        **lists,
    )


def _conditions(row: Mapping[str, Any], name: str) -> tuple[Condition, ...]:
    return tuple(map(_condition, parts.rows(row, name) or ()))


def _condition(row: Mapping[str, Any]) -> Condition:
    parts.check_keys(row, _CONDITION_KEYS, "a condition")
    return Condition(
        name=_needed(parts.label(row, "name"), "name"),
        tool=parts.text(row, "tool"),
        arguments=parts.members(row, "arguments"),
        result=parts.text(row, "result"),
        is_error=parts.flag(row, "is_error"),
        answer=parts.text(row, "answer"),
        state=parts.members(row, "state"),
        after=parts.texts(row, "after"),
    )


def _script(scripts: Mapping[str, Any], name: str) -> tuple[ExpectedCall, ...]:
    return tuple(map(_expected, parts.rows(scripts, name) or ()))


def _expected(row: Mapping[str, Any]) -> ExpectedCall:
    parts.check_keys(row, _CALL_KEYS, "a call")
    return ExpectedCall(
        name=_needed(parts.text(row, "name"), "name"),
        arguments=parts.members(row, "arguments"),
        alternatives=parts.options(row, "alternatives"),
        exact=parts.texts(row, "exact"),
    )


def _result(row: Mapping[str, Any]) -> Mapping[str, Any]:
    parts.check_keys(row, _RESULT_KEYS, "a result")
    for name in ("arguments", "set"):
        parts.members(row, name)
    return row


def _order(value: object) -> Order:
    if value not in get_args(Order):
        raise UsageError(f"expected `order` to be one of {', '.join(get_args(Order))}, found {value!r}")
    return cast("Order", value)


def _needed(value: Value | None, name: str) -> Value:
    if value is None:
        raise UsageError(f"expected `{name}`, found none")
    return value
