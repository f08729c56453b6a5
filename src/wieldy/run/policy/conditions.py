r"""What an argument must be for a rule to match: `above(100)`, `one_of("EUR", "USD")`, `matches(r".+@example\.com")`.

A condition is data: a kind, and what it compares with. The table of kinds says how each is read, and when it holds, so
that code and a dictionary such as `{"above": 100}` make the same condition and fail with the same words. `|`, `&` and
`~` put conditions together. A value that is not there is null, and of null only `missing()`, `equals(None)` and what is
made with `~` hold. Pure.
"""

from __future__ import annotations

import copy
import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final, Generic, TypeAlias, TypeVar, cast

from wieldy.core.errors import UsageError
from wieldy.core.json import JsonValue
from wieldy.run.policy.operands import (
    is_equal,
    number_of,
    read_flag,
    read_json,
    read_number,
    read_pattern,
    read_values,
)
from wieldy.run.policy.paths import Path, read_path, render_path, value_at
from wieldy.run.policy.places import within
from wieldy.schema import nearest

Operand = TypeVar("Operand")


@dataclass(frozen=True, slots=True)
class Condition:
    """Holds of some values and not of others; made by the functions of this module.

    Attributes:
        kind: One of the table's.
        operand: What the value is compared with.

    Raises:
        UsageError: There is no such kind, or it takes another operand.
    """

    kind: str
    operand: object

    def __post_init__(self) -> None:
        kind = _KINDS.get(self.kind)
        if kind is None:
            raise UsageError(f"expected {_KINDS_IN_WORDS}, found {self.kind!r}{_hint(self.kind)}")
        with within(f"'{self.kind}'"):
            object.__setattr__(self, "operand", kind.read(self.operand))

    def holds(self, value: JsonValue) -> bool:
        """Whether the value is as the condition says."""
        return _KINDS[self.kind].holds(self.operand, value)

    def to_dict(self) -> dict[str, JsonValue]:
        """The condition as `read_condition` reads it."""
        return {self.kind: _as_json(self.operand)}

    def __or__(self, other: Condition) -> Condition:
        return Condition("any_of", (self, other))

    def __and__(self, other: Condition) -> Condition:
        return Condition("all_of", (self, other))

    def __invert__(self) -> Condition:
        return Condition("not", self)

    def __bool__(self) -> bool:
        # Python would take the first of `above(100) or missing()` and forget the second.
        raise UsageError("A condition has no truth of its own: write `|` for or, `&` for and, `~` for not.")


Wanted: TypeAlias = "Condition | JsonValue"
"""A condition, a value that must be equal, or a condition as a dictionary."""


def equals(value: JsonValue) -> Condition:
    """The same JSON value; 1 and 1.0 are the same, 1 and true are not."""
    return Condition("equals", value)


def one_of(*values: JsonValue) -> Condition:
    """The same as one of these."""
    return Condition("one_of", values)


def matches(pattern: str) -> Condition:
    """A text that fits the regular expression from its beginning to its end."""
    return Condition("matches", pattern)


def contains(pattern: str) -> Condition:
    """A text in which the regular expression fits somewhere."""
    return Condition("contains", pattern)


def above(number: float) -> Condition:
    """A number, or a text that is one, greater than this."""
    return Condition("above", number)


def below(number: float) -> Condition:
    """A number, or a text that is one, less than this."""
    return Condition("below", number)


def at_least(number: float) -> Condition:
    """A number, or a text that is one, not less than this."""
    return Condition("at_least", number)


def at_most(number: float) -> Condition:
    """A number, or a text that is one, not greater than this."""
    return Condition("at_most", number)


def missing() -> Condition:
    """No value: the argument was left out and has no default, or it is null."""
    return Condition("missing", True)


def some(wanted: Wanted) -> Condition:
    """A list of which at least one item is as wanted."""
    return Condition("some", wanted)


def every(wanted: Wanted) -> Condition:
    """A list of which every item is as wanted; also an empty one."""
    return Condition("every", wanted)


def fields(wanted: Mapping[str, Wanted]) -> Condition:
    """An object whose values at these paths are all as wanted."""
    return Condition("fields", wanted)


