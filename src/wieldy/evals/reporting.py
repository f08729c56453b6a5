"""What the trials of a study add up to, as rows of JSON.

Every rate has its denominator and its interval, trials that could not be scored stand beside it by layer, and intervals
take tasks that are alike for what they are. Law: the rows are a function of the trials, whatever their order.
Deliberately not here: words for people (`report_lines`).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import combinations
from typing import TypeAlias

from wieldy.core.json import JsonObject
from wieldy.evals.results import Trial
from wieldy.evals.statistics import (
    bootstrap_interval,
    clustered_wilson,
    mcnemar,
    mean_over_tasks,
    paired_difference,
    pass_at_k,
    pass_hat_k,
    permutation_p_value,
)
from wieldy.evals.verdicts import SCORED, Verdict, tally

Groups: TypeAlias = "dict[str, list[Trial]]"


def report_rows(trials: Sequence[Trial]) -> list[JsonObject]:
    """The rows: `configuration` and `category` with counts, `repeats`, `reason`, `comparison`."""
    ordered = sorted(trials, key=lambda trial: (trial.configuration, trial.category, trial.task, trial.trial))
    by_configuration = _grouped(ordered, lambda trial: trial.configuration)
    rows = list[JsonObject]()
    for name, own in by_configuration.items():
        rows.append(_counts("configuration", own, configuration=name))
        for category, part in _grouped(own, lambda trial: trial.category).items():
            rows.append(_counts("category", part, configuration=name, category=category))
        rows += _repeats(name, own)
        rows += _reasons(name, own)
    for (first, ones), (second, others) in combinations(by_configuration.items(), 2):
        rows += _comparison(first, ones, second, others)
    return rows


def _grouped(trials: Iterable[Trial], key: Callable[[Trial], str]) -> Groups:
    groups: Groups = defaultdict(list)
    for trial in trials:
        groups[key(trial)].append(trial)
    return dict(groups)


def _counts(kind: str, trials: Sequence[Trial], **names: str) -> JsonObject:
    clusters = [trial.cluster for trial in trials]
    row: JsonObject = {"type": kind, **names, "tasks": len({trial.task for trial in trials})}
    row |= _told([trial.verdict for trial in trials], clusters)
    for name in sorted({name for trial in trials for name in trial.others}):
        said = [trial for trial in trials if name in trial.others]
        row[name] = _told([trial.others[name] for trial in said], [trial.cluster for trial in said])
    return row | _efficiency(trials)


def _told(verdicts: Sequence[Verdict], clusters: Sequence[str]) -> JsonObject:
    """The counts, with the interval of the rate as alike tasks are clustered."""
    counts = tally(verdicts).to_json()
    scored = [(verdict, cluster) for verdict, cluster in zip(verdicts, clusters, strict=True) if verdict.kind in SCORED]
    number = len({cluster for _, cluster in scored})
    counts["clusters"] = number
    if number > 1:
        interval = clustered_wilson([verdict.kind == "pass" for verdict, _ in scored], [each for _, each in scored])
        counts["interval_95"] = list(interval)
    return counts


def _efficiency(trials: Sequence[Trial]) -> JsonObject:
    count = len(trials)
    costs = [trial.cost_usd for trial in trials]
    known = [cost for cost in costs if cost is not None]
    return {
        "mean_input_tokens": sum(trial.input_tokens for trial in trials) / count,
        "mean_output_tokens": sum(trial.output_tokens for trial in trials) / count,
        "mean_requests": sum(trial.requests for trial in trials) / count,
        "mean_calls": sum(trial.calls for trial in trials) / count,
        "mean_duration_s": sum(trial.duration_s for trial in trials) / count,
        "cost_usd": sum(known) if len(known) == count else None,
    }


def _repeats(configuration: str, trials: Sequence[Trial]) -> Iterator[JsonObject]:
    """pass@k and pass^k over tasks; a trial that could not be scored counts as not passed, and is told of."""
    by_task = _grouped(trials, lambda trial: trial.task)
    valid = [own for own in by_task.values() if all(trial.verdict.kind != "invalid-task" for trial in own)]
    most = min((len(own) for own in valid), default=0)
    if most < 2:
        return
    unscored = sum(trial.verdict.kind == "unscored" for own in valid for trial in own)
    for k in range(1, most + 1):
        counts = [(len(own), sum(trial.verdict.kind == "pass" for trial in own)) for own in valid]
        at, hat = [pass_at_k(n, c, k) for n, c in counts], [pass_hat_k(n, c, k) for n, c in counts]
        yield {
            "type": "repeats",
            "configuration": configuration,
            "k": k,
            "tasks": len(valid),
            "pass_at_k": mean_over_tasks(at),
            "pass_at_k_interval_95": list(bootstrap_interval(at)),
            "pass_hat_k": mean_over_tasks(hat),
            "pass_hat_k_interval_95": list(bootstrap_interval(hat)),
            "unscored_trials_counted_as_not_passed": unscored,
        }


def _reasons(configuration: str, trials: Sequence[Trial]) -> Iterator[JsonObject]:
    counts = Counter[tuple[str, str, str]]()
    examples = dict[tuple[str, str, str], Trial]()
    for trial in trials:
        verdict = trial.verdict
        if verdict.kind != "pass":
            key = (verdict.kind, verdict.layer or "", verdict.code)
            counts[key] += 1
            examples.setdefault(key, trial)
    for key, count in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        kind, layer, code = key
        example = examples[key]
        yield {
            "type": "reason",
            "configuration": configuration,
            "kind": kind,
            "layer": layer or None,
            "code": code,
            "count": count,
            "of": len(trials),
            "example": {"task": example.task, "run_id": example.run_id, "reason": example.verdict.reason},
            "evidence": list(example.verdict.evidence),
        }


def _comparison(first: str, ones: Sequence[Trial], second: str, others: Sequence[Trial]) -> Iterator[JsonObject]:
    """Two configurations on the tasks that both have scored, task by task."""
    one, other = _rates(ones), _rates(others)
    shared = [task for task in one if task in other]
    clusters = {trial.task: trial.cluster for trial in (*ones, *others)}
    if len({clusters[task] for task in shared}) < 2:
        return
    values = [one[task] for task in shared], [other[task] for task in shared]
    estimate = paired_difference(*values, clusters=[clusters[task] for task in shared])
    row: JsonObject = {
        "type": "comparison",
        "first": first,
        "second": second,
        "tasks": len(shared),
        "tasks_of_one_only": len(one.keys() ^ other.keys()),
        "difference": estimate.mean,
        "interval_95": [estimate.low, estimate.high],
        "clusters": estimate.clusters,
        "permutation_p": permutation_p_value(*values),
    }
    if all(rate in (0.0, 1.0) for rates in values for rate in rates):
        test = mcnemar([bool(rate) for rate in values[0]], [bool(rate) for rate in values[1]])
        row["mcnemar"] = {
            "only_first": test.only_first,
            "only_second": test.only_second,
            "exact_p": test.exact,
            "mid_p": test.mid_p,
        }
    yield row


def _rates(trials: Sequence[Trial]) -> dict[str, float]:
    """For each task that was scored, how often it passed."""
    rates = dict[str, float]()
    for task, own in _grouped(trials, lambda trial: trial.task).items():
        scored = [trial.verdict.kind == "pass" for trial in own if trial.verdict.kind in SCORED]
        if scored:
            rates[task] = sum(scored) / len(scored)
    return rates
