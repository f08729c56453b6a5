"""Statistics of trials: how sure one can be of a rate, of a difference, of an agreement, and how many trials it takes.

Plain Python, because a base install should not bring numpy; each function names its source, and equals a reference
implementation to 1e-9: `scripts/evidence_evals.py statistics PYTHON` compares them, where PYTHON is an interpreter that
has scipy and statsmodels. Deliberately not here: anything about models or tools.
"""

from wieldy.evals.statistics.agreement import cohen_kappa, fleiss_kappa, krippendorff_alpha
from wieldy.evals.statistics.means import Estimate, clustered_mean, mean_interval, two_way_clustered_mean
from wieldy.evals.statistics.multiplicity import holm
from wieldy.evals.statistics.paired import McNemar, mcnemar, paired_difference, permutation_p_value
from wieldy.evals.statistics.planning import detectable_difference, paired_variance, sample_size
from wieldy.evals.statistics.prediction import corrected_rate
from wieldy.evals.statistics.proportions import clustered_wilson, rate_interval, two_way_clustered_wilson, wilson
from wieldy.evals.statistics.repeats import bootstrap_interval, mean_over_tasks, pass_at_k, pass_hat_k
from wieldy.evals.statistics.unpaired import unpaired_difference

__all__ = [
    "Estimate",
    "McNemar",
    "bootstrap_interval",
    "clustered_mean",
    "clustered_wilson",
    "cohen_kappa",
    "corrected_rate",
    "detectable_difference",
    "fleiss_kappa",
    "holm",
    "krippendorff_alpha",
    "mcnemar",
    "mean_interval",
    "mean_over_tasks",
    "paired_difference",
    "paired_variance",
    "pass_at_k",
    "pass_hat_k",
    "permutation_p_value",
    "rate_interval",
    "sample_size",
    "two_way_clustered_mean",
    "two_way_clustered_wilson",
    "unpaired_difference",
    "wilson",
]
