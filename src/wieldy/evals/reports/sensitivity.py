"""What results depend on besides the task: the model, the words of the prompt, how many tools there are, a cue.

Trials of one cluster differ along an axis (`variant`, `tools`, `cue`), of which each task has one value. Law: the rows
are a function of the trials, whatever their order. Deliberately not here: making such tasks (`variants`, `scaling`).
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from statistics import fmean, pstdev

from wieldy.core.json import JsonObject
from wieldy.evals.cases.case import CUE, TOOLS, VARIANT
from wieldy.evals.cases.results import Trial
from wieldy.evals.reports.metrics import rate
from wieldy.evals.statistics import mcnemar
from wieldy.evals.statistics.components import two_way_components
from wieldy.evals.verdicts.verdict import SCORED


def sensitivity_rows(configuration: str, trials: Sequence[Trial]) -> Iterator[JsonObject]:
    """Rows `prompt_sensitivity`, `scalability` and `trigger` of one configuration, where its tasks have such axes."""
    ordered = sorted(trials, key=lambda trial: (trial.task, trial.trial))
    for axis, rows in ((VARIANT, _of_variants), (TOOLS, _of_sizes), (CUE, _of_cues)):
        along = [trial for trial in ordered if axis in trial.axes]
        if along:
            yield from ({"configuration": configuration, **row} for row in rows(along))


def model_rows(by_configuration: Mapping[str, Sequence[Trial]]) -> Iterator[JsonObject]:
    """Rows `model_sensitivity`: for each harness, which is everything of a configuration but its model."""
    harnesses = defaultdict[str, dict[str, Sequence[Trial]]](dict)
    for name in sorted(by_configuration):
        harnesses[_settings(name)][name] = by_configuration[name]
    for settings, own in harnesses.items():
        yield from ({"settings": settings, **row} for row in _of_models(own))


def _settings(configuration: str) -> str:
    """What a configuration's name says behind the model's."""
    return configuration.rpartition(" (")[2].removesuffix(")") if configuration.endswith(")") else ""


def _grouped(trials: Sequence[Trial], key: Callable[[Trial], str]) -> dict[str, list[Trial]]:
    groups = defaultdict[str, list[Trial]](list)
    for trial in trials:
        groups[key(trial)].append(trial)
    return dict(groups)


def _rate(trials: Sequence[Trial]) -> float | None:
    scored = [trial.verdict.kind == "pass" for trial in trials if trial.verdict.kind in SCORED]
    return fmean(scored) if scored else None


def _of_variants(trials: Sequence[Trial]) -> Iterator[JsonObject]:
    """How far apart the rates of one task's variants are: the largest difference and the standard deviation."""
    spreads, deviations = list[float](), list[float]()
    for own in _grouped(trials, lambda trial: trial.cluster).values():
        by_variant = _grouped(own, lambda trial: trial.axes[VARIANT])
        rates = [found for found in map(_rate, by_variant.values()) if found is not None]
        if len(rates) > 1:
            spreads.append(max(rates) - min(rates))
            deviations.append(pstdev(rates))
    variants = _grouped(trials, lambda trial: trial.axes[VARIANT])
    overall = {name: found for name, own in variants.items() if (found := _rate(own)) is not None}
    if not spreads:
        return
    yield {
        "type": "prompt_sensitivity",
        "tasks": len(spreads),
        "tasks_that_differ": sum(spread > 0.0 for spread in spreads),
        "mean_largest_difference": fmean(spreads),
        "mean_standard_deviation": fmean(deviations),
        "rates": dict(sorted(overall.items())),
        "largest_difference_of_rates": max(overall.values()) - min(overall.values()),
    }


def _of_sizes(trials: Sequence[Trial]) -> Iterator[JsonObject]:
    """What becomes of the same tasks with more tools: rate, tokens and time for each size."""
    sizes = _grouped(trials, lambda trial: trial.axes[TOOLS])
    for size, own in sorted(sizes.items(), key=lambda item: (_size(item[0]) == item[0], _size(item[0]))):
        scored = [trial for trial in own if trial.verdict.kind in SCORED]
        yield {
            "type": "scalability",
            "tools": _size(size),
            "trials": len(own),
            "passed": rate([trial.verdict.kind == "pass" for trial in scored], [trial.cluster for trial in scored]),
            "mean_input_tokens": fmean(trial.input_tokens for trial in own),
            "mean_output_tokens": fmean(trial.output_tokens for trial in own),
            "mean_duration_s": fmean(trial.duration_s for trial in own),
        }


