"""What became of a trial, whose failure it was, and counts of many trials whose denominators are always told.

A trial that says nothing about the model (the provider was down, the task has no right answer) is neither a success nor
a failure, and it is not left out in silence either: it is counted under its own name. Deliberately not here: finding
out whose failure it was (`attribution`), and intervals (`statistics`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Final, Literal, TypeAlias, get_args

from wieldy.core.json import JsonObject
from wieldy.core.record import Record
from wieldy.evals.statistics.proportions import wilson

Layer: TypeAlias = Literal[
    "model", "harness", "policy", "provider", "tool", "environment", "user simulator", "judge", "task"
]
"""Whose failure something is. `harness` is our own: reading, validating, authenticating, keeping ids."""

VerdictKind: TypeAlias = Literal["pass", "fail", "abstain", "unscored", "invalid-task"]
"""`abstain`: the model chose not to act where it should have. `unscored`: nothing can be said about the model.
`invalid-task`: no answer could have been right."""

LAYERS: Final[tuple[Layer, ...]] = get_args(Layer)
KINDS: Final[tuple[VerdictKind, ...]] = get_args(VerdictKind)
SCORED: Final[tuple[VerdictKind, ...]] = ("pass", "fail", "abstain")


class Verdict(Record, frozen=True, kw_only=True):
    """What became of one trial.

    Attributes:
        layer: Whose failure it was; None for a pass, and for an invalid task.
        reason: A short code for machines, then, after a colon, words for people; empty for a pass.
        evidence: Numbers of the journal entries that show it.
        run: Which of the trial's runs has them, counted from 0.
    """

    kind: VerdictKind
    layer: Layer | None = None
    reason: str = ""
    evidence: tuple[int, ...] = ()
    run: int = 0

    @property
    def code(self) -> str:
        """The reason's code alone."""
        return self.reason.partition(":")[0]


PASS: Final = Verdict(kind="pass")


def failed(reason: str, *, layer: Layer = "model", evidence: tuple[int, ...] = ()) -> Verdict:
    """The model's work is not what it should be."""
    return Verdict(kind="fail", layer=layer, reason=reason, evidence=evidence)


def abstained(reason: str, *, evidence: tuple[int, ...] = ()) -> Verdict:
    """The model did not act, and should have."""
    return Verdict(kind="abstain", layer="model", reason=reason, evidence=evidence)


def unscored(layer: Layer, reason: str, *, evidence: tuple[int, ...] = ()) -> Verdict:
    """Something else than the model kept the trial from saying anything about it."""
    return Verdict(kind="unscored", layer=layer, reason=reason, evidence=evidence)


def invalid_task(reason: str) -> Verdict:
    """No answer could have been right."""
    return Verdict(kind="invalid-task", reason=reason)


class Tally(Record, frozen=True, kw_only=True):
    """Counts of verdicts.

    Law: `passed + failed + abstained + unscored + invalid == total`; rates are of those that were scored.
    """

    passed: int = 0
    failed: int = 0
    abstained: int = 0
    unscored: tuple[tuple[Layer, int], ...] = ()
    invalid: int = 0

    @property
    def scored(self) -> int:
        """How many say something about the model."""
        return self.passed + self.failed + self.abstained

    @property
    def unscored_count(self) -> int:
        """How many say nothing about it."""
        return sum(count for _, count in self.unscored)

    @property
    def total(self) -> int:
        """All of them."""
        return self.scored + self.unscored_count + self.invalid

    @property
    def rate(self) -> float | None:
        """The share of passes among those that were scored; None if none was."""
        return self.passed / self.scored if self.scored else None

    @property
    def interval(self) -> tuple[float, float]:
        """Where the rate lies with 95 % confidence (Wilson), trials taken for independent."""
        return wilson(self.passed, self.scored)

    def __str__(self) -> str:
        """One line that says how many of how many, and where the others are."""
        if self.rate is None:
            parts = ["0 scored"]
        else:
            low, high = self.interval
            parts = [f"{self.passed}/{self.scored} = {self.rate:.1%} [{low:.1%}, {high:.1%}]"]
        if self.abstained:
            parts.append(f"{self.abstained} of these abstained")
        if self.unscored:
            layers = ", ".join(f"{layer} {count}" for layer, count in self.unscored)
            parts.append(f"{self.unscored_count} unscored ({layers})")
        if self.invalid:
            parts.append(f"{self.invalid} invalid task{'s' if self.invalid != 1 else ''}")
        return "; ".join([*parts, f"{self.total} in all"])

    def to_json(self) -> JsonObject:
        """The counts with their denominators, the rate and its interval."""
        low, high = self.interval
        return {
            "passed": self.passed,
            "failed": self.failed,
            "abstained": self.abstained,
            "unscored": dict(self.unscored),
            "invalid_tasks": self.invalid,
            "scored": self.scored,
            "total": self.total,
            "rate": self.rate,
            "interval_95": None if self.rate is None else [low, high],
        }


def tally(verdicts: Iterable[Verdict]) -> Tally:
    """The counts of these verdicts."""
    kinds, layers = Counter[str](), Counter[Layer]()
    for verdict in verdicts:
        kinds[verdict.kind] += 1
        if verdict.kind == "unscored":
            layers[verdict.layer or "harness"] += 1
    return Tally(
        passed=kinds["pass"],
        failed=kinds["fail"],
        abstained=kinds["abstain"],
        unscored=tuple((layer, layers[layer]) for layer in LAYERS if layers[layer]),
        invalid=kinds["invalid-task"],
    )
