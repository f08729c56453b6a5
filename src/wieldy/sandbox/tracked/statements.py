"""Statements: what each does, and where it leads.

One host generator for each kind; what it returns says how the statement was left: None at its end, `BREAK`, `CONTINUE`,
or the value of a `return`.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from wieldy.sandbox.tracked.assignments import annotate, assign, assignment, augment, delete
from wieldy.sandbox.tracked.call_expressions import of_module
from wieldy.sandbox.tracked.comparisons import truth, unawaited
from wieldy.sandbox.tracked.containers import with_label
from wieldy.sandbox.tracked.control import Frame
from wieldy.sandbox.tracked.expressions import evaluate, function_of
from wieldy.sandbox.tracked.iteration import advance, begin, ended
from wieldy.sandbox.tracked.limits import LimitReachedError
from wieldy.sandbox.tracked.objects import CoroutineObject, ExceptionObject, Module, Raised, Value, raised, shallow
from wieldy.sandbox.tracked.tries import attempt, raise_
from wieldy.sandbox.tracked.ways import BREAK, CONTINUE, Way, Ways

if TYPE_CHECKING:
    from wieldy.sandbox.tracked.machine import Machine


def execute(machine: Machine, nodes: list[ast.stmt], frame: Frame) -> Ways:
    """Runs the statements one after the other."""
    meter = machine.meter
    for node in nodes:
        meter.steps += 1
        if meter.steps > meter.limits.steps:
            raise LimitReachedError(f"more than {meter.limits.steps} steps: do less, or do it in a tool")
        frame.line = node.lineno
        frame.held.clear()
        try:
            way = yield from _STATEMENTS[type(node)](machine, node, frame)
        except Raised as error:
            error.line = error.line or (0 if frame.is_ours else frame.line)
            raise
        if way is not None:
            return way
    return None


def _expression(machine: Machine, node: ast.Expr, frame: Frame) -> Ways:
    value = yield from evaluate(machine, node.value, frame)
    if isinstance(value.data, CoroutineObject):
        machine.control.may_fail(frame, shallow(value))
        raise raised("TypeError", f"{unawaited(value.data)} was not awaited: write `await` before it")
    return None


def _nothing(machine: Machine, node: ast.AST, frame: Frame) -> Ways:
    yield from ()
    return None


def _if(machine: Machine, node: ast.If, frame: Frame) -> Ways:
    saved = frame.pc
    test = yield from evaluate(machine, node.test, frame)
    machine.control.diverge(frame, node, shallow(test))
    way = yield from execute(machine, node.body if truth(test) else node.orelse, frame)
    if not frame.analysis.jumps(node):
        frame.pc = saved
    return way


def _while(machine: Machine, node: ast.While, frame: Frame) -> Ways:
    saved = frame.pc
    way: Way = None
    while True:
        test = yield from evaluate(machine, node.test, frame)
        machine.control.diverge(frame, node, shallow(test))
        if not truth(test):
            way = yield from execute(machine, node.orelse, frame)
            break
        way = yield from execute(machine, node.body, frame)
        machine.meter.charge(1)
        if way is BREAK or isinstance(way, Value):
            way = None if way is BREAK else way
            break
    if not frame.analysis.jumps(node):
        frame.pc = saved
    return way


def _for(machine: Machine, node: ast.For, frame: Frame) -> Ways:
    saved = frame.pc
    through = yield from evaluate(machine, node.iter, frame)
    iterator = begin(machine, frame, through)
    frame.through.append((node, iterator))
    try:
        way = yield from _rounds(machine, node, iterator, frame)
    finally:
        frame.through.pop()
    if not frame.analysis.jumps(node):
        frame.pc = saved
    return way


def _rounds(machine: Machine, node: ast.For, iterator: Value, frame: Frame) -> Ways:
    while True:
        item = yield from advance(machine, frame, iterator.data)
        machine.control.diverge(frame, node, iterator.label | ended(iterator.data))
        if item is None:
            return (yield from execute(machine, node.orelse, frame))
        yield from assign(machine, node.target, item, frame)
        way = yield from execute(machine, node.body, frame)
        if way is BREAK or isinstance(way, Value):
            return None if way is BREAK else way


def _break(machine: Machine, node: ast.Break, frame: Frame) -> Ways:
    yield from ()
    return BREAK


def _continue(machine: Machine, node: ast.Continue, frame: Frame) -> Ways:
    yield from ()
    return CONTINUE


def _return(machine: Machine, node: ast.Return, frame: Frame) -> Ways:
    value = Value(None) if node.value is None else (yield from evaluate(machine, node.value, frame))
    return with_label(value, frame.control)


def _define(machine: Machine, node: Any, frame: Frame) -> Ways:
    value = yield from function_of(machine, node, frame)
    frame.env.store(node.name, value, frame.control)
    return None


def _import(machine: Machine, node: ast.Import, frame: Frame) -> Ways:
    yield from ()
    for alias in node.names:
        frame.env.store(alias.asname or alias.name, Value(Module(alias.name)), frame.control)
    return None


def _import_from(machine: Machine, node: ast.ImportFrom, frame: Frame) -> Ways:
    yield from ()
    for alias in node.names:
        frame.env.store(alias.asname or alias.name, of_module(str(node.module), alias.name), frame.control)
    return None


def _assert(machine: Machine, node: ast.Assert, frame: Frame) -> Ways:
    saved = frame.pc
    test = yield from evaluate(machine, node.test, frame)
    machine.control.diverge(frame, node, shallow(test))
    if not truth(test):
        message = Value("") if node.msg is None else (yield from evaluate(machine, node.msg, frame))
        raise Raised(Value(ExceptionObject("AssertionError", (message,)), frame.control))
    frame.pc = saved
    return None


_STATEMENTS: Final[dict[type[ast.AST], Callable[[Machine, Any, Frame], Ways]]] = {
    ast.Expr: _expression,
    ast.Assign: assignment,
    ast.AnnAssign: annotate,
    ast.AugAssign: augment,
    ast.Delete: delete,
    ast.If: _if,
    ast.While: _while,
    ast.For: _for,
    ast.Break: _break,
    ast.Continue: _continue,
    ast.Return: _return,
    ast.FunctionDef: _define,
    ast.AsyncFunctionDef: _define,
    ast.Import: _import,
    ast.ImportFrom: _import_from,
    ast.Assert: _assert,
    ast.Raise: raise_,
    ast.Try: attempt,
    ast.Pass: _nothing,
    ast.Global: _nothing,
    ast.Nonlocal: _nothing,
}
