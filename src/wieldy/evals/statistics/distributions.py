"""The few distributions that intervals and tests need, to about 1e-12, in the standard library alone.

Deliberately not here: a library of distributions; each function is here because a statistic of ours uses it.
"""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Final

_NORMAL: Final = NormalDist()
_MOST_STEPS: Final = 500
_SMALLEST: Final = 1e-300


def normal_quantile(probability: float) -> float:
    """Below which a standard normal value lies with this probability."""
    return _NORMAL.inv_cdf(probability)


def incomplete_beta(a: float, b: float, x: float) -> float:
    """The regularised incomplete beta function.

    Source: the continued fraction of DLMF 8.17.22, evaluated by the modified method of Lentz.
    """
    if x <= 0.0 or x >= 1.0:
        return 0.0 if x <= 0.0 else 1.0
    if x > (a + 1.0) / (a + b + 2.0):  # the fraction converges fast on the other side only
        return 1.0 - incomplete_beta(b, a, 1.0 - x)
    log_front = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    return math.exp(log_front) * _beta_fraction(a, b, x) / a


def _beta_fraction(a: float, b: float, x: float) -> float:
    numerator = 1.0
    denominator = 1.0 / _away_from_zero(1.0 - (a + b) * x / (a + 1.0))
    fraction = denominator
    for m in range(1, _MOST_STEPS):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for step in (even, odd):
            denominator = 1.0 / _away_from_zero(1.0 + step * denominator)
            numerator = _away_from_zero(1.0 + step / numerator)
            fraction *= denominator * numerator
        if abs(denominator * numerator - 1.0) < 1e-15:
            break
    return fraction


def _away_from_zero(value: float) -> float:
    return value if abs(value) > _SMALLEST else _SMALLEST


def student_t_cdf(value: float, degrees: float) -> float:
    """The probability that a Student t value with these degrees of freedom is at most this one."""
    tail = _student_t_tail(value, degrees)
    return 1.0 - tail if value > 0 else tail


def _student_t_tail(value: float, degrees: float) -> float:
    return 0.5 * incomplete_beta(degrees / 2.0, 0.5, degrees / (degrees + value * value))


def student_t_quantile(probability: float, degrees: float) -> float:
    """Below which a Student t value with these degrees of freedom lies with this probability.

    Raises:
        ValueError: The probability is not between 0 and 1, or there is no degree of freedom.
    """
    if not 0.0 < probability < 1.0 or degrees <= 0:
        raise ValueError(
            f"Expected a probability between 0 and 1 and degrees of freedom above 0, found {probability}, {degrees}."
        )
    if probability == 0.5:
        return 0.0
    tail = min(probability, 1.0 - probability)  # not the large one: 1 less it would round a small tail away
    low, high = 0.0, 1.0
    while _student_t_tail(high, degrees) > tail:
        low, high = high, high * 2.0
    while high - low > 1e-15 * high:
        middle = (low + high) / 2.0
        if middle in (low, high):
            break
        low, high = (middle, high) if _student_t_tail(middle, degrees) > tail else (low, middle)
    return math.copysign((low + high) / 2.0, probability - 0.5)


def fair_probability(successes: int, trials: int) -> float:
    """The probability of exactly so many heads among so many throws of a fair coin."""
    return math.comb(trials, successes) / (1 << trials)  # Python divides integers of any size and rounds once


def fair_tail(successes: int, trials: int) -> float:
    """The probability of at most so many heads among so many throws of a fair coin."""
    total, term = 0, 1
    for k in range(successes + 1):
        total += term
        term = term * (trials - k) // (k + 1)
    return total / (1 << trials)
