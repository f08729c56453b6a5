"""The functions that code may call without defining them, as far as they call nothing themselves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from wieldy.sandbox.tracked.comparisons import truth, unawaited
from wieldy.sandbox.tracked.function_calls import FunctionCall
from wieldy.sandbox.tracked.kinds import is_kind
from wieldy.sandbox.tracked.limits import LimitReachedError
from wieldy.sandbox.tracked.objects import (
    CLEAN,
    Builtin,
    CoroutineObject,
    DictObject,
    ExceptionObject,
    ExceptionType,
    ListObject,
    SetObject,
    TupleObject,
    Value,
    raised,
    type_name,
)
from wieldy.sandbox.tracked.operators import HOST_ERRORS, deep, failed
from wieldy.sandbox.tracked.sequence_functions import SEQUENCE_FUNCTIONS
from wieldy.sandbox.tracked.text import formatted, representation, text_of

LISTING: Final = frozenset({"list", "set", "tuple", "reversed", "sum", "dict"})
"""Functions whose arguments are gone through first, and given as lists."""

_MOST_DIGITS: Final = 400


def _len(call: FunctionCall) -> Value:
    call.takes(1, 1)
    data = call.arguments[0].data
    if isinstance(data, str | range):
        return Value(len(data), call.label)
    if isinstance(data, ListObject | TupleObject):
        return Value(len(data.items), call.label)
    if isinstance(data, DictObject):
        return Value(len(data.entries), call.label)
    if isinstance(data, SetObject):
        return Value(len(data.members), call.label)
    if isinstance(data, CoroutineObject):
        raise raised("TypeError", f"{unawaited(data)} was not awaited: write `await` before it", call.label)
    raise raised("TypeError", f"a {type_name(data)} has no length", call.label)


def _number(call: FunctionCall) -> Any:
    data = call.arguments[0].data
    if not isinstance(data, int | float):
        raise raised("TypeError", f"{call.name}() takes a number, no {type_name(data)}", call.label)
    return data


def _abs(call: FunctionCall) -> Value:
    call.takes(1, 1)
    return Value(abs(_number(call)), call.label)


def _round(call: FunctionCall) -> Value:
    call.takes(1, 2)
    digits = call.arguments[1].data if len(call.arguments) > 1 else None
    if digits is not None and (not isinstance(digits, int) or abs(digits) > _MOST_DIGITS):
        raise raised("ValueError", f"round() takes a number of digits up to {_MOST_DIGITS}", call.label)
    return Value(round(_number(call), digits), call.label)


def _str(call: FunctionCall) -> Value:
    call.takes(0, 1)
    if not call.arguments:
        return Value("", CLEAN)
    return Value(text_of(call.arguments[0].data, call.meter), call.deep())


def _repr(call: FunctionCall) -> Value:
    call.takes(1, 1)
    return Value(representation(call.arguments[0].data, call.meter), call.deep())


def _format(call: FunctionCall) -> Value:
    call.takes(1, 2)
    specification = call.arguments[1].data if len(call.arguments) > 1 else ""
    if not isinstance(specification, str):
        raise raised("TypeError", "format() takes a specification as text", call.label)
    return Value(formatted(call.arguments[0].data, specification, call.meter), call.deep())


def _int(call: FunctionCall) -> Value:
    call.takes(0, 2)
    given: list[Any] = [argument.data for argument in call.arguments]
    if given and not isinstance(given[0], str | int | float):
        raise raised("TypeError", f"int() takes text or a number, no {type_name(given[0])}", call.label)
    if given and isinstance(given[0], str) and len(given[0]) > call.meter.limits.int_bits:
        raise raised("ValueError", "int(): the text is too long", call.label)
    if len(given) > 1 and not (isinstance(given[1], int) and isinstance(given[0], str)):
        raise raised("TypeError", "int() takes a base with text only", call.label)
    return Value(call.meter.number(int(*given)), call.label)


def _float(call: FunctionCall) -> Value:
    call.takes(0, 1)
    given: list[Any] = [argument.data for argument in call.arguments]
    if given and not isinstance(given[0], str | int | float):
        raise raised("TypeError", f"float() takes text or a number, no {type_name(given[0])}", call.label)
    return Value(float(*given), call.label)


def _bool(call: FunctionCall) -> Value:
    call.takes(0, 1)
    return Value(bool(call.arguments) and truth(call.arguments[0]), call.label)


def _isinstance(call: FunctionCall) -> Value:
    call.takes(2, 2)
    data, wanted = call.arguments[0].data, call.arguments[1]
    kinds = [item.data for item in wanted.data.items] if isinstance(wanted.data, TupleObject) else [wanted.data]
    return Value(any(_is_of(data, kind) for kind in kinds), call.label | deep(wanted, call.meter))


def _is_of(data: object, kind: object) -> bool:
    if isinstance(kind, ExceptionType):
        return isinstance(data, ExceptionObject) and is_kind(data.kind, kind.name)
    if not isinstance(kind, Builtin) or kind.name not in _TYPES:
        raise raised("TypeError", f"isinstance() takes types: {', '.join(_TYPES)}, or exceptions")
    return isinstance(data, _TYPES[kind.name])


_TYPES: Final[dict[str, type]] = {
    "str": str,
    "int": int,
    "float": float,
    "bool": bool,
    "list": ListObject,
    "dict": DictObject,
    "tuple": TupleObject,
    "set": SetObject,
}


def _ord(call: FunctionCall) -> Value:
    call.takes(1, 1)
    data = call.arguments[0].data
    if not isinstance(data, str) or len(data) != 1:
        raise raised("TypeError", "ord() takes one character", call.label)
    return Value(ord(data), call.label)


def _chr(call: FunctionCall) -> Value:
    call.takes(1, 1)
    data = call.arguments[0].data
    if not isinstance(data, int):
        raise raised("TypeError", "chr() takes a whole number", call.label)
    return Value(chr(data), call.label)


FUNCTIONS: Final[dict[str, Callable[[FunctionCall], Value]]] = {
    "abs": _abs, "bool": _bool, "chr": _chr, "float": _float, "format": _format, "int": _int,
    "isinstance": _isinstance, "len": _len, "ord": _ord, "repr": _repr, "round": _round, "str": _str,
    **SEQUENCE_FUNCTIONS,
}  # fmt: skip


def call_function(call: FunctionCall, functions: dict[str, Callable[[FunctionCall], Value]]) -> Value:
    """What the function gives.

    Raises:
        Raised: It does not go with such arguments.
    """
    try:
        return functions[call.name](call)
    except HOST_ERRORS as error:
        raise failed(error, call.deep()) from None
    except RecursionError:
        raise LimitReachedError("data is nested too deeply") from None
