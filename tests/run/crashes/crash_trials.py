"""Trials: a run whose processes die one after the other, until one of them brings it to its end.

Everything that can be seen of it is kept: what each process said, the journal after each death, and what the world
outside was asked for. Deliberately not here: judging it (`crash_checks`).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from queue import SimpleQueue
from random import Random
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import Any, Final, Literal, Self

from crash_plans import Plan
from effect_client import RunningEffectServer

from wieldy.core.errors import JournalError
from wieldy.core.ports import Entry
from wieldy.run.journal import open_journal

MOST_LIVES: Final = 60
"""A run that has not ended after so many processes goes round in circles."""

Snapshot = dict[str, Sequence[Entry]]
"""The entries of each run, the oldest run first."""

_BOUNDARIES: Final[tuple[Moment, ...]] = ("before", "after", "effect", "commit")
_numbers = count()


Moment = Literal["before", "after", "effect", "commit", "time", "full", "read-only"]


@dataclass(frozen=True, kw_only=True)
class Death:
    """How a process is to die: by its own hand at a boundary, or by its parent's after some time.

    Two more do not kill it, but make its journal one that cannot be written: `full` from so many bytes on, and
    `read-only` from so many appends on.
    """

    moment: Moment = "time"
    number: int = 0
    after_s: float | None = None

    def __str__(self) -> str:
        if self.moment == "time":
            return f"after {(self.after_s or 0) * 1000:.1f} ms"
        return f"{self.moment} {self.number}"

    @property
    def job(self) -> dict[str, Any]:
        """As the worker reads it."""
        match self.moment:
            case "time":
                return {"kill_after_s": self.after_s}
            case "full":
                return {"file_limit_bytes": self.number}
            case _:
                return {"fate": {"moment": self.moment, "number": self.number}}

    @property
    def is_of_journal(self) -> bool:
        """Whether it is the journal that fails."""
        return self.moment in ("full", "read-only")


Deaths = Sequence[Death | None]
"""For one process after the other: how it is to die; None where it is to live."""


@dataclass(kw_only=True)
class Life:
    """One process, from its start to its end.

    Attributes:
        told: What it said at its end; None if it was killed.
        journal: As it was left.
    """

    death: Death | None
    pid: int
    is_killed: bool
    is_hung: bool
    told: dict[str, Any] | None
    journal: Snapshot
    duration_s: float

    @property
    def lost_its_journal(self) -> bool:
        """Whether it ended because its journal could not be written, as it was meant to."""
        told = self.told or {}
        return self.death is not None and self.death.is_of_journal and told.get("error") == "JournalError"


@dataclass(kw_only=True)
class Trial:
    """What was seen of one run.

    Attributes:
        log: What the world outside was asked for, in order, and what came of it.
        values: What the idempotent operations have set.
    """

    plan: Plan
    lives: list[Life] = field(default_factory=list)
    log: list[dict[str, Any]] = field(default_factory=list)
    values: dict[str, Any] = field(default_factory=dict)

    @property
    def kills(self) -> int:
        """How many of its processes were killed."""
        return sum(life.is_killed for life in self.lives)

    @property
    def journal(self) -> Snapshot:
        """As it is at the end."""
        return self.lives[-1].journal


class Workers:
    """The process from which workers are forked; ended with the `with` block."""

    def __init__(self, *, within: Sequence[str] = ()) -> None:
        """Nothing is started yet.

        Args:
            within: A command that becomes the command that follows it, after it has prepared something.
        """
        self._within = within

    def __enter__(self) -> Self:
        program = Path(__file__).with_name("crash_worker.py")
        self._process = subprocess.Popen(
            [*self._within, sys.executable, "-W", "error", str(program)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        return self

    @property
    def pid(self) -> int:
        """Its number."""
        return self._process.pid

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.communicate(timeout=30)

    def live(self, *jobs: dict[str, Any]) -> list[dict[str, Any]]:
        """How the process of each job ended."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(jobs) + "\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())


