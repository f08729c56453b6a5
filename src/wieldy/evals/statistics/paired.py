"""Whether two configurations differ on the same tasks: paired, because that needs far fewer trials than two samples.

Deliberately not here: comparing different sets of tasks.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from fractions import Fraction
from math import gcd, lcm
from operator import getitem
from typing import Final, NamedTuple

from wieldy.evals.statistics.distributions import fair_probability, fair_tail
from wieldy.evals.statistics.means import Estimate, clustered_mean, mean_interval

_MOST_WORK: Final = 5_000_000
"""Steps from a sum to a sum, a few seconds of them."""

_FINEST: Final = 10_000
_SAME: Final = 1e-12
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
    if discordant == 0:  # nothing to test, and no probability of what was seen that could be halved
        return McNemar(0, 0, 1.0, 1.0)
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

    Exact as long as the differences have few different sums, as those of rates of a few trials have; otherwise from
    that many random swaps, with what was seen counted as one of them.

    Raises:
        ValueError: The values are not of the same tasks.

    Cost: tasks times different sums; of rates of n trials these are no more than tasks times n.

    Source: R. A. Fisher (1935); with random swaps: B. Phipson and G. K. Smyth (2010).
    """
    parts, rounding = _whole([other - one for one, other in zip(first, second, strict=True)])
    counts = Counter(abs(part) for part in parts if part)
    threshold = abs(sum(parts)) - rounding
    if threshold <= 0:
        return 1.0
    exact = _exact(counts, threshold)
    if exact is not None:
        return exact
    chance, tables = random.Random(seed), _swaps(parts)
    drawn = (sum(map(getitem, tables, chance.randbytes(len(tables)))) for _ in range(resamples))
    extreme = sum(abs(total) >= threshold for total in drawn)
    return (extreme + 1) / (resamples + 1)


def _whole(differences: Sequence[float]) -> tuple[list[int], int]:
    """The differences in whole parts, so that sums that are equal on paper are equal, and how far off a sum may be.

    Rates of a few trials have a part that all of them are multiples of; others are told in parts of the largest.
    """
    largest = max(map(abs, differences), default=0.0)
    if largest == 0.0:
        return [], 0
    unit, told = 1, dict[float, Fraction]()
    for difference in set(differences):
        told[difference] = Fraction(difference).limit_denominator(_FINEST)
        unit = lcm(unit, told[difference].denominator)
        if unit > _FINEST or abs(float(told[difference]) - difference) > _SAME * largest:
            return [round(each / largest * _PARTS) for each in differences], len(differences)
    return [int(told[each] * unit) for each in differences], 0


def _exact(counts: Mapping[int, int], threshold: int) -> float | None:
    """The p-value over all swaps, of so many parts of each size; None where there are too many different sums."""
    if _work(counts) > _MOST_WORK:
        return None
    sums = {0: 1.0}
    for part, count in sorted(counts.items()):
        following = defaultdict[int, float](float)
        for step, probability in _steps(part, count):
            for total, so_far in sums.items():
                following[total + step] += so_far * probability
        sums = following
    return min(1.0, sum(probability for total, probability in sums.items() if abs(total) >= threshold))


def _work(counts: Mapping[int, int]) -> int:
    """At most how many steps from a sum to a sum there are, parts of one size after the other."""
    work, combinations, reach, common = 0, 1, 0, gcd(*counts)
    for part, count in sorted(counts.items()):
        work += min(combinations, reach // common + 1) * (count + 1)
        combinations, reach = combinations * (count + 1), reach + part * count
    return work


def _steps(part: int, count: int) -> Iterator[tuple[int, float]]:
    """What so many parts of one size add up to, each with either sign, with its probability."""
    ways, all_ways = 1, 1 << count
    for added in range(count + 1):
        yield part * (2 * added - count), ways / all_ways
        ways = ways * (count - added) // (added + 1)


def _swaps(parts: Sequence[int]) -> list[list[int]]:
    """For each eight parts what they add up to, by a byte that says which of them are swapped."""
    tables = list[list[int]]()
    for start in range(0, len(parts), 8):
        sums = [0]
        for part in parts[start : start + 8]:
            sums = [*(total + part for total in sums), *(total - part for total in sums)]
        tables.append(sums * (256 // len(sums)))
    return tables
