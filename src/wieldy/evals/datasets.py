"""Data sets of one's own, from a file: JSON lines, or Python that makes tasks.

A line of JSON with `tool` is a tool that all tasks below may use: `name`, `description`, `parameters` (a JSON Schema)
and `results`, a list of what it says to which arguments: `{"arguments": ..., "result": ...}`, or with `error`. Any
other line is a task in the words of `tasks.Task`; its `calls` have `name`, `arguments` and perhaps `alternatives`. A
Python file holds its tasks in `TASKS`, and real tools beside them. Deliberately not here: what a task is (`tasks`).
"""

from __future__ import annotations

import importlib.util
import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

from wieldy.agent import Agent
from wieldy.core.calls import ToolDefinition
from wieldy.core.errors import ToolError, UsageError
from wieldy.core.json import canonical_json, digest
from wieldy.core.messages import messages_from
from wieldy.evals.cases import Attempt, Case, Judged, Suite
from wieldy.evals.equality import is_equal
from wieldy.evals.recorded import recorded
from wieldy.evals.tasks import ExpectedCall, Task, verdict_of
from wieldy.run.records import message_to_json
from wieldy.testing import ScriptedModel, call, text
from wieldy.tools import Tool, tools_from
from wieldy.tools.from_schema import tool_from_schema

if TYPE_CHECKING:
    from wieldy.core.context import Context
    from wieldy.core.json import JsonObject
    from wieldy.core.messages import Message
    from wieldy.core.ports import Entry, Model
    from wieldy.testing.scripted import Turn

TASKS: Final = "TASKS"
_TASK_KEYS: Final = frozenset(
    {
        "id",
        "prompt",
        "tools",
        "calls",
        "order",
        "extra_calls",
        "answer",
        "tool_errors",
        "instructions",
        "kind",
        "cluster",
    }
)


def suite_from(path: Path, *, limit: int | None = None) -> Suite:
    """The tasks in the file.

    Raises:
        UsageError: It holds none, two of one id, or something that is no task; the error names the place.
    """
    tasks = read_python(path) if path.suffix == ".py" else read_lines(path)
    ids = [task.id for task in tasks]
    repeated = next((name for name in ids if ids.count(name) > 1), None)
    if repeated is not None:
        raise UsageError(f"{path}: expected tasks with different ids, found {repeated!r} twice.")
    if not tasks:
        raise UsageError(f"{path}: expected at least one task, found none. `wieldy eval --template FILE` writes some.")
    return Suite(name=path.name, cases=tuple(map(_case, _first_of_each(tasks, limit))), source={"file": path.name})


def _first_of_each(tasks: Iterable[Task], limit: int | None) -> Iterator[Task]:
    """As many of each kind."""
    taken = Counter[str]()
    for task in tasks:
        taken[task.kind] += 1
        if limit is None or taken[task.kind] <= limit:
            yield task


def _case(task: Task) -> Case:
    messages = [message_to_json(message) for message in messages_from(task.prompt)]
    tools = [(each.name, each.origin, each.definition.input_schema) for each in tools_from(task.tools).tools]
    calls = [(each.name, each.arguments, dict(each.alternatives)) for each in task.calls or ()]
    wanted = [task.calls is None, calls, task.order, task.extra_calls, task.answer, task.tool_errors]
    return Case(
        id=task.id,
        category=task.kind,
        cluster=task.cluster or task.id,
        digest=digest(messages, tools, wanted, task.instructions),
        run=partial(_run, task),
        judge=partial(_judge, task),
        oracle=partial(oracle, task),
    )


async def _run(task: Task, attempt: Attempt) -> str:
    agent = Agent(
        attempt.model,
        task.tools,
        instructions=task.instructions,
        journal=attempt.journal,
        strategy=attempt.strategy,
        policy=attempt.policy,
        metadata=attempt.metadata,
    )
    return await recorded(agent, task.prompt)


def _judge(task: Task, entries: Iterable[Entry]) -> Judged:
    return Judged(verdict_of(task, list(entries)))


def oracle(task: Task) -> Model:
    """A model that makes the wanted calls, all at once or one after the other as they are wanted, and then answers."""
    calls = [call(each.name, {**each.arguments, **_first(each)}) for each in task.calls or ()]
    turns: list[Turn] = [[each] for each in calls] if task.order == "as listed" else [calls] if calls else []
    turns.append([text("; ".join(task.answer) or "Done.")])

    def turn(messages: Iterable[Message]) -> Turn:
        asked = sum(message.role == "assistant" for message in messages)
        return turns[min(asked - before, len(turns) - 1)]

    before = sum(message.role == "assistant" for message in messages_from(task.prompt))
    return ScriptedModel(turn, name="script:oracle")


