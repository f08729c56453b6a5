"""The parts of the leaderboard's score that can be had here, by its own weights.

Deliberately not here: an overall score. Four tenths of it are search and memory, three are conversations of several
turns, and none of these is run; what is not run counts as zero there, and would mislead.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from wieldy.core.json import JsonObject
from wieldy.evals.results import Trial

_SIMPLE: Final = ("simple_python", "simple_java", "simple_javascript")
_LIVE: Final = ("live_simple", "live_multiple", "live_parallel", "live_parallel_multiple")


def board_rows(trials: Iterable[Trial]) -> Iterator[JsonObject]:
    """A row for each configuration, of the first trial of each task."""
    counts: dict[str, dict[str, tuple[int, int]]] = {}
    for trial in trials:
        if trial.trial == 0 and "official" in trial.others:
            own = counts.setdefault(trial.configuration, {})
            passed, of = own.get(trial.category, (0, 0))
            own[trial.category] = passed + (trial.others["official"].kind == "pass"), of + 1
    return (board_row(configuration, own) for configuration, own in counts.items())


def board_row(configuration: str, official: Mapping[str, tuple[int, int]]) -> JsonObject:
    """The parts of which every category was run, limited as it may be; None for the others.

    Args:
        configuration: Whose score it is.
        official: Per category, how many passed by the official rules, and of how many.

    Source: `eval_runner_helper` of `bfcl_eval` 2026.3.23 (version 4 of the score).
    """
    rate = {name: passed / of for name, (passed, of) in official.items() if of}
    simple = _mean([rate.get(name) for name in _SIMPLE])
    live = [official.get(name, (0, 0)) for name in _LIVE]
    return {
        "type": "board",
        "configuration": configuration,
        "non_live": _mean([simple, *(rate.get(name) for name in ("multiple", "parallel", "parallel_multiple"))]),
        "live": sum(passed for passed, _ in live) / sum(of for _, of in live) if all(of for _, of in live) else None,
        "irrelevance": _mean([rate.get("irrelevance"), rate.get("live_irrelevance")]),
    }


def _mean(rates: list[float | None]) -> float | None:
    known = [rate for rate in rates if rate is not None]
    return sum(known) / len(known) if known and len(known) == len(rates) else None
