"""What is wrong with tasks: answers that the task's own functions do not admit, or that a checker rejects.

A task of which no answer can be right says nothing about a model. Found by looking at every task, so that the list is
that of the data at hand. Deliberately not here: answers that are wrong in fact, which no rule finds.

| code | says | concerns |
|---|---|---|
| `unknown-function` | a wanted call is of a function that the task does not describe | strict |
| `undeclared-parameter` | every answer gives a parameter that the function does not have | strict |
| `required-missing` | a required parameter has no place in the answer | strict |
| `no-value` | a required parameter has no listed value | strict |
| `no-type` | no listed value of a parameter has its type | strict |
| `no-option` | no listed value of a parameter is among its options | strict |
| `official-rejects` | the official checker rejects the answer, written naturally | official |
| `official-order` | whether parallel calls are right depends on their order | official |
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal, NamedTuple

from wieldy.evals.bfcl import official
from wieldy.evals.bfcl.answers import right_calls
from wieldy.evals.bfcl.data import BfclTask
from wieldy.evals.bfcl.values import admits_alternative, is_meant


class Defect(NamedTuple):
    """One thing that is wrong.

    Attributes:
        code: See the table of the module.
        where: The parameter, or the function.
        concerns: Whose verdict it spoils.
    """

    code: str
    where: str
    concerns: Literal["strict", "official"]


def defects_of(task: BfclTask) -> tuple[Defect, ...]:
    """What is wrong with the task; empty if nothing was found."""
    found = [defect for answer in task.answers for defect in _of_answer(task, answer)]
    return tuple(dict.fromkeys([*found, *_of_official(task)]))


def is_valid(task: BfclTask) -> bool:
    """Whether some reply can be right under the strict rules."""
    return not any(defect.concerns == "strict" for defect in defects_of(task))


def _of_answer(task: BfclTask, answer: Mapping[str, Mapping[str, list[Any]]]) -> Iterator[Defect]:
    ((name, parameters),) = answer.items()
    function = next((function for function in task.functions if function["name"] == name), None)
    if function is None:
        yield Defect("unknown-function", name, "strict")
        return
    details: Mapping[str, Mapping[str, Any]] = function["parameters"].get("properties") or {}
    required: list[str] = function["parameters"].get("required") or []
    for parameter in required:
        if parameter not in parameters:
            yield Defect("required-missing", parameter, "strict")
    for parameter, options in parameters.items():
        code = _of_parameter(details.get(parameter), options, task, is_required=parameter in required)
        if code is not None:
            yield Defect(code, parameter, "strict")


def _of_parameter(
    detail: Mapping[str, Any] | None, options: list[Any], task: BfclTask, *, is_required: bool
) -> str | None:
    may_be_left_out = "" in options and not is_required
    if may_be_left_out:
        return None
    if detail is None:
        return "undeclared-parameter"
    values = [option for option in options if option != "" or detail.get("type") in ("string", "String", "any")]
    if not values:
        return "no-value"
    if task.category.language != "python":
        return None  # values are texts there, which every description admits
    if any(admits_alternative(detail, value) for value in values):
        return None
    without_options = {key: value for key, value in detail.items() if key != "enum"}
    return "no-option" if any(admits_alternative(without_options, value) for value in values) else "no-type"


def _of_official(task: BfclTask) -> Iterator[Defect]:
    if task.category.wanted != "calls":
        return
    error = official.check_calls(task, right_calls(task))
    if error is not None:
        yield Defect("official-rejects", error, "official")
    if task.category.arity == "several":
        for at, answer in enumerate(task.answers):
            if any(_overlap(answer, other) for other in task.answers[:at]):
                yield Defect("official-order", next(iter(answer)), "official")


def _overlap(one: Mapping[str, Mapping[str, list[Any]]], other: Mapping[str, Mapping[str, list[Any]]]) -> bool:
    """Whether one call could fit both answers, though they are not the same."""
    ((name, options),) = one.items()
    ((other_name, other_options),) = other.items()
    if name != other_name or options == other_options:
        return False
    for parameter in options.keys() | other_options.keys():
        ones, others = options.get(parameter, [""]), other_options.get(parameter, [""])
        if not any(is_meant(value, option, {}) for value in ones for option in others):
            return False
    return True
