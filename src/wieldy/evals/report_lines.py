"""The rows of a report as lines of text. Deliberately not here: what they say (`reporting`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

from wieldy.core.json import JsonObject

MOST_REASONS: Final = 12
"""Shown of each configuration."""


def report_lines(rows: Sequence[JsonObject]) -> list[str]:
    """The rows for people."""
    lines = list[str]()
    for row in cast("Sequence[dict[str, Any]]", rows):
        match row["type"]:
            case "configuration":
                lines += ["", row["configuration"], f"  all: {_counted(row)}", *_others(row), f"  {_spent(row)}"]
            case "category":
                lines += [f"  {row['category']}: {_counted(row)}", *_others(row, indent="    ")]
            case "board":
                lines.append(_board(row))
            case "repeats":
                lines.append(_repeated(row))
            case "reason":
                lines.append(_reason(row))
            case _:
                lines += ["", *_compared(row)]
    return _without_most_reasons(lines)[1:]


_REASON: Final = "  why: "


def _without_most_reasons(lines: list[str]) -> list[str]:
    kept, in_row = list[str](), 0
    for line in lines:
        in_row = in_row + 1 if line.startswith(_REASON) else 0
        if in_row <= MOST_REASONS:
            kept.append(line)
        elif in_row == MOST_REASONS + 1:
            kept.append(f"{_REASON}and more; --json has all of them")
    return kept


def _counted(row: Mapping[str, Any]) -> str:
    rate = row["rate"]
    if rate is None:
        parts = ["0 scored"]
    else:
        low, high = row["interval_95"]
        parts = [f"{row['passed']}/{row['scored']} = {rate:.1%} [{low:.1%}, {high:.1%}]"]
    if row["abstained"]:
        parts.append(f"{row['abstained']} of these abstained")
    if row["unscored"]:
        layers = ", ".join(f"{layer} {count}" for layer, count in row["unscored"].items())
        parts.append(f"{sum(row['unscored'].values())} unscored ({layers})")
    if row["invalid_tasks"]:
        parts.append(f"{row['invalid_tasks']} of invalid tasks")
    return "; ".join([*parts, f"{row['total']} trials"])


def _others(row: Mapping[str, Any], indent: str = "  ") -> list[str]:
    counts = {name: cast("dict[str, Any]", value) for name, value in row.items() if isinstance(value, dict)}
    return [f"{indent}{name}: {_counted(value)}" for name, value in counts.items() if "interval_95" in value]


def _spent(row: Mapping[str, Any]) -> str:
    cost = "" if not row["cost_usd"] else f", ${row['cost_usd']:,.4f} in all"
    return (
        f"a trial took {row['mean_duration_s']:.2f} s, {row['mean_requests']:.1f} requests, {row['mean_calls']:.1f} "
        f"calls, {row['mean_input_tokens']:,.0f} tokens in and {row['mean_output_tokens']:,.0f} out{cost}"
    )


def _board(row: Mapping[str, Any]) -> str:
    parts = {"non-live": row["non_live"], "live": row["live"], "irrelevance": row["irrelevance"]}
    told = ", ".join(
        f"{name} {'not complete' if rate is None else format(rate, '.1%')}" for name, rate in parts.items()
    )
    return f"  by the leaderboard's own rules and weights: {told}"


def _repeated(row: Mapping[str, Any]) -> str:
    at, hat = row["pass_at_k_interval_95"], row["pass_hat_k_interval_95"]
    note = row["unscored_trials_counted_as_not_passed"]
    told = f"; {note} unscored trials counted as not passed" if note else ""
    return (
        f"  k={row['k']}: pass@k {row['pass_at_k']:.1%} [{at[0]:.1%}, {at[1]:.1%}], pass^k {row['pass_hat_k']:.1%} "
        f"[{hat[0]:.1%}, {hat[1]:.1%}] over {row['tasks']} tasks{told}"
    )


def _reason(row: Mapping[str, Any]) -> str:
    layer = f", {row['layer']}" if row["layer"] else ""
    example = row["example"]
    entries = f", entries {', '.join(map(str, row['evidence']))}" if row["evidence"] else ""
    return (
        f"{_REASON}{row['count']}/{row['of']} {row['kind']}{layer}: {row['code']} "
        f"(as {example['task']}, run {example['run_id']}{entries})"
    )


def _compared(row: Mapping[str, Any]) -> list[str]:
    low, high = row["interval_95"]
    lines = [
        f"{row['second']} less {row['first']}: {row['difference']:+.1%} [{low:+.1%}, {high:+.1%}] on {row['tasks']} "
        f"tasks that both have scored ({row['tasks_of_one_only']} of one only), p = {row['permutation_p']:.3g} by "
        "permutation"
    ]
    if "mcnemar" in row:
        test = row["mcnemar"]
        lines.append(
            f"  only the first passed {test['only_first']}, only the second {test['only_second']}; McNemar p = "
            f"{test['exact_p']:.3g} (mid-p {test['mid_p']:.3g})"
        )
    return lines
