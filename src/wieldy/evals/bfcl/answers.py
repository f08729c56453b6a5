"""A right reply to a task, made from its listed answers: what an oracle would say.

Where the data leaves a choice, the first value is taken that the tool's description admits, and what may be left out is
left out only if nothing else is right. For Java and JavaScript the values are written as literals, as the task's
functions want them. Deliberately not here: judging.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final, cast

from wieldy.evals.bfcl.categories import Language
from wieldy.evals.bfcl.data import BfclTask
from wieldy.evals.bfcl.strict import Call, parameters_of
from wieldy.evals.bfcl.values import admits_alternative


def right_calls(task: BfclTask) -> tuple[Call, ...]:
    """Calls that the listed answers stand for; none where no certain call is wanted."""
    return tuple(_call(task, answer) for answer in task.answers)


def _call(task: BfclTask, answer: Mapping[str, Mapping[str, list[Any]]]) -> Call:
    ((name, parameters),) = answer.items()
    details: dict[str, dict[str, Any]] = parameters_of(task, name).get("properties") or {}
    arguments = dict[str, Any]()
    for parameter, options in parameters.items():
        value = _choice(details.get(parameter), options, task.category.language)
        if value is not _LEFT_OUT:
            arguments[parameter] = value
    return name, arguments


_LEFT_OUT = object()


def _choice(detail: Mapping[str, Any] | None, options: list[Any], language: Language) -> Any:
    values = [option for option in options if option != ""]
    if detail is None or not values:
        # An empty text that is the only option of a text is meant; of anything else it says that it is left out.
        is_text = detail is not None and detail.get("type") in ("string", "String", "any")
        return _LEFT_OUT if "" in options and (detail is None or not is_text) else next(iter(options), _LEFT_OUT)
    if language != "python":
        return literal(values[0], detail, language)
    admitted = [value for value in values if admits_alternative(detail, value)]
    if not admitted and "" in options:
        return _LEFT_OUT
    return settled((admitted or values)[0], detail)


def settled(value: Any, detail: Mapping[str, Any]) -> Any:
    """The value with one option for each member of its objects."""
    if isinstance(value, list):
        items: Mapping[str, Any] = detail.get("items") or {}
        return [settled(each, items) for each in cast("list[Any]", value)]
    if not isinstance(value, dict):
        return value
    details: Mapping[str, Any] = detail.get("properties") or {}
    found = dict[str, Any]()
    for key, listed in cast("dict[str, Any]", value).items():
        member: Mapping[str, Any] = details.get(key) or {}
        options = cast("list[Any]", listed) if isinstance(listed, list) else [listed]
        choice = _choice(member, options, "python")
        if choice is not _LEFT_OUT:
            found[key] = choice
    return found


# Literals


def literal(value: Any, detail: Mapping[str, Any], language: Language) -> str:
    """The value as it would be written in the language, as a text."""
    kind: str = detail.get("type") or "any"
    item: Mapping[str, Any] = detail.get("items") or {}
    if isinstance(value, list):
        return _sequence(cast("list[Any]", value), kind, str(item.get("type") or "any"), language)
    if isinstance(value, dict):
        return _mapping(settled(value, {}), language)
    if isinstance(value, str):
        return value
    return _scalar(value, kind, language)


_SUFFIXES: Final = {("long", "java"): "L", ("float", "java"): "f", ("Bigint", "javascript"): "n"}


def _scalar(value: Any, kind: str, language: Language) -> str:
    text = json.dumps(value)
    return text if isinstance(value, bool) else text + _SUFFIXES.get((kind, language), "")


def _sequence(values: list[Any], kind: str, item: str, language: Language) -> str:
    if language == "javascript":
        return json.dumps(values, ensure_ascii=False)
    inside = ", ".join(_item(value, item) for value in values)
    if kind == "ArrayList":
        return f"new ArrayList<>(Arrays.asList({inside}))" if values else "new ArrayList<>()"
    return f"new {'Object' if item == 'any' else item}[]{{{inside}}}"


def _item(value: Any, kind: str) -> str:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else _scalar(value, kind, "java")


def _mapping(members: dict[str, Any], language: Language) -> str:
    if language == "javascript":
        return json.dumps(members, ensure_ascii=False)
    puts = " ".join(f"put({json.dumps(key)}, {_item(value, 'any')});" for key, value in members.items())
    return f"new HashMap<String, Object>() {{{{ {puts} }}}}"
