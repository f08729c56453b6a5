"""Calls: of functions that the code defined, of ours, of methods, and of tools.

Everything here that may wait is a host generator. It yields to `scheduling`: another generator, to be run to its end
on the same task's stack, so that deep recursion of the code is none of the host; a `ToolRequest`; or a `Together`.
"""

from __future__ import annotations

import ast
from collections.abc import Generator
from typing import TYPE_CHECKING, Any, Final

from wieldy.sandbox.tracked.bodies import Given, run_function
from wieldy.sandbox.tracked.containers import with_label
from wieldy.sandbox.tracked.control import Frame
from wieldy.sandbox.tracked.function_calls import FunctionCall
from wieldy.sandbox.tracked.functions import FUNCTIONS, LISTING, call_function
from wieldy.sandbox.tracked.iteration import Steps, listed
from wieldy.sandbox.tracked.marking import taint
from wieldy.sandbox.tracked.method_calls import MethodCall
from wieldy.sandbox.tracked.methods import ITERATING, call_method, is_changing
from wieldy.sandbox.tracked.modules import MODULES
from wieldy.sandbox.tracked.objects import (
    Builtin,
    CoroutineObject,
    DictObject,
    ExceptionObject,
    ExceptionType,
    FunctionObject,
    IteratorObject,
    Label,
    ListObject,
    Method,
    SetObject,
    Tool,
    Value,
    raised,
    shallow,
    type_name,
)
from wieldy.sandbox.tracked.operators import deep
from wieldy.sandbox.tracked.special_functions import SPECIAL
from wieldy.sandbox.tracked.waiting import call_tool

if TYPE_CHECKING:
    from wieldy.sandbox.tracked.machine import Machine


_ALL: Final = {**FUNCTIONS, **MODULES}


def call(machine: Machine, frame: Frame, callee: Value, given: Given) -> Steps:
    """Calls whatever it is; data that decides what is called, or with how many arguments, decides all that it does."""
    saved = frame.pc
    who = shallow(callee)
    machine.control.any_function(frame, who, [*given.arguments, *given.keywords.values()])
    machine.control.may_fail(frame, who | given.spread)
    frame.pc |= who
    if given.spread & ~frame.control and not isinstance(callee.data, FunctionObject):
        # Code that runs knows by its arguments; what is built in does not.
        if not _is_harmless(callee.data):
            machine.control.any_container(frame, given.spread)
        frame.pc |= given.spread
    try:
        made = yield from _dispatch(machine, frame, callee.data, given)
    finally:
        frame.pc = saved
    return with_label(made, (who | given.spread) & ~saved)


def _is_harmless(data: object) -> bool:
    """Whether it changes nothing and goes through nothing, however many arguments it gets."""
    return isinstance(data, Tool | ExceptionType) or (isinstance(data, Builtin) and data.name in _HARMLESS)


_HARMLESS: Final = frozenset({"print", "asyncio.gather", "len", "str", "int", "float", "bool", "range", "isinstance"})


def _dispatch(machine: Machine, frame: Frame, data: object, given: Given) -> Steps:
    if isinstance(data, FunctionObject):
        if isinstance(data.code.node, ast.AsyncFunctionDef):
            return Value(CoroutineObject(data, given.arguments, given.keywords, frame.line))
        return (yield run_function(machine, frame, data, given))
    if isinstance(data, Tool):
        # Among several at once nothing waits but by `await`, in whatever code they were defined.
        if (machine.is_async or frame.task.parent is not None) and not data.is_sync:
            return Value(CoroutineObject(data, given.arguments, given.keywords, frame.line))
        return (yield from call_tool(machine, frame, data, given))
    if isinstance(data, Builtin):
        return (yield from _call_builtin(machine, frame, data.name, given))
    if isinstance(data, Method):
        return (yield from method(machine, frame, data.receiver, data.name, given))
    if isinstance(data, ExceptionType):
        failure = given.keywords.pop("kind", None)
        return Value(ExceptionObject(data.name, tuple(given.arguments), failure))
    raise raised("TypeError", f"a {type_name(data)} cannot be called")


def _call_builtin(machine: Machine, frame: Frame, name: str, given: Given) -> Steps:
    special = SPECIAL.get(name)
    if special:
        return (yield from special(machine, frame, given))
    arguments = given.arguments
    if name in LISTING:
        arguments = yield from _listed(machine, frame, name, arguments)
    made = FunctionCall(name, arguments, given.keywords, frame.control, machine.meter)
    machine.control.may_fail(frame, made.deep() if name not in ("len", "list", "bool") else made.label)
    return call_function(made, _ALL)


def _listed(machine: Machine, frame: Frame, name: str, given: list[Value]) -> Generator[Any, Any, list[Value]]:
    found: list[Value] = []
    for place, argument in enumerate(given):
        is_plain = isinstance(argument.data, int | float | None)
        if name == "reversed" and isinstance(argument.data, IteratorObject | SetObject):
            raise raised("TypeError", f"a {type_name(argument.data)} cannot be reversed", argument.label)
        if (is_plain and place > 0) or (name == "dict" and isinstance(argument.data, DictObject)):
            found.append(argument)
        else:
            found.append((yield from listed(machine, frame, argument)))
    return found


# Functions of the code.


# Methods.


def method(machine: Machine, frame: Frame, receiver: Value, name: str, given: Given) -> Steps:
    """Calls a method of text, a list, a dict or a set."""
    if name == "sort" and isinstance(receiver.data, ListObject):
        return (yield from _sort(machine, frame, receiver, given))
    arguments = given.arguments
    if name in ITERATING or (name == "update" and isinstance(receiver.data, SetObject)):
        arguments = yield from _listed(machine, frame, name, arguments)
    if is_changing(receiver.data, name):
        machine.control.any_container(frame, receiver.label | given.spread)
    made = MethodCall(receiver, name, arguments, given.keywords, frame.control, machine.meter)
    label = made.label if name in ("append", "extend", "items", "keys", "values", "get") else _all(made, machine)
    machine.control.may_fail(frame, label)
    return call_method(made)


def _all(made: MethodCall, machine: Machine) -> Label:
    label = made.label
    for argument in (made.receiver, *made.arguments, *made.keywords.values()):
        label |= deep(argument, machine.meter)
    return label


def _sort(machine: Machine, frame: Frame, receiver: Value, given: Given) -> Steps:
    data: ListObject = receiver.data  # type: ignore[assignment]
    machine.control.any_container(frame, receiver.label)
    made: Any = yield from call(
        machine, frame, machine.prelude["sorted"], Given([receiver, *given.arguments], given.keywords)
    )
    who = frame.control | receiver.label
    data.items[:] = made.data.items
    data.extent |= made.data.extent
    if who:
        taint(data, who)
    return Value(None)


# Tools.


# Functions of ours that wait, call, or speak.
