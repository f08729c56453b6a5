"""Operators on labelled values: what they give, and who had a part in it. They change nothing."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any, Final

from wieldy.sandbox.tracked.limits import LimitReachedError, Meter
from wieldy.sandbox.tracked.objects import (
    CLEAN,
    PLAIN,
    DictObject,
    ExceptionObject,
    Label,
    ListObject,
    SetObject,
    TupleObject,
    Value,
    raised,
    shallow,
    type_name,
)

HOST_ERRORS: Final = (ArithmeticError, LookupError, TypeError, ValueError)
"""What operations on plain data raise; their kinds are kinds of the code's exceptions too."""


def failed(error: Exception, label: Label) -> Exception:
    """The code's exception for one of the host's; only its kind and its text cross."""
    kind = type(error).__name__
    known = {"OverflowError", "ZeroDivisionError", "IndexError", "KeyError", "TypeError"}
    return raised(kind if kind in known else "ValueError", str(error)[:500], label)


def deep(value: Value, meter: Meter) -> Label:
    """Who had a part in the value and in anything within it."""
    if isinstance(value.data, PLAIN):
        return value.label
    label = CLEAN
    seen: set[int] = set()
    waiting = [value]
    while waiting:
        value = waiting.pop()
        label |= shallow(value)
        data = value.data
        if isinstance(data, PLAIN) or id(data) in seen:
            continue
        meter.charge(1)
        seen.add(id(data))
        if isinstance(data, ListObject | TupleObject):
            waiting += data.items
        elif isinstance(data, DictObject):
            waiting += [item for _, item in data.entries.values()]
        elif isinstance(data, ExceptionObject):
            waiting += data.arguments
    return label


def unary(kind: ast.unaryop, value: Value, meter: Meter) -> Value:
    """`-x`, `+x`, `~x`; `not` is a question of truth."""
    if not isinstance(value.data, (int, float)):
        raise raised("TypeError", f"a {type_name(value.data)} has no sign", value.label)
    data = value.data
    if isinstance(kind, ast.Invert):
        if not isinstance(data, int):
            raise raised("TypeError", "~ needs a whole number", value.label)
        return Value(meter.number(-data - 1), value.label)
    return Value(-data if isinstance(kind, ast.USub) else +data, value.label)


def binary(kind: ast.operator, left: Value, right: Value, meter: Meter) -> Value:
    """What a binary operator gives.

    Raises:
        Raised: It does not go with such data.
    """
    one: object = left.data
    other: object = right.data
    if isinstance(one, (int, float)) and isinstance(other, (int, float)):
        return Value(_arithmetic(type(kind), one, other, meter), left.label | right.label)
    kinds: tuple[type[ast.operator], type, type] = (type(kind), type(one), type(other))
    found = _OTHERS.get(kinds)
    if found is None:
        label = shallow(left) | shallow(right)
        sign = _SIGNS.get(type(kind), type(kind).__name__)
        raise raised("TypeError", f"`{sign}` does not go with {type_name(one)} and {type_name(other)}", label)
    return found(left, right, meter)


def _arithmetic(kind: type[ast.operator], left: Any, right: Any, meter: Meter) -> object:
    limit = meter.limits.int_bits
    if isinstance(left, int) and isinstance(right, int):
        if kind is ast.Pow and right > 0 and left.bit_length() * right > limit + 64:
            raise LimitReachedError(f"a whole number of more than {limit} bits")
        if kind is ast.LShift and right > limit:
            raise LimitReachedError(f"a whole number of more than {limit} bits")
    if kind not in _NUMERIC:
        raise raised("TypeError", f"{kind.__name__} does not go with numbers")
    result = _NUMERIC[kind](left, right)
    if isinstance(result, complex):
        raise raised("ValueError", "a root of a negative number is no real number")
    return meter.number(result) if isinstance(result, int) else result


_NUMERIC: Final[dict[type[ast.operator], Callable[[Any, Any], Any]]] = {
    ast.Add: lambda left, right: left + right,
    ast.Sub: lambda left, right: left - right,
    ast.Mult: lambda left, right: left * right,
    ast.Div: lambda left, right: left / right,
    ast.FloorDiv: lambda left, right: left // right,
    ast.Mod: lambda left, right: left % right,
    ast.Pow: lambda left, right: left**right,
    ast.LShift: lambda left, right: left << right,
    ast.RShift: lambda left, right: left >> right,
    ast.BitAnd: lambda left, right: left & right,
    ast.BitOr: lambda left, right: left | right,
    ast.BitXor: lambda left, right: left ^ right,
}
_SIGNS: Final[dict[type[ast.operator], str]] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.Mod: "%",
    ast.BitOr: "|",
    ast.BitAnd: "&",
}


