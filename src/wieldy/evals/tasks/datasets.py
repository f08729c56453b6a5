"""Data sets of one's own, from a file: JSON lines, or Python that makes tasks.

A line of JSON with `tool` is a tool that all tasks below may use, any other line a task (`rows` says in which words). A
Python file holds its tasks in `TASKS`, and real tools beside them. Deliberately not here: what a task is (`tasks`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final, cast

from wieldy.core.errors import UsageError
from wieldy.core.json import JsonValue, parse_json
from wieldy.evals.cases.case import Case, Suite
from wieldy.evals.tasks.rows import task_from, tool_from
from wieldy.evals.tasks.task import Task
from wieldy.evals.tasks.task_cases import case_of
from wieldy.tools.source_files import run_file

TASKS: Final = "TASKS"
_DEEPEST: Final = 100
"""Levels of a line's value; what is judged and recorded later has to be walked through."""


def suite_from(
    path: Path, *, limit: int | None = None, change: Callable[[Sequence[Task]], Sequence[Task]] | None = None
) -> Suite:
    """The tasks in the file.

    Args:
        path: A file of JSON lines, or of Python.
        limit: How many of each kind; None for all.
        change: Makes of the tasks those that are run, such as variants of each.

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
    kept = list(_first_of_each(tasks, limit))
    kept = kept if change is None else change(kept)
    return Suite(name=path.name, cases=tuple(_case(path, task) for task in kept), source={"file": path.name}, file=path)


def _case(path: Path, task: Task) -> Case:
    try:
        return case_of(task)
    except UsageError as error:
        raise UsageError(f"{path}: {error}") from error
    except (Exception, SystemExit) as error:  # its environment is somebody's code
        what = f"{type(error).__name__}: {error}"
        raise UsageError(f"{path}: the environment of the task {task.id!r} could not begin: {what}") from error


def _first_of_each(tasks: Iterable[Task], limit: int | None) -> Iterator[Task]:
    """As many of each kind."""
    taken = Counter[str]()
    for task in tasks:
        taken[task.kind] += 1
        if limit is None or taken[task.kind] <= limit:
            yield task


# JSON lines


def read_lines(path: Path) -> list[Task]:
    """The tasks of a file of JSON lines.

    Raises:
        UsageError: The file cannot be read, or a line is neither a tool nor a task.
    """
    try:
        content = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: the file cannot be read: {error}") from error
    tools, tasks = dict[str, Any](), list[Task]()
    for number, line in enumerate(content.split("\n"), 1):
        if not line.strip() or line.lstrip().startswith("//"):
            continue
        try:
            row = _row(line)
            if "tool" in row:
                name = tool_from(row["tool"]).name
                if tools.setdefault(name, row["tool"]) is not row["tool"]:
                    raise UsageError(f"found a second tool {name!r}")  # noqa: TRY301 - the place is added below
            else:
                tasks.append(task_from(row, tools, path.parent))
        except (ValueError, TypeError, KeyError, AttributeError, UsageError) as error:
            what = f"{error}" if isinstance(error, UsageError) else f"{type(error).__name__}: {error}"
            raise UsageError(f"{path}:{number}: expected a tool or a task: {what}") from error
    return tasks


def _row(line: str) -> dict[str, Any]:
    """The object that the line is.

    Raises:
        ValueError: It is none, is not JSON to the letter, or is nested too deeply.
    """
    try:
        row = parse_json(line)
    except RecursionError:
        raise UsageError(f"expected at most {_DEEPEST} levels, found more") from None
    if not isinstance(row, dict):
        raise UsageError(f"expected an object, found {line.strip():.40}")
    level: list[JsonValue] = [row]
    for _ in range(_DEEPEST):
        level = [inner for each in level for inner in _inner(each)]
    if level:
        raise UsageError(f"expected at most {_DEEPEST} levels, found more")
    return row


def _inner(value: JsonValue) -> Iterable[JsonValue]:
    return value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()


# Python


def read_python(path: Path) -> list[Task]:
    """The tasks of a Python file, which is run as a module.

    Raises:
        UsageError: The file cannot be run, or its `TASKS` are none.
    """
    module = run_file(path, holding="tasks")
    found: object = getattr(module, TASKS, None)
    tasks = list(cast("Iterable[object]", found)) if isinstance(found, list | tuple) else []
    if not tasks or not all(isinstance(task, Task) for task in tasks):
        raise UsageError(f"{path}: expected a list of `wieldy.evals.Task` in {TASKS}, found {found!r:.100}.")
    return cast("list[Task]", tasks)
