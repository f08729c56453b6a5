"""Intervals of a rate. Deliberately not here: means of anything else (`means`)."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence

from wieldy.evals.statistics.distributions import normal_quantile, student_t_quantile
from wieldy.evals.statistics.means import cluster_variance, two_way_clustered_mean


def wilson(successes: float, trials: float, *, confidence: float = 0.95) -> tuple[float, float]:
    """The Wilson score interval of a rate; from 0 to 1 where there were no trials.

    Args:
        successes: How many trials succeeded; a fraction where `trials` is an effective number.
        trials: How many independent ones there were.
        confidence: How often such an interval holds the true rate.

    Raises:
        ValueError: There are more successes than trials, or the confidence is not between 0 and 1.

    Source: E. B. Wilson, Probable inference, the law of succession, and statistical inference (1927).
    """
    _check(successes, trials, confidence)
    if trials == 0:
        return 0.0, 1.0
    return _wilson(successes / trials, trials, normal_quantile((1.0 + confidence) / 2.0))


def clustered_wilson(
    outcomes: Sequence[bool], clusters: Sequence[Hashable], *, confidence: float = 0.95
) -> tuple[float, float]:
    """The Wilson interval of a rate whose trials come in clusters that may be alike, such as repeats of one task.

    The number of trials is replaced by the number of independent ones that would be worth as much, and never raised.
    Where every trial is a cluster of its own it is the plain interval.

    Raises:
        ValueError: There are not as many clusters named as outcomes, or fewer than two different ones.

    Source: E. L. Korn and B. I. Graubard, Confidence intervals for proportions with small expected number of positive
        counts estimated from survey data (1998), for the effective number; the score interval is Wilson's.
    """
    variance, count = cluster_variance([float(outcome) for outcome in outcomes], clusters)
    return _of_clusters(outcomes, variance, count, confidence)


def two_way_clustered_wilson(
    outcomes: Sequence[bool], first: Sequence[Hashable], second: Sequence[Hashable], *, confidence: float = 0.95
) -> tuple[float, float]:
    """The Wilson interval of a rate whose trials are alike within either of two groupings; always within 0 to 1.

    As `clustered_wilson`, with the variance of `two_way_clustered_mean`; where all are alike each cluster of the
    grouping with fewer of them counts once.

    Raises:
        ValueError: As `clustered_wilson`, for either grouping.
    """
    estimate = two_way_clustered_mean([float(outcome) for outcome in outcomes], first, second)
    return _of_clusters(outcomes, estimate.standard_error**2, estimate.clusters, confidence)


def _of_clusters(outcomes: Sequence[bool], variance: float, count: int, confidence: float) -> tuple[float, float]:
    trials, successes = len(outcomes), sum(outcomes)
    _check(successes, trials, confidence)
    if count == trials:
        return wilson(successes, trials, confidence=confidence)
    rate = successes / trials
    quantile = (1.0 + confidence) / 2.0
    t, z = student_t_quantile(quantile, count - 1), normal_quantile(quantile)
    spread = rate * (1.0 - rate)
    # Where all are alike nothing is known of how alike clusters are; then each cluster counts once.
    effective = spread / variance if variance > 0.0 and spread > 0.0 else float(count)
    effective = min(float(trials), effective) * (z / t) ** 2
    return _wilson(rate, effective, z)


def rate_interval(outcomes: Sequence[bool], clusters: Sequence[Hashable]) -> tuple[float, float]:
    """The 95 % interval of a rate, of however many clusters; everything where nothing is known.

    Several trials of one cluster say nothing about how others differ, so they leave everything possible.

    Raises:
        ValueError: There are not as many clusters named as outcomes.
    """
    if len(outcomes) != len(clusters):
        raise ValueError(f"Expected one cluster for each of {len(outcomes)} outcomes, found {len(clusters)}.")
    if len(outcomes) == 1:
        return wilson(sum(outcomes), 1)
    return clustered_wilson(outcomes, clusters) if len(set(clusters)) > 1 else (0.0, 1.0)


def hidden_share(clusters: int, *, confidence: float = 0.95) -> float:
    """How large a share of others may differ where so many clusters, two or more, are all alike.

    With trials that come in clusters it is what `clustered_wilson` leaves to a rate of 0.
    """
    quantile = (1.0 + confidence) / 2.0
    t, z = student_t_quantile(quantile, clusters - 1), normal_quantile(quantile)
    return _wilson(0.0, clusters * (z / t) ** 2, z)[1]


def _wilson(rate: float, trials: float, z: float) -> tuple[float, float]:
    square = z * z / trials
    middle = (rate + square / 2.0) / (1.0 + square)
    half = z / (1.0 + square) * math.sqrt(rate * (1.0 - rate) / trials + square / (4.0 * trials))
    low = 0.0 if rate == 0.0 else max(0.0, middle - half)
    high = 1.0 if rate == 1.0 else min(1.0, middle + half)
    return low, high


def _check(successes: float, trials: float, confidence: float) -> None:
    if not 0 <= successes <= trials:
        raise ValueError(f"Expected from 0 to {trials} successes of {trials} trials, found {successes}.")
    if not 0.0 < confidence < 1.0:
        raise ValueError(f"Expected a confidence between 0 and 1, such as 0.95, found {confidence}.")
