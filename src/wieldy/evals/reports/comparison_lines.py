"""Comparisons as lines of text: one table of all configurations, and the pairs. Fits 72 columns.

Deliberately not here: what they say (`comparisons`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

MOST_PAIRS: Final = 10
"""Told one by one; the surest differences first."""


def table_lines(configurations: Sequence[Mapping[str, Any]], comparisons: Sequence[Mapping[str, Any]]) -> list[str]:
    """Every configuration on a line, with its difference to the first of the pairs; nothing if there is only one."""
    if len(configurations) < 2:
        return []
    names = [row["configuration"] for row in configurations]
    letters = {name: _letter(place) for place, name in enumerate(names)}
    base = comparisons[0]["first"] if comparisons else names[0]
    to_base = {row["second"]: row for row in comparisons if row["first"] == base}
    lines = ["", "all configurations, 95 % intervals:", *(f"  {letters[name]:>2}  {name}" for name in names), ""]
    lines.append(f"        passed    rate  interval        less {letters[base]}  interval          p")
    for row in configurations:
        lines.append(_table_line(letters[row["configuration"]], row, to_base.get(row["configuration"])))
    if comparisons:
        pairs = comparisons[0]["pairs"]
        adjusted = f"adjusted for {pairs} pairs (Holm)" if pairs > 1 else "of one pair"
        lines.append(f"  less {letters[base]}: on the tasks that both have scored; p by permutation, {adjusted}")
    return lines


def _letter(place: int) -> str:
    return (chr(ord("A") + place // 26 - 1) if place >= 26 else "") + chr(ord("A") + place % 26)


def _table_line(letter: str, row: Mapping[str, Any], less: Mapping[str, Any] | None) -> str:
    passed = f"{row['passed']}/{row['scored']}"
    if row["rate"] is None:
        return f"  {letter:>2}  {passed:>8}    none"
    low, high = row["interval_95"]
    line = f"  {letter:>2}  {passed:>8}  {row['rate']:>6.1%}  {f'{low:.1%}..{high:.1%}':<14}"
    if less is None:
        return line.rstrip()
    low, high = less["interval_95"]
    return f"{line}  {less['difference']:>+6.1%}  {f'{low:+.1%}..{high:+.1%}':<16} {less['holm_p']:.2g}"


def pair_lines(comparisons: Sequence[Mapping[str, Any]]) -> list[str]:
    """The pairs one by one."""
    ordered = sorted(comparisons, key=lambda row: (row["holm_p"], row["permutation_p"]))
    lines = [line for row in ordered[:MOST_PAIRS] for line in ("", *_pair(row))]
    if len(ordered) > MOST_PAIRS:
        lines += ["", f"and {len(ordered) - MOST_PAIRS} more pairs; --json has all of them"]
    return lines


def _pair(row: Mapping[str, Any]) -> list[str]:
    low, high = row["interval_95"]
    adjusted = f", {row['holm_p']:.3g} adjusted for {row['pairs']} pairs (Holm)" if row["pairs"] > 1 else ""
    lines = [
        f"{row['second']} less {row['first']}: {row['difference']:+.1%} [{low:+.1%}, {high:+.1%}] on {row['tasks']} "
        f"tasks that both have scored ({row['tasks_of_one_only']} of one only), p = {row['permutation_p']:.3g} by "
        f"permutation{adjusted}"
    ]
    if "mcnemar" in row:
        test = row["mcnemar"]
        lines.append(
            f"  passed by {row['second']} alone {test['only_second']}, by {row['first']} alone {test['only_first']}; "
            f"McNemar p = {test['exact_p']:.3g} (mid-p {test['mid_p']:.3g})"
        )
    return lines
