"""The same tasks with more tools: padded with definitions of real tools up to a size.

Law: a task of a smaller size has no tool that it has not in a larger one, and its own tools are in all of them, at
places that say nothing. A tool that only pads answers that it is not available. Deliberately not here: what becomes of
the tasks (`sensitivity`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from wieldy.core.calls import ToolDefinition
from wieldy.core.errors import ToolError, UsageError
from wieldy.core.json import digest
from wieldy.evals.cases.case import TOOLS
from wieldy.evals.tasks.task import Task
from wieldy.evals.tasks.worlds import tools_within
from wieldy.tools import Tool, tools_from
from wieldy.tools.from_schema import tool_from_schema

if TYPE_CHECKING:
    from wieldy.core.context import Context
    from wieldy.core.json import JsonObject


def scaled(tasks: Iterable[Task], sizes: Sequence[int], pool: Sequence[ToolDefinition]) -> list[Task]:
    """Each task once for each size, which counts the tools of its environment; those of one task are one cluster.

    Raises:
        UsageError: A task has more tools than a size allows, or an environment whose tools are known only once it has
            begun, or there are too few to pad with.
    """
    return [_scaled(task, size, pool) for task in tasks for size in sizes]


def _scaled(task: Task, size: int, pool: Sequence[ToolDefinition]) -> Task:
    own = list(tools_from(task.tools).tools)
    within = tools_within(task.environment)
    if within is None:
        raise UsageError(f"The task {task.id!r} cannot be scaled: which tools its environment has is not known before.")
    names = {each.name for each in tools_from([*own, *within]).tools}
    if len(names) > size:
        raise UsageError(
            f"The task {task.id!r} has {len(names)} tools of its own: expected sizes from that, found {size}."
        )
    padding = sorted((each for each in pool if each.name not in names), key=lambda each: digest(task.id, each.name))
    if len(names) + len(padding) < size:
        raise UsageError(f"Expected enough tools to make {size} of {len(names)}, found {len(padding)} more.")
    tools = [*own, *_padding(padding[: size - len(names)])]
    return replace(
        task,
        id=f"{task.id}@{size}-tools",
        tools=tuple(sorted(tools, key=lambda each: digest(each.name, task.id))),
        cluster=task.cluster or task.id,
        axes={**task.axes, TOOLS: str(size)},
    )


def _padding(definitions: Iterable[ToolDefinition]) -> Iterator[Tool]:
    for definition in definitions:
        yield tool_from_schema(definition, _unavailable, origin=f"padding:{definition.name}", effect="read")


async def _unavailable(arguments: JsonObject, context: Context) -> object:
    del arguments
    raise ToolError(f"`{context.tool_name}` is not available here.")
