"""A rate that a judge measured, corrected by the items that people labelled as well. Deliberately not here: judges."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence

from wieldy.evals.statistics.distributions import student_t_quantile
from wieldy.evals.statistics.means import Estimate, cluster_variance

FEWEST_LABELS = 50
"""Below that the interval of a correction says nothing of use."""


def corrected_rate(
    judged: Sequence[bool],
    labelled: Sequence[tuple[bool, bool]],
    *,
    judged_clusters: Sequence[Hashable] | None = None,
    labelled_clusters: Sequence[Hashable] | None = None,
    confidence: float = 0.95,
) -> Estimate:
    """The rate that people would have found: the judge's on all other items, plus how far it is off on the labelled.

    It is right on average however wrong the judge is, which then only makes the interval wide.

    Args:
        judged: What the judge says of items without a label.
        labelled: Of every item with a label, what the judge says and what the label says.
        judged_clusters: Which items of the first may be alike; none if left out.
        labelled_clusters: The same of the second.
        confidence: Of the interval.

    Raises:
        ValueError: There are fewer than 50 labels or fewer than two items without, or two clusters of either.

    Source: A. N. Angelopoulos et al., Prediction-powered inference (Science 382, 2023), for a mean; variances are
        clustered as in `means`.
    """
    if len(labelled) < FEWEST_LABELS:
        raise ValueError(f"Expected at least {FEWEST_LABELS} labelled items, found {len(labelled)}.")
    said = [float(each) for each in judged]
    off = [float(label) - float(judge) for judge, label in labelled]
    one, ones = cluster_variance(said, judged_clusters or range(len(said)))
    other, others = cluster_variance(off, labelled_clusters or range(len(off)))
    mean = math.fsum(said) / len(said) + math.fsum(off) / len(off)
    error, clusters = math.sqrt(one + other), min(ones, others)
    half = student_t_quantile((1.0 + confidence) / 2.0, clusters - 1) * error
    return Estimate(mean, error, mean - half, mean + half, len(said) + len(off), clusters)
