"""Statements that bind names and change containers."""

from __future__ import annotations

import ast
from collections.abc import Generator
from typing import TYPE_CHECKING, Any, Final

from wieldy.sandbox.tracked.applying import apply_binary
from wieldy.sandbox.tracked.bodies import Given
from wieldy.sandbox.tracked.calls import method
from wieldy.sandbox.tracked.containers import delete_item, get_item, new_list, set_item, set_slice, with_label
from wieldy.sandbox.tracked.control import Frame
from wieldy.sandbox.tracked.elements import slice_of
from wieldy.sandbox.tracked.iteration import listed
from wieldy.sandbox.tracked.objects import DictObject, ListObject, SetObject, Value, key_label, raised, shallow
from wieldy.sandbox.tracked.ways import Ways

if TYPE_CHECKING:
    from wieldy.sandbox.tracked.machine import Machine


def assignment(machine: Machine, node: ast.Assign, frame: Frame) -> Ways:
    """`a = b = value`."""
    value = yield from machine.evaluate(node.value, frame)
    for target in node.targets:
        yield from assign(machine, target, value, frame)
    return None


def annotate(machine: Machine, node: ast.AnnAssign, frame: Frame) -> Ways:
    """`a: type = value`; the type says nothing here."""
    if node.value is not None:
        value = yield from machine.evaluate(node.value, frame)
        yield from assign(machine, node.target, value, frame)
    return None


def assign(machine: Machine, target: ast.expr, value: Value, frame: Frame) -> Generator[Any, Any, None]:
    """Gives the target the value."""
    if isinstance(target, ast.Name):
        frame.env.store(target.id, value, frame.control)
        return
    holding = len(frame.held)
    frame.held.append(value)
    if isinstance(target, ast.Subscript):
        container = yield from machine.evaluate(target.value, frame)
        frame.held.append(container)
        yield from _put(machine, container, target.slice, value, frame)
    elif isinstance(target, ast.Tuple | ast.List):
        yield from _unpack(machine, target.elts, value, frame)
    else:
        raise raised("TypeError", "there is nothing to assign to")
    del frame.held[holding:]


def _put(machine: Machine, container: Value, where: ast.expr, value: Value, frame: Frame) -> Generator[Any, Any, None]:
    if isinstance(where, ast.Slice):
        part, label = yield from slice_of(machine, where, frame)
        items = yield from listed(machine, frame, value)
        inner: Any = items.data
        machine.control.may_fail(frame, label | shallow(container))
        machine.control.any_container(frame, container.label)
        who = label | frame.control | shallow(items)
        try:
            set_slice(container, part, list(inner.items), who, machine.meter)
        except ValueError:
            raise raised("ValueError", "the slice and what it gets are not equally long", who) from None
        return
    index = yield from machine.evaluate(where, frame)
    _put_at(machine, container, index, value, frame)


def _put_at(machine: Machine, container: Value, index: Value, value: Value, frame: Frame) -> None:
    machine.control.may_fail(frame, key_label(index) | shallow(container))
    machine.control.any_container(frame, container.label)
    set_item(container, index, value, frame.control, machine.meter)


def _unpack(machine: Machine, targets: list[ast.expr], value: Value, frame: Frame) -> Generator[Any, Any, None]:
    several = yield from listed(machine, frame, value)
    inner: Any = several.data
    items: list[Value] = inner.items
    frame.held.append(several)
    extent = shallow(several)
    machine.control.may_fail(frame, extent)
    starred = [place for place, target in enumerate(targets) if isinstance(target, ast.Starred)]
    least = len(targets) - len(starred)
    if len(items) < least or (not starred and len(items) > least):
        raise raised("ValueError", f"expected {least} values to unpack, found {len(items)}", extent)
    if starred:
        at = starred[0]
        behind = len(targets) - at - 1
        middle = new_list(items[at : len(items) - behind], extent, machine.meter)
        after = [with_label(item, extent) for item in items[len(items) - behind :]]
        items = [*items[:at], middle, *after]
    for target, item in zip(targets, items, strict=True):
        yield from assign(machine, target.value if isinstance(target, ast.Starred) else target, item, frame)


def augment(machine: Machine, node: ast.AugAssign, frame: Frame) -> Ways:
    """`a += value`, which changes lists, dicts and sets where they are."""
    holding = len(frame.held)
    yield from _change(machine, node, frame)
    del frame.held[holding:]
    return None


def _change(machine: Machine, node: ast.AugAssign, frame: Frame) -> Generator[Any, Any, None]:
    if isinstance(node.target, ast.Name):
        old = machine.load(frame, node.target.id)
        new = yield from _augment(machine, node, old, frame)
        frame.env.store(node.target.id, new, frame.control)
        return
    if not isinstance(node.target, ast.Subscript):
        raise raised("TypeError", "there is nothing to assign to")
    container = yield from machine.evaluate(node.target.value, frame)
    frame.held.append(container)
    if isinstance(node.target.slice, ast.Slice):
        raise raised("TypeError", "a part of a list cannot be changed by such an operator: assign to it")
    index = yield from machine.evaluate(node.target.slice, frame)
    machine.control.may_fail(frame, shallow(container) | key_label(index))
    old = get_item(container, index, machine.meter)
    new = yield from _augment(machine, node, old, frame)
    _put_at(machine, container, index, new, frame)


def _augment(machine: Machine, node: ast.AugAssign, old: Value, frame: Frame) -> Generator[Any, Any, Value]:
    data: object = old.data
    frame.held.append(old)
    kinds: tuple[type, type[ast.operator]] = (type(data), type(node.op))
    change = _IN_PLACE.get(kinds)
    other = yield from machine.evaluate(node.value, frame)
    if change is None:
        return apply_binary(machine, node.op, old, other, frame)
    machine.control.may_fail(frame, shallow(old) | shallow(other))
    yield from method(machine, frame, old, change, Given([other], {}))
    return old


_IN_PLACE: Final[dict[tuple[type, type[ast.operator]], str]] = {
    (ListObject, ast.Add): "extend",
    (DictObject, ast.BitOr): "update",
    (SetObject, ast.BitOr): "update",
    (SetObject, ast.BitAnd): "intersection_update",
    (SetObject, ast.Sub): "difference_update",
}


def delete(machine: Machine, node: ast.Delete, frame: Frame) -> Ways:
    """`del a, b[0]`."""
    for target in node.targets:
        if isinstance(target, ast.Name):
            machine.load(frame, target.id)
            frame.env.delete(target.id, frame.control)
        elif isinstance(target, ast.Subscript):
            container = yield from machine.evaluate(target.value, frame)
            frame.held.append(container)
            if isinstance(target.slice, ast.Slice):
                part, label = yield from slice_of(machine, target.slice, frame)
                machine.control.may_fail(frame, label | shallow(container))
                machine.control.any_container(frame, container.label)
                set_slice(container, part, None, label | frame.control, machine.meter)
                continue
            index = yield from machine.evaluate(target.slice, frame)
            machine.control.may_fail(frame, shallow(container) | key_label(index))
            machine.control.any_container(frame, container.label)
            delete_item(container, index, frame.control, machine.meter)
    return None
