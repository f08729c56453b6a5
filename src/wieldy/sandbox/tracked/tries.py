"""Exceptions of the code: raised, and caught."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from wieldy.sandbox.tracked.containers import with_label
from wieldy.sandbox.tracked.control import Frame, TryRegion
from wieldy.sandbox.tracked.kinds import PARENTS, is_kind
from wieldy.sandbox.tracked.objects import (
    CLEAN,
    ExceptionObject,
    ExceptionType,
    Label,
    Raised,
    TupleObject,
    Value,
    raised,
    shallow,
    type_name,
)
from wieldy.sandbox.tracked.operators import deep
from wieldy.sandbox.tracked.ways import Way, Ways

if TYPE_CHECKING:
    from wieldy.sandbox.tracked.machine import Machine


def raise_(machine: Machine, node: ast.Raise, frame: Frame) -> Ways:
    """`raise value`, or again what is being handled."""
    if node.exc is None:
        if not frame.handling:
            raise raised("RuntimeError", "there is no exception to raise again")
        raise Raised(frame.handling[-1])
    value = yield from machine.evaluate(node.exc, frame)
    machine.control.may_fail(frame, shallow(value))
    if isinstance(value.data, ExceptionType):
        value = Value(ExceptionObject(value.data.name, ()), value.label)
    if not isinstance(value.data, ExceptionObject):
        raise raised("TypeError", f"a {type_name(value.data)} cannot be raised", value.label)
    raise Raised(with_label(value, frame.control))


def attempt(machine: Machine, node: ast.Try, frame: Frame) -> Ways:
    """`try`: data that could have made the body fail has a part in all of the statement."""
    if not node.finalbody:
        return (yield from _attempt(machine, node, frame))
    saved_pc, saved_failing = frame.pc, frame.failing
    # What fails in a handler, or in `else`, leads to `finally` as well.
    region = TryRegion(node, frame, is_final=False)
    frame.task.tries.append(region)
    error: Raised | None = None
    way: Way = None
    try:
        way = yield from _attempt(machine, node, frame)
    except Raised as failure:
        error = failure
        frame.pc = saved_pc
    finally:
        frame.task.tries.remove(region)
    if error is not None:
        frame.handling.append(error.value)
    try:
        last = yield from machine.execute(node.finalbody, frame)
    finally:
        if error is not None:
            frame.handling.pop()
    if error is not None and last is None:
        raise error
    _leave(region, saved_pc, saved_failing)
    return way if last is None else last


def _attempt(machine: Machine, node: ast.Try, frame: Frame) -> Ways:
    saved_pc, saved_failing = frame.pc, frame.failing
    region = TryRegion(node, frame, is_final=_is_final(machine, node, frame))
    frame.task.tries.append(region)
    error: Raised | None = None
    way: Way = None
    try:
        way = yield from machine.execute(node.body, frame)
    except Raised as failure:
        error = failure
        frame.pc = saved_pc
    finally:
        frame.task.tries.remove(region)
    if error is not None:
        way = yield from _handle(machine, node, error, frame)
    elif way is None:
        way = yield from machine.execute(node.orelse, frame)
    _leave(region, saved_pc, saved_failing)
    return way


def _leave(region: TryRegion, saved_pc: Label, saved_failing: Label) -> None:
    """The ways meet; what could have failed further out goes on having a part."""
    frame = region.frame
    frame.failing = saved_failing | region.escaped
    for outer in frame.task.tries:
        frame.failing |= outer.label if outer.frame is frame else CLEAN
    if frame.analysis.jumps(region.node):
        frame.pc |= region.label
    else:
        frame.pc = saved_pc


def _is_final(machine: Machine, node: ast.Try, frame: Frame) -> bool:
    """Whether no failure in the body, and none that comes of it, gets out of the statement."""
    kinds = [handler.type for handler in node.handlers]
    if not all(kind is None or (isinstance(kind, ast.Name) and kind.id in PARENTS) for kind in kinds):
        return False
    named = [kind.id for kind in kinds if isinstance(kind, ast.Name)]
    if any(frame.env.owner(name) or name in machine.tools for name in named):
        return False
    if "Exception" not in named and len(named) == len(kinds):
        return False
    rest = [*(part for handler in node.handlers for part in handler.body), *node.orelse]
    return not any(frame.analysis.effects(part).can_fail for part in rest)


def _handle(machine: Machine, node: ast.Try, error: Raised, frame: Frame) -> Ways:
    for handler in node.handlers:
        caught = True
        if handler.type is not None:
            wanted = yield from machine.evaluate(handler.type, frame)
            if deep(wanted, machine.meter) & ~frame.control:
                raise raised("TypeError", "`except` takes kinds of exceptions that no data has a part in", wanted.label)
            caught = _catches(wanted, error)
        if not caught:
            continue
        if handler.name:
            frame.env.store(handler.name, error.value, frame.control)
        frame.handling.append(error.value)
        try:
            way = yield from machine.execute(handler.body, frame)
        finally:
            frame.handling.pop()
            if handler.name:
                frame.env.delete(handler.name, frame.control)
        return way
    raise error


def _catches(wanted: Value, error: Raised) -> bool:
    kinds = [item.data for item in wanted.data.items] if isinstance(wanted.data, TupleObject) else [wanted.data]
    exception: Any = error.value.data
    for kind in kinds:
        if not isinstance(kind, ExceptionType):
            raise raised("TypeError", f"`except` takes kinds of exceptions, no {type_name(kind)}")
        if is_kind(exception.kind, kind.name):
            return True
    return False