def _size(axis: str) -> int | str:
    """The number that the axis is, or its words: tasks of one's own may say `many`."""
    return int(axis) if axis.isdecimal() and len(axis) < 10 else axis


def _of_cues(trials: Sequence[Trial]) -> Iterator[JsonObject]:
    """Whether a cue that should not matter changes what is done: pairs of trials that differ in it alone.

    Tasks of one cluster with the same cue and no other axis that tells them apart have no counterpart that could be
    told; they are counted. Without a cue, trials of one task differ as well where the model is not the same every time;
    how often they do stands beside it.
    """
    pairs, unpaired = list[tuple[Trial, Trial]](), set[str]()
    for own in _grouped(trials, _all_but_the_cue).values():
        by_cue = _grouped(own, lambda trial: trial.axes[CUE])
        if len(by_cue) > 1:
            unpaired |= {task for same in by_cue.values() if len(tasks := _tasks(same)) > 1 for task in tasks}
        alone = sorted(cue for cue, same in by_cue.items() if len(_tasks(same)) == 1)
        for first, second in combinations(alone, 2):
            pairs += _paired(by_cue[first], by_cue[second])
    repeats = [pair for same in _grouped(trials, _task).values() for pair in combinations(same, 2)]
    if not pairs and not unpaired:
        return
    both = [pair for pair in pairs if all(trial.verdict.kind in SCORED for trial in pair)]
    row: JsonObject = {
        "type": "trigger",
        "tasks_without_counterpart": len(unpaired),
        "behaviour_differs": _differing(pairs),
        "behaviour_differs_without_cue": _differing(repeats),
    }
    if both:
        test = mcnemar(*zip(*([trial.verdict.kind == "pass" for trial in pair] for pair in both), strict=True))
        row |= {"only_first_passed": test.only_first, "only_second_passed": test.only_second, "exact_p": test.exact}
    yield row


def _all_but_the_cue(trial: Trial) -> str:
    return repr((trial.cluster, sorted((name, value) for name, value in trial.axes.items() if name != CUE)))


def _tasks(trials: Iterable[Trial]) -> set[str]:
    return {trial.task for trial in trials}


def _paired(ones: Sequence[Trial], others: Sequence[Trial]) -> Iterator[tuple[Trial, Trial]]:
    by_number = {trial.trial: trial for trial in others}
    return ((one, by_number[one.trial]) for one in ones if one.trial in by_number)


def _differing(pairs: Sequence[tuple[Trial, Trial]]) -> JsonObject | None:
    return rate([one.behaviour != other.behaviour for one, other in pairs], [one.cluster for one, _ in pairs])


def _of_models(by_configuration: Mapping[str, Sequence[Trial]]) -> Iterator[JsonObject]:
    """How much of the variance of rates is the model's, the harness being the same for all."""
    rates = {
        name: {task: found for task, own in _grouped(trials, _task).items() if (found := _rate(own)) is not None}
        for name, trials in by_configuration.items()
    }
    shared = sorted(set[str].intersection(*(set(own) for own in rates.values()))) if rates else []
    if len(rates) < 2 or len(shared) < 2:
        return
    parts = two_way_components([[own[task] for own in rates.values()] for task in shared])
    means = {name: fmean(own[task] for task in shared) for name, own in rates.items()}
    yield {
        "type": "model_sensitivity",
        "models": len(rates),
        "tasks": len(shared),
        "standard_deviation": math.sqrt(parts.columns),
        "share_of_variance": parts.columns_share,
        "variance": {"model": parts.columns, "task": parts.rows, "residual": parts.residual},
        "largest_difference": max(means.values()) - min(means.values()),
        "rates": dict(means),
    }


def _task(trial: Trial) -> str:
    return " ".join(trial.task_key)
