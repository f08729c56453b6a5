"""Expressions that call, and what names say of values."""

from __future__ import annotations

import ast
from collections.abc import Generator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from wieldy.sandbox.tracked.bodies import Given
from wieldy.sandbox.tracked.calls import call, method
from wieldy.sandbox.tracked.containers import get_item, with_label
from wieldy.sandbox.tracked.control import Frame
from wieldy.sandbox.tracked.elements import elements
from wieldy.sandbox.tracked.iteration import Steps
from wieldy.sandbox.tracked.methods import has_method, is_changing
from wieldy.sandbox.tracked.modules import CONSTANTS
from wieldy.sandbox.tracked.objects import (
    Builtin,
    CoroutineObject,
    DictObject,
    ExceptionObject,
    ListObject,
    Method,
    Module,
    Tool,
    TupleObject,
    Value,
    raised,
    shallow,
    type_name,
)
from wieldy.sandbox.tracked.operators import deep
from wieldy.sandbox.tracked.subset import IMPORTS
from wieldy.sandbox.tracked.text import text_of
from wieldy.sandbox.tracked.waiting import wait_for

if TYPE_CHECKING:
    from wieldy.sandbox.tracked.machine import Machine


def evaluate_attribute(machine: Machine, node: ast.Attribute, frame: Frame) -> Steps:
    """`value.name`."""
    value = yield from machine.evaluate(node.value, frame)
    return attribute(machine, value, node.attr, frame)


def attribute(machine: Machine, value: Value, name: str, frame: Frame) -> Value:
    """What the name says of the value: a field of data, a method, something of a module, or of an exception."""
    data = value.data
    machine.control.may_fail(frame, shallow(value))
    if isinstance(data, Module):
        if name not in IMPORTS[data.name]:
            raise raised("AttributeError", f"{data.name} has {', '.join(sorted(IMPORTS[data.name]))}, no {name}")
        return of_module(data.name, name)
    if isinstance(data, DictObject) and name in data.entries:
        return get_item(value, Value(name), machine.meter)
    if has_method(data, name) or (name == "sort" and isinstance(data, ListObject)):
        machine.control.has_methods = machine.control.has_methods or is_changing(data, name)
        return Value(Method(value, name), shallow(value))
    if isinstance(data, ExceptionObject) and (found := _of_exception(machine, value, data, name)) is not None:
        return found
    if isinstance(data, Tool) and name == "sync":
        return Value(replace(data, is_sync=True), value.label)
    if isinstance(data, CoroutineObject):
        raise raised("TypeError", f"the call in line {data.line} was not awaited: write `await` before it")
    raise raised("AttributeError", f"a {type_name(data)} has no {name!r}", shallow(value))


def _of_exception(machine: Machine, value: Value, data: ExceptionObject, name: str) -> Value | None:
    if name == "args":
        return Value(TupleObject(data.arguments), value.label)
    if name == "kind" and data.failure is not None:
        return with_label(data.failure, value.label)
    if name == "message":
        return Value(text_of(data, machine.meter), deep(value, machine.meter))
    return None


def of_module(module: str, name: str) -> Value:
    """A function or number of a module."""
    full = f"{module}.{name}"
    return Value(CONSTANTS[full]) if full in CONSTANTS else Value(Builtin(full))


def evaluate_call(machine: Machine, node: ast.Call, frame: Frame) -> Steps:
    """`callee(arguments)`."""
    holding = len(frame.held)
    made = yield from _call(machine, node, frame)
    del frame.held[holding:]
    return made


def _call(machine: Machine, node: ast.Call, frame: Frame) -> Steps:
    if not isinstance(node.func, ast.Attribute):
        callee = yield from machine.evaluate(node.func, frame)
        given = yield from _given(machine, node, callee, frame)
        return (yield from call(machine, frame, callee, given))
    receiver = yield from machine.evaluate(node.func.value, frame)
    name = node.func.attr
    if has_method(receiver.data, name) or (name == "sort" and isinstance(receiver.data, ListObject)):
        given = yield from _given(machine, node, receiver, frame)
        machine.control.may_fail(frame, shallow(receiver) | given.spread)
        return (yield from method(machine, frame, receiver, name, given))
    callee = attribute(machine, receiver, name, frame)
    given = yield from _given(machine, node, callee, frame)
    return (yield from call(machine, frame, callee, given))


def _given(machine: Machine, node: ast.Call, called: Value, frame: Frame) -> Generator[Any, Any, Given]:
    frame.held.append(called)
    arguments, spread = yield from elements(machine, node.args, frame)
    frame.held += arguments
    keywords: dict[str, Value] = {}
    for keyword in node.keywords:
        value = yield from machine.evaluate(keyword.value, frame)
        added = {keyword.arg: value} if keyword.arg else _spread_keywords(machine, frame, value)
        if not keyword.arg:
            spread |= shallow(value)
        if keywords.keys() & added.keys():
            raise raised("TypeError", "an argument is given twice by name", spread)
        keywords |= added
        frame.held += added.values()
    frame.line = node.lineno
    return Given(arguments, keywords, spread)


def _spread_keywords(machine: Machine, frame: Frame, value: Value) -> dict[str, Value]:
    machine.control.may_fail(frame, shallow(value))
    if not isinstance(value.data, DictObject):
        raise raised("TypeError", f"** takes a dict, no {type_name(value.data)}", value.label)
    label = shallow(value)
    found: dict[str, Value] = {}
    for name, item in value.data.entries.values():
        if not isinstance(name, str):
            raise raised("TypeError", "arguments have text as names", label)
        found[name] = with_label(item, label)
    return found


def evaluate_await(machine: Machine, node: ast.Await, frame: Frame) -> Steps:
    """`await value`."""
    value = yield from machine.evaluate(node.value, frame)
    frame.line = node.lineno
    return (yield from wait_for(machine, frame, value))