def _add_text(left: Any, right: Any, meter: Meter) -> Value:
    meter.make(len(left.data) + len(right.data))
    return Value(left.data + right.data, left.label | right.label)


def _add_lists(left: Any, right: Any, meter: Meter) -> Value:
    meter.make(len(left.data.items) + len(right.data.items))
    # Where an element of the right one comes to stand is decided by how long the left one is.
    moved = shallow(left)
    items = [*left.data.items, *_moved(right.data.items, moved)]
    return Value(ListObject(items, moved | shallow(right)), left.label | right.label)


def _add_tuples(left: Any, right: Any, meter: Meter) -> Value:
    meter.make(len(left.data.items) + len(right.data.items))
    items = (*left.data.items, *_moved(right.data.items, left.label))
    return Value(TupleObject(items), left.label | right.label)


def _moved(items: Any, label: Label) -> Any:
    return [Value(item.data, item.label | label) for item in items] if label else items


def _repeat(left: Any, right: Any, meter: Meter) -> Value:
    if isinstance(left.data, int):
        left, right = right, left
    data, times = left.data, max(0, right.data)
    length = len(data) if isinstance(data, str) else len(data.items)
    if length and times > meter.limits.size // length:
        raise LimitReachedError(f"a text or container of more than {meter.limits.size} elements")
    meter.make(length * times)
    label = left.label | right.label
    if isinstance(data, str):
        return Value(data * (times if length else 0), label)
    items = _moved(data.items * (times if length else 0), shallow(left) | right.label)
    if isinstance(data, ListObject):
        return Value(ListObject(items, shallow(left) | right.label), label)
    return Value(TupleObject(tuple(items)), label)


def _sets(keep: Callable[[Any, Any], dict[Any, object]]) -> Callable[[Any, Any, Meter], Value]:
    def combine(left: Any, right: Any, meter: Meter) -> Value:
        meter.make(len(left.data.members) + len(right.data.members))
        label = shallow(left) | shallow(right)
        return Value(SetObject(keep(left.data.members, right.data.members), label), left.label | right.label)

    return combine


def _merge(left: Any, right: Any, meter: Meter) -> Value:
    meter.make(len(left.data.entries) + len(right.data.entries))
    label = shallow(left) | shallow(right)
    # Which of two values of one key stands there depends on whether the right one has the key.
    entries = {key: (name, Value(item.data, item.label | label)) for key, (name, item) in left.data.entries.items()}
    for key, (name, item) in right.data.entries.items():
        kept, _ = entries.get(key, (name, item))
        entries[key] = (kept, Value(item.data, item.label | label))
    return Value(DictObject(entries, label), left.label | right.label)


def joined(left: dict[Any, object], right: dict[Any, object]) -> dict[Any, object]:
    """The members of both, those of the left one as it has them."""
    return left | _without(right, left, keep=False)


def _without(left: dict[Any, object], right: dict[Any, object], *, keep: bool) -> dict[Any, object]:
    return {key: item for key, item in left.items() if (key in right) == keep}


_OTHERS: Final[dict[tuple[type[ast.operator], type, type], Callable[[Any, Any, Meter], Value]]] = {
    (ast.Add, str, str): _add_text,
    (ast.Add, ListObject, ListObject): _add_lists,
    (ast.Add, TupleObject, TupleObject): _add_tuples,
    **{(ast.Mult, one, number): _repeat for one in (str, ListObject, TupleObject) for number in (int, bool)},
    **{(ast.Mult, number, one): _repeat for one in (str, ListObject, TupleObject) for number in (int, bool)},
    (ast.BitOr, DictObject, DictObject): _merge,
    (ast.BitOr, SetObject, SetObject): _sets(joined),
    (ast.BitAnd, SetObject, SetObject): _sets(lambda left, right: _without(left, right, keep=True)),
    (ast.Sub, SetObject, SetObject): _sets(lambda left, right: _without(left, right, keep=False)),
    (ast.BitXor, SetObject, SetObject): _sets(
        lambda left, right: _without(left, right, keep=False) | _without(right, left, keep=False)
    ),
}
