"""Listed kinds of wrong and of right answers from memory, made of every answer with room for them, before both rules.

    python conformance/bfcl/kinds_memory.py WHEEL

Exit 1 if `strict` accepts a wrong one or rejects a right one. With --show these are printed.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from wieldy.evals.bfcl.categories import MEMORIES
from wieldy.evals.bfcl.data import BfclData
from wieldy.evals.bfcl.memory import official, strict
from wieldy.evals.bfcl.memory.data import MemoryTask, memory_tasks

OTHER = "Zanzibar"
"""Is no answer to any question."""

Kind = Callable[[str], Iterator[str]]
"""Replies made of a listed answer; none where there is no room for the kind."""


def _each(*forms: str) -> Kind:
    return lambda answer: (form.replace("{}", answer) for form in forms)


def _of_numbers(*forms: str) -> Kind:
    return lambda answer: (form.replace("{}", answer) for form in forms if answer.isdecimal())


def _in_words(*forms: str) -> Kind:
    return lambda answer: (form.replace("{}", answer) for form in forms if answer[0].isalnum())


def _parts(answer: str, context: str) -> Iterator[str]:
    yield repr({"answer": answer, "context": context})
    yield json.dumps({"answer": answer, "context": context})


WRONG: dict[str, Kind] = {
    "denied": _each(
        "It is not {}.", "It isn't {}", "I would not say {}", "{} is not the answer", f"{OTHER} rather than {{}}"
    ),
    "left open": _each(f"{{}} or {OTHER}", f"{OTHER} or {{}}", f"Either {{}}, {OTHER} or both"),
    "not known": lambda answer: _parts("I do not know", f"Perhaps {answer}."),
    "not known, and guessed": _each("I'm not sure, maybe {}.", "I don't know. {}?"),
    "only explained": lambda answer: _parts(OTHER, f"You once said {answer}."),
    "in a longer word": _in_words("{}x", "x{}", "x{}x"),
    "in another number": _of_numbers(
        "{}.5", "0.{}1", "-{}", "{}:30", "1{}", "{}/100", "{}-1000", "{}th", "{} thousand"
    ),
    "something else": _each(OTHER, "", "I have stored it."),
}
RIGHT: dict[str, Kind] = {
    "as listed": _each("{}"),
    "in parts": lambda answer: _parts(answer, "You told me so."),
    "in parts, and the explanation denies another": lambda answer: _parts(answer, f"It is not {OTHER}."),
    "in parts, within a fence": lambda answer: (f"```json\n{each}\n```" for each in _parts(answer, "")),
    "in parts without quotes": _each("{'answer': {}, 'context': You told me so}"),
    "in a sentence": _each("It is {}.", "You said that it is {}", "Your answer: {}!", "**{}**"),
    "in other letters": lambda answer: iter((answer.upper(), answer.lower())),
    "after a no": _each("No, it is {}."),
    "before what it is not": _each(f"{{}}, not {OTHER}", f"{{}}; it is not {OTHER}"),
}


def main(wheel: Path) -> int:
    """Prints the tables."""
    tasks = memory_tasks(BfclData(wheel), MEMORIES["memory_kv"])
    failures = 0
    for title, kinds, is_right in (("wrong", WRONG, False), ("right", RIGHT, True)):
        print(f"| {title} | replies | `official` accepts | `strict` accepts |\n|---|---|---|---|")
        total = Counter[str]()
        for kind, make in kinds.items():
            counts = _counts(tasks, make, is_right=is_right)
            total.update(counts)
            print(f"| {kind} | {counts['all']:,} | {counts['official']:,} | {counts['strict']:,} |")
        print(f"| all | {total['all']:,} | {total['official']:,} | {total['strict']:,} |\n")
        failures += total["strict"] if not is_right else total["all"] - total["strict"]
    return 1 if failures else 0


def _counts(tasks: tuple[MemoryTask, ...], make: Kind, *, is_right: bool) -> Counter[str]:
    counts = Counter[str]()
    for task in tasks:
        for answer in task.answers:
            for reply in make(answer):
                counts["all"] += 1
                counts["official"] += official.check(reply, task.answers) is None
                accepted = strict.check(reply, task.answers) is None
                counts["strict"] += accepted
                if accepted != is_right and "--show" in sys.argv:
                    print(task.id, repr(reply), task.answers, strict.check(reply, task.answers))
    return counts


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
