"""The rows of a report as lines of text. Deliberately not here: what they say (`reporting`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

from wieldy.core.json import JsonObject
from wieldy.evals.reports.comparison_lines import pair_lines, table_lines
from wieldy.evals.reports.labels import judge_lines
from wieldy.evals.reports.metric_lines import metric_lines

MOST_REASONS: Final = 12
"""Shown of each configuration."""

MOST_CHARACTERS: Final = 400
"""Of a reason in words."""


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
            case "provider_errors":
                lines.append(_provider_errors(row))
            case _:
                lines += metric_lines(row)
    kinds = {kind: [row for row in rows if row["type"] == kind] for kind in ("configuration", "comparison")}
    lines += judge_lines(rows)
    lines += table_lines(kinds["configuration"], kinds["comparison"])
    return _without_most_reasons([*lines, *pair_lines(kinds["comparison"])])[1:]


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
    parts = {name: row[name] for name in ("non_live", "live", "irrelevance", "multi_turn") if row[name] is not None}
    told = ", ".join(f"{name} {rate:.1%}{_of_board(row, name)}" for name, rate in parts.items())
    told = told or "no part is complete"
    missing = ", ".join(f"{name} ({weight:.0%})" for name, weight in row["missing"].items())
    line = f"  by the leaderboard's own rules: {told}; no overall score without {missing}"
    spread = row.get("format_sensitivity")
    if not spread:
        return line
    of = "" if spread["tasks"] == spread["of"] else f" ({spread['tasks']:,} of {spread['of']:,} tasks)"
    return (
        f"{line}; rates in {spread['forms']} forms of the prompt lie {spread['max_delta']:.2f} points apart at most"
        f", standard deviation {spread['std']:.2f}{of}"
    )


def _of_board(row: Mapping[str, Any], part: str) -> str:
    found = row["tasks"][part]
    return "" if found["tasks"] == found["of"] else f" ({found['tasks']:,} of {found['of']:,} tasks)"


def _repeated(row: Mapping[str, Any]) -> str:
    at, hat = row["pass_at_k_interval_95"], row["pass_hat_k_interval_95"]
    note = row["unscored_trials_counted_as_not_passed"]
    told = f"; {note} unscored trials counted as not passed" if note else ""
    return (
        f"  k={row['k']}: pass@k {row['pass_at_k']:.1%} [{at[0]:.1%}, {at[1]:.1%}], pass^k {row['pass_hat_k']:.1%} "
        f"[{hat[0]:.1%}, {hat[1]:.1%}] over {row['tasks']} tasks{told}"
    )


def _provider_errors(row: Mapping[str, Any]) -> str:
    low, high = row["rate_interval_95"]
    causes = ", ".join(f"{cause} {count}" for cause, count in row["causes"].items())
    return (
        f"  provider errors: {row['errors']}/{row['of']} trials = {row['rate']:.1%} [{low:.1%}, {high:.1%}]: {causes}"
    )


def _reason(row: Mapping[str, Any]) -> str:
    layer = f", {row['layer']}" if row["layer"] else ""
    example = row["example"]
    entries = f", entries {', '.join(map(str, row['evidence']))}" if row["evidence"] else ""
    # Of an invalid task no entry says what is wrong with it.
    # Where there is no run to look at, the words are all that tells what to do.
    is_told = row["kind"] == "invalid-task" or not example["runs"]
    words = f"{example['reason']:.{MOST_CHARACTERS}}" if is_told else row["code"]
    return (
        f"{_REASON}{row['count']}/{row['of']} {row['kind']}{layer}: {words} "
        f"(as {example['task']}, run {' '.join(example['runs']) or 'none'}{entries})"
    )