class Laboratory:
    """Where trials take place; closed with its `with` block.

    Attributes:
        folder: For journals, each of which is gone after its trial.
        outside: The world outside, one for all trials.
    """

    def __init__(self, *, lanes: int = 2, delay_s: float = 0.001, postgres_url: str | None = None) -> None:
        """Nothing is started yet.

        Args:
            lanes: How many trials at once.
            delay_s: How long the world outside waits between an effect and its answer.
            postgres_url: Of a database in which each trial gets a schema of its own; without it journals are files.
        """
        self._lanes, self._delay_s, self._postgres_url = lanes, delay_s, postgres_url
        self._free: SimpleQueue[Workers] = SimpleQueue()
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        # In memory where there is such a folder: what survives a process is there as well, and no disk is waited for.
        memory = Path("/dev/shm")
        parent = memory if memory.is_dir() and os.access(memory, os.W_OK) else None
        self.folder = Path(self._stack.enter_context(TemporaryDirectory(prefix="wieldy-crashes-", dir=parent)))
        self.outside = self._stack.enter_context(RunningEffectServer())
        for _ in range(self._lanes):
            self._free.put(self._stack.enter_context(Workers()))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    def trials(self, plan: Plan, deaths: Iterable[Deaths], **options: Any) -> list[Trial]:
        """The trials for all these deaths, in their order; some take place at once."""
        with ThreadPoolExecutor(self._lanes) as pool:
            return list(pool.map(lambda each: self.trial(plan, each, **options), deaths))

    def live(self, *jobs: dict[str, Any]) -> list[dict[str, Any]]:
        """How the process of each job ended; all of them began at once."""
        workers = self._free.get()
        try:
            return workers.live(*jobs)
        finally:
            self._free.put(workers)

    def trial(self, plan: Plan, deaths: Deaths = (), **options: Any) -> Trial:
        """The run of the plan, one process after the other dying as it is told; then as many as it takes."""
        trial, name = Trial(plan=plan), f"{next(_numbers)}"
        self.outside.ask(name, "delay", seconds=self._delay_s)
        with self._journal(name) as journal:
            job = {"journal": journal, "world": name, "plan": plan.name, "port": self.outside.port, **options}
            for death in _and_then_none(deaths):
                trial.lives.append(self._life(job, death))
                if self._is_over(trial):
                    break
        report = self.outside.ask(name, "report")
        trial.log, trial.values = report["log"], report["values"]
        self.outside.ask(name, "forget")
        return trial

    @contextmanager
    def _journal(self, name: str) -> Iterator[str]:
        """The name of a journal that is not there yet, and will not be afterwards."""
        if self._postgres_url is None:
            yield str(self.folder / f"{name}.db")
            for file in self.folder.glob(f"{name}.db*"):
                file.unlink()
            return
        import psycopg

        schema = f"crash_{name}"
        with psycopg.connect(self._postgres_url, autocommit=True) as connection:
            connection.execute(f"CREATE SCHEMA {schema}")
            yield f"{self._postgres_url}?options=-csearch_path%3D{schema}"
            connection.execute("SET client_min_messages = warning")
            connection.execute(f"DROP SCHEMA {schema} CASCADE")

    def _life(self, job: dict[str, Any], death: Death | None) -> Life:
        started = time.monotonic()
        (end,) = self.live({**job, **(death.job if death else {})})
        duration_s = time.monotonic() - started
        self.outside.ask(job["world"], "quiet")
        return Life(
            death=death,
            pid=end["pid"],
            is_killed=end["killed"],
            is_hung=end["hung"],
            told=end["told"],
            journal=snapshot(job["journal"]),
            duration_s=duration_s,
        )

    def _is_over(self, trial: Trial) -> bool:
        last = trial.lives[-1]
        if last.is_hung or len(trial.lives) >= MOST_LIVES:
            return True
        if last.told is None or last.lost_its_journal:
            return False
        return last.told.get("stop_reason") != "waiting_for_approval"


def snapshot(name: Path | str) -> Snapshot:
    """What a journal holds; nothing if its process died before there was one."""
    try:
        with open_journal(name, read_only=True) as journal:
            return {run_id: journal.read(run_id) for run_id in reversed(list(journal.run_ids()))}
    except JournalError as error:
        if "There is no journal" in str(error) or "is empty" in str(error):
            return {}
        raise


def boundaries(reference: Trial) -> Iterator[Deaths]:
    """One death at every boundary of every process of a trial in which nobody was killed.

    A boundary is: before an append, after it, between an effect and its outcome, and within a transaction.
    """
    for index, life in enumerate(reference.lives):
        counted: dict[str, int] = (life.told or {}).get("counted", {})
        for moment in _BOUNDARIES:
            for number in range(1, counted[moment] + 1):
                yield (*[None] * index, Death(moment=moment, number=number))


def random_deaths(reference: Trial, random: Random) -> Deaths:
    """Up to four deaths in a row, at any boundary or at any time."""
    longest_s = max(life.duration_s for life in reference.lives)
    counted: dict[str, int] = (reference.lives[0].told or {}).get("counted", {})
    moments: list[Moment] = [*_BOUNDARIES, "time", "time"]
    deaths: list[Death] = []
    for _ in range(random.choice((1, 1, 2, 3, 4))):
        moment = random.choice(moments)
        if moment == "time":
            deaths.append(Death(after_s=random.uniform(0, longest_s)))
        else:
            deaths.append(Death(moment=moment, number=random.randint(1, max(1, counted.get(moment, 1)))))
    return tuple(deaths)


def _and_then_none(deaths: Iterable[Death | None]) -> Iterator[Death | None]:
    yield from deaths
    while True:
        yield None
