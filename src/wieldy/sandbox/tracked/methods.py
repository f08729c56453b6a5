"""Which methods there are, and calling them."""

from __future__ import annotations

from typing import Final

from wieldy.sandbox.tracked.analysis import MUTATING
from wieldy.sandbox.tracked.container_methods import CONTAINER_METHODS
from wieldy.sandbox.tracked.method_calls import MethodCall
from wieldy.sandbox.tracked.objects import DictObject, ListObject, MatchObject, SetObject, Value, raised, size_of
from wieldy.sandbox.tracked.regular import MATCH_METHODS
from wieldy.sandbox.tracked.text_methods import TEXT_METHODS, call_text_method

ITERATING: Final = frozenset(
    [
        "extend",
        "join",
        "union",
        "intersection",
        "difference",
        "intersection_update",
        "difference_update",
        "issubset",
        "issuperset",
        "isdisjoint",
    ]
)
"""Methods whose arguments are gone through first, and given as lists."""


def has_method(data: object, name: str) -> bool:
    """Whether such data has such a method."""
    if isinstance(data, str):
        return name in TEXT_METHODS or name in ("join", "format")
    return name in _METHODS.get(type(data), ())


def call_method(call: MethodCall) -> Value:
    """What the method gives; the receiver is changed if the method does that.

    Raises:
        Raised: It does not go with such arguments.
    """
    data = call.data
    if isinstance(data, str):
        return call_text_method(call)
    most = _MOST.get(call.name, 1)
    if len(call.arguments) > most or call.keywords:
        raise raised("TypeError", f"{call.name}() takes at most {most} arguments, by position", call.label)
    call.meter.charge(1 + (size_of(data) >> 4) if type(data) in CONTAINER_METHODS and call.name not in _CHEAP else 1)
    return _METHODS[type(data)][call.name](call)


def is_changing(data: object, name: str) -> bool:
    """Whether the method changes what it is called on."""
    return name in MUTATING and isinstance(data, ListObject | DictObject | SetObject)


_METHODS: Final = {**CONTAINER_METHODS, MatchObject: MATCH_METHODS}
_CHEAP: Final = frozenset({"append", "get", "add"})
_MOST: Final = {
    "group": 20,
    "groups": 0,
    "insert": 2,
    "get": 2,
    "pop": 2,
    "setdefault": 2,
    "items": 0,
    "keys": 0,
    "values": 0,
    "index": 1,
}
