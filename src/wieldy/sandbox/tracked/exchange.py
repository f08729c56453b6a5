"""Data of JSON on its way in and out: copied, never shared."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, Final, TypeAlias, cast

from wieldy.sandbox.tracked.comparisons import unawaited
from wieldy.sandbox.tracked.limits import LimitReachedError, Meter
from wieldy.sandbox.tracked.objects import (
    CLEAN,
    PLAIN,
    CoroutineObject,
    DictObject,
    Label,
    ListObject,
    SetObject,
    TupleObject,
    Value,
    key_of,
    raised,
    shallow,
    type_name,
)

Path: TypeAlias = tuple[str, ...]
"""The name of a parameter, and where a value lies in the argument: names of members, numbers of items."""

_MOST_PARTS: Final = 100


def check_json(data: object, depth: int) -> None:
    """Ends with an error where the data, up to the depth, is no JSON.

    Raises:
        TypeError: It is not.
    """
    if isinstance(data, PLAIN) or depth < 0:
        return
    if isinstance(data, list | tuple):
        for item in cast("list[object]", data):
            check_json(item, depth - 1)
    elif isinstance(data, Mapping):
        for key, item in cast("Mapping[object, object]", data).items():
            if not isinstance(key, str | int | float | None):
                raise TypeError(f"expected text as a key, found a {type(key).__name__}")
            check_json(item, depth - 1)
    else:
        raise TypeError(f"expected JSON, found a {type(data).__name__}")


def enter(data: object, label: Label, meter: Meter, depth: int = 0) -> Value:
    """The data as a value, all of which is of that label.

    A container itself is new, whatever is in it: no data decides which one it is. What it is, its extent says.

    Raises:
        TypeError: It is no JSON.
        LimitReachedError: It is too large or too deep.
    """
    if depth > meter.limits.nesting:
        raise LimitReachedError(f"data of more than {meter.limits.nesting} levels")
    meter.charge(1)
    if isinstance(data, str):
        return Value(meter.text(str(data)), label)
    if data is None or isinstance(data, bool):
        return Value(data, label)
    if isinstance(data, int):
        return Value(meter.number(int(data)), label)
    if isinstance(data, float):
        return Value(float(data), label)
    if isinstance(data, list | tuple):
        elements = cast("list[object]", data)
        meter.make(len(elements) + 1)
        return Value(ListObject([enter(item, label, meter, depth + 1) for item in elements], label), CLEAN)
    if isinstance(data, Mapping):
        members = cast("Mapping[object, object]", data)
        meter.make(len(members) + 1)
        entries: dict[Any, tuple[object, Value]] = {}
        for key, item in members.items():
            name = enter(key, label, meter, depth + 1).data
            entries[key_of(name)] = (name, enter(item, label, meter, depth + 1))
        return Value(DictObject(entries, label), CLEAN)
    raise TypeError(f"expected JSON, found a {type(data).__name__}")


def leave(value: Value, meter: Meter, depth: int = 0, *, any_key: bool = False) -> tuple[object, Label]:
    """A copy of the value as JSON, and who had a part in it.

    Args:
        value: The value.
        meter: Counts what is copied.
        depth: How deep in other data it lies.
        any_key: Keys that are numbers or None stay what they are; else they are none of JSON.

    Raises:
        Raised: It, or something in it, is no JSON.
        LimitReachedError: It is too deep, or contains itself.
    """
    if depth > meter.limits.nesting:
        raise LimitReachedError(f"data of more than {meter.limits.nesting} levels")
    meter.charge(1)
    data = value.data
    if isinstance(data, str) and not data.isascii():
        _check_characters(data, value.label)
    if isinstance(data, str | int | None):
        return data, value.label
    if isinstance(data, float):
        if not math.isfinite(data):
            raise raised("ValueError", f"{data} is no JSON", value.label)
        return data, value.label
    if isinstance(data, ListObject | TupleObject | SetObject):
        return _leave_items(value, meter, depth, any_key=any_key)
    if isinstance(data, DictObject):
        return _leave_members(value, data, meter, depth, any_key=any_key)
    if isinstance(data, CoroutineObject):
        raise raised("TypeError", f"{unawaited(data)} was not awaited: write `await` before it", value.label)
    raise raised("TypeError", f"a {type_name(data)} is no JSON", value.label)


def parts_of(value: Value, label: Label, path: Path) -> dict[Path, Label]:
    """By the path of each part of a value that is JSON: who had a part in it and not in all that it lies in.

    Args:
        value: The value.
        label: All that had a part in it; where there are too many parts to tell them apart, each had one in the whole.
        path: That of the value.
    """
    found = dict(islice(_parts(value, path, CLEAN), _MOST_PARTS + 1)) if label else {}
    return found if len(found) <= _MOST_PARTS else {path: label}


def _parts(value: Value, path: Path, above: Label) -> Iterator[tuple[Path, Label]]:
    label = shallow(value)
    if label & ~above:
        yield path, label
    data = value.data
    members: Iterable[tuple[object, Value]] = ()
    if isinstance(data, DictObject):
        members = data.entries.values()
    elif isinstance(data, ListObject | TupleObject):
        members = enumerate(data.items)
    for name, item in members:
        yield from _parts(item, (*path, str(name)), above | label)


def _leave_items(value: Value, meter: Meter, depth: int, *, any_key: bool) -> tuple[object, Label]:
    data: Any = value.data
    label = shallow(value)
    items = [Value(item) for item in data.members.values()] if isinstance(data, SetObject) else data.items
    made: list[object] = []
    for item in items:
        copy, part = leave(item, meter, depth + 1, any_key=any_key)
        made.append(copy)
        label |= part
    return made, label


def _leave_members(value: Value, data: DictObject, meter: Meter, depth: int, *, any_key: bool) -> tuple[object, Label]:
    label = shallow(value)
    members: dict[object, object] = {}
    for name, item in data.entries.values():
        if not isinstance(name, PLAIN if any_key else str):
            raise raised("TypeError", f"a key must be text, found a {type_name(name)}", label)
        leave(Value(name), meter, depth + 1)
        members[name], part = leave(item, meter, depth + 1, any_key=any_key)
        label |= part
    return members, label


def _check_characters(text: str, label: Label) -> None:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise raised("ValueError", "the text holds half a character", label) from None
