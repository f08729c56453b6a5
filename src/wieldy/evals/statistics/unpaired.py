"""Whether the rates of two different sets of tasks differ. Deliberately not here: the same tasks twice (`paired`)."""

from __future__ import annotations

import math
import random
from collections import defaultdict
from collections.abc import Hashable, Sequence
from typing import NamedTuple

from wieldy.evals.statistics.proportions import clustered_wilson


class Difference(NamedTuple):
    """Second less first, with its interval and its p-value.

    Attributes:
        p: Two-sided, had clusters belonged to either set by chance.
    """

    mean: float
    low: float
    high: float
    p: float


def unpaired_difference(
    first: Sequence[bool],
    second: Sequence[bool],
    *,
    first_clusters: Sequence[Hashable],
    second_clusters: Sequence[Hashable],
    resamples: int = 10_000,
    seed: int = 0,
) -> Difference:
    """The difference of two rates whose trials come in clusters that may be alike.

    Raises:
        ValueError: Not every outcome has its cluster, or a side has fewer than two clusters.

    Source: R. G. Newcombe, Interval estimation for the difference between independent proportions (1998), method 10,
        on clustered Wilson intervals; the test shuffles whole clusters, what was seen counted as one of the shuffles.
    """
    low_1, high_1 = clustered_wilson(first, first_clusters)
    low_2, high_2 = clustered_wilson(second, second_clusters)
    one, other = sum(first) / len(first), sum(second) / len(second)
    mean = other - one
    low = mean - math.hypot(other - low_2, high_1 - one)
    high = mean + math.hypot(high_2 - other, one - low_1)
    groups = [*_totals(first, first_clusters), *_totals(second, second_clusters)]
    p = _shuffled(groups, len(set(first_clusters)), mean, resamples, random.Random(seed))
    return Difference(mean, max(-1.0, low), min(1.0, high), p)


def _totals(outcomes: Sequence[bool], clusters: Sequence[Hashable]) -> list[tuple[int, int]]:
    """Of each cluster how many succeeded, and how many there were."""
    totals: dict[Hashable, tuple[int, int]] = defaultdict(lambda: (0, 0))
    for outcome, cluster in zip(outcomes, clusters, strict=True):
        passed, count = totals[cluster]
        totals[cluster] = passed + outcome, count + 1
    return list(totals.values())


def _shuffled(groups: list[tuple[int, int]], first: int, seen: float, resamples: int, chance: random.Random) -> float:
    passed, count = sum(each[0] for each in groups), sum(each[1] for each in groups)
    extreme, threshold = 1, abs(seen) - 1e-12
    for _ in range(resamples):
        drawn = chance.sample(groups, first)
        own, of = sum(each[0] for each in drawn), sum(each[1] for each in drawn)
        extreme += abs((passed - own) / (count - of) - own / of) >= threshold
    return extreme / (resamples + 1)