def read_condition(wanted: object) -> Condition:
    """The condition that is meant by one, by a value that must be equal, or by a dictionary such as `{"above": 100}`.

    Raises:
        UsageError: It is none of them.
    """
    if isinstance(wanted, Condition):
        return wanted
    if isinstance(wanted, Mapping):
        parts = tuple(Condition(kind, operand) for kind, operand in cast("Mapping[str, object]", wanted).items())
        if not parts:
            raise UsageError(
                "expected a condition such as {'above': 100}, found {}. For an empty object say equals({})."
            )
        return parts[0] if len(parts) == 1 else Condition("all_of", parts)
    if isinstance(wanted, list | tuple | set | frozenset):
        raise UsageError(
            f"expected a condition, found {wanted!r}. Say one_of(...) for one of these values, equals([...]) for this "
            "list, some(...) or every(...) for what a list holds."
        )
    return missing() if wanted is None else equals(cast("JsonValue", wanted))


@dataclass(frozen=True, slots=True)
class Where:
    """What must hold, and where: every condition at its path."""

    conditions: tuple[tuple[Path, Condition], ...] = ()

    def holds(self, value: JsonValue) -> bool:
        """Whether every condition holds at its path in the value."""
        return all(condition.holds(value_at(value, path)) for path, condition in self.conditions)

    def to_dict(self) -> dict[str, JsonValue]:
        """The conditions as `read_where` reads them."""
        return {render_path(path): condition.to_dict() for path, condition in self.conditions}


def read_where(where: object) -> Where:
    """The paths, and what must hold there.

    Raises:
        UsageError: It is no dictionary, or something in it is no path or no condition.
    """
    if isinstance(where, Where):
        return where
    if not isinstance(where, Mapping):
        raise UsageError(f"expected a dictionary such as {{'amount': above(100)}}, found {where!r}.")
    found: list[tuple[Path, Condition]] = []
    for path, wanted in cast("Mapping[object, object]", where).items():
        with within(repr(path)):
            found.append((read_path(path), read_condition(wanted)))
    return Where(tuple(found))


@dataclass(frozen=True, slots=True)
class _Kind(Generic[Operand]):
    read: Callable[[object], Operand]
    holds: Callable[[Operand, JsonValue], bool]


def _read_conditions(operand: object) -> tuple[Condition, ...]:
    if isinstance(operand, list | tuple) and operand:
        return tuple(map(read_condition, cast("list[object]", operand)))
    raise UsageError(f"expected one condition or more, such as [{{'above': 100}}, 0], found {operand!r}.")


def _compares(relation: Callable[[Decimal, Decimal], bool]) -> _Kind[float]:
    def holds(operand: float, value: JsonValue) -> bool:
        number, limit = number_of(value), number_of(operand)
        return number is not None and limit is not None and relation(number, limit)

    return _Kind(read_number, holds)


def _items(value: JsonValue) -> list[JsonValue]:
    return value if isinstance(value, list) else []


def _as_json(operand: object) -> JsonValue:
    match operand:
        case Condition():
            return cast("JsonValue", operand.to_dict())
        case Where():
            return cast("JsonValue", operand.to_dict())
        case tuple():
            return [_as_json(part) for part in cast("tuple[object, ...]", operand)]
        case _:
            return copy.deepcopy(cast("JsonValue", operand))


_KINDS: Final[dict[str, _Kind[Any]]] = {
    "equals": _Kind(read_json, is_equal),
    "one_of": _Kind(read_values, lambda values, value: any(is_equal(each, value) for each in values)),
    "matches": _Kind(
        read_pattern, lambda pattern, value: isinstance(value, str) and re.fullmatch(pattern, value) is not None
    ),
    "contains": _Kind(
        read_pattern, lambda pattern, value: isinstance(value, str) and re.search(pattern, value) is not None
    ),
    "above": _compares(operator.gt),
    "below": _compares(operator.lt),
    "at_least": _compares(operator.ge),
    "at_most": _compares(operator.le),
    "missing": _Kind(read_flag, lambda is_missing, value: (value is None) is is_missing),
    "some": _Kind(read_condition, lambda condition, value: any(map(condition.holds, _items(value)))),
    "every": _Kind(
        read_condition, lambda condition, value: isinstance(value, list) and all(map(condition.holds, value))
    ),
    "fields": _Kind(read_where, lambda where, value: isinstance(value, dict) and where.holds(value)),
    "any_of": _Kind(_read_conditions, lambda parts, value: any(part.holds(value) for part in parts)),
    "all_of": _Kind(_read_conditions, lambda parts, value: all(part.holds(value) for part in parts)),
    "not": _Kind(read_condition, lambda condition, value: not condition.holds(value)),
}

_KINDS_IN_WORDS: Final = "one of " + ", ".join(map(repr, _KINDS))


def _hint(kind: object) -> str:
    meant = nearest(kind, _KINDS) if isinstance(kind, str) else None
    return f"; did you mean {meant!r}?" if meant else "."
