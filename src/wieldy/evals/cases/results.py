"""Results of a study in a folder: one line of JSON for each trial, written when it is known.

Law: a line is in the file whole or not at all, however the process ends; what a torn end holds is cut off when the
file is opened again. Beside it stand `study.json`, which says what was run, and `runs.db`, the journal of all runs.
A line for the same trial replaces the one before; of all lines, those count that are of the tasks of the folder's last
study. Deliberately not here: running (`running`), adding up (`reporting`).
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Final, Self, TypeAlias, cast

import msgspec

from wieldy.core.errors import UsageError
from wieldy.core.json import JsonObject
from wieldy.core.record import Record
from wieldy.evals.verdicts.verdict import Verdict

RESULTS: Final = "results.jsonl"
STUDY: Final = "study.json"
JOURNAL: Final = "runs.db"
TASKS: Final = "tasks"
"""What a study says under this name: the digest of each of its tasks, by id."""

_BINARY: Final = getattr(os, "O_BINARY", 0)
"""Windows would write two bytes for a newline."""

BEGUN_BY: Final = "begun_by"
"""What a study says under this name: the command lines and programs that ran trials, each once, in order."""

Key: TypeAlias = "tuple[str, str, int, str]"
"""Task, configuration, trial and the digest of the task."""

TaskKey: TypeAlias = "tuple[str, str]"
"""A task and its digest."""


class Trial(Record, frozen=True, kw_only=True):
    """What became of one trial.

    Attributes:
        configuration: The model's name, and how it was led if that was said.
        trial: 0, 1, 2, ... among the trials of the task with the configuration.
        runs: Their ids in the journal, in order: one for each message of the user; none if none could begin.
        judges: Ids of the runs in which models judged it.
        others: What other rules and each judge say, by their names.
        stop_reason: Why the last run ended.
        input_tokens, output_tokens, requests, calls: What all runs used.
        time: When the first run began, in seconds since the epoch, by the journal; 0 where none did.
        duration_s: From the first entry to the last of each run, added up, by the journal.
        measures: Counts by their names (`measures`, and what the task's judging adds); those that are not there are 0.
        axes: How the task differs from others of its cluster, by name: `variant`, `tools`, `cue`.
        behaviour: A digest of the calls that were carried out: trials that did the same have the same one.
    """

    suite: str
    task: str
    category: str
    cluster: str
    digest: str
    configuration: str
    trial: int
    runs: tuple[str, ...]
    judges: tuple[str, ...] = ()
    verdict: Verdict
    others: dict[str, Verdict]
    stop_reason: str | None = None
    input_tokens: int = 0
    output_tokens: int = 0
    requests: int = 0
    calls: int = 0
    cost_usd: float | None = None
    duration_s: float = 0.0
    time: float = 0.0
    measures: dict[str, float] = msgspec.field(default_factory=dict[str, float])
    axes: dict[str, str] = msgspec.field(default_factory=dict[str, str])
    behaviour: str = ""

    @property
    def key(self) -> Key:
        """Which trial it is."""
        return self.task, self.configuration, self.trial, self.digest

    @property
    def task_key(self) -> TaskKey:
        """Which task it is of: a task that was changed is another one."""
        return self.task, self.digest

    def to_json(self) -> JsonObject:
        """The line, as a value."""
        return msgspec.to_builtins(self)


_decode: Final = msgspec.json.Decoder(Trial).decode


class Results:
    """The file of results, open for adding to it.

    Raises:
        UsageError: The folder cannot be used, or holds something else.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._file = os.open(folder / RESULTS, os.O_RDWR | os.O_CREAT | os.O_APPEND | _BINARY, 0o644)
        except OSError as error:
            raise UsageError(f"{folder}: results cannot be written here: {error.strerror}.") from error
        self._cut_torn_end()
        self.trials: dict[Key, Trial] = {trial.key: trial for trial in read_trials(folder)}

    def add(self, trial: Trial) -> None:
        """The trial is in the file when this returns, and survives the end of the process and of the machine."""
        line = msgspec.json.encode(trial) + b"\n"
        written = os.write(self._file, line)
        if written != len(line):
            raise OSError(f"Only {written} of {len(line)} bytes of a result could be written: is the disk full?")
        os.fsync(self._file)
        self.trials[trial.key] = trial

    def close(self) -> None:
        """The file is closed; doing so twice is harmless."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _cut_torn_end(self) -> None:
        size = os.lseek(self._file, 0, os.SEEK_END)
        content = (self.folder / RESULTS).read_bytes()
        whole = content.rfind(b"\n") + 1
        if whole < size:
            os.ftruncate(self._file, whole)


def read_trials(folder: Path) -> Iterator[Trial]:
    """The trials in the folder's results, in the order in which they were written; a torn end is not among them.

    Raises:
        UsageError: There are none, or a line is something else.
    """
    file = folder / RESULTS
    try:
        content = file.read_bytes()
    except OSError as error:
        raise UsageError(f"{file}: there are no results here: {error.strerror}. `wieldy eval` writes them.") from error
    lines = content.split(b"\n")[:-1]
    for number, line in enumerate(lines, 1):
        try:
            yield _decode(line)
        except (ValueError, RecursionError) as error:
            raise UsageError(f"{file}:{number}: expected a trial's result, found something else: {error}") from error


def latest(trials: Iterator[Trial]) -> list[Trial]:
    """Of each trial the last line, in the order of the first."""
    return list({trial.key: trial for trial in trials}.values())


def counting(trials: Sequence[Trial], study: JsonObject) -> list[Trial]:
    """The trials of the tasks that the folder's last study had, as they were then.

    Where it does not say which, those of each task as it was run last.
    """
    told = study.get(TASKS)
    digests = told if isinstance(told, dict) else {trial.task: trial.digest for trial in trials}
    return [trial for trial in trials if digests.get(trial.task) == trial.digest]


def read_study(folder: Path) -> JsonObject:
    """What the folder's study says of itself; empty if it says nothing.

    Raises:
        UsageError: The file is damaged.
    """
    file = folder / STUDY
    if not file.exists():
        return {}
    try:
        found = json.loads(file.read_bytes())
    except ValueError as error:
        raise UsageError(f"{file}: expected what was studied, as JSON, found something else: {error}") from error
    if not isinstance(found, dict):
        raise UsageError(f"{file}: expected a JSON object, found {type(found).__name__}.")
    return cast("JsonObject", found)


def write_study(folder: Path, study: JsonObject) -> None:
    """The study is in its file, whole, when this returns."""
    with tempfile.NamedTemporaryFile("w", dir=folder, suffix=".tmp", delete=False, encoding="utf-8") as file:
        json.dump(study, file, indent=2, ensure_ascii=False)
        file.flush()
        os.fsync(file.fileno())
    Path(file.name).replace(folder / STUDY)
