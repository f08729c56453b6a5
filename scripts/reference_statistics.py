"""The statistics of `wieldy.evals.statistics` as scipy and statsmodels compute them, for comparison.

    python scripts/reference_statistics.py < CASES > VALUES

Needs scipy and statsmodels, and nothing of Wieldy; `evidence_evals.py statistics` runs it in an environment of its own.
A case is a JSON object with `name` and what it needs; a value is a list of numbers.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from itertools import combinations, permutations
from typing import Any

import numpy as np
from scipy import stats
from statsmodels.regression.linear_model import OLS
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.inter_rater import aggregate_raters, cohens_kappa, fleiss_kappa, to_table
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import confint_proportions_2indep, proportion_confint


def wilson(successes: int, trials: int, **_: Any) -> list[float]:
    return list(proportion_confint(successes, trials, method="wilson"))


def student(probability: float, degrees: float, **_: Any) -> list[float]:
    return [float(stats.t.ppf(probability, degrees))]


def mean(values: list[float], **_: Any) -> list[float]:
    fitted = OLS(np.array(values), np.ones(len(values))).fit()
    return [float(fitted.params[0]), float(fitted.bse[0]), *map(float, fitted.conf_int()[0])]


def clustered(values: list[float], clusters: list[int], **_: Any) -> list[float]:
    fitted = OLS(np.array(values), np.ones(len(values))).fit(
        cov_type="cluster", cov_kwds={"groups": np.array(clusters), "df_correction": True}, use_t=True
    )
    return [float(fitted.params[0]), float(fitted.bse[0]), *map(float, fitted.conf_int()[0])]


def two_way(values: list[float], first: list[int], second: list[int], **_: Any) -> list[float]:
    groups = np.array([first, second]).T
    fitted = OLS(np.array(values), np.ones(len(values))).fit(cov_type="cluster", cov_kwds={"groups": groups})
    return [float(fitted.params[0]), float(fitted.bse[0])]


def paired_test(first: list[bool], second: list[bool], **_: Any) -> list[float]:
    table = np.zeros((2, 2))
    for one, other in zip(first, second, strict=True):
        table[int(one), int(other)] += 1
    b, c = int(table[1, 0]), int(table[0, 1])
    exact = float(mcnemar(table, exact=True).pvalue)
    at = float(stats.binom.pmf(min(b, c), b + c, 0.5))
    return [exact, 1 - at / 2 if b == c else 2 * float(stats.binom.cdf(min(b, c), b + c, 0.5)) - at]


def permutation(first: list[float], second: list[float], **_: Any) -> list[float]:
    found = stats.permutation_test(
        (np.array(second), np.array(first)),
        lambda one, other, axis: np.mean(one - other, axis=axis),
        permutation_type="samples",
        n_resamples=np.inf,
        vectorized=True,
    )
    return [float(found.pvalue)]


def passes(trials: int, successes: int, k: int, **_: Any) -> list[float]:
    """By looking at every sample."""
    outcomes = [True] * successes + [False] * (trials - successes)
    samples = list(combinations(outcomes, k))
    return [sum(map(any, samples)) / len(samples), sum(map(all, samples)) / len(samples)]


def two_raters(first: list[int], second: list[int], **_: Any) -> list[float]:
    table, _ = to_table(np.array([first, second]).T)
    return [float(cohens_kappa(table).kappa)]


def raters(ratings: list[list[int]], **_: Any) -> list[float]:
    return [float(fleiss_kappa(aggregate_raters(np.array(ratings))[0]))]


def holm(values: list[float], **_: Any) -> list[float]:
    return list(map(float, multipletests(values, method="holm")[1]))


def two_rates(first: list[bool], second: list[bool], **_: Any) -> list[float]:
    counts = sum(second), len(second), sum(first), len(first)
    low, high = confint_proportions_2indep(*counts, method="newcomb", compare="diff")
    return [sum(second) / len(second) - sum(first) / len(first), float(low), float(high)]


def alpha(ratings: list[list[int | None]], **_: Any) -> list[float]:
    """By looking at every pair of labels, within items and over all of them."""
    items = [[label for label in labels if label is not None] for labels in ratings]
    items = [labels for labels in items if len(labels) > 1]
    every = [label for labels in items for label in labels]
    within = sum(sum(a != b for a, b in permutations(labels, 2)) / (len(labels) - 1) for labels in items)
    over_all = sum(a != b for a, b in permutations(every, 2)) / (len(every) - 1)
    return [1.0 - within / over_all]


def size(difference: float, variance: float, **_: Any) -> list[float]:
    quantiles = stats.norm.ppf(0.975) + stats.norm.ppf(0.8)
    return [float(np.ceil(quantiles**2 * variance / difference**2))]


REFERENCES: dict[str, Callable[..., list[float]]] = {
    each.__name__: each
    for each in (
        *(wilson, student, mean, clustered, two_way, paired_test, permutation, passes),
        *(two_raters, raters, holm, two_rates, alpha, size),
    )
}


if __name__ == "__main__":
    json.dump([REFERENCES[case["name"]](**case) for case in json.load(sys.stdin)], sys.stdout)
