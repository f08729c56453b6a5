"""Going through what has elements, one after the other."""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING, Any, TypeAlias

from wieldy.sandbox.tracked.containers import iterator_of, new_list, next_of
from wieldy.sandbox.tracked.control import Frame
from wieldy.sandbox.tracked.objects import IteratorObject, Label, LazyObject, ListObject, Raised, Value, raised, shallow

if TYPE_CHECKING:
    from wieldy.sandbox.tracked.machine import Machine


Steps: TypeAlias = Generator[Any, Any, Value]


class Item:
    """What a suspended generator expression gives, beside its requests."""

    __slots__ = ("value",)

    def __init__(self, value: Value) -> None:
        self.value = value


def listed(machine: Machine, frame: Frame, value: Value) -> Steps:
    """A new list of all that the value gives; its extent says who had a part in how many that is."""
    items: list[Value] = []
    iterator = begin(machine, frame, value)
    frame.held += (iterator, Value(ListObject(items)))
    while True:
        item = yield from advance(machine, frame, iterator.data)
        if item is None:
            break
        items.append(item)
    del frame.held[-2:]
    return new_list(items, shallow(value) | ended(iterator.data), machine.meter)


def begin(machine: Machine, frame: Frame, value: Value) -> Value:
    """An iterator over the value, which is about to be gone through."""
    machine.control.may_fail(frame, shallow(value))
    iterator = iterator_of(value, machine.meter)
    if iterator is value:
        machine.control.any_container(frame, value.label)
        machine.control.any_function(frame, value.label, [value])
        machine.control.resume(frame, ended(value.data), value)
    return iterator


def ended(iterator: IteratorObject) -> Label:
    """Who had a part in whether the iterator has come to its end."""
    return iterator.extent | shallow(iterator.source)


def advance(machine: Machine, frame: Frame, iterator: IteratorObject) -> Generator[Any, Any, Value | None]:
    """The next element, or None at the end."""
    iterator.extent |= frame.control
    lazy = iterator.source.data
    if not isinstance(lazy, LazyObject):
        return next_of(iterator, machine.meter)
    if lazy.running:
        raise raised("ValueError", "a generator cannot go through itself")
    within: Frame = lazy.frame
    within.task, within.pc = frame.task, within.pc | frame.control | iterator.extent
    frame.task.frames.append(within)
    lazy.running = True
    try:
        item = yield from _until_item(lazy.steps)
    finally:
        lazy.running = False
        frame.task.frames.remove(within)
        iterator.extent |= within.control
    return item


def _until_item(steps: Any) -> Generator[Any, Any, Value | None]:
    answer: Any = None
    error: Raised | None = None
    while True:
        try:
            request = steps.send(answer) if error is None else steps.throw(error)
        except StopIteration:
            return None
        if isinstance(request, Item):
            return request.value
        answer, error = None, None
        try:
            answer = yield request
        except Raised as failure:
            error = failure
