"""Whether two configurations differ on the same tasks: paired, because that needs far fewer trials than two samples.

Deliberately not here: comparing different sets of tasks.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Hashable, Sequence
from typing import Final, NamedTuple

from wieldy.evals.statistics.distributions import fair_probability, fair_tail
from wieldy.evals.statistics.means import Estimate, clustered_mean, mean_interval

_MOST_SUMS: Final = 200_000
_PARTS: Final = 2**40


class McNemar(NamedTuple):
    """The test of paired outcomes.

    Attributes:
        only_first: On how many tasks only the first succeeded.
        only_second: On how many only the second did.
        exact: The two-sided exact p-value.
        mid_p: The same with only half of the probability of what was seen; less cautious, and closer to its level.
    """

    only_first: int
    only_second: int
    exact: float
    mid_p: float


def mcnemar(first: Sequence[bool], second: Sequence[bool]) -> McNemar:
    """McNemar's test: whether the tasks on which only one succeeded are evenly split.

    Raises:
        ValueError: The outcomes are not of the same tasks.

    Source: Q. McNemar (1947); mid-p: M. W. Fagerland, S. Lydersen and P. Laake, The McNemar test for binary
        matched-pairs data (2013).
    """
    pairs = list(zip(first, second, strict=True))
    only_first = sum(1 for one, other in pairs if one and not other)
    only_second = sum(1 for one, other in pairs if other and not one)
    smaller, discordant = min(only_first, only_second), only_first + only_second
    tail = 2.0 * fair_tail(smaller, discordant)
    # With an even split the two tails share the middle, of which half is taken once.
    at = fair_probability(smaller, discordant)
    mid_p = 1.0 - at / 2.0 if only_first == only_second else tail - at
    return McNemar(only_first, only_second, min(1.0, tail), min(1.0, mid_p))


def paired_difference(
    first: Sequence[float],
    second: Sequence[float],
    *,
    clusters: Sequence[Hashable] | None = None,
    confidence: float = 0.95,
) -> Estimate:
    """The mean of second less first, task by task, with its interval.

    Raises:
        ValueError: The values are not of the same tasks, or there are too few.
    """
    differences = [other - one for one, other in zip(first, second, strict=True)]
    if clusters is None:
        return mean_interval(differences, confidence=confidence)
    return clustered_mean(differences, clusters, confidence=confidence)


def permutation_p_value(
    first: Sequence[float], second: Sequence[float], *, resamples: int = 100_000, seed: int = 0
) -> float:
    """The two-sided p-value of the mean difference, had each task's two values been swapped by chance.

    Exact as long as the differences have few different sums, as those of rates always do; otherwise from that many
    random swaps, with what was seen counted as one of them.

    Raises:
        ValueError: The values are not of the same tasks.

    Source: R. A. Fisher (1935); with random swaps: B. Phipson and G. K. Smyth (2010).
    """
    differences = [other - one for one, other in zip(first, second, strict=True)]
    largest = max(map(abs, differences), default=0.0)
    if largest == 0.0:
        return 1.0
    # In whole parts of the largest: sums of floats that are equal on paper are equal then, but for a part each.
    parts = [round(difference / largest * _PARTS) for difference in differences]
    threshold = abs(sum(parts)) - len(parts)
    exact = _exact([part for part in parts if part], threshold)
    if exact is not None:
        return exact
    chance = random.Random(seed)
    extreme = sum(
        abs(sum(part if chance.random() < 0.5 else -part for part in parts)) >= threshold for _ in range(resamples)
    )
    return (extreme + 1) / (resamples + 1)


def _exact(parts: Sequence[int], threshold: int) -> float | None:
    """The p-value over all swaps; None where there are too many different sums to be counted."""
    sums = Counter({0: 1})
    for part in parts:
        following = Counter[int]()
        for total, count in sums.items():
            following[total + part] += count
            following[total - part] += count
        if len(following) > _MOST_SUMS:
            return None
        sums = following
    extreme = sum(count for total, count in sums.items() if abs(total) >= threshold)
    return extreme / (1 << len(parts))
