"""Calls that are waited for: of tools, of async functions, and several at the same time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from wieldy.sandbox.tracked.bodies import Given, run_function
from wieldy.sandbox.tracked.containers import new_list, with_label
from wieldy.sandbox.tracked.control import Frame
from wieldy.sandbox.tracked.exchange import Path, leave, parts_of
from wieldy.sandbox.tracked.iteration import Steps
from wieldy.sandbox.tracked.objects import (
    CoroutineObject,
    ExceptionObject,
    FunctionObject,
    Label,
    Raised,
    Tool,
    Value,
    raised,
    shallow,
    type_name,
)
from wieldy.sandbox.tracked.operators import deep

if TYPE_CHECKING:
    from wieldy.sandbox.tracked.machine import Machine


@dataclass(frozen=True, slots=True)
class ToolRequest:
    """A tool call that is to be made from the frame; `involved` is who had a part in it in any way."""

    frame: Frame
    name: str
    arguments: dict[str, object]
    labels: dict[str, Label]
    parts: dict[Path, Label]
    involved: Label
    line: int

    @property
    def decided_by(self) -> Label:
        """Who had a part in that it is made, up to now: until it is made, what others do can prevent it."""
        return self.frame.control


@dataclass(frozen=True, slots=True)
class Together:
    """Coroutines that are to go on at the same time."""

    frame: Frame
    coroutines: tuple[Value, ...]


def call_tool(machine: Machine, frame: Frame, tool: Tool, given: Given) -> Steps:
    """Asks for a tool call, and waits for what comes of it."""
    if len(given.arguments) > len(tool.parameters):
        takes = ", ".join(tool.parameters) or "arguments by name only"
        raise raised("TypeError", f"{tool.name}() takes {takes}; {len(given.arguments)} were given by position")
    values = dict(zip(tool.parameters, given.arguments, strict=False))
    for name, value in given.keywords.items():
        if name in values:
            raise raised("TypeError", f"{tool.name}() has the argument {name!r} twice")
        values[name] = value
    arguments: dict[str, object] = {}
    labels: dict[str, Label] = {}
    parts: dict[Path, Label] = {}
    involved = frame.control
    for value in values.values():
        involved |= deep(value, machine.meter)
    machine.control.may_fail(frame, involved)
    for name, value in values.items():
        arguments[name], labels[name] = leave(value, machine.meter)
        parts |= parts_of(value, labels[name], (name,))
    answer = yield ToolRequest(frame, tool.name, arguments, labels, parts, involved, machine.line_of(frame))
    machine.control.may_fail(frame, answer.label)
    if isinstance(answer.data, ExceptionObject):
        raise Raised(answer)
    return answer


def wait_for(machine: Machine, frame: Frame, awaited: Value) -> Steps:
    """Runs a call that was written before, and waits for what comes of it."""
    data = awaited.data
    machine.control.may_fail(frame, shallow(awaited))
    if not isinstance(data, CoroutineObject):
        message = f"a {type_name(data)} cannot be awaited: write `await` before the call of a tool or async function"
        raise raised("TypeError", message, awaited.label)
    if data.is_spent:
        raise raised("RuntimeError", f"the call in line {data.line} was awaited already", shallow(awaited))
    machine.control.any_function(frame, awaited.label, [awaited])
    saved = frame.pc
    frame.pc |= awaited.label
    data.is_spent = True
    data.extent |= frame.control
    try:
        made = yield from _run_coroutine(machine, frame, data)
    finally:
        frame.pc = saved
    return with_label(made, awaited.label)


def _run_coroutine(machine: Machine, frame: Frame, data: CoroutineObject) -> Steps:
    given = Given(data.arguments, data.keywords)
    if isinstance(data.callee, Tool):
        return (yield from call_tool(machine, frame, data.callee, given))
    if isinstance(data.callee, FunctionObject):
        return (yield run_function(machine, frame, data.callee, given))
    results: list[Value] = yield Together(frame, tuple(data.arguments))
    return new_list(results, data.extent, machine.meter)
