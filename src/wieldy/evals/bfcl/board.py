"""The parts of the leaderboard's score that can be had here, by its weights, and how much the prompt's form matters.

Deliberately not here: an overall score. Four tenths of it are web search and memory, of which web search and the memory
of vectors are not run here; what is not run counts as zero there, and would mislead, and a score of what is left would
be one that nobody else has. The rates of the two other memories are those of their categories.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import stdev
from typing import Final

from wieldy.core.json import JsonObject
from wieldy.evals.bfcl.categories import CONVERSATIONS, FORMAT_SENSITIVITY, SIZES
from wieldy.evals.cases.case import VARIANT
from wieldy.evals.cases.results import Trial

WEIGHTS: Final = {
    "non_live": 0.1,
    "live": 0.1,
    "irrelevance": 0.1,
    "multi_turn": 0.3,
    "web search and memory": 0.4,
}
"""Of each part in the leaderboard's overall score."""

_SIMPLE: Final = ("simple_python", "simple_java", "simple_javascript")
_LIVE: Final = ("live_simple", "live_multiple", "live_parallel", "live_parallel_multiple")
_PARTS: Final = {
    "non_live": (*_SIMPLE, "multiple", "parallel", "parallel_multiple"),
    "live": _LIVE,
    "irrelevance": ("irrelevance", "live_irrelevance"),
    "multi_turn": tuple(CONVERSATIONS),
}


def board_rows(trials: Iterable[Trial]) -> Iterator[JsonObject]:
    """A row for each configuration, of the first trial of each task."""
    counts: dict[str, dict[str, tuple[int, int]]] = {}
    forms: dict[str, list[Trial]] = defaultdict(list)
    for trial in trials:
        if trial.trial == 0 and "official" in trial.others:
            own = counts.setdefault(trial.configuration, {})
            passed, of = own.get(trial.category, (0, 0))
            own[trial.category] = passed + (trial.others["official"].kind == "pass"), of + 1
            if trial.category == FORMAT_SENSITIVITY.name:
                forms[trial.configuration].append(trial)
    for configuration, own in counts.items():
        spread = format_sensitivity(forms[configuration])
        told = board_row(configuration, own)
        yield told if spread is None else {**told, FORMAT_SENSITIVITY.name: spread}


def format_sensitivity(trials: Sequence[Trial]) -> JsonObject | None:
    """How far apart the rates are in the forms of a prompt, in points of percent; None where there is but one form.

    Counts for no score. `std` is that of a sample. Source: `format_sensitivity_runner` of `bfcl_eval` 2026.3.23.
    """
    by_form = defaultdict[str, list[bool]](list)
    for trial in trials:
        by_form[trial.axes[VARIANT]].append(trial.others["official"].kind == "pass")
    rates = [sum(passed) / len(passed) for passed in by_form.values()]
    if len(rates) < 2:
        return None
    spread = {"max_delta": round((max(rates) - min(rates)) * 100, 2), "std": round(stdev(rates) * 100, 2)}
    return {**spread, "forms": len(rates), "tasks": len(trials), "of": SIZES[FORMAT_SENSITIVITY.name]}


def board_row(configuration: str, official: Mapping[str, tuple[int, int]]) -> JsonObject:
    """The parts of which every category was run, limited as it may be; None for the others, which are `missing`.

    What is missing has its weight in the overall score, so that everybody can see what cannot be said. Of each part it
    is told of how many of the leaderboard's tasks it is (`tasks`, `of`).

    Args:
        configuration: Whose score it is.
        official: Per category, how many passed by the official rules, and of how many.

    Source: `eval_runner_helper` of `bfcl_eval` 2026.3.23 (version 4 of the score).
    """
    rate = {name: passed / of for name, (passed, of) in official.items() if of}
    simple = _mean([rate.get(name) for name in _SIMPLE])
    live = [official.get(name, (0, 0)) for name in _LIVE]
    parts: dict[str, float | None] = {
        "non_live": _mean([simple, *(rate.get(name) for name in ("multiple", "parallel", "parallel_multiple"))]),
        "live": sum(passed for passed, _ in live) / sum(of for _, of in live) if all(of for _, of in live) else None,
        "irrelevance": _mean([rate.get("irrelevance"), rate.get("live_irrelevance")]),
        "multi_turn": _mean([rate.get(name) for name in CONVERSATIONS]),
    }
    missing: JsonObject = {part: weight for part, weight in WEIGHTS.items() if parts.get(part) is None}
    told: JsonObject = {
        part: {"tasks": sum(official[name][1] for name in names), "of": sum(SIZES[name] for name in names)}
        for part, names in _PARTS.items()
        if parts[part] is not None
    }
    return {"type": "board", "configuration": configuration, **parts, "tasks": told, "missing": missing}


def _mean(rates: list[float | None]) -> float | None:
    known = [rate for rate in rates if rate is not None]
    return sum(known) / len(known) if known and len(known) == len(rates) else None
