"""How far judges agree with people: labels of trials, kappa and alpha, and rates corrected by the labels.

A file of labels has one JSON object a line: `task`, `label` (`pass` or `fail`), and `configuration` and `trial` where
the results have more than one of them. Law: a vote that is neither pass nor fail agrees with nobody and is counted.
Deliberately not here: asking judges (`judges`).
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias, cast

from wieldy.core.errors import UsageError
from wieldy.core.json import JsonObject
from wieldy.evals.cases.results import Trial
from wieldy.evals.statistics import cohen_kappa, corrected_rate, krippendorff_alpha
from wieldy.evals.statistics.prediction import FEWEST_LABELS
from wieldy.evals.statistics.proportions import rate_interval
from wieldy.evals.verdicts.verdict import SCORED, Verdict

JUDGE: Final = "judge "
"""What the names of judges' votes begin with in `Trial.others`."""
_LABELS: Final = {"pass": True, "fail": False}
_KEYS: Final = frozenset({"task", "configuration", "trial", "label"})

Labels: TypeAlias = "dict[tuple[str, str, int], bool]"
"""Whether a person lets it pass, by task, configuration and trial."""


class Voted(NamedTuple):
    """A trial that one judge was asked about."""

    trial: Trial
    vote: bool | None


def read_labels(path: Path, trials: Sequence[Trial]) -> Labels:
    """The labels of these trials.

    Raises:
        UsageError: The file cannot be read, or a line is no label of exactly one of them; the error names the line.
    """
    try:
        lines = path.read_text(encoding="utf-8-sig").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: the labels cannot be read: {error}") from error
    labels: Labels = {}
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            key, label = _label(json.loads(line), trials)
        except (ValueError, RecursionError, UsageError) as error:
            raise UsageError(f"{path}:{number}: expected a label: {error}") from error
        if labels.setdefault(key, label) != label:
            raise UsageError(f"{path}:{number}: expected one label for each trial, found another one above.")
    return labels


def _label(row: Any, trials: Sequence[Trial]) -> tuple[tuple[str, str, int], bool]:
    if not isinstance(row, dict):
        raise UsageError("expected an object with `task` and `label`.")
    found = cast("dict[str, Any]", row)
    if unknown := found.keys() - _KEYS:
        raise UsageError(f"{min(unknown)!r} is no part of a label; there are {', '.join(sorted(_KEYS))}.")
    if not isinstance(found.get("label"), str) or found["label"] not in _LABELS:
        raise UsageError(f"expected `label` to be pass or fail, found {found.get('label')!r}.")
    named = {
        _key(trial) for trial in trials if all(getattr(trial, name) == found[name] for name in found if name != "label")
    }
    if len(named) != 1:
        what = "no trial" if not named else f"{len(named)} trials; say which by `configuration` and `trial`"
        raise UsageError(f"expected the label of one trial, found that of {what}.")
    return named.pop(), _LABELS[found["label"]]


def _key(trial: Trial) -> tuple[str, str, int]:
    return trial.task, trial.configuration, trial.trial


def judge_rows(trials: Sequence[Trial], labels: Mapping[tuple[str, str, int], bool]) -> list[JsonObject]:
    """The rows: `judge` for each, `panel` if there are several, `corrected` for configurations with enough labels."""
    votes = {name: _votes(trials, name) for name in sorted({name for trial in trials for name in _judges(trial)})}
    rows: list[JsonObject] = [_judge_row(name, voted, labels) for name, voted in votes.items()]
    if len(votes) > 1:
        rows.append(_panel_row(votes))
    return [*rows, *_corrected_rows(trials, labels)]


def _judges(trial: Trial) -> Iterable[str]:
    return (name for name in trial.others if name.startswith(JUDGE))


def _votes(trials: Iterable[Trial], name: str) -> list[Voted]:
    return [Voted(trial, _vote(trial.others[name])) for trial in trials if name in trial.others]


def _vote(verdict: Verdict) -> bool | None:
    return {"pass": True, "fail": False}.get(verdict.kind)


