"""What has changed between two slices of stored results: by suite, kind of task and configuration, with a test each.

Tasks that both slices have, unchanged, are compared in pairs where they are at least half of the smaller slice's; else
the rates of both are; rates beside a difference are of the tasks that it is of. p-values are adjusted for how many were
looked at (Holm). Law: a regression is a difference below zero whose adjusted p-value is below 0.05; nothing else is
called one. Law: each group of either slice is compared, or told with why not; what could not be scored is told.
Deliberately not here: keeping results (`store`), plots (`plots`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeAlias, cast

from wieldy.core.errors import UsageError
from wieldy.core.json import JsonObject
from wieldy.evals.cases.results import Trial
from wieldy.evals.reports.comparisons import comparison_rows, task_rates
from wieldy.evals.reports.store import COLUMNS, TIMES, Stored, seconds_of
from wieldy.evals.statistics import clustered_wilson, holm, unpaired_difference
from wieldy.evals.verdicts.verdict import SCORED, tally

LEVEL: Final = 0.05

Group: TypeAlias = "tuple[str, str, str]"
"""Suite, kind of task, and configuration; the last is empty where configurations are what is compared."""


class Split(NamedTuple):
    """Two slices.

    Attributes:
        key: By what they were told apart.
        before, after: What each is called.
    """

    key: str
    before: str
    after: str
    first: Sequence[Stored]
    second: Sequence[Stored]


def split_by(text: str, stored: Sequence[Stored]) -> Split:
    """Two slices, as a person names them: `day=2026-11-15` before and from that day on, `version=0.1.0,0.2.0`.

    Raises:
        UsageError: They cannot be had so, or one of them is empty.
    """
    key, _, values = text.partition("=")
    if key not in (*COLUMNS, *TIMES):
        raise UsageError(
            f"Expected two slices by {', '.join((*COLUMNS, *TIMES))}, such as version=1,2, found {text!r}."
        )
    if key == "day" and "," not in values:
        at = seconds_of(values)
        first, second = ([each for each in stored if (each.time >= at) == is_after] for is_after in (False, True))
        if not first or not second:
            raise UsageError(f"Expected a day with results before it and from it on, found {values}.")
        return Split(key, f"before {values}", f"from {values} on", first, second)
    known = list(dict.fromkeys(each.slice(key) for each in stored))
    # A name may hold commas.
    pairs = [(one, other) for one in known for other in known if one != other and f"{one},{other}" == values]
    if not pairs:
        raise UsageError(f"Expected {key}=A,B with two of {', '.join(known) or 'none'}, found {text!r}.")
    return _split(key, *pairs[0], stored)


def latest_split(key: str, stored: Sequence[Stored]) -> Split:
    """The last two values, in the order in which they first appeared.

    Raises:
        UsageError: There are fewer than two.
    """
    values = list(dict.fromkeys(each.slice(key) for each in stored))
    if len(values) < 2:
        raise UsageError(f"Expected results of two values of {key} or more, found {', '.join(values) or 'none'}.")
    return _split(key, values[-2], values[-1], stored)


def _split(key: str, before: str, after: str, stored: Sequence[Stored]) -> Split:
    first, second = ([each for each in stored if each.slice(key) == value] for value in (before, after))
    return Split(key, before, after, first, second)


def change_rows(split: Split) -> list[JsonObject]:
    """A row `change` for each group that can be compared, and `not_compared` for each other one of either slice."""
    first, second = _groups(split.first, split.key), _groups(split.second, split.key)
    found, others = list[JsonObject](), list[JsonObject]()
    for group in sorted(first.keys() | second.keys()):
        suite, category, configuration = group
        sides = first.get(group, []), second.get(group, [])
        names: JsonObject = {"suite": suite, "category": category, "configuration": configuration or None}
        names = {"key": split.key, "before": split.before, "after": split.after, **names}
        row = _change(*sides)
        if row is None:
            others.append({"type": "not_compared", **names, **_why_not(*sides)})
        else:
            found.append({"type": "change", **names, **row})
    adjusted = holm([float(cast("Any", row["p"])) for row in found])
    return others + [
        {
            **row,
            "holm_p": p,
            "tests": len(found),
            "is_regression": p < LEVEL and float(cast("Any", row["difference"])) < 0,
        }
        for row, p in zip(found, adjusted, strict=True)
    ]


def slice_rows(stored: Iterable[Stored], key: str) -> Iterator[JsonObject]:
    """A row `slice` with the rate of each group for each value of the key, in the order of time."""
    by_group: dict[Group, dict[str, list[Stored]]] = defaultdict(lambda: defaultdict(list))
    for each in stored:
        group = each.suite, each.category, "" if key in ("configuration", "model") else each.configuration
        by_group[group][each.slice(key)].append(each)
    for (suite, category, configuration), slices in sorted(by_group.items()):
        for value, own in slices.items():
            row = _rate([each.trial for each in own])
            yield {
                "type": "slice",
                "suite": suite,
                "category": category,
                "configuration": configuration or None,
                "key": key,
                "value": value,
                "time": min(each.time for each in own),
                **row,
            }


def _groups(stored: Iterable[Stored], key: str) -> Mapping[Group, list[Trial]]:
    groups: dict[Group, list[Trial]] = defaultdict(list)
    for each in stored:
        configuration = "" if key in ("configuration", "model") else each.configuration
        groups[each.suite, each.category, configuration].append(each.trial)
    return groups


def _change(first: Sequence[Trial], second: Sequence[Trial]) -> JsonObject | None:
    rates = task_rates(first), task_rates(second)
    shared = sorted(rates[0].keys() & rates[1].keys())
    told: JsonObject = {"tasks_before": len(rates[0]), "tasks_after": len(rates[1]), **_unscored(first, second)}
    if 2 * len(shared) >= min(map(len, rates)) > 0:
        rows: list[Any] = comparison_rows({"before": first, "after": second})
        if not rows:
            return None
        (row,) = rows
        means = [sum(side[task] for task in shared) / len(shared) for side in rates]
        of_pairs = {"difference": row["difference"], "interval_95": row["interval_95"], "p": row["permutation_p"]}
        told |= {"rate_before": means[0], "rate_after": means[1], "paired": True, "tasks": len(shared)}
        return {**told, **of_pairs}
    sides = [[trial for trial in side if trial.verdict.kind in SCORED] for side in (first, second)]
    if any(len({trial.cluster for trial in side}) < 2 for side in sides):
        return None
    found = unpaired_difference(
        *([trial.verdict.kind == "pass" for trial in side] for side in sides),
        first_clusters=[trial.cluster for trial in sides[0]],
        second_clusters=[trial.cluster for trial in sides[1]],
    )
    unpaired: JsonObject = {"difference": found.mean, "interval_95": [found.low, found.high], "p": found.p}
    told |= {"rate_before": _rate(first)["rate"], "rate_after": _rate(second)["rate"]}
    return {**told, "paired": False, "tasks": sum(map(len, rates)), **unpaired}


def _unscored(first: Sequence[Trial], second: Sequence[Trial]) -> JsonObject:
    """How many trials could not be scored; `is_lost` where that is more than half of them now and was not before."""
    sides = [tally(trial.verdict for trial in side) for side in (first, second)]
    mostly = [side.unscored_count > side.scored for side in sides]
    return {
        "unscored_before": sides[0].unscored_count,
        "unscored_after": sides[1].unscored_count,
        "is_lost": mostly[1] and not mostly[0],
    }


def _why_not(first: Sequence[Trial], second: Sequence[Trial]) -> JsonObject:
    """What keeps two sides from being compared; `is_lost` where something was scored before and nothing is now."""
    scored = [sum(trial.verdict.kind in SCORED for trial in side) for side in (first, second)]
    if all(scored):
        why = "one cluster only is scored on a side or shared"
    else:
        side, when = (second, "after") if scored[0] else (first, "before")
        why = f"nothing is scored {when}" if side else f"there are no trials {when}"
    return {
        "why": why,
        "scored_before": scored[0],
        "scored_after": scored[1],
        "is_lost": scored[0] > 0 and scored[1] == 0,
    }


def _rate(trials: Sequence[Trial]) -> JsonObject:
    scored = [trial for trial in trials if trial.verdict.kind in SCORED]
    passed = [trial.verdict.kind == "pass" for trial in scored]
    clusters = [trial.cluster for trial in scored]
    return {
        "passed": sum(passed),
        "scored": len(scored),
        "total": len(trials),
        "unscored": dict(tally(trial.verdict for trial in trials).unscored),
        "rate": sum(passed) / len(passed) if passed else None,
        "interval_95": list(clustered_wilson(passed, clusters)) if len(set(clusters)) > 1 else None,
    }


def change_lines(rows: Sequence[JsonObject]) -> list[str]:
    """The rows for people, regressions first."""
    slices = [cast("dict[str, Any]", row) for row in rows if row["type"] == "slice"]
    changes = [cast("dict[str, Any]", row) for row in rows if row["type"] == "change"]
    lines = list[str]()
    for name in dict.fromkeys(_name(row) for row in slices):
        lines += ["", name, *(_slice_line(row) for row in slices if _name(row) == name)]
    others = [line for row in rows if row["type"] == "not_compared" for line in _not_compared_lines(row)]
    if others:
        others = ["", "not compared:", *others]
    if not changes:
        return lines + others
    lines += ["", f"{changes[0]['after']} less {changes[0]['before']}, p adjusted for {len(changes)} tests (Holm):"]
    ordered = sorted(changes, key=lambda row: (not row["is_regression"], row["holm_p"], row["difference"]))
    lines += [line for row in ordered for line in _change_lines(row)]
    count = sum(row["is_regression"] for row in changes)
    return [*lines, *others, "", f"{count} regression{'' if count == 1 else 's'}"]


def _not_compared_lines(row: Mapping[str, Any]) -> list[str]:
    mark = "LOST: " if row["is_lost"] else ""
    return [
        f"  {_name(row)}",
        f"    {mark}{row['why']} ({row['scored_before']} scored before, {row['scored_after']} after)",
    ]


def _name(row: Mapping[str, Any]) -> str:
    return ", ".join(part for part in (row["suite"], row["category"], row["configuration"]) if part)


def _slice_line(row: Mapping[str, Any]) -> str:
    if row["rate"] is None:
        return f"  {row['value']}: 0 scored of {row['total']}{_layers(row)}"
    interval = "" if row["interval_95"] is None else " [{:.1%}, {:.1%}]".format(*row["interval_95"])
    return f"  {row['value']}: {row['passed']}/{row['scored']} = {row['rate']:.1%}{interval}{_layers(row)}"


def _layers(row: Mapping[str, Any]) -> str:
    layers = ", ".join(f"{layer} {count}" for layer, count in row["unscored"].items())
    return f"; {sum(row['unscored'].values())} unscored ({layers})" if layers else ""


def _change_lines(row: Mapping[str, Any]) -> list[str]:
    low, high = row["interval_95"]
    mark = "REGRESSION" if row["is_regression"] else "better" if row["holm_p"] < LEVEL else "not told apart"
    before, after = row["tasks_before"], row["tasks_after"]
    counted = f"{row['tasks']} tasks in pairs" if row["paired"] else f"{before} and {after} tasks that are not the same"
    if row["paired"] and row["tasks"] < max(before, after):
        counted += f" (of {before} and {after})"
    lost = f"    LOST: {row['unscored_after']} trials could not be scored after, {row['unscored_before']} before"
    return [
        f"  {_name(row)}: {mark}",
        f"    {row['rate_before']:.1%} to {row['rate_after']:.1%}: {row['difference']:+.1%} [{low:+.1%}, {high:+.1%}], "
        f"{counted}, p = {row['holm_p']:.3g}",
        *([lost] if row["is_lost"] else []),
    ]
