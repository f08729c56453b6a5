"""The modules that code may import: a few functions of each, and nothing of the modules themselves."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any, Final

from wieldy.sandbox.tracked.comparisons import truth
from wieldy.sandbox.tracked.exchange import enter, leave
from wieldy.sandbox.tracked.function_calls import FunctionCall
from wieldy.sandbox.tracked.objects import Value, raised, type_name
from wieldy.sandbox.tracked.regular import FLAGS, REGULAR

CONSTANTS: Final[dict[str, object]] = {**FLAGS, "math.inf": math.inf, "math.pi": math.pi}


def _loads(call: FunctionCall) -> Value:
    call.takes(1, 1)
    text = call.arguments[0].data
    if not isinstance(text, str):
        raise raised("TypeError", f"json.loads() takes text, no {type_name(text)}", call.label)
    call.meter.charge(len(text) >> 4)
    try:
        data = json.loads(text)
    except RecursionError:
        raise raised("ValueError", "json.loads(): nested too deeply", call.label) from None
    return enter(data, call.label, call.meter)


def _dumps(call: FunctionCall) -> Value:
    call.takes(1, 1, "indent", "sort_keys", "ensure_ascii")
    data, label = leave(call.arguments[0], call.meter, any_key=True)
    options: dict[str, Any] = {}
    indent = call.keywords.get("indent", Value(None)).data
    if indent is not None:
        if not isinstance(indent, int) or not 0 <= indent <= 16:
            raise raised("ValueError", "json.dumps() takes an indent of 0 to 16", call.label)
        options["indent"] = indent
    for name in ("sort_keys", "ensure_ascii"):
        if name in call.keywords:
            options[name] = truth(call.keywords[name])
    made: list[str] = []
    for part in json.JSONEncoder(**options).iterencode(data):
        made.append(part)
        call.meter.make(len(part))
    return Value(call.meter.text("".join(made)), label | call.label)


def _number(name: str, do: Callable[..., Any]) -> Callable[[FunctionCall], Value]:
    def give(call: FunctionCall) -> Value:
        call.takes(1, 2 if name == "log" else 1)
        given: list[Any] = [argument.data for argument in call.arguments]
        if not all(isinstance(number, int | float) for number in given):
            raise raised("TypeError", f"math.{name}() takes numbers", call.label)
        made = do(*given)
        return Value(call.meter.number(made) if isinstance(made, int) else made, call.label)

    return give


MODULES: Final[dict[str, Callable[[FunctionCall], Value]]] = {
    **REGULAR,
    "json.loads": _loads,
    "json.dumps": _dumps,
    "math.ceil": _number("ceil", math.ceil),
    "math.exp": _number("exp", math.exp),
    "math.floor": _number("floor", math.floor),
    "math.isfinite": _number("isfinite", math.isfinite),
    "math.log": _number("log", math.log),
    "math.log10": _number("log10", math.log10),
    "math.sqrt": _number("sqrt", math.sqrt),
}
