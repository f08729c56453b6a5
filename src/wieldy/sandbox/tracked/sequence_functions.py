"""Functions that make containers, or go through them."""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable
from typing import Any, Final

from wieldy.sandbox.tracked.comparisons import less, truth
from wieldy.sandbox.tracked.containers import new_list, new_set, put, with_label
from wieldy.sandbox.tracked.function_calls import FunctionCall
from wieldy.sandbox.tracked.limits import Meter
from wieldy.sandbox.tracked.objects import (
    CLEAN,
    DictObject,
    IteratorObject,
    Label,
    ListObject,
    TupleObject,
    Value,
    raised,
    shallow,
)
from wieldy.sandbox.tracked.operators import binary, deep


def _items(call: FunctionCall, index: int = 0) -> list[Value]:
    data = call.arguments[index].data if index < len(call.arguments) else None
    return data.items if isinstance(data, ListObject) else []


def _list(call: FunctionCall) -> Value:
    call.takes(0, 1)
    return new_list(_items(call), call.label, call.meter)


def _tuple(call: FunctionCall) -> Value:
    call.takes(0, 1)
    items = _items(call)
    call.meter.make(len(items) + 1)
    return Value(TupleObject(tuple(items)), call.label)


def _set(call: FunctionCall) -> Value:
    call.takes(0, 1)
    return new_set(_items(call), call.label, call.meter)


def _dict(call: FunctionCall) -> Value:
    call.takes(0, 1, *call.keywords)
    made = DictObject({}, call.label)
    given = call.arguments[0].data if call.arguments else None
    if isinstance(given, DictObject):
        call.meter.make(len(given.entries) + 1)
        # Which dict it is has a part in every value, since another one would have others.
        which = call.arguments[0].label
        made.entries.update({key: (name, with_label(item, which)) for key, (name, item) in given.entries.items()})
    elif isinstance(given, ListObject):
        for pair in given.items:
            items = pair.data.items if isinstance(pair.data, ListObject | TupleObject) else []
            if len(items) != 2:
                raise raised("ValueError", "dict() takes pairs of a key and a value", call.deep())
            put(made, with_label(items[0], shallow(pair)), with_label(items[1], shallow(pair)), call.label, call.meter)
    for name, value in call.keywords.items():
        put(made, Value(name), value, CLEAN, call.meter)
    return Value(made, CLEAN)


_MOST_POSITIONS: Final = 1 << 62


def _range(call: FunctionCall) -> Value:
    call.takes(1, 3)
    bounds: list[Any] = [argument.data for argument in call.arguments]
    if not all(isinstance(bound, int) and abs(bound) < _MOST_POSITIONS for bound in bounds):
        raise raised("TypeError", "range() takes whole numbers", call.label)
    return Value(range(*bounds), call.label)


def _iterator(items: list[Value], extent: Label, call: FunctionCall) -> Value:
    return Value(IteratorObject(new_list(items, extent, call.meter), CLEAN), CLEAN)


def _reversed(call: FunctionCall) -> Value:
    call.takes(1, 1)
    items = [with_label(item, call.label) for item in reversed(_items(call))]
    return _iterator(items, call.label, call)


def _sum(call: FunctionCall) -> Value:
    call.takes(1, 2, "start")
    total = call.arguments[1] if len(call.arguments) > 1 else call.keywords.get("start", Value(0))
    if isinstance(total.data, str):
        raise raised("TypeError", 'sum() takes no text: use "".join(...)', call.label)
    add = ast.Add()
    for item in _items(call):
        call.meter.charge(1)
        total = binary(add, total, item, call.meter)
    return with_label(total, call.label)


def _sort(call: FunctionCall) -> Value:
    """Items in the order of their keys, which are the second argument; the third says whether backwards."""
    keys = _items(call, 1)
    items = _items(call)

    def order(one: int, other: int) -> int:
        return _order(keys[one].data, keys[other].data, call.meter)

    places = sorted(range(len(items)), key=functools.cmp_to_key(order), reverse=truth(call.arguments[2]))
    label = deep(call.arguments[1], call.meter) | call.label
    return new_list([with_label(items[place], label) for place in places], label, call.meter)


def _order(one: object, other: object, meter: Meter) -> int:
    if less(one, other, meter):
        return -1
    return 1 if less(other, one, meter) else 0


def _extreme(call: FunctionCall) -> Value:
    """The first item with the least key, or with the greatest if the third argument says so."""
    keys = _items(call, 1)
    best = 0
    is_greatest = truth(call.arguments[2])
    for place in range(1, len(keys)):
        one, other = keys[place].data, keys[best].data
        if less(other, one, call.meter) if is_greatest else less(one, other, call.meter):
            best = place
    return with_label(_items(call)[best], deep(call.arguments[1], call.meter) | call.label)


SEQUENCE_FUNCTIONS: Final[dict[str, Callable[[FunctionCall], Value]]] = {
    "list": _list, "tuple": _tuple, "set": _set, "dict": _dict, "range": _range,
    "reversed": _reversed, "sum": _sum, "__sort": _sort, "__extreme": _extreme,
}  # fmt: skip
