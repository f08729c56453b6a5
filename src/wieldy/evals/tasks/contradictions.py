"""Tasks that no run could pass: what they want is not offered, is forbidden, or must not be at the same time.

Told of is only what is sure; a task of which nothing is told may still be wrong. Deliberately not here: whether what a
run did is right (`judging`), and what a task must have to be one (`task`).
"""

from __future__ import annotations

import copy
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import islice, product
from typing import TYPE_CHECKING, Any, Final, cast

from wieldy.evals.tasks.offered import offered_tools
from wieldy.evals.tasks.pointers import differences, is_within, set_at, value_at
from wieldy.evals.tasks.trajectory import Condition
from wieldy.evals.tasks.worlds import World
from wieldy.evals.verdicts.equality import is_equal
from wieldy.evals.verdicts.saying import says
from wieldy.schema import CompiledSchema

if TYPE_CHECKING:
    from wieldy.core.json import JsonObject, JsonValue
    from wieldy.evals.tasks.expected import ExpectedCall
    from wieldy.evals.tasks.task import Task
    from wieldy.tools import Tool

_MOST_COMBINATIONS: Final = 1_000
"""Of alternatives that are tried; beyond that a call is taken for possible."""

_UP_TO_LAYOUT: Final = ("enum", "const", "pattern", "format", "minLength", "maxLength", "anyOf", "oneOf")
"""Keywords by which a text may be refused that is equal, but for its layout, to one that is not."""


def contradiction(task: Task) -> str | None:
    """Why no run could pass the task, in words; None if nothing says so."""
    return next(_contradictions(task), None)


def _contradictions(task: Task) -> Iterator[str]:
    tools = offered_tools(task)
    for call in task.calls or ():
        yield from _of_call(task, call, tools)
    yield from _of_milestones(task, tools)
    yield from _of_refusal(task, tools)
    yield from _of_minefields(task)
    yield from _of_end_state(task)


def _of_milestones(task: Task, tools: Mapping[str, Tool] | None) -> Iterator[str]:
    listed = None if task.calls is None or task.extra_calls else {call.name for call in task.calls}
    for each in task.milestones:
        if each.tool is not None and tools is not None and each.tool not in tools:
            yield f"the milestone {each.name!r} is of {each.tool!r}, which is not offered"
        if each.tool is not None and listed is not None and each.tool not in listed:
            yield f"the milestone {each.name!r} is of {each.tool!r}, which is none of the `calls`"
        tool = None if tools is None else tools.get(each.tool or "")
        if tool is not None and not _fits(
            CompiledSchema(tool.definition.input_schema), dict(each.arguments), each.arguments
        ):
            yield f"the arguments of the milestone {each.name!r} do not fit the schema of {each.tool!r}"


def _of_refusal(task: Task, tools: Mapping[str, Tool] | None) -> Iterator[str]:
    if task.refuse is False and task.calls == () and not task.extra_calls:
        yield "`refuse` says that something must be done, and `calls` that nothing may be called"
    if task.refuse is False and tools is not None and all(each.effect == "read" for each in tools.values()):
        yield "`refuse` says that something must be done, and no tool that is offered may change anything"
    if task.refuse is not True or tools is None:
        return
    wanted = [*(call.name for call in task.calls or ()), *(each.tool for each in task.milestones)]
    for name in wanted:
        if name is not None and name in tools and tools[name].effect != "read":
            yield f"{name!r} is wanted, may change something, and `refuse` says that nothing may be changed"


def _of_minefields(task: Task) -> Iterator[str]:
    for minefield in task.minefields:
        for text in task.answer:
            if _is_implied(minefield, Condition(name=text, answer=text)):
                yield f"whatever answers with {text!r} steps on the minefield {minefield.name!r}"
        for milestone in task.milestones:
            if _is_implied(minefield, milestone):
                yield f"whatever reaches the milestone {milestone.name!r} steps on the minefield {minefield.name!r}"
        if any(_is_stepped_on(minefield, call) for call in task.calls or ()):
            yield f"a wanted call steps on the minefield {minefield.name!r}"


def _of_end_state(task: Task) -> Iterator[str]:
    """Changes that a milestone wants and that must not be."""
    environment: object = task.environment
    if not isinstance(environment, World) or not any(each.state for each in task.milestones):
        return
    world = cast("World[Any]", environment)
    try:
        start = world.look(world.start())
        for milestone in task.milestones:
            for pointer, value in milestone.state.items():
                changed = list(_changed(start, pointer, value))
                if changed and task.refuse is True:
                    yield f"the milestone {milestone.name!r} wants another state, and `refuse` that nothing is changed"
                if changed and world.changes is not None and not _may_change(changed, world.changes):
                    yield f"the milestone {milestone.name!r} wants a change of {pointer!r} that is none of `changes`"
    except (Exception, SystemExit):  # a world is somebody's code, and what it says is judged when it has been run
        return


