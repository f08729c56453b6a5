"""The strict verdict on calls: what was meant, and a reason where it is not.

It differs from the official one in both directions: other texts are not equal for having the same letters, and what
means the same is right (5 for 5.0, a documented default that is written out, any order of parallel calls that fits).
An answer that the tool's own description does not admit is no right answer. Deliberately not here: replies without
calls (`scoring`).

| reason | says |
|---|---|
| `wrong-count` | there are more or fewer calls than wanted |
| `wrong-tool` | another function is called |
| `undeclared-parameter` | a parameter that the function does not have |
| `missing-parameter` | one is left out that may not be |
| `unexpected-parameter` | one is given that the task gives no reason for, and not at its default |
| `wrong-type` | a value that the description does not admit |
| `wrong-value` | a value of the right type that was not meant |
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, Final, TypeAlias

from wieldy.evals.bfcl.categories import Language
from wieldy.evals.bfcl.data import BfclTask
from wieldy.evals.bfcl.literals import NESTED, java_value, javascript_value
from wieldy.evals.bfcl.values import admits, admits_alternative, is_allowed
from wieldy.evals.verdicts.equality import matched

Call: TypeAlias = "tuple[str, Mapping[str, Any]]"
"""A function's name and its arguments."""

_SEVERITY: Final = ("wrong-tool", "undeclared-parameter", "missing-parameter", "unexpected-parameter", "wrong-type")


def check(task: BfclTask, calls: Sequence[Call]) -> str | None:
    """Why the calls are not what was meant; None if they are."""
    if len(calls) != len(task.answers):
        return f"wrong-count: {len(calls)} calls instead of {len(task.answers)}"
    reasons = [[_check_call(task, answer, call) for call in calls] for answer in task.answers]
    served = matched([[reason is None for reason in row] for row in reasons])
    if len(served) == len(calls):
        return None
    # Told is what is wrong with a call that is left over, compared with the answer that it comes closest to.
    free = [column for column in range(len(calls)) if column not in served]
    rows = [row for row in range(len(task.answers)) if row not in served.values()]
    left = [reason for row in rows for column in free if (reason := reasons[row][column]) is not None]
    return max(left, key=_closeness)


def _closeness(reason: str) -> int:
    code = reason.partition(":")[0]
    return _SEVERITY.index(code) if code in _SEVERITY else len(_SEVERITY)


def _check_call(task: BfclTask, answer: Mapping[str, Mapping[str, list[Any]]], call: Call) -> str | None:
    ((wanted, options),) = answer.items()
    name, arguments = call
    if name != wanted:
        return f"wrong-tool: {name!r} instead of {wanted!r}"
    parameters = parameters_of(task, name)
    details: dict[str, Any] = parameters.get("properties") or {}
    required: Sequence[str] = parameters.get("required") or ()
    missing = next((parameter for parameter in required if parameter not in arguments), None)
    if missing is not None:
        return f"missing-parameter: {missing!r} is required"
    for parameter in (*arguments, *(each for each in options if each not in arguments)):
        reason = _check_parameter(task.category.language, parameter, details, options, arguments)
        if reason is not None:
            return reason
    return None


def parameters_of(task: BfclTask, name: str) -> dict[str, Any]:
    """The description of the parameters of a task's function; empty where there is no such function."""
    for function in task.functions:
        if function["name"] == name:
            return function["parameters"]
    return {}


def _check_parameter(
    language: Language,
    parameter: str,
    details: Mapping[str, Any],
    options: Mapping[str, list[Any]],
    arguments: Mapping[str, Any],
) -> str | None:
    if parameter not in details:
        is_left_out = parameter not in arguments and "" in options[parameter]
        return None if is_left_out else f"undeclared-parameter: {parameter!r}"
    detail: Mapping[str, Any] = details[parameter]
    listed = options.get(parameter, [])
    if language != "python":
        return _check_literal(language, parameter, detail, listed, arguments)
    admitted = [each for each in listed if each == "" or admits_alternative(detail, each)]
    if is_allowed(arguments, parameter, admitted, detail):
        return None
    if parameter not in arguments:
        return f"missing-parameter: {parameter!r} may not be left out here"
    if not admits(detail, arguments[parameter]):
        return f"wrong-type: {parameter!r} is described as {detail.get('type')}, found {arguments[parameter]!r:.80}"
    if not listed:
        return f"unexpected-parameter: {parameter!r}"
    return f"wrong-value: {parameter!r} is {arguments[parameter]!r:.80}"


# Java and JavaScript, whose values are given as literals in text


def _check_literal(
    language: Language,
    parameter: str,
    detail: Mapping[str, Any],
    listed: list[Any],
    arguments: Mapping[str, Any],
) -> str | None:
    untyped = {"description": detail.get("description", "")}
    if parameter not in arguments:
        if is_allowed({}, parameter, listed, untyped):
            return None
        return f"missing-parameter: {parameter!r} may not be left out here"
    for reading in _readings(language, arguments[parameter], detail):
        if is_allowed({parameter: reading}, parameter, listed, untyped):
            return None
    if not listed:
        return f"unexpected-parameter: {parameter!r}"
    return f"wrong-value: {parameter!r} is {arguments[parameter]!r:.80}"


def _readings(language: Language, value: Any, detail: Mapping[str, Any]) -> list[Any]:
    """What the value may stand for: itself, its literal, and a literal without the quotes of its items."""
    readings = [value]
    if not isinstance(value, str):
        return readings
    kind: str = detail.get("type") or "any"
    items: Mapping[str, Any] = detail.get("items") or {}
    item: str | None = items.get("type") if kind in NESTED else None
    read = java_value if language == "java" else javascript_value
    for each in (item, None):
        with suppress(NotImplementedError, ValueError):
            literal = read(value.strip(), kind, each)
            readings += [literal, _unquoted(literal)]
    return [*readings, _plain_number(value, kind)]


def _unquoted(value: Any) -> Any:
    if isinstance(value, list):
        return [_unquoted(each) for each in value]  # pyright: ignore[reportUnknownVariableType] - of anything
    if isinstance(value, str) and len(value) > 1 and value[0] == value[-1] and value[0] in "\"'":
        return value[1:-1]
    return value


def _plain_number(value: str, kind: str) -> Any:
    """A number whose suffix is left out or is another one: 7 for a `long` is as good as 7L."""
    if kind not in ("byte", "short", "integer", "long", "Bigint", "float", "double"):
        return value
    try:
        number = float(value.strip().rstrip("lLfFdDn"))
    except ValueError:
        return value
    return int(number) if number.is_integer() and abs(number) < 2**53 else number
