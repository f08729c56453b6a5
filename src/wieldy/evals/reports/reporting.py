"""What the trials of a study add up to, as rows of JSON.

Every rate has its denominator and its interval, trials that could not be scored stand beside it by layer, and intervals
take tasks that are alike for what they are. Law: the rows are a function of the trials, whatever their order.
Deliberately not here: words for people (`report_lines`).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeAlias

from wieldy.core.json import JsonObject
from wieldy.evals.cases.results import Trial
from wieldy.evals.reports.comparisons import comparison_rows
from wieldy.evals.reports.labels import Labels, judge_rows
from wieldy.evals.reports.metrics import metric_rows
from wieldy.evals.reports.sensitivity import model_rows, sensitivity_rows
from wieldy.evals.statistics import (
    bootstrap_interval,
    mean_over_tasks,
    pass_at_k,
    pass_hat_k,
    rate_interval,
)
from wieldy.evals.verdicts.verdict import SCORED, Verdict, tally

Groups: TypeAlias = "dict[str, list[Trial]]"


def report_rows(
    trials: Sequence[Trial], *, baseline: str | None = None, labels: Labels | None = None
) -> list[JsonObject]:
    """The rows: `configuration` and `category` with counts, `repeats`, `provider_errors`, `reason`, `comparison`.

    Beside them those of `metrics`, of `sensitivity` and of `labels`.

    Args:
        trials: Of one study, or of several with one set of tasks.
        baseline: The configuration with which the others are compared; every pair if left out.
        labels: What people say of some of the trials, for judges to be compared with.

    Raises:
        UsageError: There is no such configuration.
    """
    ordered = sorted(trials, key=lambda trial: (trial.configuration, trial.category, trial.task, trial.trial))
    by_configuration = _grouped(ordered, lambda trial: trial.configuration)
    rows = list[JsonObject]()
    for name, own in by_configuration.items():
        rows.append(_counts("configuration", own, configuration=name))
        for category, part in _grouped(own, lambda trial: trial.category).items():
            rows.append(_counts("category", part, configuration=name, category=category))
        rows += _repeats(name, own)
        rows += _provider_errors(name, own)
        rows += _reasons(name, own)
        rows += metric_rows(name, own)
        rows += sensitivity_rows(name, own)
    rows += model_rows(by_configuration)
    rows += judge_rows(ordered, labels or {})
    return rows + comparison_rows(by_configuration, baseline=baseline)


def _grouped(trials: Iterable[Trial], key: Callable[[Trial], str]) -> Groups:
    groups: Groups = defaultdict(list)
    for trial in trials:
        groups[key(trial)].append(trial)
    return dict(groups)


def _counts(kind: str, trials: Sequence[Trial], **names: str) -> JsonObject:
    clusters = [trial.cluster for trial in trials]
    row: JsonObject = {"type": kind, **names, "tasks": len({trial.task_key for trial in trials})}
    row |= _told([trial.verdict for trial in trials], clusters)
    for name in sorted({name for trial in trials for name in trial.others}):
        said = [trial for trial in trials if name in trial.others]
        row[name] = _told([trial.others[name] for trial in said], [trial.cluster for trial in said])
    return row | _efficiency(trials)


def _told(verdicts: Sequence[Verdict], clusters: Sequence[str]) -> JsonObject:
    """The counts, with the interval of the rate as alike tasks are clustered."""
    counts = tally(verdicts).to_json()
    scored = [(verdict, cluster) for verdict, cluster in zip(verdicts, clusters, strict=True) if verdict.kind in SCORED]
    counts["clusters"] = len({cluster for _, cluster in scored})
    if scored:
        interval = rate_interval([verdict.kind == "pass" for verdict, _ in scored], [each for _, each in scored])
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
    by_task = _grouped(trials, lambda trial: " ".join(trial.task_key))
    valid = [own for own in by_task.values() if all(trial.verdict.kind != "invalid-task" for trial in own)]
    most = min((len(own) for own in valid), default=0)
    if most < 2:
        return
    clusters = [own[0].cluster for own in valid]
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
            "pass_at_k_interval_95": list(bootstrap_interval(at, clusters=clusters)),
            "pass_hat_k": mean_over_tasks(hat),
            "pass_hat_k_interval_95": list(bootstrap_interval(hat, clusters=clusters)),
            "unscored_trials_counted_as_not_passed": unscored,
        }


def _provider_errors(configuration: str, trials: Sequence[Trial]) -> Iterator[JsonObject]:
    """Trials that the provider kept from being scored, by cause, of all trials."""
    kept = [trial.verdict.kind == "unscored" and trial.verdict.layer == "provider" for trial in trials]
    if any(kept):
        causes = Counter(trial.verdict.code for trial, is_kept in zip(trials, kept, strict=True) if is_kept)
        errors = sum(kept)
        yield {
            "type": "provider_errors",
            "configuration": configuration,
            "errors": errors,
            "of": len(trials),
            "rate": errors / len(trials),
            "rate_interval_95": list(rate_interval(kept, [trial.cluster for trial in trials])),
            "causes": dict(sorted(causes.items())),
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
            "example": {"task": example.task, "runs": list(example.runs), "reason": example.verdict.reason},
            "evidence": list(example.verdict.evidence),
        }
