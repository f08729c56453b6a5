"""Several trials of each task: how often at least one of k succeeds, and how often all of k do.

Law: both are unbiased for every k up to the number of trials: their mean over all samples is what k trials would give.
Deliberately not here: what to do with trials that could not be scored; they are run again or counted, never left out.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Hashable, Sequence
from math import comb
from typing import Final

from wieldy.evals.statistics.proportions import hidden_share

_ALIKE: Final = 1e-12
"""Means that lie closer differ by rounding only."""


def pass_at_k(trials: int, successes: int, k: int) -> float:
    """The probability that at least one of k trials of the task succeeds.

    Raises:
        ValueError: k is more than the number of trials, or the counts cannot be.

    Source: M. Chen et al., Evaluating large language models trained on code (2021), equation 1.
    """
    _check(trials, successes, k)
    return 1.0 - comb(trials - successes, k) / comb(trials, k)


def pass_hat_k(trials: int, successes: int, k: int) -> float:
    """The probability that all of k trials of the task succeed (pass^k).

    The plain power of the rate would be too high: 3 of 5 gives 0.13 for k = 4, and its unbiased estimate is 0.

    Raises:
        ValueError: k is more than the number of trials, or the counts cannot be.

    Source: S. Yao et al., tau-bench (2024), section 4.
    """
    _check(trials, successes, k)
    return comb(successes, k) / comb(trials, k)


def mean_over_tasks(estimates: Sequence[float]) -> float:
    """The mean of the tasks' estimates: every task counts once.

    Raises:
        ValueError: There is no task.
    """
    if not estimates:
        raise ValueError("Expected at least one task, found none.")
    return sum(estimates) / len(estimates)


def bootstrap_interval(
    estimates: Sequence[float],
    *,
    clusters: Sequence[Hashable] | None = None,
    confidence: float = 0.95,
    resamples: int = 2_000,
    seed: int = 0,
) -> tuple[float, float]:
    """Where the mean over tasks, each estimated from 0 to 1, lies, by drawing clusters of tasks (not trials) anew.

    It is everything from 0 to 1 for a single cluster, which says nothing of others. Where all clusters are alike, every
    drawing is, too; then it is as wide as so few may hide one that is not (`hidden_share`).

    Args:
        estimates: One of each task.
        clusters: Which tasks may be alike; none if left out.
        confidence: Of the interval.
        resamples: How often it is drawn.
        seed: Of the drawing.

    Raises:
        ValueError: There is no task, or not every task has its cluster.

    Source: B. Efron (1979), the percentile interval.
    """
    mean_over_tasks(estimates)
    groups: dict[Hashable, list[float]] = defaultdict(list)
    for cluster, estimate in zip(range(len(estimates)) if clusters is None else clusters, estimates, strict=True):
        groups[cluster].append(estimate)
    if len(groups) == 1:
        return 0.0, 1.0
    chance, own = random.Random(seed), list(groups.values())
    drawn = (chance.choices(own, k=len(own)) for _ in range(resamples))
    means = sorted(sum(map(sum, each)) / sum(map(len, each)) for each in drawn)
    if means[-1] - means[0] < _ALIKE:
        hidden = hidden_share(len(own), confidence=confidence)
        return max(0.0, means[0] - hidden), min(1.0, means[0] + hidden)
    tail = (1.0 - confidence) / 2.0
    return _quantile(means, tail), _quantile(means, 1.0 - tail)


def _quantile(ordered: Sequence[float], probability: float) -> float:
    place = probability * (len(ordered) - 1)
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (place - below) * (ordered[above] - ordered[below])


def _check(trials: int, successes: int, k: int) -> None:
    if not 0 <= successes <= trials:
        raise ValueError(f"Expected from 0 to {trials} successes, found {successes}.")
    if not 1 <= k <= trials:
        raise ValueError(f"Expected k from 1 to the {trials} trials of the task, found {k}: run more trials for that.")
