"""The official checker's verdict on calls, its defects included, so that scores compare with published ones.

The rules are written down in `docs/how-to/evals.md`; agreement with the checker itself is shown by
`conformance/bfcl`. Where that checker ends with an exception, the error here is `checker_crash`.
Source: `ast_checker` of `bfcl_eval` 2026.3.23. Deliberately not here: what was meant (`strict`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

from wieldy.evals.bfcl.categories import Category
from wieldy.evals.bfcl.data import BfclTask
from wieldy.evals.bfcl.decoding import Decoded, DecodingError, decode
from wieldy.evals.bfcl.literals import JAVA_TYPES, JAVASCRIPT_TYPES, NESTED, java_value, javascript_value

CRASH: Final = "checker_crash"
NOT_READ: Final = "ast_decoder:decoder_failed"
NO_CALLS: Final = "ast_decoder:decoder_wrong_output_format"
_CRASHES: Final = (AttributeError, LookupError, RuntimeError, TypeError, ValueError, ArithmeticError)

_PYTHON_TYPES: Final[dict[str, type]] = {
    "string": str,
    "integer": int,
    "float": float,
    "boolean": bool,
    "array": list,
    "tuple": list,
    "dict": dict,
    "any": str,
}
_IGNORED: Final = re.compile(r"[ ,./\-_*^]")


def check_text(task: BfclTask, text: str) -> str | None:
    """The checker's error for what a model wrote as Python and nothing else; None if it is right.

    What a prompted model wrote, in any language and with brackets and fences around it: `prompted.texts`.
    """
    try:
        calls = decode(text)
    except DecodingError:
        calls = None
    if task.category.wanted != "calls":
        return check_relevance(task.category, bool(calls))
    return NOT_READ if calls is None else check_read(task, calls)


def check_read(task: BfclTask, calls: Sequence[Mapping[Any, Any]]) -> str | None:
    """The checker's error for what was read from a text, which need not be calls; None if it is right."""
    if not are_calls(calls):
        return NO_CALLS
    return check(task, cast("Sequence[Decoded]", calls))


def are_calls(found: Sequence[Mapping[Any, Any]]) -> bool:
    """Whether the checker takes what was read for calls: for each a name, and arguments by name."""
    return all(len(call) == 1 and isinstance(next(iter(call.values())), dict) for call in found)


def check_calls(task: BfclTask, calls: Sequence[tuple[str, Mapping[str, Any]]]) -> str | None:
    """The checker's error for calls that a model made through an interface for calls; None if they are right."""
    if task.category.wanted != "calls":
        return check_relevance(task.category, bool(calls))
    if not calls:
        return NOT_READ  # text, which is then no call
    decoded: list[Decoded] = [{name: {**arguments}} for name, arguments in calls]
    return check(task, decoded)


def check_relevance(category: Category, has_call: bool) -> str | None:
    """The checker's error where no certain call is wanted; None if it is right that there is, or is none."""
    if category.wanted == "no call":
        return "irrelevance_error:decoder_success" if has_call else None
    return None if has_call else "relevance_error:decoder_failed"


def check(task: BfclTask, calls: Sequence[Decoded]) -> str | None:
    """The checker's error for decoded calls; None if they are right."""
    try:
        match task.category.arity:
            case "several":
                return _check_several(task, calls)
            case "one of several":
                if len(calls) != len(task.answers):
                    return "multiple_function_checker:wrong_count"
                return _check_call(_described(task, task.answers[0]), calls[0], task.answers[0], task.category)
            case "one":
                if len(calls) != 1:
                    return "simple_function_checker:wrong_count"
                return _check_call(task.functions[0], calls[0], task.answers[0], task.category)
    except _CRASHES:
        return CRASH


def _check_several(task: BfclTask, calls: Sequence[Decoded]) -> str | None:
    """Each answer takes the first call left that fits it; a choice is never taken back."""
    if len(calls) != len(task.answers):
        return "parallel_function_checker_no_order:wrong_count"
    left = list(range(len(calls)))
    for answer in task.answers:
        function = _described(task, answer)
        taken = next((at for at in left if _check_call(function, calls[at], answer, task.category) is None), None)
        if taken is None:
            return "parallel_function_checker_no_order:cannot_find_match"
        left.remove(taken)
    return None


def _described(task: BfclTask, answer: dict[str, Any]) -> dict[str, Any]:
    name = next(iter(answer))
    found = next((function for function in task.functions if function["name"] == name), None)
    if found is None:
        raise TypeError(f"The task describes no function {name!r}.")
    return found


