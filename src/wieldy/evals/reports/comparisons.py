"""Configurations against one another, task by task on those that both have scored, unchanged.

Trials of one task are averaged first. Tasks of one cluster may be alike: intervals are clustered, and the permutation
test swaps whole clusters. How many pairs were looked at is told, and p-values are adjusted for it (Holm). Law: the rows
are a function of the trials, whatever their order. Deliberately not here: words for people (`comparison_lines`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any, cast

from wieldy.core.errors import UsageError
from wieldy.core.json import JsonObject
from wieldy.evals.cases.results import TaskKey, Trial
from wieldy.evals.statistics import Estimate, holm, mcnemar, paired_difference, permutation_p_value, wilson
from wieldy.evals.verdicts.verdict import SCORED


def comparison_rows(groups: Mapping[str, Sequence[Trial]], *, baseline: str | None = None) -> list[JsonObject]:
    """A row for each pair of groups that share scored tasks of two clusters; with a baseline, only those with it.

    Args:
        groups: Trials by the name under which they are compared, such as a configuration's.
        baseline: The name of one of them: the first of each pair.

    Raises:
        UsageError: There is no group of that name.
    """
    if baseline is not None and baseline not in groups:
        raise UsageError(
            f"Expected the name of a configuration as the baseline ({', '.join(groups)}), found {baseline!r}."
        )
    rates = {name: task_rates(trials) for name, trials in groups.items()}
    clusters = {trial.task_key: trial.cluster for trials in groups.values() for trial in trials}
    pairs = combinations(groups, 2) if baseline is None else ((baseline, name) for name in groups if name != baseline)
    found = [_compared(first, second, rates, clusters) for first, second in pairs]
    rows = [row for row in found if row is not None]
    adjusted = holm([float(cast("Any", row["permutation_p"])) for row in rows])
    return [{**row, "holm_p": p, "pairs": len(rows)} for row, p in zip(rows, adjusted, strict=True)]


def task_rates(trials: Iterable[Trial]) -> dict[TaskKey, float]:
    """For each task that was scored, how often it passed."""
    scored: dict[TaskKey, list[bool]] = defaultdict(list)
    for trial in trials:
        if trial.verdict.kind in SCORED:
            scored[trial.task_key].append(trial.verdict.kind == "pass")
    return {task: sum(passed) / len(passed) for task, passed in sorted(scored.items())}


def _compared(
    first: str, second: str, rates: Mapping[str, Mapping[TaskKey, float]], clusters: Mapping[TaskKey, str]
) -> JsonObject | None:
    one, other = rates[first], rates[second]
    shared = [task for task in one if task in other]
    own = [clusters[task] for task in shared]
    if len(set(own)) < 2:
        return None
    values = [one[task] for task in shared], [other[task] for task in shared]
    estimate = paired_difference(*values, clusters=own)
    sums: dict[str, float] = defaultdict(float)
    for cluster, before, after in zip(own, *values, strict=True):
        sums[cluster] += after - before
    row: JsonObject = {
        "type": "comparison",
        "first": first,
        "second": second,
        "tasks": len(shared),
        "tasks_of_one_only": len(one.keys() ^ other.keys()),
        "difference": estimate.mean,
        "interval_95": list(_interval(estimate)),
        "clusters": estimate.clusters,
        "permutation_p": permutation_p_value([0.0] * len(sums), [sums[cluster] for cluster in sorted(sums)]),
    }
    if all(rate in (0.0, 1.0) for side in values for rate in side):
        test = mcnemar([bool(rate) for rate in values[0]], [bool(rate) for rate in values[1]])
        row["mcnemar"] = {
            "only_first": test.only_first,
            "only_second": test.only_second,
            "exact_p": test.exact,
            "mid_p": test.mid_p,
        }
    return row


def _interval(estimate: Estimate) -> tuple[float, float]:
    """The interval; where all tasks differ by the same, as far as so few may hide a task that does not.

    Student's interval would have no width then, and say of two tasks what only thousands can. It is cut where no
    difference of rates can be.
    """
    if estimate.standard_error > 0.0:
        return max(-1.0, estimate.low), min(1.0, estimate.high)
    _, hidden = wilson(0, estimate.clusters)
    return max(-1.0, estimate.mean - hidden), min(1.0, estimate.mean + hidden)
