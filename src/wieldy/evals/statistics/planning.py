"""How many tasks it takes to see a difference, and which one so many show. Deliberately not here: what it is worth."""

from __future__ import annotations

import math

from wieldy.evals.statistics.distributions import normal_quantile


def sample_size(
    difference: float,
    *,
    variance_between: float,
    variance_first: float = 0.0,
    variance_second: float = 0.0,
    trials_first: int = 1,
    trials_second: int = 1,
    confidence: float = 0.95,
    power: float = 0.8,
) -> int:
    """The number of tasks with which such a difference of means is found with this power, two-sided.

    Args:
        difference: The smallest difference that must not be missed, such as 0.05 for five points.
        variance_between: Of the tasks' true differences; `paired_variance` and `unpaired_variance` give it for rates.
        variance_first: Of one trial of a task around its mean, for the first configuration.
        variance_second: The same for the second.
        trials_first: Trials of each task with the first configuration.
        trials_second: The same for the second.
        confidence: Of the interval that must not hold zero.
        power: How often the difference is to be found if it is there.

    Raises:
        ValueError: One of them cannot be.

    Source: E. Miller, Adding error bars to evals (arXiv 2411.00640), section 5.
    """
    if not math.isfinite(difference) or difference * difference == 0.0 or min(trials_first, trials_second) < 1:
        raise ValueError(
            f"Expected a difference other than 0 and at least one trial, found {difference}, {trials_first}, "
            f"{trials_second}."
        )
    if min(variance_between, variance_first, variance_second) < 0.0 or not 0 < confidence < 1 or not 0 < power < 1:
        raise ValueError("Expected variances of at least 0, and a confidence and a power between 0 and 1.")
    quantiles = normal_quantile((1.0 + confidence) / 2.0) + normal_quantile(power)
    variance = variance_between + variance_first / trials_first + variance_second / trials_second
    return math.ceil(quantiles**2 * variance / difference**2)


def detectable_difference(tasks: int, *, variance: float, confidence: float = 0.95, power: float = 0.8) -> float:
    """The smallest difference of means that so many tasks show with this power, two-sided.

    Args:
        tasks: With both configurations.
        variance: Of a task's difference: between tasks, and that of its trials.
        confidence: Of the interval that must not hold zero.
        power: How often the difference is to be found if it is there.

    Raises:
        ValueError: One of them cannot be.

    Source: As `sample_size`, solved for the difference.
    """
    if tasks < 1 or variance < 0.0 or not 0 < confidence < 1 or not 0 < power < 1:
        raise ValueError("Expected a task or more, a variance of at least 0, a confidence and a power between 0 and 1.")
    quantiles = normal_quantile((1.0 + confidence) / 2.0) + normal_quantile(power)
    return quantiles * math.sqrt(variance / tasks)


def paired_variance(rate: float, correlation: float) -> float:
    """The variance of a task's difference where both rates are about this and the outcomes correlate so much."""
    return 2.0 * rate * (1.0 - rate) * (1.0 - correlation)


def unpaired_variance(rate: float) -> float:
    """The same where the tasks of both differ; then the number of tasks is that of each."""
    return paired_variance(rate, 0.0)
