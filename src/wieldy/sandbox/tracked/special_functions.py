"""Functions of ours that wait, go through something, or print."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from wieldy.sandbox.tracked.bodies import Given
from wieldy.sandbox.tracked.containers import iterator_of, with_label
from wieldy.sandbox.tracked.control import Frame
from wieldy.sandbox.tracked.iteration import Steps, advance, begin, ended
from wieldy.sandbox.tracked.objects import CoroutineObject, IteratorObject, Value, raised, shallow
from wieldy.sandbox.tracked.operators import deep
from wieldy.sandbox.tracked.rows import ROWS
from wieldy.sandbox.tracked.text import text_of
from wieldy.sandbox.tracked.waiting import wait_for

if TYPE_CHECKING:
    from wieldy.sandbox.tracked.machine import Machine


def _gather(machine: Machine, frame: Frame, given: Given) -> Steps:
    yield from ()
    if given.keywords:
        raise raised("TypeError", "gather() takes calls only: catch failures in an async function, and gather that")
    coroutine = CoroutineObject("gather", given.arguments, given.keywords, frame.line)
    coroutine.extent = given.spread
    return Value(coroutine)


def _run(machine: Machine, frame: Frame, given: Given) -> Steps:
    if len(given.arguments) != 1:
        raise raised("TypeError", "asyncio.run() takes one call of an async function")
    return (yield from wait_for(machine, frame, given.arguments[0]))


def _next(machine: Machine, frame: Frame, given: Given) -> Steps:
    iterator = given.arguments[0] if given.arguments else Value(None)
    if not isinstance(iterator.data, IteratorObject):
        raise raised("TypeError", "next() takes an iterator: iter(...), or a generator expression", iterator.label)
    begin(machine, frame, iterator)
    item = yield from advance(machine, frame, iterator.data)
    label = iterator.label | ended(iterator.data)
    if len(given.arguments) > 1:
        return with_label(item or given.arguments[1], label)
    machine.control.may_fail(frame, label)
    if item is None:
        raise raised("StopIteration", "", label)
    return with_label(item, label)


def _iter(machine: Machine, frame: Frame, given: Given) -> Steps:
    yield from ()
    if len(given.arguments) != 1:
        raise raised("TypeError", "iter() takes one argument")
    machine.control.may_fail(frame, shallow(given.arguments[0]))
    return iterator_of(given.arguments[0], machine.meter)


def _print(machine: Machine, frame: Frame, given: Given) -> Steps:
    yield from ()
    parts: list[str] = []
    label = frame.control
    for value in (*given.arguments, *given.keywords.values()):
        label |= deep(value, machine.meter)
    machine.control.may_fail(frame, label)
    parts = [text_of(value.data, machine.meter) for value in given.arguments]
    between, end = (given.keywords.get(name, Value(default)).data for name, default in (("sep", " "), ("end", "\n")))
    if not isinstance(between, str) or not isinstance(end, str):
        raise raised("TypeError", "print() takes text as sep and end", label)
    machine.meter.make(sum(map(len, parts)) + len(between) * len(parts) + len(end))
    machine.write(between.join(parts) + end, label)
    return Value(None)


SPECIAL: Final = {"asyncio.gather": _gather, "asyncio.run": _run, "next": _next, "iter": _iter, "print": _print, **ROWS}