def _first(expected: ExpectedCall) -> JsonObject:
    return {name: options[0] for name, options in expected.alternatives.items() if name not in expected.arguments}


# JSON lines


def read_lines(path: Path) -> list[Task]:
    """The tasks of a file of JSON lines.

    Raises:
        UsageError: The file cannot be read, or a line is neither a tool nor a task.
    """
    try:
        content = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: the file cannot be read: {error}") from error
    tools, tasks = dict[str, Tool](), list[Task]()
    for number, line in enumerate(content.split("\n"), 1):
        if not line.strip() or line.lstrip().startswith("//"):
            continue
        try:
            _take(json.loads(line), tools, tasks)
        except (ValueError, TypeError, KeyError, AttributeError, UsageError) as error:
            what = f"{error}" if isinstance(error, UsageError) else f"{type(error).__name__}: {error}"
            raise UsageError(f"{path}:{number}: expected a tool or a task: {what}") from error
    return tasks


def _take(row: Any, tools: dict[str, Tool], tasks: list[Task]) -> None:
    if "tool" in row:
        made = _tool(row["tool"])
        tools[made.name] = made
        return
    unknown = row.keys() - _TASK_KEYS
    if unknown:
        raise UsageError(f"{min(unknown)!r} is no part of a task; there are {', '.join(sorted(_TASK_KEYS))}")
    missing = set(row.get("tools") or ()) - tools.keys()
    if missing:
        raise UsageError(f"no line above defines the tool {min(missing)!r}")
    calls = row.get("calls")
    tasks.append(
        Task(
            id=str(row["id"]),
            prompt=row["prompt"],
            tools=[tools[name] for name in row.get("tools") or tools],
            calls=None if calls is None else tuple(map(_expected, calls)),
            order=row.get("order", "any"),
            extra_calls=bool(row.get("extra_calls", False)),
            answer=tuple(map(str, row.get("answer") or ())),
            tool_errors=bool(row.get("tool_errors", False)),
            instructions=row.get("instructions"),
            kind=str(row.get("kind", "task")),
            cluster=row.get("cluster"),
        )
    )


def _expected(row: Mapping[str, Any]) -> ExpectedCall:
    return ExpectedCall(
        name=row["name"], arguments=row.get("arguments") or {}, alternatives=row.get("alternatives") or {}
    )


def _tool(row: Mapping[str, Any]) -> Tool:
    schema: JsonObject = row.get("parameters") or {"type": "object", "properties": {}}
    definition = ToolDefinition(name=row["name"], description=row.get("description") or "", input_schema=schema)
    results = cast("list[dict[str, Any]]", row.get("results") or [])

    async def answer(arguments: JsonObject, context: Context) -> object:
        found = next((each for each in results if is_equal(each.get("arguments") or {}, arguments)), None)
        if found is None:
            raise ToolError(f"`{context.tool_name}` knows nothing of {canonical_json(arguments)}.")
        if "error" in found:
            raise ToolError(str(found["error"]))
        return found.get("result")

    return tool_from_schema(definition, answer, origin=f"dataset:{digest(definition.name, results)}", effect="read")


# Python


def read_python(path: Path) -> list[Task]:
    """The tasks of a Python file, which is run as a module of its own with its folder on the import path.

    Raises:
        UsageError: The file cannot be run, or its `TASKS` are none.
    """
    name = f"wieldy_tasks_{path.stem}_{digest(str(path.absolute()))[:8]}"
    spec = importlib.util.spec_from_file_location(name, path.absolute())
    if spec is None or spec.loader is None:
        raise UsageError(f"{path}: expected a Python file whose name ends in .py.")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # type hints are resolved through it
    if str(path.absolute().parent) not in sys.path:
        sys.path.insert(0, str(path.absolute().parent))
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        raise UsageError(f"{path}: running the file failed: {type(error).__name__}: {error}") from error
    found: object = getattr(module, TASKS, None)
    tasks = list(cast("Iterable[object]", found)) if isinstance(found, list | tuple) else []
    if not tasks or not all(isinstance(task, Task) for task in tasks):
        raise UsageError(f"{path}: expected a list of `wieldy.evals.tasks.Task` in {TASKS}, found {found!r:.100}.")
    return cast("list[Task]", tasks)