def _judge_row(name: str, voted: Sequence[Voted], labels: Mapping[tuple[str, str, int], bool]) -> JsonObject:
    both = [(each.vote, labels[_key(each.trial)]) for each in voted if _key(each.trial) in labels]
    sure = [(vote, label) for vote, label in both if vote is not None]
    row: JsonObject = {
        "type": "judge",
        "judge": name.removeprefix(JUDGE),
        "asked": len(voted),
        "passed": sum(each.vote is True for each in voted),
        "failed": sum(each.vote is False for each in voted),
        "unscored": sum(each.vote is None for each in voted),
        "unscored_rate": sum(each.vote is None for each in voted) / len(voted),
        "labelled": len(both),
        "labelled_without_vote": len(both) - len(sure),
    }
    if sure:
        ours, theirs = zip(*sure, strict=True)
        row |= {
            "agreed": sum(vote == label for vote, label in sure),
            "kappa": cohen_kappa(ours, theirs),
            "passed_wrongly": sum(vote and not label for vote, label in sure),
            "failed_wrongly": sum(label and not vote for vote, label in sure),
        }
    return row


def _panel_row(votes: Mapping[str, Sequence[Voted]]) -> JsonObject:
    by_trial: dict[tuple[str, str, int], list[bool | None]] = defaultdict(list)
    for voted in votes.values():
        for each in voted:
            by_trial[_key(each.trial)].append(each.vote)
    comparable = [each for each in by_trial.values() if sum(vote is not None for vote in each) > 1]
    alpha = krippendorff_alpha(comparable) if comparable else None
    return {"type": "panel", "judges": len(votes), "trials": len(comparable), "alpha": alpha}


def _corrected_rows(trials: Iterable[Trial], labels: Mapping[tuple[str, str, int], bool]) -> Iterator[JsonObject]:
    """Of each configuration that models judged and people labelled often enough; what rules decided counts as well."""
    by_configuration: dict[str, list[Trial]] = defaultdict(list)
    for trial in trials:
        if trial.verdict.kind in SCORED:
            by_configuration[trial.configuration].append(trial)
    for name, own in by_configuration.items():
        if not any(True for trial in own for _ in _judges(trial)):
            continue
        known = [trial for trial in own if _key(trial) in labels]
        rest = [trial for trial in own if _key(trial) not in labels]
        if len(known) < FEWEST_LABELS or len({trial.cluster for trial in known}) < 2:
            continue
        rate, interval = _corrected(known, rest, labels)
        yield {
            "type": "corrected",
            "configuration": name,
            "rate": rate,
            "interval_95": list(interval),
            "labels": len(known),
            "judged_only": len(rest),
        }


def _corrected(
    known: Sequence[Trial], rest: Sequence[Trial], labels: Mapping[tuple[str, str, int], bool]
) -> tuple[float, tuple[float, float]]:
    """The rate and its interval; that of the labels alone where no two clusters are left that only judges have seen."""
    told, clusters = [labels[_key(trial)] for trial in known], [trial.cluster for trial in known]
    if len({trial.cluster for trial in rest}) < 2:
        return sum(told) / len(told), rate_interval(told, clusters)
    estimate = corrected_rate(
        [trial.verdict.kind == "pass" for trial in rest],
        list(zip((trial.verdict.kind == "pass" for trial in known), told, strict=True)),
        judged_clusters=[trial.cluster for trial in rest],
        labelled_clusters=clusters,
    )
    return _as_rate(estimate.mean), (_as_rate(estimate.low), _as_rate(estimate.high))


def _as_rate(value: float) -> float:
    """The nearest that a rate can be: a correction may lead beyond."""
    return min(1.0, max(0.0, value))


def judge_lines(rows: Sequence[JsonObject]) -> list[str]:
    """The rows for people."""
    return [line for row in cast("Sequence[dict[str, Any]]", rows) for line in _lines(row)]


def _lines(row: Mapping[str, Any]) -> Iterator[str]:
    match row["type"]:
        case "judge":
            yield ""
            yield (
                f"judge {row['judge']}: {row['passed']} pass, {row['failed']} fail, {row['unscored']} of "
                f"{row['asked']} without a vote ({row['unscored_rate']:.1%})"
            )
            if "kappa" in row:
                yield (
                    f"  with labels: {row['agreed']} of {row['labelled'] - row['labelled_without_vote']} alike, kappa "
                    f"{row['kappa']:.2f}; {row['passed_wrongly']} passed and {row['failed_wrongly']} failed wrongly"
                )
        case "panel":
            alpha = "none" if row["alpha"] is None else f"{row['alpha']:.2f}"
            yield f"panel of {row['judges']}: Krippendorff's alpha {alpha} on {row['trials']} trials"
        case "corrected":
            low, high = row["interval_95"]
            yield (
                f"{row['configuration']}, corrected by {row['labels']} labels: {row['rate']:.1%} [{low:.1%}, "
                f"{high:.1%}] ({row['judged_only']} trials without a label)"
            )
        case _:
            pass
