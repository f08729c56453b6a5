"""Measures one subject in this process and prints what it found as JSON.

    python -m runtimes.measuring SUBJECT [--postgres URL]        (in the folder `benchmarks`)

Needs the standard library only, since every subject has an environment of its own. A subject is a module with
`NAME`, `PACKAGE`, `IMPORTS` and `open_stores(folder, postgres)`, and with `prepared(length)`, which gives a function
that carries out a `Script` after a history of so many messages. The script stands for the model: it says what to call,
costs next to nothing, and notes when it is asked. What lies between two questions is a turn: the model's reply taken
in, its calls checked and run, their results told.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib
import json
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple, Protocol

HISTORIES = (50, 400, 10_000)
TURNS = 20
PARALLEL = 100
WAITS_S = (1.2, 0.9, 1.1)
KEPT_TURNS = 200
PAGE = "A line of a page that somebody asked for, long enough. " * 18  # about 1 kB
APPENDS = 2_000
IMPORT_RUNS = 9
LEAST_RUNS, MOST_RUNS, MOST_SECONDS = 3, 25, 4.0


class Asked(NamedTuple):
    """A call that the model asks for; the arguments are JSON text, as on the wire."""

    id: str
    name: str
    arguments: str


class Moment(NamedTuple):
    """When the model was asked, by both clocks, in seconds."""

    cpu: float
    wall: float


@dataclass(slots=True)
class Script:
    """What the model says: `turns` times some calls, then a text.

    Attributes:
        tool: `add` (returns a sum), `add_in_thread` (the same, synchronous), `page` (returns 1 kB), `wait` (sleeps).
        moments: When it was asked.
    """

    turns: int
    calls: int = 1
    tool: str = "add"
    moments: list[Moment] = field(default_factory=list)

    def ask(self) -> list[Asked]:
        """The calls of this turn; none when the answer is due."""
        turn = len(self.moments)
        self.moments.append(Moment(time.process_time(), time.perf_counter()))
        if turn >= self.turns:
            return []
        return [Asked(f"t{turn}n{index}", self.tool, self._arguments(turn, index)) for index in range(self.calls)]

    def _arguments(self, turn: int, index: int) -> str:
        if self.tool == "wait":
            return f'{{"seconds": {WAITS_S[index]}}}'
        return f'{{"a": {turn}, "b": {index}}}'

    def per_turn(self) -> Moment:
        """What a turn took."""
        first, last = self.moments[0], self.moments[self.turns]
        return Moment((last.cpu - first.cpu) / self.turns, (last.wall - first.wall) / self.turns)


class Store(Protocol):
    """Where a subject keeps its runs: its own persistence, under its own name."""

    name: str
    path: Path | None  # of the file that grows, if there is one

    def append(self, number: int) -> object:
        """One record of about 200 bytes; None where it cannot be written alone."""
        ...

    def close(self) -> None:
        """All is in the file."""
        ...


Run = Callable[[Script, Store | None], Awaitable[None]]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("subject")
    parser.add_argument("--postgres")
    options = parser.parse_args()
    subject = importlib.import_module(f"runtimes.{options.subject}")
    print(json.dumps(asyncio.run(measured(subject, options.postgres))))


async def measured(subject: Any, postgres: str | None) -> dict[str, Any]:
    runs: dict[int, Run] = {length: subject.prepared(length) for length in HISTORIES}
    small = runs[HISTORIES[0]]
    found: dict[str, Any] = {
        "name": subject.NAME,
        "version": version(subject.PACKAGE) if subject.PACKAGE else "",
        "python": platform.python_version(),
        "turn_us": {length: await turn_us(run, Script(TURNS)) for length, run in runs.items()},
        "turn_in_thread_us": await turn_us(small, Script(TURNS, tool="add_in_thread")),
        "parallel_ms": await turn_us(small, Script(1, calls=PARALLEL)) / 1000,
        "parallel_in_threads_ms": await turn_us(small, Script(1, calls=PARALLEL, tool="add_in_thread")) / 1000,
        "run_without_calls_ms": {length: await run_ms(run) for length, run in runs.items()},
        "waiting": await waiting(small),
        "stores": await stores(subject, small, postgres),
    }
    return found | {"import_s": {statement: import_s(statement) for statement in subject.IMPORTS}}


async def turn_us(run: Run, script: Script) -> float:
    """CPU time per turn: the best of several runs, since other programs can only add to it."""
    best = float("inf")
    async for carried_out in repeated(run, script):
        best = min(best, carried_out.per_turn().cpu)
    return best * 1e6


async def repeated(run: Run, script: Script) -> Any:
    """The script carried out again and again, after once for warming up; fewer times where it is slow."""
    await run(fresh(script), None)
    started = time.perf_counter()
    for done in range(MOST_RUNS):
        if done >= LEAST_RUNS and time.perf_counter() - started > MOST_SECONDS:
            return
        again = fresh(script)
        await run(again, None)
        assert len(again.moments) == again.turns + 1, f"asked {len(again.moments)} times"
        yield again


def fresh(script: Script) -> Script:
    return Script(script.turns, script.calls, script.tool)


async def run_ms(run: Run) -> float:
    """CPU time of a run in which the model answers at once: what a run costs besides its turns."""
    taken: list[float] = []
    for _ in range(LEAST_RUNS + 2):
        started = time.process_time()
        await run(Script(0), None)
        taken.append(time.process_time() - started)
    return min(taken) * 1e3


async def waiting(run: Run) -> dict[str, float]:
    """Three tools that wait, called at once: the time from reply to next question, beside the longest wait."""
    taken: list[float] = []
    for _ in range(3):
        script = Script(1, calls=len(WAITS_S), tool="wait")
        await run(script, None)
        taken.append(script.per_turn().wall)
    wall_s = statistics.median(taken)
    return {"wall_s": wall_s, "ratio": wall_s / max(WAITS_S)}


async def stores(subject: Any, run: Run, postgres: str | None) -> dict[str, dict[str, float]]:
    """What each way of keeping a run costs: CPU, time and disk per turn with 1 kB, and per record written alone."""
    found: dict[str, dict[str, float]] = {}
    with tempfile.TemporaryDirectory(prefix="wieldy-benchmark-") as folder:
        opened: Iterator[AbstractContextManager[Store]] = subject.open_stores(Path(folder), postgres)
        for opening in opened:
            with opening as store:
                found[store.name] = await _kept(run, store)
    return found


async def _kept(run: Run, store: Store) -> dict[str, float]:
    sizes = [_size(store)]
    cost = Moment(float("inf"), float("inf"))
    await run(Script(TURNS, tool="page"), store)
    for _ in range(3):
        script = Script(KEPT_TURNS, tool="page")
        await run(script, store)
        cost = min(cost, script.per_turn())
        sizes.append(_size(store))
    found = {"turn_cpu_us": cost.cpu * 1e6, "turn_wall_us": cost.wall * 1e6}
    if store.path is not None:
        found["disk_per_turn_bytes"] = (sizes[-1] - sizes[-2]) / KEPT_TURNS
        found |= await _growth(run, store)
    if store.append(0) is not None:
        found |= _append_us(store)
    return found


async def _growth(run: Run, store: Store) -> dict[str, float]:
    """Disk per turn of a run that is four times as long."""
    before = _size(store)
    await run(Script(4 * KEPT_TURNS, tool="page"), store)
    return {"disk_per_turn_of_long_run_bytes": (_size(store) - before) / (4 * KEPT_TURNS)}


def _append_us(store: Store) -> dict[str, float]:
    best = Moment(float("inf"), float("inf"))
    for turn in range(3):
        cpu, wall = time.process_time(), time.perf_counter()
        for number in range(APPENDS):
            store.append(1 + turn * APPENDS + number)
        best = min(best, Moment(time.process_time() - cpu, time.perf_counter() - wall))
    return {"append_cpu_us": best.cpu / APPENDS * 1e6, "append_wall_us": best.wall / APPENDS * 1e6}


def _size(store: Store) -> int:
    if store.path is None:
        return 0
    # What is still in a log is moved into the file first, so that it is not counted twice or not at all.
    subprocess.run([sys.executable, "-c", _CHECKPOINT, str(store.path)], check=True, stdin=subprocess.DEVNULL)
    return store.path.stat().st_size


_CHECKPOINT = """
import sqlite3, sys
sqlite3.connect(sys.argv[1]).execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
"""

_MEASURE_IMPORT = """
import resource
{statement}
usage = resource.getrusage(resource.RUSAGE_SELF)
print(usage.ru_utime + usage.ru_stime)
"""


def import_s(statement: str) -> float:
    """CPU time of a process that does only this, the interpreter included: the median of several."""
    taken: list[float] = []
    for _ in range(IMPORT_RUNS + 1):
        command = [sys.executable, "-c", _MEASURE_IMPORT.format(statement=statement)]
        taken.append(float(subprocess.run(command, capture_output=True, text=True, check=True).stdout))
    return statistics.median(taken[1:])


if __name__ == "__main__":
    main()
