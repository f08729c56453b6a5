"""Expressions: what each gives, who had a part in it, and which way it takes.

One host generator for each kind of expression; see `calls` for what they yield.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from wieldy.sandbox.tracked.applying import apply_binary
from wieldy.sandbox.tracked.call_expressions import evaluate_attribute, evaluate_await, evaluate_call
from wieldy.sandbox.tracked.comparisons import compare, compare_label, truth
from wieldy.sandbox.tracked.comprehensions import comprehension, generator
from wieldy.sandbox.tracked.containers import get_item, get_slice, new_list, new_set, put, with_label
from wieldy.sandbox.tracked.control import Frame
from wieldy.sandbox.tracked.elements import elements, slice_of
from wieldy.sandbox.tracked.iteration import Steps
from wieldy.sandbox.tracked.limits import LimitReachedError
from wieldy.sandbox.tracked.objects import (
    CLEAN,
    DictObject,
    FunctionObject,
    TupleObject,
    Value,
    key_label,
    raised,
    shallow,
    type_name,
)
from wieldy.sandbox.tracked.operators import deep, failed, unary
from wieldy.sandbox.tracked.text import converted, formatted

if TYPE_CHECKING:
    from wieldy.sandbox.tracked.machine import Machine


def evaluate(machine: Machine, node: ast.AST, frame: Frame) -> Steps:
    """What the expression gives."""
    meter = machine.meter
    meter.steps += 1
    if meter.steps > meter.limits.steps:
        raise LimitReachedError(f"more than {meter.limits.steps} steps: do less, or do it in a tool")
    return _EXPRESSIONS[type(node)](machine, node, frame)


def _constant(machine: Machine, node: ast.Constant, frame: Frame) -> Steps:
    yield from ()
    return Value(node.value)


def _name(machine: Machine, node: ast.Name, frame: Frame) -> Steps:
    yield from ()
    return machine.load(frame, node.id)


def _tuple(machine: Machine, node: ast.Tuple, frame: Frame) -> Steps:
    items, spread = yield from elements(machine, node.elts, frame)
    machine.meter.make(len(items) + 1)
    return Value(TupleObject(tuple(items)), spread)


def _list(machine: Machine, node: ast.List, frame: Frame) -> Steps:
    items, spread = yield from elements(machine, node.elts, frame)
    return new_list(items, spread, machine.meter)


def _set(machine: Machine, node: ast.Set, frame: Frame) -> Steps:
    items, spread = yield from elements(machine, node.elts, frame)
    for item in items:
        machine.control.may_fail(frame, deep(item, machine.meter))
    return new_set(items, spread, machine.meter)


def _dict(machine: Machine, node: ast.Dict, frame: Frame) -> Steps:
    made = DictObject({}, CLEAN)
    frame.held.append(Value(made))
    for key, item in zip(node.keys, node.values, strict=True):
        if key is None:
            other = yield from evaluate(machine, item, frame)
            machine.control.may_fail(frame, shallow(other))
            if not isinstance(other.data, DictObject):
                raise raised("TypeError", f"** takes a dict, no {type_name(other.data)}", other.label)
            label = shallow(other)
            made.extent |= label
            for name, value in list(other.data.entries.values()):
                put(made, Value(name, label), value, label, machine.meter)
        else:
            name = yield from evaluate(machine, key, frame)
            value = yield from evaluate(machine, item, frame)
            frame.held.append(value)
            machine.control.may_fail(frame, key_label(name))
            frame.held.pop()
            put(made, name, value, key_label(name), machine.meter)
    machine.meter.make(len(made.entries) + 1)
    frame.held.pop()
    return Value(made)


def _unary(machine: Machine, node: ast.UnaryOp, frame: Frame) -> Steps:
    value = yield from evaluate(machine, node.operand, frame)
    label = shallow(value)
    machine.control.may_fail(frame, label)
    if isinstance(node.op, ast.Not):
        return Value(not truth(value), label)
    return unary(node.op, value, machine.meter)


def _binary(machine: Machine, node: ast.BinOp, frame: Frame) -> Steps:
    left = yield from evaluate(machine, node.left, frame)
    frame.held.append(left)
    right = yield from evaluate(machine, node.right, frame)
    frame.held.pop()
    return apply_binary(machine, node.op, left, right, frame)


def _compare(machine: Machine, node: ast.Compare, frame: Frame) -> Steps:
    saved = frame.pc
    left = yield from evaluate(machine, node.left, frame)
    label = CLEAN
    holds = True
    last = len(node.ops) - 1
    for place, kind in enumerate(node.ops):
        right = yield from evaluate(machine, node.comparators[place], frame)
        part = compare_label(kind, left, right, machine.meter)
        if part:
            machine.control.may_fail(frame, part)
            label |= part
        holds = compare(kind, left, right, machine.meter)
        if label and place < last:
            machine.control.diverge(frame, node, label)
        if not holds:
            break
        left = right
    frame.pc = saved
    return Value(holds, label)


def _bool(machine: Machine, node: ast.BoolOp, frame: Frame) -> Steps:
    saved = frame.pc
    label = CLEAN
    wanted = isinstance(node.op, ast.Or)
    value = yield from evaluate(machine, node.values[0], frame)
    for after in node.values[1:]:
        label |= shallow(value)
        if truth(value) == wanted:
            machine.control.diverge(frame, node, label)
            break
        machine.control.diverge(frame, node, label)
        value = yield from evaluate(machine, after, frame)
    frame.pc = saved
    return with_label(value, label)


def _ternary(machine: Machine, node: ast.IfExp, frame: Frame) -> Steps:
    saved = frame.pc
    test = yield from evaluate(machine, node.test, frame)
    label = shallow(test)
    machine.control.diverge(frame, node, label)
    value = yield from evaluate(machine, node.body if truth(test) else node.orelse, frame)
    frame.pc = saved
    return with_label(value, label)


def _walrus(machine: Machine, node: ast.NamedExpr, frame: Frame) -> Steps:
    value = yield from evaluate(machine, node.value, frame)
    frame.env.store(node.target.id, value, frame.control)  # type: ignore[union-attr]
    return value


def _subscript(machine: Machine, node: ast.Subscript, frame: Frame) -> Steps:
    container = yield from evaluate(machine, node.value, frame)
    frame.held.append(container)
    made = yield from _part(machine, container, node, frame)
    frame.held.pop()
    return made


def _part(machine: Machine, container: Value, node: ast.Subscript, frame: Frame) -> Steps:
    if isinstance(node.slice, ast.Slice):
        part, label = yield from slice_of(machine, node.slice, frame)
        machine.control.may_fail(frame, shallow(container) | label)
        try:
            return get_slice(container, part, label, machine.meter)
        except ValueError as error:
            raise failed(error, label) from None
    index = yield from evaluate(machine, node.slice, frame)
    label = shallow(container) | key_label(index)
    if label:
        machine.control.may_fail(frame, label)
    return get_item(container, index, machine.meter)


def _lambda(machine: Machine, node: ast.Lambda, frame: Frame) -> Steps:
    return (yield from function_of(machine, node, frame))


def function_of(machine: Machine, node: Any, frame: Frame) -> Steps:
    """The function that the definition makes here."""
    arguments: ast.arguments = node.args
    positional = [part.arg for part in (*arguments.posonlyargs, *arguments.args)]
    defaults: dict[str, Value] = {}
    holding = len(frame.held)
    for name, default in zip(reversed(positional), reversed(arguments.defaults), strict=False):
        defaults[name] = yield from evaluate(machine, default, frame)
        frame.held.append(defaults[name])
    for part, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        if default is not None:
            defaults[part.arg] = yield from evaluate(machine, default, frame)
            frame.held.append(defaults[part.arg])
    del frame.held[holding:]
    function = FunctionObject(machine.code_of(node, frame), frame.env, defaults)
    machine.control.functions[id(node), id(frame.env)] = function
    return Value(function)


def _joined(machine: Machine, node: ast.JoinedStr, frame: Frame) -> Steps:
    parts: list[str] = []
    label = CLEAN
    for piece in node.values:
        value = yield from evaluate(machine, piece, frame)
        label |= value.label
        parts.append(str(value.data))
    machine.meter.make(sum(map(len, parts)))
    return Value("".join(parts), label)


def _formatted(machine: Machine, node: ast.FormattedValue, frame: Frame) -> Steps:
    value = yield from evaluate(machine, node.value, frame)
    specification = Value("") if node.format_spec is None else (yield from evaluate(machine, node.format_spec, frame))
    label = deep(value, machine.meter) | specification.label
    machine.control.may_fail(frame, label)
    shown = converted(value.data, None if node.conversion < 0 else chr(node.conversion), machine.meter)
    return Value(formatted(shown, str(specification.data), machine.meter), label)


# Comprehensions: all are generator expressions, gone through at once or later.


_EXPRESSIONS: Final[dict[type[ast.AST], Callable[[Machine, Any, Frame], Steps]]] = {
    ast.Constant: _constant,
    ast.Name: _name,
    ast.Tuple: _tuple,
    ast.List: _list,
    ast.Set: _set,
    ast.Dict: _dict,
    ast.UnaryOp: _unary,
    ast.BinOp: _binary,
    ast.Compare: _compare,
    ast.BoolOp: _bool,
    ast.IfExp: _ternary,
    ast.NamedExpr: _walrus,
    ast.Subscript: _subscript,
    ast.Attribute: evaluate_attribute,
    ast.Call: evaluate_call,
    ast.Await: evaluate_await,
    ast.Lambda: _lambda,
    ast.JoinedStr: _joined,
    ast.FormattedValue: _formatted,
    ast.GeneratorExp: generator,
    ast.ListComp: comprehension,
    ast.SetComp: comprehension,
    ast.DictComp: comprehension,
}
