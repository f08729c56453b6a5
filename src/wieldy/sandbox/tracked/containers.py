"""Elements of containers: read, put, removed and gone through, and what that does to labels.

Where data decides *which* element is changed, every element could have been; where it decides how many there are,
every element that moves carries that.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from wieldy.sandbox.tracked.comparisons import unawaited
from wieldy.sandbox.tracked.limits import Meter
from wieldy.sandbox.tracked.marking import taint
from wieldy.sandbox.tracked.objects import (
    CLEAN,
    PLAIN,
    CoroutineObject,
    DictObject,
    ExceptionObject,
    IteratorObject,
    Label,
    ListObject,
    Raised,
    SetObject,
    TupleObject,
    Value,
    key_label,
    key_of,
    raised,
    shallow,
    type_name,
)


def with_label(value: Value, label: Label) -> Value:
    """The value, in which the label had a part too."""
    return Value(value.data, value.label | label) if label & ~value.label else value


def new_list(items: Iterable[Value], extent: Label, meter: Meter) -> Value:
    """A new list of the values."""
    made = list(items)
    meter.make(len(made) + 1)
    return Value(ListObject(made, extent), CLEAN)


def new_set(items: Iterable[Value], extent: Label, meter: Meter) -> Value:
    """A new set of the values."""
    members: dict[Any, object] = {}
    for item in items:
        members.setdefault(key_of(item.data), item.data)
        extent |= key_label(item)
    meter.make(len(members) + 1)
    return Value(SetObject(members, extent), CLEAN)


def put(entries: DictObject, key: Value, value: Value, who: Label, meter: Meter) -> None:
    """Puts a value under a key, on behalf of that label."""
    filed = key_of(key.data)
    label = key_label(key)
    if label:
        taint(entries, label)
        meter.charge(len(entries.entries))
    if filed not in entries.entries:
        meter.make(len(entries.entries) + 1) if not len(entries.entries) & 1023 else meter.charge(1)
        entries.extent |= who
    # A key that is there already stays as it was written first, as `1` does when `True` is put.
    name, _ = entries.entries.get(filed, (key.data, None))
    entries.entries[filed] = (name, with_label(value, who | label))


def get_item(container: Value, index: Value, meter: Meter) -> Value:
    """The element at the index or under the key.

    Raises:
        Raised: There is none, or it is no container.
    """
    data = container.data
    label = container.label | key_label(index)
    if isinstance(data, DictObject):
        found = data.entries.get(key_of(index.data))
        if found is None:
            raise missing(index, label | data.extent)
        return with_label(found[1], label)
    if isinstance(data, ListObject | TupleObject):
        position = _position(index.data, len(data.items), label)
        if isinstance(data, ListObject) and position != index.data:
            label |= data.extent  # counted from the end
        return with_label(data.items[position], label)
    if isinstance(data, str | range):
        meter.charge(1)
        return Value(data[_position(index.data, len(data), label)], label)
    if isinstance(data, CoroutineObject):
        raise raised("TypeError", f"{unawaited(data)} was not awaited: write `await` before it", label)
    raise raised("TypeError", f"a {type_name(data)} has no elements", label)


def missing(key: Value, label: Label) -> Raised:
    """The exception that says that there is no such key."""
    return Raised(Value(ExceptionObject("KeyError", (key,)), label))


def _shown(data: object) -> str:
    return repr(data)[:200] if isinstance(data, PLAIN) else f"a {type_name(data)}"


def _position(index: object, length: int, label: Label) -> int:
    if not isinstance(index, int):
        raise raised("TypeError", f"an index is a whole number, no {type_name(index)}", label)
    position = index + length if index < 0 else int(index)
    if not 0 <= position < length:
        raise raised("IndexError", f"index {_shown(index)} is out of range", label)
    return position


def get_slice(container: Value, part: slice, label: Label, meter: Meter) -> Value:
    """A part of a sequence; the label had a part in where it begins and ends."""
    data = container.data
    whole = shallow(container) | label
    # An end that is not counted from the front depends on how long the sequence is.
    counted = any(end is not None and end < 0 for end in (part.start, part.stop, part.step))
    if isinstance(data, str):
        return Value(meter.text(data[part]), whole)
    if isinstance(data, range):
        return Value(data[part], whole)
    if isinstance(data, ListObject | TupleObject):
        items = data.items[part]
        moved = whole if counted else container.label | label
        made = [with_label(item, moved) for item in items]
        meter.make(len(made) + 1)
        if isinstance(data, TupleObject):
            return Value(TupleObject(tuple(made)), whole)
        return Value(ListObject(made, whole), container.label | label)
    raise raised("TypeError", f"a {type_name(data)} cannot be sliced", whole)


def set_item(container: Value, index: Value, value: Value, who: Label, meter: Meter) -> None:
    """Puts the value at the index or under the key, on behalf of that label.

    Raises:
        Raised: It is no container that can be changed, or has no such index.
    """
    data = container.data
    who |= container.label
    if isinstance(data, DictObject):
        put(data, index, value, who, meter)
    elif isinstance(data, ListObject):
        position = _position(index.data, len(data.items), index.label)
        label = index.label | (data.extent if position != index.data else CLEAN)
        if label:
            taint(data, label)
            meter.charge(len(data.items))
        data.items[position] = with_label(value, who | label)
    else:
        raise raised("TypeError", f"elements of a {type_name(data)} cannot be set", shallow(container))


def set_slice(container: Value, part: slice, items: list[Value] | None, who: Label, meter: Meter) -> None:
    """Replaces a part of a list, or removes it."""
    data = container.data
    if not isinstance(data, ListObject):
        raise raised("TypeError", f"a part of a {type_name(data)} cannot be set", shallow(container))
    meter.make(len(data.items) + len(items or ()))
    if items is None:
        del data.items[part]
    else:
        data.items[part] = items
    taint(data, who | shallow(container))


def delete_item(container: Value, index: Value, who: Label, meter: Meter) -> None:
    """Removes the element at the index or under the key, on behalf of that label.

    Raises:
        Raised: There is none, or it is no container that can be changed.
    """
    data = container.data
    who |= container.label | key_label(index)
    if isinstance(data, DictObject):
        if data.entries.pop(key_of(index.data), None) is None:
            raise missing(index, who | data.extent)
        data.extent |= who
        if key_label(index):
            taint(data, who)
    elif isinstance(data, ListObject):
        del data.items[_position(index.data, len(data.items), who)]
        taint(data, who | data.extent)
    else:
        raise raised("TypeError", f"elements of a {type_name(data)} cannot be removed", shallow(container))
    meter.charge(1)


def iterator_of(value: Value, meter: Meter) -> Value:
    """Something that gives the elements of the value one after the other.

    Raises:
        Raised: It has none.
    """
    data = value.data
    if isinstance(data, IteratorObject):
        return value
    if isinstance(data, ListObject | TupleObject | str | range):
        return Value(IteratorObject(value), CLEAN)
    if isinstance(data, DictObject | SetObject):
        names = [name for name, _ in data.entries.values()] if isinstance(data, DictObject) else data.members.values()
        meter.charge(1 + (len(names) >> 3))
        label = shallow(value)
        items = tuple(Value(name, label) for name in names)
        return Value(IteratorObject(Value(TupleObject(items), label)), CLEAN)
    if isinstance(data, CoroutineObject):
        raise raised("TypeError", f"{unawaited(data)} was not awaited: write `await` before it", value.label)
    raise raised("TypeError", f"a {type_name(data)} has no elements to go through", value.label)


def next_of(iterator: IteratorObject, meter: Meter) -> Value | None:
    """The next element of what is gone through by index; None at the end."""
    data: Any = iterator.source.data
    items: Any = data.items if isinstance(data, ListObject | TupleObject) else data
    meter.charge(1)
    if iterator.index >= len(items):
        return None
    item = items[iterator.index]
    iterator.index += 1
    label = iterator.extent | iterator.source.label
    return with_label(item, label) if isinstance(item, Value) else Value(item, label)
