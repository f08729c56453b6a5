"""Listed kinds of wrong and of right replies, made of every task that has room for them, before both comparators.

    python conformance/bfcl/kinds.py WHEEL

Exit 1 if `strict` accepts a wrong one, or less than 99 % of the right ones. Tasks of which no answer can be right
(`defects`) are left out, and counted.
"""

from __future__ import annotations

import copy
import re
import sys
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from wieldy.evals.bfcl import official, strict
from wieldy.evals.bfcl.answers import right_calls
from wieldy.evals.bfcl.categories import CATEGORIES
from wieldy.evals.bfcl.data import BfclData, BfclTask
from wieldy.evals.bfcl.defects import is_valid
from wieldy.evals.bfcl.strict import Call, parameters_of
from wieldy.evals.bfcl.values import NO_DEFAULT, admits, documented_default

Change = Callable[[Any, dict[str, Any]], Any]
"""Another value for a value and the description of its parameter; the same where the kind has no room."""


def _text(change: Callable[[str], str]) -> Change:
    return lambda value, _: change(value) if isinstance(value, str) else value


def _whole_number(value: Any, detail: dict[str, Any]) -> Any:
    is_whole = isinstance(value, int) and not isinstance(value, bool) and detail.get("type") == "integer"
    return float(value) if is_whole else value


def _items_as_integers(value: Any, detail: dict[str, Any]) -> Any:
    items = detail.get("items") or {}
    if not isinstance(value, list) or items.get("type") != "float":
        return value
    return [int(each) if isinstance(each, float) and each.is_integer() else each for each in value]


def _truth_for_number(value: Any, _: dict[str, Any]) -> Any:
    return bool(value) if type(value) in (int, float) and value in (0, 1) else value


def _decomposed(text: str) -> str:
    other = unicodedata.normalize("NFD", text)
    return other if other != text else unicodedata.normalize("NFC", text)


WRONG: dict[str, Change] = {
    "an inner - becomes *": _text(lambda text: re.sub(r"(?<=\w)-(?=\w)", "*", text)),
    "every / is deleted": _text(lambda text: text.replace("/", "")),
    "a decimal point is deleted": _text(lambda text: re.sub(r"(?<=\d)\.(?=\d)", "", text)),
    "** is deleted": _text(lambda text: text.replace("**", "")),
    "a sign is added to a number": _text(lambda text: f"-{text}" if re.fullmatch(r"\d+(\.\d+)?", text) else text),
    "true for 1, false for 0": _truth_for_number,
    "the text is cut in half": _text(lambda text: text[: len(text) // 2] if len(text) > 3 else text),
    "a number as text": lambda value, _: str(value) if type(value) in (int, float) else value,
    "one more": lambda value, _: value + 1 if type(value) is int else value,
}
RIGHT: dict[str, Change] = {
    "as listed": lambda value, _: value,
    "a newline at the end": _text(lambda text: f"{text}\n"),
    "a tab for a space": _text(lambda text: text.replace(" ", "\t")),
    "the other Unicode form": _text(_decomposed),
    "a whole number as 5.0": _whole_number,
    "whole numbers in a list of floats": _items_as_integers,
}


def main(wheel: Path) -> int:
    """Prints the tables."""
    data = BfclData(wheel)
    tasks = [task for category in CATEGORIES.values() for task in data.tasks(category) if category.wanted == "calls"]
    good = [task for task in tasks if is_valid(task)]
    print(f"{len(tasks)} tasks, {len(tasks) - len(good)} of them without a right answer and left out.\n")
    wrong = {kind: _counts(_changed(good, change)) for kind, change in WRONG.items()}
    right = {kind: _counts(_changed(good, change)) for kind, change in RIGHT.items()}
    right["a documented default is written out"] = _counts(_with_defaults(good))
    right["parallel calls in another order"] = _counts(_reversed(good))
    for title, table in (("wrong", wrong), ("right", right)):
        print(f"| {title} | replies | `official` accepts | `strict` accepts |\n|---|---|---|---|")
        for kind, counts in table.items():
            print(f"| {kind} | {counts['all']:,} | {counts['official']:,} | {counts['strict']:,} |")
        total = sum(table.values(), Counter[str]())
        print(f"| all | {total['all']:,} | {total['official']:,} | {total['strict']:,} |\n")
    wrongly = sum(counts["strict"] for counts in wrong.values())
    rightly = sum(counts["strict"] for counts in right.values()) / sum(counts["all"] for counts in right.values())
    print(f"strict accepts {wrongly} wrong replies, and {rightly:.2%} of the right ones.")
    return 0 if wrongly == 0 and rightly >= 0.99 else 1


def _counts(replies: Iterator[tuple[BfclTask, list[Call]]]) -> Counter[str]:
    counts = Counter[str]()
    for task, calls in replies:
        counts["all"] += 1
        counts["official"] += official.check_calls(task, calls) is None
        reason = strict.check(task, calls)
        counts["strict"] += reason is None
        if "--show" in sys.argv and reason is None:
            print(task.id, calls)
    return counts


def _changed(tasks: list[BfclTask], change: Change) -> Iterator[tuple[BfclTask, list[Call]]]:
    """Right replies with one argument changed, for every argument that can be; of other languages, texts alone."""
    for task in tasks:
        calls = right_calls(task)
        for at, (name, arguments) in enumerate(calls):
            details = parameters_of(task, name).get("properties") or {}
            for parameter, value in arguments.items():
                listed = task.answers[at][name][parameter]
                if task.category.language != "python" and not all(isinstance(each, str) for each in listed):
                    continue
                other = change(copy.deepcopy(value), details[parameter])
                # What is listed too, or is right for another call, would not be wrong.
                if repr(other) != repr(value) and not _is_listed(other, listed) and _is_alone(calls, at):
                    yield task, [*calls[:at], (name, {**arguments, parameter: other}), *calls[at + 1 :]]
        if change is RIGHT["as listed"]:
            yield task, list(calls)


def _is_listed(value: Any, listed: list[Any]) -> bool:
    if isinstance(value, str) and value == value.rstrip("\n"):
        return value.strip().lower() in [each.lower() for each in listed if isinstance(each, str)]
    return repr(value) in map(repr, listed)


def _is_alone(calls: tuple[Call, ...], at: int) -> bool:
    return all(call != calls[at] for index, call in enumerate(calls) if index != at)


def _with_defaults(tasks: list[BfclTask]) -> Iterator[tuple[BfclTask, list[Call]]]:
    for task in tasks:
        calls = right_calls(task)
        for at, (name, arguments) in enumerate(calls):
            for parameter, detail in (parameters_of(task, name).get("properties") or {}).items():
                default = documented_default(detail)
                may_be_left_out = "" in task.answers[at][name].get(parameter, [""])
                if parameter in arguments and not may_be_left_out:
                    continue
                if task.category.language == "python" and default not in (NO_DEFAULT, None) and admits(detail, default):
                    yield task, [*calls[:at], (name, {**arguments, parameter: default}), *calls[at + 1 :]]


def _reversed(tasks: list[BfclTask]) -> Iterator[tuple[BfclTask, list[Call]]]:
    for task in tasks:
        if len(task.answers) > 1:
            yield task, list(reversed(right_calls(task)))


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
