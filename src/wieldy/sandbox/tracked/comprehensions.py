"""Comprehensions: all are generator expressions, gone through at once or later."""

from __future__ import annotations

import ast
from collections.abc import Generator
from typing import TYPE_CHECKING, Any

from wieldy.sandbox.tracked.bodies import FunctionCode
from wieldy.sandbox.tracked.comparisons import truth
from wieldy.sandbox.tracked.containers import iterator_of, new_set, put, with_label
from wieldy.sandbox.tracked.control import Frame
from wieldy.sandbox.tracked.iteration import Item, Steps, advance, begin, ended, listed
from wieldy.sandbox.tracked.objects import (
    DictObject,
    IteratorObject,
    LazyObject,
    TupleObject,
    Value,
    key_label,
    shallow,
)
from wieldy.sandbox.tracked.operators import deep
from wieldy.sandbox.tracked.scopes import Env

if TYPE_CHECKING:
    from wieldy.sandbox.tracked.machine import Machine


def generator(machine: Machine, node: Any, frame: Frame) -> Steps:
    """Something that gives what the comprehension makes; the first thing to go through is found now."""
    first = yield from machine.evaluate(node.generators[0].iter, frame)
    machine.control.may_fail(frame, shallow(first))
    iterator = iterator_of(first, machine.meter)
    code: FunctionCode = machine.code_of(node, frame)
    within = Frame(node, Env(frame.env, code.names), frame.task, frame.analysis, frame.control)
    within.line, within.is_ours = frame.line, frame.is_ours
    within.through.append((node, iterator))
    steps = _rounds(machine, node, 0, iterator, within)
    lazy = LazyObject(code.effects, within, steps)
    return Value(IteratorObject(Value(lazy, shallow(first))))


def _rounds(machine: Machine, node: Any, level: int, through: Value, within: Frame) -> Generator[Any, Any, None]:
    control = machine.control
    part: ast.comprehension = node.generators[level]
    iterator = begin(machine, within, through)
    if level:
        within.through.append((node, iterator))
    while True:
        item = yield from advance(machine, within, iterator.data)
        control.diverge(within, node, iterator.label | ended(iterator.data))
        if item is None:
            within.through.pop()
            return
        yield from machine.assign(part.target, item, within)
        is_wanted = True
        for condition in part.ifs:
            test = yield from machine.evaluate(condition, within)
            control.diverge(within, node, shallow(test))
            is_wanted = truth(test)
            if not is_wanted:
                break
        if not is_wanted:
            continue
        if level + 1 < len(node.generators):
            inner = yield from machine.evaluate(node.generators[level + 1].iter, within)
            yield from _rounds(machine, node, level + 1, inner, within)
        else:
            yield Item(with_label((yield from _element(machine, node, within)), within.control))


def _element(machine: Machine, node: Any, within: Frame) -> Steps:
    if not isinstance(node, ast.DictComp):
        return (yield from machine.evaluate(node.elt, within))
    key = yield from machine.evaluate(node.key, within)
    value = yield from machine.evaluate(node.value, within)
    return Value(TupleObject((key, value)))


def comprehension(machine: Machine, node: Any, frame: Frame) -> Steps:
    """A list, set or dict of what the comprehension makes."""
    lazy = yield from generator(machine, node, frame)
    made = yield from listed(machine, frame, lazy)
    inner: Any = made.data
    if isinstance(node, ast.ListComp):
        return made
    for item in inner.items:
        machine.control.may_fail(frame, deep(item, machine.meter))
    if isinstance(node, ast.SetComp):
        return new_set(inner.items, inner.extent, machine.meter)
    entries = DictObject({}, inner.extent)
    for pair in inner.items:
        key, value = pair.data.items
        label = pair.label | key_label(key)
        put(entries, with_label(key, label), with_label(value, label), label, machine.meter)
    return Value(entries)
