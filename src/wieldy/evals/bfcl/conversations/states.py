"""The state of services as plain values, and when two values are the same.

Values are compared as JSON has them, not as Python does: 5 and 5.0 are the same, 1 and true are not, and what is no
number at all is itself. Texts are compared to the letter: a file of another name is another file.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any, Final, cast

from wieldy.evals.bfcl.conversations.worlds import World, attributes_of

_DEEPEST: Final = 60
"""Folders within folders; one that contains itself ends here."""
_MOST_VALUES: Final = 200_000
"""In one state; folders that share what is in them may hold any number of paths."""


def state_of(world: World) -> dict[str, Any]:
    """Everything that counts as the state, as plain values: what is an object becomes its public attributes."""
    left = iter(range(_MOST_VALUES))
    return {f"{service}.{name}": _plain(value, 0, left) for service, name, value in world.attributes()}


def _plain(value: object, depth: int, left: Iterator[int]) -> Any:
    if depth > _DEEPEST or next(left, None) is None:
        return "..."
    if isinstance(value, dict):
        return {key: _plain(each, depth + 1, left) for key, each in cast("dict[Any, Any]", value).items()}
    if isinstance(value, list | tuple):
        return [_plain(each, depth + 1, left) for each in cast("list[Any]", value)]
    if isinstance(value, set | frozenset):
        return sorted(cast("set[Any]", value), key=repr)
    if hasattr(value, "__dict__"):  # a file or a folder; its parent is above it already
        public = {name: each for name, each in attributes_of(value) if name[0] != "_" and name != "parent"}
        return _plain(public, depth + 1, left)
    return value


def difference(found: Mapping[str, Any], wanted: Mapping[str, Any]) -> str | None:
    """Where two states differ, in words; None if they do not."""
    for name, value in wanted.items():
        if not is_same(found.get(name), value):
            return f"{name} is {found.get(name)!r:.120}, expected {value!r:.120}"
    return None


def is_same(value: object, other: object) -> bool:
    """Whether two values are the same as JSON has them."""
    if isinstance(value, bool) or isinstance(other, bool):
        return value is other
    if isinstance(value, int | float) and isinstance(other, int | float):
        return value == other or (_is_no_number(value) and _is_no_number(other))
    if isinstance(value, list) and isinstance(other, list):
        values, others = cast("list[Any]", value), cast("list[Any]", other)
        return len(values) == len(others) and all(map(is_same, values, others))
    if isinstance(value, dict) and isinstance(other, dict):
        members, wanted = cast("dict[Any, Any]", value), cast("dict[Any, Any]", other)
        return members.keys() == wanted.keys() and all(is_same(each, wanted[key]) for key, each in members.items())
    one, another = cast("Any", value), cast("Any", other)
    return type(one) is type(another) and one == another


def _is_no_number(value: float) -> bool:
    return isinstance(value, float) and math.isnan(value)
