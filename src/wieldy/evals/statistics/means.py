"""Means with intervals: of independent values, and of values that come in clusters, in one or in two ways.

Law: where every cluster holds one value, the clustered interval is the plain one. Deliberately not here: rates close to
0 or 1, for which a score interval is right (`proportions`).
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Hashable, Sequence
from typing import NamedTuple

from wieldy.evals.statistics.distributions import student_t_quantile


class Estimate(NamedTuple):
    """A mean, its standard error, its interval, and of how many values and clusters.

    Attributes:
        clusters: As many as values where these are independent; in two ways, the smaller number of both.
    """

    mean: float
    standard_error: float
    low: float
    high: float
    values: int
    clusters: int


def mean_interval(values: Sequence[float], *, confidence: float = 0.95) -> Estimate:
    """The mean of independent values with Student's interval.

    Raises:
        ValueError: There are fewer than two values.
    """
    return clustered_mean(values, range(len(values)), confidence=confidence)


def clustered_mean(values: Sequence[float], clusters: Sequence[Hashable], *, confidence: float = 0.95) -> Estimate:
    """The mean of values of which those of one cluster may be alike, such as trials of one task.

    Raises:
        ValueError: Not every value has its cluster, or there are fewer than two clusters.

    Source: E. Miller, Adding error bars to evals (arXiv 2411.00640), appendix A, with the correction C / (C - 1) for C
        clusters; the quantile is Student's with C - 1 degrees of freedom.
    """
    variance, count = cluster_variance(values, clusters)
    return _estimate(values, variance, count, confidence)


def two_way_clustered_mean(
    values: Sequence[float],
    first: Sequence[Hashable],
    second: Sequence[Hashable],
    *,
    confidence: float = 0.95,
) -> Estimate:
    """The mean of values that are alike within either of two groupings, such as user tasks and injection tasks.

    Where the two variances less that of their intersection come out negative, the larger of the two is taken.

    Raises:
        ValueError: As `clustered_mean`, for either grouping.

    Source: A. C. Cameron, J. B. Gelbach and D. L. Miller, Robust inference with multiway clustering (2011).
    """
    one, ones = cluster_variance(values, first)
    other, others = cluster_variance(values, second)
    both, _ = cluster_variance(values, list(zip(first, second, strict=True)))
    variance = one + other - both
    return _estimate(values, variance if variance > 0.0 else max(one, other), min(ones, others), confidence)


def cluster_variance(values: Sequence[float], clusters: Sequence[Hashable]) -> tuple[float, int]:
    """The variance of the mean of clustered values, and the number of clusters.

    Raises:
        ValueError: Not every value has its cluster, or there are fewer than two clusters.
    """
    if len(values) != len(clusters):
        raise ValueError(f"Expected one cluster for each of {len(values)} values, found {len(clusters)}.")
    mean = math.fsum(values) / len(values) if values else 0.0
    sums: dict[Hashable, float] = defaultdict(float)
    for value, cluster in zip(values, clusters, strict=True):
        sums[cluster] += value - mean
    count = len(sums)
    if count < 2:
        raise ValueError(f"Expected at least two clusters, found {count}: one says nothing about how others differ.")
    return count / (count - 1) * math.fsum(each * each for each in sums.values()) / len(values) ** 2, count


def _estimate(values: Sequence[float], variance: float, clusters: int, confidence: float) -> Estimate:
    mean, error = math.fsum(values) / len(values), math.sqrt(variance)
    half = student_t_quantile((1.0 + confidence) / 2.0, clusters - 1) * error
    return Estimate(mean, error, mean - half, mean + half, len(values), clusters)
