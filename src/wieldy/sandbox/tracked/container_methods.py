"""Methods of lists, tuples, dicts and sets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from wieldy.sandbox.tracked.comparisons import contains_label, equal
from wieldy.sandbox.tracked.containers import delete_item, new_list, put, with_label
from wieldy.sandbox.tracked.limits import LimitReachedError
from wieldy.sandbox.tracked.marking import taint
from wieldy.sandbox.tracked.method_calls import MethodCall
from wieldy.sandbox.tracked.objects import (
    CLEAN,
    DictObject,
    ListObject,
    SetObject,
    TupleObject,
    Value,
    key_label,
    key_of,
    raised,
    shallow,
    size_of,
)
from wieldy.sandbox.tracked.operators import deep, joined

# Lists.

_NONE: Final = Value(None)


def _append(call: MethodCall) -> Value:
    items: ListObject = call.data
    call.meter.make(len(items.items) + 1) if not len(items.items) & 1023 else call.meter.charge(1)
    # Where it comes to stand is decided by how long the list is.
    items.items.append(with_label(call.argument(0), call.who | items.extent))
    items.extent |= call.who
    return _NONE


def _extend(call: MethodCall) -> Value:
    items: ListObject = call.data
    added: Any = call.argument(0).data
    call.meter.make(len(items.items) + len(added.items))
    items.items += [with_label(item, call.who | items.extent) for item in added.items]
    items.extent |= call.who | call.label
    return _NONE


def _insert(call: MethodCall) -> Value:
    index = call.argument(0).data
    if not isinstance(index, int):
        raise raised("TypeError", "insert() takes an index first", call.label)
    call.data.items.insert(max(-len(call.data.items), min(index, len(call.data.items))), call.argument(1))
    call.meter.make(1)
    # What is inserted may itself be a container: that is in `call.label` by its extent, which is not wanted here.
    taint(call.data, call.who | call.data.extent | call.argument(0).label)
    return _NONE


def _pop_list(call: MethodCall) -> Value:
    items: ListObject = call.data
    index = call.argument(0, Value(-1))
    data = index.data
    if not isinstance(data, int) or not -len(items.items) <= data < len(items.items):
        raise raised("IndexError", "pop from an empty list, or past its end", call.label)
    who = call.who | call.label
    found = items.items.pop(data)
    if len(call.arguments):
        taint(items, who)
    else:
        items.extent |= who
    return with_label(found, who)


def _remove(call: MethodCall) -> Value:
    items: ListObject = call.data
    label = contains_label(call.receiver, call.argument(0), call.meter) | call.who
    for index, item in enumerate(items.items):
        if equal(item.data, call.argument(0).data, call.meter):
            del items.items[index]
            taint(items, label)
            return _NONE
    raise raised("ValueError", "remove(): it is not in the list", label)


def _clear(call: MethodCall) -> Value:
    data = call.data
    (
        data.items if isinstance(data, ListObject) else data.entries if isinstance(data, DictObject) else data.members
    ).clear()
    data.extent |= call.who
    return _NONE


def _reverse(call: MethodCall) -> Value:
    call.data.items.reverse()
    taint(call.data, call.who | call.data.extent)
    return _NONE


def _index(call: MethodCall) -> Value:
    label = contains_label(call.receiver, call.argument(0), call.meter)
    for index, item in enumerate(call.data.items):
        if equal(item.data, call.argument(0).data, call.meter):
            return Value(index, label)
    raise raised("ValueError", "index(): it is not in there", label)


def _count(call: MethodCall) -> Value:
    label = contains_label(call.receiver, call.argument(0), call.meter)
    wanted = call.argument(0).data
    return Value(sum(equal(item.data, wanted, call.meter) for item in call.data.items), label)


# Dicts.


def _get(call: MethodCall) -> Value:
    found = call.data.entries.get(key_of(call.argument(0).data))
    value = found[1] if found else call.argument(1, _NONE)
    return with_label(value, shallow(call.receiver) | key_label(call.argument(0)))


def _listed(choose: Callable[[Value, Value], Value]) -> Callable[[MethodCall], Value]:
    def give(call: MethodCall) -> Value:
        extent = shallow(call.receiver)
        items = [choose(Value(name, extent), with_label(item, extent)) for name, item in call.data.entries.values()]
        return with_label(new_list(items, extent, call.meter), call.receiver.label)

    return give


def _pop_dict(call: MethodCall) -> Value:
    key = call.argument(0)
    label = shallow(call.receiver) | key_label(key)
    found = call.data.entries.get(key_of(key.data))
    if found is None and len(call.arguments) > 1:
        call.data.extent |= call.who | key_label(key)
        return with_label(call.argument(1), label)
    delete_item(call.receiver, key, call.who, call.meter)
    return with_label(found[1] if found else _NONE, label | call.who)


def _popitem(call: MethodCall) -> Value:
    if not call.data.entries:
        raise raised("KeyError", "popitem(): the dict is empty", call.label)
    _, (name, item) = call.data.entries.popitem()
    call.data.extent |= call.who
    label = call.who | call.label
    return Value(TupleObject((Value(name, label), with_label(item, label))), label)


def _setdefault(call: MethodCall) -> Value:
    key = call.argument(0)
    label = shallow(call.receiver) | key_label(key) | call.who
    found = call.data.entries.get(key_of(key.data))
    # Whose value then stands there depends on whether the key was there.
    value = with_label(found[1] if found else call.argument(1, _NONE), label)
    put(call.data, key, value, label, call.meter)
    return value


def _update(call: MethodCall) -> Value:
    other = call.argument(0).data
    if not isinstance(other, DictObject):
        raise raised("TypeError", "update() takes a dict", call.label)
    for name, item in list(other.entries.values()):
        put(call.data, Value(name), with_label(item, call.label), call.who | call.label, call.meter)
    if call.label:
        taint(call.data, call.label)
    return _NONE


def _copy(call: MethodCall) -> Value:
    data = call.data
    call.meter.make(size_of(data) + 1)
    made: object = SetObject(dict(data.members), data.extent) if isinstance(data, SetObject) else None
    if isinstance(data, ListObject):
        made = ListObject(list(data.items), data.extent)
    elif isinstance(data, DictObject):
        made = DictObject(dict(data.entries), data.extent)
    return Value(made, call.receiver.label)


# Sets, whose extent says everything.


def _members(call: MethodCall) -> dict[Any, object]:
    if isinstance(call.data, SetObject) and isinstance(call.argument(0).data, ListObject):
        items: Any = call.argument(0).data
        call.label |= deep(call.argument(0), call.meter)
        return {key_of(item.data): item.data for item in items.items}
    raise raised("TypeError", f"{call.name}() takes one container", call.label)


def _change_set(
    change: Callable[[dict[Any, object], dict[Any, object]], dict[Any, object]],
) -> Callable[[MethodCall], Value]:
    def do(call: MethodCall) -> Value:
        call.data.members = change(call.data.members, _members(call))
        call.data.extent |= call.who | call.label
        call.meter.make(len(call.data.members))
        return _NONE

    return do


def _new_set(
    change: Callable[[dict[Any, object], dict[Any, object]], dict[Any, object]],
) -> Callable[[MethodCall], Value]:
    def do(call: MethodCall) -> Value:
        made = change(call.data.members, _members(call))
        call.meter.make(len(made) + 1)
        return Value(SetObject(made, call.label), CLEAN)

    return do


def _ask_set(ask: Callable[[dict[Any, object], dict[Any, object]], bool]) -> Callable[[MethodCall], Value]:
    return lambda call: Value(ask(call.data.members, _members(call)), call.label)


def _add(call: MethodCall) -> Value:
    item = call.argument(0)
    call.data.members.setdefault(key_of(item.data), item.data)
    call.data.extent |= call.who | key_label(item)
    call.meter.charge(1)
    if len(call.data.members) > call.meter.limits.size:
        raise LimitReachedError(f"a set of more than {call.meter.limits.size} elements")
    return _NONE


def _discard(call: MethodCall) -> Value:
    item = call.argument(0)
    found = key_of(item.data) in call.data.members
    call.data.members.pop(key_of(item.data), None)
    call.data.extent |= call.who | key_label(item)
    if not found and call.name == "remove":
        raise raised("KeyError", "remove(): it is not in the set", call.label)
    return _NONE


def _both(left: dict[Any, object], right: dict[Any, object]) -> dict[Any, object]:
    return {key: item for key, item in left.items() if key in right}


def _only(left: dict[Any, object], right: dict[Any, object]) -> dict[Any, object]:
    return {key: item for key, item in left.items() if key not in right}


CONTAINER_METHODS: Final[dict[type, dict[str, Callable[[MethodCall], Value]]]] = {
    ListObject: {
        "append": _append,
        "extend": _extend,
        "insert": _insert,
        "pop": _pop_list,
        "remove": _remove,
        "clear": _clear,
        "reverse": _reverse,
        "index": _index,
        "count": _count,
        "copy": _copy,
    },
    TupleObject: {"index": _index, "count": _count},
    DictObject: {
        "get": _get,
        "keys": _listed(lambda name, item: name),
        "values": _listed(lambda name, item: item),
        "items": _listed(lambda name, item: Value(TupleObject((name, item)), name.label)),
        "pop": _pop_dict,
        "popitem": _popitem,
        "setdefault": _setdefault,
        "update": _update,
        "clear": _clear,
        "copy": _copy,
    },
    SetObject: {
        "add": _add,
        "discard": _discard,
        "remove": _discard,
        "clear": _clear,
        "copy": _copy,
        "update": _change_set(joined),
        "intersection_update": _change_set(_both),
        "difference_update": _change_set(_only),
        "union": _new_set(joined),
        "intersection": _new_set(_both),
        "difference": _new_set(_only),
        "issubset": _ask_set(lambda left, right: left.keys() <= right.keys()),
        "issuperset": _ask_set(lambda left, right: left.keys() >= right.keys()),
        "isdisjoint": _ask_set(lambda left, right: left.keys().isdisjoint(right.keys())),
    },
}
