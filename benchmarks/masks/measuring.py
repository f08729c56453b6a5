"""Measures subjects in this process and prints what it found as JSON; the standard library only.

    python -m masks.measuring TOKENIZER_JSON SUBJECT...        (in the folder `benchmarks`)

A subject is a module with `Subject(path)`: `compiled(tools)` gives a function that begins a text, and what that gives
has `mask()` and `accept(token)`; `tokenize(text)` cuts a call. Several subjects of one process take turns, so that
whatever else the machine does hits all of them. All times are CPU time of the process.
"""

from __future__ import annotations

import gc
import importlib
import json
import sys
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any, Protocol

from masks.samples import JsonObject, calls, tools

COUNTS = (1, 10, 30, 100)
COMPILES = 15
WALKS = 60


class Text(Protocol):
    """A text that is being written under the constraint."""

    def mask(self) -> object:
        """Computes which tokens may come next."""

    def accept(self, token: int) -> bool:
        """Takes the token."""


class Measured(Protocol):
    """A subject."""

    package: str

    def compiled(self, offered: list[JsonObject]) -> Callable[[], Text]:
        """The constraint over the tools, ready to begin texts."""
        ...

    def tokenize(self, call: str) -> list[int]:
        """A call as this subject's constraint has it."""
        ...


def main() -> None:
    path, *names = sys.argv[1:]
    subjects: dict[str, Any] = {name: importlib.import_module(f"masks.{name}").Subject(Path(path)) for name in names}
    found: dict[str, Any] = {
        name: {"version": version(subject.package), "compile_ms": {}, "known_ms": {}, "mask_us": {}}
        for name, subject in subjects.items()
    }
    for count in COUNTS:
        for what, is_new in (("compile_ms", True), ("known_ms", False)):
            for name, times in compile_times(subjects, count, is_new=is_new).items():
                found[name][what][count] = summary(times, 1e6)
        for name, times in mask_times(subjects, count).items():
            found[name]["mask_us"][count] = summary(times, 1e3)
    for name, subject in subjects.items():
        if hasattr(subject, "more"):
            found[name] |= subject.more()
    print(json.dumps(found))


def compile_times(subjects: dict[str, Measured], count: int, *, is_new: bool) -> dict[str, list[int]]:
    """From the tools to the first mask; the tools' schemas are new, or have been compiled under other names before."""
    times: dict[str, list[int]] = {name: [] for name in subjects}
    for run in range(COMPILES if count < 100 else COMPILES // 3):
        for name, subject in subjects.items():
            # Editions count on, so that every schema is new; those of edition 0 are known from the first run on.
            edition = count * 1000 + run if is_new else 0
            offered = tools(count, run=count * 1000 + run + 1 + 500 * is_new, edition=edition)
            gc.collect()
            start = time.process_time_ns()
            subject.compiled(offered)().mask()
            times[name].append(time.process_time_ns() - start)
    return times


def mask_times(subjects: dict[str, Measured], count: int) -> dict[str, list[int]]:
    """Every mask on the way through some calls."""
    offered = tools(count)
    wanted = calls(offered)
    times: dict[str, list[int]] = {name: [] for name in subjects}
    begins = {name: subject.compiled(offered) for name, subject in subjects.items()}
    for call in (wanted * WALKS)[:WALKS]:
        for name, subject in subjects.items():
            times[name] += _walked(begins[name](), subject.tokenize(call), name)
    return times


def _walked(text: Text, tokens: list[int], name: str) -> list[int]:
    times: list[int] = []
    for token in tokens:
        start = time.process_time_ns()
        text.mask()
        times.append(time.process_time_ns() - start)
        if not text.accept(token):
            raise SystemExit(f"{name} refused token {token} of a call that fits")
    return times


def summary(times: list[int], unit: float) -> JsonObject:
    """Median, 99th percentile, mean."""
    ordered = sorted(times)
    return {
        "median": ordered[len(ordered) // 2] / unit,
        "p99": ordered[len(ordered) * 99 // 100] / unit,
        "mean": sum(ordered) / len(ordered) / unit,
        "count": len(ordered),
    }


if __name__ == "__main__":
    main()
