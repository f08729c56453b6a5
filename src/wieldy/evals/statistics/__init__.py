"""Statistics of trials: how sure one can be of a rate, of a difference, of an agreement, and how many trials it takes.

Plain Python, because a base install should not bring numpy; each function names its source, and equals a reference
implementation to 1e-9 (`scripts/evidence_evals.py statistics`). Deliberately not here: anything about models or tools.
"""

from wieldy.evals.statistics.agreement import cohen_kappa, fleiss_kappa
from wieldy.evals.statistics.means import Estimate, clustered_mean, mean_interval, two_way_clustered_mean
from wieldy.evals.statistics.paired import McNemar, mcnemar, paired_difference, permutation_p_value
from wieldy.evals.statistics.planning import sample_size
from wieldy.evals.statistics.proportions import clustered_wilson, wilson
from wieldy.evals.statistics.repeats import bootstrap_interval, mean_over_tasks, pass_at_k, pass_hat_k

__all__ = [
    "Estimate",
    "McNemar",
    "bootstrap_interval",
    "clustered_mean",
    "clustered_wilson",
    "cohen_kappa",
    "fleiss_kappa",
    "mcnemar",
    "mean_interval",
    "mean_over_tasks",
    "paired_difference",
    "pass_at_k",
    "pass_hat_k",
    "permutation_p_value",
    "sample_size",
    "two_way_clustered_mean",
    "wilson",
]
