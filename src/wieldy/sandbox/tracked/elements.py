"""Lists of expressions, some of them spread out; and the ends of slices."""

from __future__ import annotations

import ast
from collections.abc import Generator
from typing import TYPE_CHECKING, Any

from wieldy.sandbox.tracked.containers import with_label
from wieldy.sandbox.tracked.control import Frame
from wieldy.sandbox.tracked.iteration import listed
from wieldy.sandbox.tracked.objects import CLEAN, Label, Value, raised, shallow, type_name

if TYPE_CHECKING:
    from wieldy.sandbox.tracked.machine import Machine


def elements(machine: Machine, nodes: list[ast.expr], frame: Frame) -> Generator[Any, Any, tuple[list[Value], Label]]:
    """The values, and who had a part in how many there are."""
    items: list[Value] = []
    spread = CLEAN
    holding = len(frame.held)
    for node in nodes:
        if isinstance(node, ast.Starred):
            value = yield from machine.evaluate(node.value, frame)
            several = yield from listed(machine, frame, value)
            inner: Any = several.data
            items += [with_label(item, spread) for item in inner.items]
            frame.held.append(several)
            # Where those behind it come to stand is decided by how many there are.
            spread |= shallow(several)
        else:
            items.append(with_label((yield from machine.evaluate(node, frame)), spread))
            frame.held.append(items[-1])
    del frame.held[holding:]
    return items, spread


def slice_of(machine: Machine, node: ast.Slice, frame: Frame) -> Generator[Any, Any, tuple[slice, Label]]:
    """The ends of a slice, and who had a part in them."""
    ends: list[int | None] = []
    label = CLEAN
    for part in (node.lower, node.upper, node.step):
        end = Value(None) if part is None else (yield from machine.evaluate(part, frame))
        label |= shallow(end)
        if not isinstance(end.data, int | None):
            machine.control.may_fail(frame, label)
            raise raised("TypeError", f"a slice takes whole numbers, no {type_name(end.data)}", label)
        ends.append(end.data)
    return slice(*ends), label
