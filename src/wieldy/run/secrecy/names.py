"""The secrets of a run and of the runs around it, under names that do not clash."""

from __future__ import annotations

from collections.abc import Mapping


def together(own: Mapping[str, str], others: Mapping[str, str]) -> Mapping[str, str]:
    """Both; another run's secret whose name is taken for another value gets a number."""
    if not others:
        return own
    both = dict(own)
    for name, value in others.items():
        both[_free(name, value, both)] = value
    return both


def _free(name: str, value: str, taken: Mapping[str, str]) -> str:
    candidate, number = name, 1
    while taken.get(candidate, value) != value:
        number += 1
        candidate = f"{name} {number}"
    return candidate
