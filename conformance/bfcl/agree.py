"""Compares our `official` verdicts with those of the leaderboard's own checker, and prints where they differ.

    python conformance/bfcl/agree.py WHEEL [COUNT] [SEED]

All shipped answers and at least COUNT changed replies (60,000): Python as values and as text, Java and JavaScript as
values, and texts for the tasks that want no call. Text that the checker would run is counted, and not given to it.
Exit 1 if there is any difference. The wheel is unpacked into a temporary folder and imported from there.
"""

from __future__ import annotations

import sys
import tempfile
import zipfile
from collections import Counter
from collections.abc import Iterator
from itertools import cycle
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

from mutations import Calls, Mutations, has_rare_types, texts_that_are_no_calls
from real_checker import RealChecker

from wieldy.evals.bfcl.categories import CATEGORIES
from wieldy.evals.bfcl.data import BfclData, BfclTask
from wieldy.evals.bfcl.decoding import DecodingError, WouldRunError, decode
from wieldy.evals.bfcl.official import check, check_text

MOST_SHOWN = 20


class Comparison:
    """Counts of verdicts compared, and the differences."""

    def __init__(self, real: RealChecker) -> None:
        self._real = real
        self.counts: Counter[str] = Counter()
        self.outcomes: Counter[str] = Counter()
        self.differences: list[str] = []

    def calls(self, kind: str, task: BfclTask, calls: Calls) -> None:
        """Decoded calls."""
        self._compare(kind, task, calls, check(task, calls), self._real.error_of_calls(task, calls))

    def text(self, kind: str, task: BfclTask, text: str) -> None:
        """Text that a model wrote."""
        try:
            decode(text)
        except WouldRunError:
            self.counts["text that the checker would run (not compared)"] += 1
            return
        except DecodingError:
            pass
        self._compare(kind, task, text, check_text(task, text), self._real.error_of_text(task, text))

    def _compare(self, kind: str, task: BfclTask, given: Any, ours: str | None, real: str | None) -> None:
        self.counts[kind] += 1
        self.outcomes[real or "right"] += 1
        if ours != real:
            self.differences.append(f"{task.id}: ours {ours}, the checker {real}: {given!r:.300}")


def main(wheel: Path, count: int = 60_000, seed: int = 20_261_130) -> int:
    """Prints the table and the differences."""
    data = BfclData(wheel)
    tasks = [task for category in CATEGORIES.values() for task in data.tasks(category)]
    with tempfile.TemporaryDirectory() as folder:
        zipfile.ZipFile(wheel).extractall(folder)
        comparison = Comparison(RealChecker(Path(folder)))
        mutations = Mutations(seed)
        for task in tasks:
            if task.category.wanted == "calls":
                comparison.calls("shipped answers", task, mutations.answers(task))
        for task, is_text in _endless(tasks):
            if sum(comparison.counts.values()) - comparison.counts["shipped answers"] >= count:
                break
            _mutate(comparison, mutations, task, is_text=is_text)
    print("| compared | verdicts |\n|---|---|")
    for kind, number in sorted(comparison.counts.items()):
        print(f"| {kind} | {number:,} |")
    print(f"\n{len(comparison.differences)} differences. The checker's verdicts:\n")
    for outcome, number in comparison.outcomes.most_common():
        print(f"* {outcome}: {number:,}")
    for difference in comparison.differences[:MOST_SHOWN]:
        print(difference)
    return 1 if comparison.differences else 0


def _endless(tasks: list[BfclTask]) -> Iterator[tuple[BfclTask, bool]]:
    for task in cycle(tasks):
        yield task, False
        yield task, True


def _mutate(comparison: Comparison, mutations: Mutations, task: BfclTask, *, is_text: bool) -> None:
    if task.category.wanted != "calls":
        text = mutations.chance.choice((*texts_that_are_no_calls(), mutations.text(mutations.changed(task))))
        comparison.text("text, no call wanted, or any", task, text)
        return
    if task.category.language != "python":
        for _ in range(5):
            comparison.calls(f"values, {task.category.language}", task, mutations.changed(task))
            comparison.calls(f"literals, {task.category.language}", *mutations.literal_case(task))
        return
    if has_rare_types(task):
        for _ in range(10):
            rare = mutations.changed(task)
            comparison.calls("values, python, of rare types", task, rare)
            comparison.text("text, python, of rare types", task, mutations.text(rare))
    calls = mutations.changed(task)
    if mutations.chance.random() < 0.1:
        comparison.calls("values, python, of changed tasks", mutations.changed_task(task), calls)
    if is_text:
        comparison.text("text, python", task, mutations.text(calls))
    else:
        comparison.calls("values, python", task, calls)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), *map(int, sys.argv[2:])))
