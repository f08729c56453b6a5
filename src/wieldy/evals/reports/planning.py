"""How large a study of two configurations has to be. Deliberately not here: the formulas (`statistics.planning`)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from wieldy.core.errors import UsageError
from wieldy.core.json import JsonObject
from wieldy.evals.statistics import detectable_difference, paired_variance, sample_size

CONFIDENCE = 0.95
_SMALLEST: Final = 1e-6
"""No study sees less."""
_MOST: Final = 1_000_000_000
"""Of tasks, trials or pairs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What is assumed.

    Attributes:
        rate: How often tasks are passed, by either configuration.
        correlation: Of the outcomes of both on the same task, one trial each.
        trials: Of each task with each configuration.
        chance: The share of an outcome's variance that is between trials of one task: 0 for a model that always does
            the same.
        pairs: How many are compared; each then has to pass a stricter test (Bonferroni, of which Holm is no stricter).
        power: How often a true difference is to be found.

    Raises:
        UsageError: One of them cannot be.
    """

    rate: float = 0.7
    correlation: float = 0.5
    trials: int = 1
    chance: float = 0.0
    pairs: int = 1
    power: float = 0.8

    def __post_init__(self) -> None:
        for name, value in (("rate", self.rate), ("power", self.power)):
            if not 0.0 < value < 1.0:
                raise UsageError(f"Expected a {name} between 0 and 1, such as 0.8, found {value}.")
        if not 0.0 <= self.correlation <= 1.0 or not 0.0 <= self.chance <= 1.0:
            raise UsageError(f"Expected shares between 0 and 1, found {self.correlation} and {self.chance}.")
        if self.correlation == 1.0:
            raise UsageError("Expected a correlation below 1, found 1: outcomes that are always the same never differ.")
        if self.chance > 1.0 - self.correlation:
            raise UsageError(
                f"Outcomes that correlate by {self.correlation} leave at most {1.0 - self.correlation:g} to chance, "
                f"found {self.chance}."
            )
        if not 1 <= self.trials <= _MOST or not 1 <= self.pairs <= _MOST:
            raise UsageError(
                f"Expected at least one trial and one pair, at most {_MOST:,}, found {self.trials} and {self.pairs}."
            )

    @property
    def confidence(self) -> float:
        """Of one pair's interval."""
        return 1.0 - (1.0 - CONFIDENCE) / self.pairs

    @property
    def largest_difference(self) -> float:
        """Of two rates around this one."""
        return 2.0 * min(self.rate, 1.0 - self.rate)

    def variance(self, correlation: float) -> float:
        """Of a task's difference, the trials of each side averaged."""
        one = self.rate * (1.0 - self.rate)
        return paired_variance(self.rate, correlation) - 2.0 * one * self.chance * (1.0 - 1.0 / self.trials)

    def for_difference(self, difference: float) -> JsonObject:
        """How many tasks it takes.

        Raises:
            UsageError: It is no difference of rates around this one.
        """
        if not _SMALLEST <= abs(difference) <= self.largest_difference:
            raise UsageError(
                f"Expected a difference of rates around {self.rate:.0%}, from {_SMALLEST:f} to "
                f"{self.largest_difference:g}, such as 0.05 for five points, found {difference}."
            )

        def tasks(correlation: float) -> int:
            variance = self.variance(correlation)
            return sample_size(difference, variance_between=variance, confidence=self.confidence, power=self.power)

        return self._row(difference=difference, same=tasks(self.correlation), different=tasks(0.0))

    def for_tasks(self, tasks: int) -> JsonObject:
        """Which difference so many tasks show; None where they show none that there could be.

        Raises:
            UsageError: It is no number of tasks.
        """
        if not 1 <= tasks <= _MOST:
            raise UsageError(f"Expected from 1 to {_MOST:,} tasks, found {tasks}.")

        def shown(correlation: float) -> float | None:
            variance = self.variance(correlation)
            found = detectable_difference(tasks, variance=variance, confidence=self.confidence, power=self.power)
            return found if found <= self.largest_difference else None

        return self._row(tasks=tasks, same=shown(self.correlation), different=shown(0.0))

    def _row(self, **found: float | None) -> JsonObject:
        assumed: JsonObject = {
            "rate": self.rate,
            "correlation": self.correlation,
            "trials": self.trials,
            "chance": self.chance,
            "pairs": self.pairs,
            "power": self.power,
            "confidence": CONFIDENCE,
        }
        return {"type": "plan", **found, "assumed": assumed}

    def lines(self, row: JsonObject) -> list[str]:
        """The answer for people."""
        of_trials = "" if self.trials == 1 else f", {self.trials} trials of each"
        many = "" if self.pairs == 1 else f", one of {self.pairs} pairs"
        tasks = ""
        if "difference" in row:
            head = f"A difference of {row['difference']:.1%} around {self.rate:.0%} takes"
            told = [f"{row[side]:,} task{'' if row[side] == 1 else 's'}" for side in ("same", "different")]
        else:
            head = f"Around {self.rate:.0%}, differences are seen from this on"
            tasks = f" with {row['tasks']:,} task{'' if row['tasks'] == 1 else 's'}"
            told = ["none" if row[side] is None else f"{row[side]:.1%}" for side in ("same", "different")]
        return [
            f"{head} (power {self.power:.0%}{many}):",
            f"  {told[0]}{tasks}, both configurations run on them (correlation {self.correlation:g}){of_trials}",
            f"  {told[1]}{tasks} each, if the tasks are different ones{of_trials}",
            "Tasks that are alike count for less than one each.",
        ]