def _changed(start: JsonValue, pointer: str, value: JsonValue) -> Iterator[str]:
    """What must have changed in the end, if it has this value there."""
    missing, end = object(), copy.deepcopy(start)
    if pointer:
        set_at(end, pointer, value)
    else:
        end = value
    for place in differences(start, end):
        if not is_equal(value_at(start, place, missing), value_at(end, place, missing)):
            yield place


def _may_change(changed: Sequence[str], places: Sequence[str]) -> bool:
    return all(any(is_within(pointer, place) for place in places) for pointer in changed)


def _of_call(task: Task, call: ExpectedCall, tools: Mapping[str, Tool] | None) -> Iterator[str]:
    empty = next((name for name, options in call.alternatives.items() if not options), None)
    if empty is not None:
        yield f"the wanted call of {call.name!r} has no value for {empty!r}: its alternatives are none"
    for unknown in task.unknown:
        tool, _, parameter = unknown.rpartition(".")
        values = call.alternatives.get(parameter, [call.arguments.get(parameter)])
        if tool == call.name and None not in values:
            yield f"the wanted call of {call.name!r} gives {parameter!r}, which is `unknown`"
    if tools is None:
        return
    tool = tools.get(call.name)
    if tool is None:
        yield f"{call.name!r} is wanted, and is not offered"
    elif not _is_possible(call, tool):
        yield f"the arguments of the wanted call of {call.name!r} do not fit its schema"


def _is_possible(call: ExpectedCall, tool: Tool) -> bool:
    """Whether some of the right arguments fit the tool's schema."""
    options = {**{name: [value] for name, value in call.arguments.items()}, **call.alternatives}
    schema = CompiledSchema(tool.definition.input_schema)
    chosen = product(*options.values())
    for values in islice(chosen, _MOST_COMBINATIONS):
        if _fits(schema, tool.with_defaults(dict(zip(options, values, strict=True)))):
            return True
    return next(chosen, None) is not None


def _fits(schema: CompiledSchema, arguments: JsonObject, of: Collection[str] | None = None) -> bool:
    """Whether the arguments fit, or, of some of them, whether these do, whatever the others are."""
    known = _options(schema.document)
    told: JsonObject = {
        name: next((option for option in known.get(name, ()) if is_equal(option, value)), value)
        for name, value in arguments.items()
    }
    return not any(
        not isinstance(each.found, str)
        or each.keyword not in _UP_TO_LAYOUT
        or (each.keyword == "enum" and len(each.path) == 1)
        for each in schema.violations(told)
        if of is None or (each.path and each.path[0] in of)
    )


def _options(schema: JsonObject) -> Mapping[str, list[JsonValue]]:
    """The values that a parameter may have, of those for which they are listed."""
    properties = schema.get("properties")
    details = properties.items() if isinstance(properties, dict) else ()
    return {
        name: options
        for name, detail in details
        if isinstance(detail, dict) and isinstance(options := detail.get("enum"), list)
    }


def _is_implied(minefield: Condition, milestone: Condition) -> bool:
    """Whether the minefield asks for nothing that the milestone does not ask for."""
    singles = (
        (minefield.tool, milestone.tool),
        (minefield.result, milestone.result),
        (minefield.is_error, milestone.is_error),
        (minefield.test, milestone.test),
    )
    return (
        all(one is None or one == other for one, other in singles)
        and (minefield.answer is None or _says(milestone.answer, minefield.answer))
        and _is_part(minefield.arguments, milestone.arguments)
        and _is_part(minefield.state, milestone.state)
    )


def _says(text: str | None, wanted: str) -> bool:
    return text is not None and says(text, wanted)


def _is_part(some: Mapping[str, JsonValue], of: Mapping[str, JsonValue]) -> bool:
    return all(name in of and is_equal(value, of[name]) for name, value in some.items())


def _is_stepped_on(minefield: Condition, call: ExpectedCall) -> bool:
    """Whether each way to make the call steps on the minefield."""
    in_the_end = minefield.answer, minefield.test, minefield.result, minefield.is_error
    if minefield.state or any(each is not None for each in in_the_end) or minefield.tool not in (None, call.name):
        return False
    right = {**{name: [value] for name, value in call.arguments.items()}, **call.alternatives}
    return all(
        bool(right.get(name)) and all(is_equal(option, value) for option in right[name])
        for name, value in minefield.arguments.items()
    )
