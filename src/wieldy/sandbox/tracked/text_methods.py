"""Methods of text, in which the label of every argument has a part."""

from __future__ import annotations

from typing import Any, Final

from wieldy.sandbox.tracked.containers import new_list
from wieldy.sandbox.tracked.limits import Meter
from wieldy.sandbox.tracked.method_calls import MethodCall
from wieldy.sandbox.tracked.objects import ListObject, TupleObject, Value, raised, type_name
from wieldy.sandbox.tracked.operators import HOST_ERRORS, deep, failed
from wieldy.sandbox.tracked.text import format_template

TEXT_METHODS: Final = frozenset(
    [
        "strip",
        "lstrip",
        "rstrip",
        "lower",
        "upper",
        "title",
        "capitalize",
        "casefold",
        "swapcase",
        "split",
        "rsplit",
        "splitlines",
        "partition",
        "rpartition",
        "startswith",
        "endswith",
        "find",
        "rfind",
        "index",
        "rindex",
        "count",
        "replace",
        "zfill",
        "ljust",
        "rjust",
        "center",
        "isdigit",
        "isalpha",
        "isalnum",
        "isspace",
        "isupper",
        "islower",
        "isnumeric",
        "isdecimal",
        "istitle",
        "removeprefix",
        "removesuffix",
    ]
)


def call_text_method(call: MethodCall) -> Value:
    """What the method of text gives."""
    text: str = call.data
    meter = call.meter
    label = call.label
    meter.charge(1 + (len(text) >> 6))
    if call.name == "format":
        made, part = format_template(text, call.arguments, call.keywords, meter)
        return Value(made, label | part)
    for argument in (*call.arguments, *call.keywords.values()):
        label |= deep(argument, meter)
    if call.name == "join":
        return Value(_join(text, call), label)
    positional = [_plain(argument, call) for argument in call.arguments]
    named = {name: _plain(argument, call) for name, argument in call.keywords.items()}
    _check_growth(call.name, text, positional, meter)
    try:
        made = getattr(text, call.name)(*positional, **named)
    except HOST_ERRORS as error:
        raise failed(error, label) from None
    if isinstance(made, list | tuple):
        parts = [Value(meter.text(str(part)), label) for part in made]  # type: ignore[reportUnknownVariableType]
        if isinstance(made, tuple):
            return Value(TupleObject(tuple(parts)), label)
        return new_list(parts, label, meter)
    return Value(meter.text(made) if isinstance(made, str) else made, label)


def _plain(argument: Value, call: MethodCall) -> Any:
    data = argument.data
    if isinstance(data, TupleObject):
        return tuple(_plain(item, call) for item in data.items if not isinstance(item.data, TupleObject))
    if isinstance(data, str | int | None):
        return data
    raise raised("TypeError", f"{call.name}() takes no {type_name(data)}", call.label)


def _check_growth(name: str, text: str, given: list[Any], meter: Meter) -> None:
    if name in ("zfill", "ljust", "rjust", "center") and given and isinstance(given[0], int):
        meter.make(max(0, given[0]))
    elif name == "replace" and len(given) > 1 and isinstance(given[0], str) and isinstance(given[1], str):
        times = text.count(given[0]) if given[0] else len(text) + 1
        meter.make(len(text) + times * len(given[1]))
    elif name in ("split", "rsplit", "splitlines"):
        meter.make(len(text) >> 2)


def _join(text: str, call: MethodCall) -> str:
    items = call.argument(0).data
    if not isinstance(items, ListObject) or not all(isinstance(item.data, str) for item in items.items):
        raise raised("TypeError", "join() takes text only: convert with str()", call.label)
    pieces: list[Any] = [item.data for item in items.items]
    call.meter.make(sum(len(piece) for piece in pieces) + len(text) * len(pieces))
    return text.join(pieces)
