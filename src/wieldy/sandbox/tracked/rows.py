"""`zip` and `enumerate`: they go on with what they are given only as far as they are gone through themselves."""

from __future__ import annotations

import ast
from collections.abc import Generator
from typing import TYPE_CHECKING, Any, Final

from wieldy.sandbox.tracked.bodies import Given
from wieldy.sandbox.tracked.comparisons import truth
from wieldy.sandbox.tracked.containers import iterator_of, with_label
from wieldy.sandbox.tracked.control import Frame
from wieldy.sandbox.tracked.iteration import Item, Steps, advance, begin, ended
from wieldy.sandbox.tracked.objects import (
    CLEAN,
    IteratorObject,
    Label,
    LazyObject,
    TupleObject,
    Value,
    raised,
    shallow,
)

if TYPE_CHECKING:
    from wieldy.sandbox.tracked.machine import Machine

_NODE: Final = ast.Pass()
"""What a frame runs whose code is ours and can do nothing but go through iterators."""


def _lazy(machine: Machine, frame: Frame, given: list[Value]) -> tuple[Frame, list[Value]]:
    """A frame that goes through these values, and their iterators."""
    within = Frame(_NODE, frame.env, frame.task, frame.analysis, frame.control)
    within.line, within.is_ours = frame.line, frame.is_ours
    for value in given:
        machine.control.may_fail(frame, shallow(value))
        within.through.append((_NODE, iterator_of(value, machine.meter)))
    return within, [iterator for _, iterator in within.through]


def _made(within: Frame, rows: Generator[Any, Any, None]) -> Value:
    return Value(IteratorObject(Value(LazyObject(within.analysis.effects(_NODE), within, rows))))


def _next(machine: Machine, within: Frame, iterator: Value) -> Generator[Any, Any, Value | None]:
    """The next element; whether there is one decides how far everything else that is gone through comes."""
    begin(machine, within, iterator)
    item = yield from advance(machine, within, iterator.data)
    label = iterator.label | ended(iterator.data)
    for _, other in within.through:
        machine.control.resume(within, label, other)
    within.pc |= label
    return item


def _row(within: Frame, items: list[Value]) -> Item:
    return Item(with_label(Value(TupleObject(tuple(items))), within.control))


def zip_(machine: Machine, frame: Frame, given: Given) -> Steps:
    """`zip(...)`."""
    yield from ()
    strict = given.keywords.get("strict", Value(data=False))
    if given.keywords.keys() - {"strict"}:
        raise raised("TypeError", "zip() takes what is to be gone through, and by name strict")
    machine.control.may_fail(frame, shallow(strict))
    within, iterators = _lazy(machine, frame, given.arguments)
    return _made(within, _zipped(machine, within, iterators, strict.label if truth(strict) else None))


def _zipped(machine: Machine, within: Frame, iterators: list[Value], strict: Label | None) -> Generator[Any, Any, None]:
    while iterators:
        items: list[Value] = []
        for iterator in iterators:
            item = yield from _next(machine, within, iterator)
            if item is not None:
                items.append(item)
            elif strict is None:
                return
            elif items:
                raise raised("ValueError", "zip(): one is longer than another", within.control | strict)
        if not items:
            return
        if len(items) < len(iterators):
            raise raised("ValueError", "zip(): one is longer than another", within.control | (strict or CLEAN))
        yield _row(within, items)


def enumerate_(machine: Machine, frame: Frame, given: Given) -> Steps:
    """`enumerate(...)`."""
    yield from ()
    start, *rest = [*given.arguments[1:], *([given.keywords["start"]] if "start" in given.keywords else [])] or [
        Value(0)
    ]
    if not given.arguments or rest or given.keywords.keys() - {"start"}:
        raise raised("TypeError", "enumerate() takes what is to be gone through, and a start")
    machine.control.may_fail(frame, shallow(start))
    if not isinstance(start.data, int):
        raise raised("TypeError", "enumerate() starts with a whole number", start.label)
    within, iterators = _lazy(machine, frame, given.arguments[:1])
    return _made(within, _numbered(machine, within, iterators[0], start))


def _numbered(machine: Machine, within: Frame, iterator: Value, start: Value) -> Generator[Any, Any, None]:
    number = machine.meter.number(start.data)
    while True:
        item = yield from _next(machine, within, iterator)
        if item is None:
            return
        yield _row(within, [Value(number, start.label), item])
        number = machine.meter.number(number + 1)


ROWS: Final = {"zip": zip_, "enumerate": enumerate_}
