"""Rows of metrics as lines of text. Deliberately not here: what they say (`metrics`, `sensitivity`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

_NAMES: Final = ("type", "configuration")
_LIMIT: Final = 6
"""Variants that are shown one by one."""


def metric_lines(row: Mapping[str, Any]) -> list[str]:
    """A row for people; nothing for rows of another kind."""
    of_kind = _LINES.get(row["type"])
    return [] if of_kind is None else of_kind(row)


def _shares(row: Mapping[str, Any]) -> list[str]:
    told = [f"{name.replace('_', ' ')} {_share(value)}" for name, value in row.items() if name not in _NAMES]
    return [f"  {row['type']}: {'; '.join(told)}"] if told else []


def _share(found: Mapping[str, Any]) -> str:
    if not found["count"]:
        return f"0/{found['of']}"
    low, high = found["interval_95"]
    return f"{found['count']}/{found['of']} = {found['rate']:.1%} [{low:.1%}, {high:.1%}]"


def _efficiency(row: Mapping[str, Any]) -> list[str]:
    per_pass = "" if row["tokens_per_pass"] is None else f", {row['tokens_per_pass']:,.0f} tokens a pass"
    cost = "" if not row["cost_usd_per_pass"] else f", ${row['cost_usd_per_pass']:,.4f} a pass"
    return [
        f"  efficiency: {row['median_duration_s']:.2f} s in the median, {row['p95_duration_s']:.2f} s in 95 of 100"
        f"{per_pass}{cost}"
    ]


def _prompts(row: Mapping[str, Any]) -> list[str]:
    rates = sorted(row["rates"].items(), key=lambda item: item[1])
    shown = ", ".join(f"{name} {rate:.1%}" for name, rate in rates[:_LIMIT])
    if len(rates) > _LIMIT:
        shown += f", and {len(rates) - _LIMIT} more (--json)"
    return [
        f"  prompts: {row['tasks_that_differ']} of {row['tasks']} tasks depend on the words; a task's rates lie "
        f"{row['mean_largest_difference']:.1%} apart on average (sd {row['mean_standard_deviation']:.1%}); {shown}"
    ]


def _sizes(row: Mapping[str, Any]) -> list[str]:
    passed = "0 scored" if row["passed"] is None else _share(row["passed"])
    tools = row["tools"] if isinstance(row["tools"], str) else f"{row['tools']:,}"
    return [
        f"  {tools} tools: {passed}; {row['mean_input_tokens']:,.0f} tokens in, "
        f"{row['mean_output_tokens']:,.0f} out, {row['mean_duration_s']:.2f} s"
    ]


def _cues(row: Mapping[str, Any]) -> list[str]:
    differs = row["behaviour_differs"]
    line = "  cue: no pairs" if differs is None else f"  cue: behaviour differs in {_share(differs)} pairs"
    if row["behaviour_differs_without_cue"] is not None:
        line += f", and without the cue in {_share(row['behaviour_differs_without_cue'])}"
    if "exact_p" in row:
        line += (
            f"; passed under one cue alone {row['only_first_passed']}, under the other, later in the alphabet, alone "
            f"{row['only_second_passed']}, "
            f"exact p = {row['exact_p']:.3g}"
        )
    left = row["tasks_without_counterpart"]
    return [line, *([f"    {left} tasks have no single counterpart: name one by an axis of both"] if left else [])]


def _models(row: Mapping[str, Any]) -> list[str]:
    return [
        "",
        f"models: rates of {row['models']} models on {row['tasks']} shared tasks have a standard deviation of "
        f"{row['standard_deviation']:.1%} ({row['share_of_variance']:.0%} of all variance); the largest difference is "
        f"{row['largest_difference']:.1%}",
    ]


_LINES: Final[Mapping[str, Callable[[Mapping[str, Any]], list[str]]]] = {
    "selection": _shares,
    "efficiency": _efficiency,
    "reliability": _shares,
    "hallucination": _shares,
    "autonomy": _shares,
    "safety": _shares,
    "prompt_sensitivity": _prompts,
    "scalability": _sizes,
    "trigger": _cues,
    "model_sensitivity": _models,
}
