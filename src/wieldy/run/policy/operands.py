"""What conditions compare with: operands as they are read from code or a dictionary, and JSON values compared.

Pure. Deliberately not here: which condition takes which operand (`conditions`).
"""

from __future__ import annotations

import copy
import math
import re
from decimal import Decimal, InvalidOperation
from typing import cast

from wieldy.core.errors import UsageError
from wieldy.core.json import JsonValue, is_json


def read_json(operand: object) -> JsonValue:
    """A copy of a JSON value.

    Raises:
        UsageError: It is something else.
    """
    try:
        if is_json(operand):
            return copy.deepcopy(cast("JsonValue", operand))
    except RecursionError:
        pass
    raise UsageError(f"expected a JSON value, found {operand!r}.")


def read_values(operand: object) -> tuple[JsonValue, ...]:
    """Copies of one JSON value or more.

    Raises:
        UsageError: It is something else.
    """
    if isinstance(operand, list | tuple) and operand:
        return tuple(map(read_json, cast("list[object]", operand)))
    raise UsageError(f"expected one value or more, such as ['EUR', 'USD'], found {operand!r}.")


def read_pattern(operand: object) -> str:
    """A regular expression that can be compiled.

    Raises:
        UsageError: It is something else.
    """
    if not isinstance(operand, str):
        raise UsageError(f"expected a regular expression as text, found {operand!r}.")
    try:
        re.compile(operand)
    except (re.error, RecursionError, OverflowError) as error:
        raise UsageError(f"expected a regular expression, found {operand!r}, which cannot be read: {error}.") from error
    return operand


def read_number(operand: object) -> int | float:
    """A finite number.

    Raises:
        UsageError: It is something else.
    """
    # Compared instead of `isfinite`, which takes no integer beyond the largest float.
    if isinstance(operand, int | float) and not isinstance(operand, bool) and -math.inf < operand < math.inf:
        return operand
    raise UsageError(f"expected a number such as 100, found {operand!r}.")


def read_flag(operand: object) -> bool:
    """True or false.

    Raises:
        UsageError: It is something else.
    """
    if isinstance(operand, bool):
        return operand
    raise UsageError(f"expected true or false, found {operand!r}.")


def is_equal(wanted: JsonValue, value: JsonValue) -> bool:
    """Whether JSON takes them for the same value: 1 and 1.0 are, 1 and true are not."""
    if isinstance(wanted, bool) or isinstance(value, bool):
        return wanted is value
    if isinstance(wanted, list) and isinstance(value, list):
        return len(wanted) == len(value) and all(map(is_equal, wanted, value))
    if isinstance(wanted, dict) and isinstance(value, dict):
        return wanted.keys() == value.keys() and all(is_equal(member, value[name]) for name, member in wanted.items())
    return wanted == value


def number_of(value: JsonValue) -> Decimal | None:
    """The number that a value is or spells: a tool may take decimals as text, and 0.1 means a tenth either way."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = Decimal(repr(value) if isinstance(value, float) else value)
    except InvalidOperation:
        return None
    return None if number.is_nan() else number