def _check_call(
    function: dict[str, Any], call: Decoded, answer: dict[str, dict[str, list[Any]]], category: Category
) -> str | None:
    name: str = function["name"]
    details, required = function["parameters"]["properties"], function["parameters"]["required"]
    allowed = next(iter(answer.values()))
    if name not in call:
        return "simple_function_checker:wrong_func_name"
    arguments = call[name]
    if any(parameter not in arguments for parameter in required):
        return "simple_function_checker:missing_required"
    for parameter, value in arguments.items():
        if parameter is None or parameter not in details or parameter not in allowed:
            return "simple_function_checker:unexpected_param"
        error = _check_parameter(value, details[parameter], allowed[parameter], category)
        if error is not None:
            return error
    if any(parameter not in arguments and "" not in values for parameter, values in allowed.items()):
        return "simple_function_checker:missing_optional"
    return None


def _check_parameter(value: Any, detail: dict[str, Any], allowed: list[Any], category: Category) -> str | None:
    kind: str = detail["type"]
    match category.language:
        case "python":
            wanted = _PYTHON_TYPES[kind]
            item = _PYTHON_TYPES[detail["items"]["type"]] if kind in ("array", "tuple") else None
            value = _converted(value, kind)
        case language:
            types, read = (JAVA_TYPES, java_value) if language == "java" else (JAVASCRIPT_TYPES, javascript_value)
            wanted = types[kind]
            if type(value) is not str:
                return "type_error:java" if language == "java" else "type_error:js"
            item_kind: str | None = detail["items"]["type"] if kind in NESTED else None
            item = None if item_kind is None else types[item_kind]
            value = read(value, kind, item_kind)
    return _check_value(value, allowed, wanted, item)


def _converted(value: Any, kind: str) -> Any:
    if kind == "tuple" and type(value) is tuple:
        return list(value)  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType] - of anything
    return float(value) if kind == "float" and type(value) is int else value


def _check_value(value: Any, allowed: list[Any], wanted: type, item: type | None) -> str | None:
    error, is_variable = _check_type(value, allowed, wanted, item)
    if error is not None:
        return error
    if not is_variable:
        if wanted is dict:
            return _check_dictionary(value, allowed)
        if wanted is list and item is dict:
            return _check_dictionaries(value, allowed)
        if wanted is str:
            plain = [_plain(each) for each in allowed if type(each) is str]
            return None if _plain(value) in plain else "value_error:string"
        if wanted is list:
            return _check_list(value, allowed)
    return None if value in allowed else "value_error:others"


def _check_type(value: Any, allowed: Sequence[Any], wanted: type, item: type | None) -> tuple[str | None, bool]:
    """The error, if the type is wrong, and whether the value is taken for the name of a variable."""
    kinds: list[type] = [type(each) for each in allowed if each != ""]
    listed = kinds[0] if kinds else None
    is_variable = listed is not None and listed is not wanted
    if type(value) is wanted:
        if item is None or any(_items_fit(value, each, item) for each in allowed):
            return None, is_variable
        return "type_error:nested" if listed is type(value) else "type_error:simple", False
    if listed is not None and type(value) is listed:
        return None, True
    return "type_error:simple", False


def _items_fit(value: Any, alternative: Any, item: type) -> bool:
    """Whether every item has the type of items; an alternative that is no list asks for nothing."""
    if type(alternative) is not list:
        return True
    return all(_check_type(each, alternative, item, None)[0] is None for each in value)  # pyright: ignore[reportUnknownArgumentType] - of anything


def _plain(text: str) -> str:
    return _IGNORED.sub("", text).lower().replace("'", '"')


def _plain_if_text(value: Any) -> Any:
    return _plain(value) if type(value) is str else value


def _check_list(value: list[Any], allowed: list[Any]) -> str | None:
    # By index, as the checker does: a text gives its characters, and what has no index ends the checker.
    plain = [[_plain_if_text(each[at]) for at in range(len(each))] for each in allowed]
    return None if [_plain_if_text(each) for each in value] in plain else "value_error:list/tuple"


def _check_dictionaries(value: list[Any], allowed: list[Any]) -> str | None:
    error: str | None = "list_dict_checker:unclear"
    for alternative in allowed:
        if len(value) != len(alternative):
            error = "value_error:list_dict_count"
            continue
        error = None
        for at, each in enumerate(value):
            error = _check_dictionary(each, [alternative[at]])
            if error is not None:
                break
        if error is None:
            return None
    return error


def _check_dictionary(value: dict[Any, Any], allowed: list[Any]) -> str | None:
    error: str | None = "dict_checker:unclear"
    for alternative in allowed:
        if alternative == "":
            continue
        error = _dictionary_error(value, alternative)
        if error is None:
            return None
    return error


def _dictionary_error(value: dict[Any, Any], alternative: dict[Any, Any]) -> str | None:
    error: str | None = None
    for key, member in value.items():
        if key not in alternative:
            error = "value_error:dict_key"
            break
        listed = alternative[key]
        plain = [_plain_if_text(listed[at]) for at in range(len(listed))]
        if _plain_if_text(member) not in plain:
            error = "value_error:dict_value"
            break
    if any(key not in value and "" not in listed for key, listed in alternative.items()):
        return "value_error:dict_key"
    return error
