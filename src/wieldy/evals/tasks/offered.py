"""The tools that a task offers, and names in what it forbids: misspelled, these would forbid nothing.

Deliberately not here: names in what it wants, which no run could then reach.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from wieldy.core.errors import UsageError
from wieldy.evals.tasks.worlds import tools_within
from wieldy.tools import tools_from

if TYPE_CHECKING:
    from wieldy.core.json import JsonObject
    from wieldy.evals.tasks.task import Task
    from wieldy.tools import Tool


def check_names(task: Task) -> None:
    """The tools and parameters that a task forbids, and the state that it looks at, are there.

    Raises:
        UsageError: One is not.
    """
    for each in (*task.milestones, *task.minefields):
        if each.state and task.environment is None:
            raise UsageError(f"{each.name!r} asks for a `state`, and the task {task.id!r} has no environment")
    forbidden = list(_forbidden(task))
    schemas = _schemas(task) if forbidden else None
    if schemas is None:
        return
    for what, tool, parameters in forbidden:
        _check_tool(tool, schemas, what)
        for name in parameters:
            _check_parameter(tool, name, schemas, what)


def offered_tools(task: Task) -> Mapping[str, Tool] | None:
    """The tools by name; None if they are not known before the task is run."""
    try:
        within = tools_within(task.environment)
        return None if within is None else {each.name: each for each in tools_from([*task.tools, *within]).tools}
    except (Exception, SystemExit):  # a world is somebody's code, and a toolset may know its tools only once it is open
        return None


def _forbidden(task: Task) -> Iterator[tuple[str, str, Iterable[str]]]:
    """What must not be, the tool that it is of, and the parameters that it names."""
    for each in task.minefields:
        if each.tool is not None:
            yield f"the minefield {each.name!r} of the task {task.id!r} forbids nothing", each.tool, each.arguments
    for each in task.unknown:
        tool, _, parameter = each.rpartition(".")
        yield f"{each!r} in `unknown` of the task {task.id!r} forbids nothing", tool, (parameter,)


def _schemas(task: Task) -> Mapping[str, JsonObject] | None:
    """The schemas of the tools by name; None where they are known only once the task is run."""
    within = tools_within(task.environment)
    if within is None:
        return None
    try:
        return {each.name: each.definition.input_schema for each in tools_from([*task.tools, *within]).tools}
    except UsageError:
        return None


def _check_tool(name: str, schemas: Mapping[str, JsonObject], what: str) -> None:
    if name not in schemas:
        known = ", ".join(sorted(schemas)) or "no tool"
        raise UsageError(f"{what}: expected a tool that is offered ({known}), found {name!r:.80}")


def _check_parameter(tool: str, name: str, schemas: Mapping[str, JsonObject], what: str) -> None:
    schema = schemas[tool]
    properties = schema.get("properties")
    is_closed = schema.get("additionalProperties") is False
    if is_closed and isinstance(properties, dict) and name not in properties:
        known = ", ".join(sorted(properties)) or "no parameter"
        raise UsageError(f"{what}: expected a parameter of {tool!r} ({known}), found {name!r:.80}")
