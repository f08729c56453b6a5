"""Questions about values that are answered by yes or no, and who had a part in the answer."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Final

from wieldy.sandbox.tracked.limits import LimitReachedError, Meter
from wieldy.sandbox.tracked.objects import (
    PLAIN,
    CoroutineObject,
    DictObject,
    Label,
    ListObject,
    SetObject,
    TupleObject,
    Value,
    key_label,
    key_of,
    raised,
    shallow,
    size_of,
    type_name,
)
from wieldy.sandbox.tracked.operators import deep


def truth(value: Value) -> bool:
    """Whether the value counts as true; the label of that is its shallow one."""
    data = value.data
    if isinstance(data, PLAIN):
        return bool(data)
    if isinstance(data, _SIZED):
        return bool(size_of(data))
    if isinstance(data, CoroutineObject):
        raise raised("TypeError", f"{unawaited(data)} was not awaited: write `await` before it", shallow(value))
    return bool(data) if isinstance(data, range) else True


_SIZED: Final = (ListObject, TupleObject, DictObject, SetObject)


def unawaited(data: CoroutineObject) -> str:
    """What a call that was not awaited is called in messages."""
    return f"the call in line {data.line}"


def equal(left: object, right: object, meter: Meter, depth: int = 0) -> bool:
    """Whether two things are equal, as Python has it."""
    meter.charge(1)
    if depth > meter.limits.nesting:
        raise LimitReachedError(f"comparing data of more than {meter.limits.nesting} levels")
    if isinstance(left, PLAIN) or isinstance(right, PLAIN):
        return left == right if isinstance(left, PLAIN) else False
    if left is right:
        return True
    for kind in (ListObject, TupleObject):
        if isinstance(left, kind) and isinstance(right, kind):
            same = zip(left.items, right.items, strict=False)
            return len(left.items) == len(right.items) and all(
                equal(one.data, other.data, meter, depth + 1) for one, other in same
            )
    if isinstance(left, DictObject) and isinstance(right, DictObject):
        return left.entries.keys() == right.entries.keys() and all(
            equal(value.data, right.entries[key][1].data, meter, depth + 1) for key, (_, value) in left.entries.items()
        )
    if isinstance(left, SetObject) and isinstance(right, SetObject):
        return left.members.keys() == right.members.keys()
    return left == right if isinstance(left, range) and isinstance(right, range) else False


def less(left: object, right: object, meter: Meter, depth: int = 0) -> bool:
    """Whether the left one stands before the right one.

    Raises:
        Raised: Nothing says which comes first.
    """
    meter.charge(1)
    if isinstance(left, str) and isinstance(right, str):
        return left < right
    if isinstance(left, (int, float)) and isinstance(right, (int, float)):
        return left < right
    if depth > meter.limits.nesting:
        raise LimitReachedError(f"comparing data of more than {meter.limits.nesting} levels")
    for kind in (ListObject, TupleObject):
        if isinstance(left, kind) and isinstance(right, kind):
            for one, other in zip(left.items, right.items, strict=False):
                if not equal(one.data, other.data, meter, depth + 1):
                    return less(one.data, other.data, meter, depth + 1)
            return len(left.items) < len(right.items)
    if isinstance(left, SetObject) and isinstance(right, SetObject):
        return left.members.keys() < right.members.keys()
    raise raised("TypeError", f"cannot say which comes first of {type_name(left)} and {type_name(right)}")


def contains(container: Value, item: Value, meter: Meter) -> bool:
    """Whether the item is in the container.

    Raises:
        Raised: It is no container, or could not hold such a thing.
    """
    data = container.data
    if isinstance(data, DictObject):
        return key_of(item.data) in data.entries
    if isinstance(data, SetObject):
        return key_of(item.data) in data.members
    if isinstance(data, ListObject | TupleObject):
        return any(equal(other.data, item.data, meter) for other in data.items)
    if isinstance(data, str) and isinstance(item.data, str):
        meter.charge(len(data) >> 6)
        return item.data in data
    if isinstance(data, range):
        return isinstance(item.data, (int, float)) and item.data in data
    raise raised("TypeError", f"cannot look for a {type_name(item.data)} in a {type_name(data)}")


def contains_label(container: Value, item: Value, meter: Meter) -> Label:
    """Who had a part in whether the item is in the container."""
    if isinstance(container.data, DictObject | SetObject):
        return shallow(container) | key_label(item)
    return deep(container, meter) | deep(item, meter)


def is_same(left: object, right: object) -> bool:
    """Whether two things are one; numbers and text are one if they are equal and of one type."""
    if isinstance(left, PLAIN):
        return type(left) is type(right) and left == right
    return left is right


def compare(kind: ast.cmpop, left: Value, right: Value, meter: Meter) -> bool:
    """What a comparison says."""
    return _COMPARISONS[type(kind)](left, right, meter)


_COMPARISONS: Final[dict[type[ast.cmpop], Callable[[Value, Value, Meter], bool]]] = {
    ast.Eq: lambda left, right, meter: equal(left.data, right.data, meter),
    ast.NotEq: lambda left, right, meter: not equal(left.data, right.data, meter),
    ast.Lt: lambda left, right, meter: less(left.data, right.data, meter),
    ast.Gt: lambda left, right, meter: less(right.data, left.data, meter),
    ast.LtE: lambda left, right, meter: _at_most(left.data, right.data, meter),
    ast.GtE: lambda left, right, meter: _at_most(right.data, left.data, meter),
    ast.In: lambda left, right, meter: contains(right, left, meter),
    ast.NotIn: lambda left, right, meter: not contains(right, left, meter),
    ast.Is: lambda left, right, meter: is_same(left.data, right.data),
    ast.IsNot: lambda left, right, meter: not is_same(left.data, right.data),
}


def _at_most(left: object, right: object, meter: Meter) -> bool:
    if isinstance(left, (int, float)) and isinstance(right, (int, float)):
        return left <= right  # neither `<` nor `==` says it of nan
    return less(left, right, meter) or equal(left, right, meter)


def compare_label(kind: ast.cmpop, left: Value, right: Value, meter: Meter) -> Label:
    """Who had a part in what a comparison says."""
    if isinstance(kind, ast.In | ast.NotIn):
        return contains_label(right, left, meter)
    if isinstance(kind, ast.Is | ast.IsNot):
        return shallow(left) | shallow(right)
    return deep(left, meter) | deep(right, meter)
