"""The index of a report: what was run, every trial with its verdict, and what they add up to.

    index = {format, made, harness, redaction, studies, configurations, tasks, trials, rows, text, spreads, notes}

`tasks`: `id`, `category`, `cluster`, `digest`, `prompt`. `trials`: `task` and `configuration` (where they stand in
those lists), `trial`, `verdict` (`kind`, `layer`, `reason`, `evidence`, `run`), `others`, what the trial used, `chunk`
(which part of the file has its runs), `runs` and `judges` (where they stand in it, those of models that judged it among
them). `rows` are those of `wieldy report --json`, `text` is what it says of them. `spreads` say how tokens and seconds
are distributed: the quantiles 0, 25, 50, 75, 95 and 100 %.

Several folders make one report where each shares tasks with another; a task that was changed is another one.
Deliberately not here: the runs (`trajectory`).
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from statistics import quantiles
from typing import Any, Final, cast

from msgspec.structs import replace

from wieldy.core.errors import UsageError
from wieldy.core.json import JsonObject, canonical_json
from wieldy.evals.cases.results import JOURNAL, TASKS, TaskKey, Trial, counting, latest, read_study, read_trials
from wieldy.evals.reports.report_lines import report_lines

FORMAT: Final = 1
MEASURES: Final = ("input_tokens", "output_tokens", "duration_s", "requests", "calls")
QUANTILES: Final = (0, 25, 50, 75, 95, 100)

Rows = Callable[[Sequence[Trial]], Sequence[JsonObject]]
"""Adds trials up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyResults:
    """What is in the folder of a study.

    Attributes:
        study: What the folder says was run.
        trials: Those that count.
        left_out: How many more there are, of tasks that were removed or changed since.
        renamed: The configuration's name in the report, where that is not the one in the folder.
    """

    folder: Path
    study: JsonObject
    trials: tuple[Trial, ...]
    renamed: Mapping[str, str] = field(default_factory=dict[str, str])
    left_out: int = 0

    @property
    def notes(self) -> list[str]:
        """What a reader has to know."""
        if not self.left_out:
            return []
        of = self.left_out + len(self.trials)
        return [f"{self.folder}: {self.left_out} of {of} trials are left out: the last `wieldy eval` had other tasks."]

    @property
    def journal(self) -> Path:
        """Where its runs are recorded."""
        return self.folder / JOURNAL


def read_study_results(folder: Path) -> StudyResults:
    """What `wieldy eval` has written to a folder.

    Raises:
        UsageError: There is nothing in it, or something else.
    """
    every, study = latest(read_trials(folder)), read_study(folder)
    trials = counting(every, study)
    if not trials:
        other = f" of the tasks of its last study, but {len(every)} of others" if every else ""
        raise UsageError(f"{folder}: there is no result in it yet{other}. `wieldy eval` writes them.")
    return StudyResults(folder=folder, study=study, trials=tuple(trials), left_out=len(every) - len(trials))


def merged(studies: Sequence[StudyResults]) -> list[StudyResults]:
    """The studies, with configurations that stand in several folders told apart by the folder's name.

    Raises:
        UsageError: One has no task that another has too, or a folder is named twice.
    """
    if len({study.folder.resolve() for study in studies}) < len(studies):
        raise UsageError("Expected different folders, found one of them twice.")
    counts = Counter(key for study in studies for key in {trial.task_key for trial in study.trials})
    for study in studies if len(studies) > 1 else ():
        if all(counts[trial.task_key] == 1 for trial in study.trials):
            raise UsageError(
                f"Expected results of one set of tasks, found in {study.folder} no task that another folder has "
                "unchanged. Report on each alone."
            )
    names = Counter(name for study in studies for name in {trial.configuration for trial in study.trials})
    return [_told_apart(study, {name for name in names if names[name] > 1}) for study in studies]


def _told_apart(study: StudyResults, shared: set[str]) -> StudyResults:
    own = {trial.configuration for trial in study.trials} & shared
    renamed = {name: f"{name} [{study.folder}]" for name in sorted(own)}
    trials = [
        replace(trial, configuration=renamed.get(trial.configuration, trial.configuration)) for trial in study.trials
    ]
    return dataclasses.replace(study, trials=tuple(trials), renamed=renamed)


@dataclass(slots=True)
class Place:
    """Where the runs of a trial are in the file, and when they were.

    Attributes:
        chunk: -1 where none of them could be had.
        runs: Where they stand among the chunk's runs.
        judges: Where those stand in which models judged it.
        prompt: What the first of them was asked.
    """

    chunk: int = -1
    runs: list[int] = field(default_factory=list[int])
    judges: list[int] = field(default_factory=list[int])
    prompt: str = ""
    began: float | None = None
    ended: float | None = None


def in_order(studies: Sequence[StudyResults]) -> list[tuple[StudyResults, Trial]]:
    """All trials, those of one task together: they are looked at side by side."""
    both = [(study, trial) for study in studies for trial in study.trials]
    order = {key: at for at, key in enumerate(dict.fromkeys(trial.task_key for _, trial in both))}
    return sorted(both, key=lambda each: order[each[1].task_key])


def index_of(
    studies: Sequence[StudyResults], places: Mapping[int, Place], rows: Rows, *, made: float, notes: Sequence[str] = ()
) -> JsonObject:
    """The index.

    Args:
        studies: With configurations that are told apart (`merged`).
        places: Of each trial, by its number in `in_order`.
        rows: Adds them up.
        made: When, in seconds since the epoch.
        notes: What a reader has to know besides.
    """
    trials = in_order(studies)
    tasks, task_numbers = _tasks(trials, places)
    added_up = rows([trial for _, trial in trials])
    configurations = list(dict.fromkeys(trial.configuration for study in studies for trial in study.trials))
    numbers = {name: at for at, name in enumerate(configurations)}
    return {
        "format": FORMAT,
        "made": made,
        "harness": version("wieldy"),
        "studies": [_study(study, trials, places) for study in studies],
        "configurations": [*configurations],
        "tasks": [*tasks],
        "trials": [
            _trial(trial, places[at], task_numbers[trial.task_key], numbers[trial.configuration])
            for at, (_, trial) in enumerate(trials)
        ],
        "rows": [*added_up],
        "text": "\n".join(report_lines(added_up)),
        "spreads": [*_spreads([trial for _, trial in trials], configurations)],
        "quantiles": [*QUANTILES],
        "notes": [*notes],
    }


def _tasks(
    trials: Sequence[tuple[StudyResults, Trial]], places: Mapping[int, Place]
) -> tuple[list[JsonObject], dict[TaskKey, int]]:
    numbers = dict[TaskKey, int]()
    tasks = list[JsonObject]()
    for at, (_, trial) in enumerate(trials):
        key = trial.task_key
        if key not in numbers:
            numbers[key] = len(tasks)
            tasks.append(
                {
                    "id": trial.task,
                    "category": trial.category,
                    "cluster": trial.cluster,
                    "digest": trial.digest,
                    "prompt": places[at].prompt,
                }
            )
        elif not tasks[numbers[key]]["prompt"]:
            tasks[numbers[key]]["prompt"] = places[at].prompt
    return tasks, numbers


def _trial(trial: Trial, place: Place, task: int, configuration: int) -> JsonObject:
    told = trial.to_json()
    for name in ("suite", "task", "category", "cluster", "digest", "configuration", "runs", "judges"):
        del told[name]
    where: JsonObject = {"chunk": place.chunk, "runs": [*place.runs], "judges": [*place.judges]}
    return {"task": task, "configuration": configuration, **told, **where}


def _study(
    study: StudyResults, trials: Sequence[tuple[StudyResults, Trial]], places: Mapping[int, Place]
) -> JsonObject:
    own = [(trial, places[at]) for at, (other, trial) in enumerate(trials) if other is study]
    began = [place.began for _, place in own if place.began is not None]
    ended = [place.ended for _, place in own if place.ended is not None]
    known = study.study.get("deployments")
    deployments = cast("dict[str, Any]", known) if isinstance(known, dict) else {}
    said = {name: value for name, value in study.study.items() if name not in ("deployments", "suite", TASKS)}
    return {
        "folder": str(study.folder),
        "suite": own[0][0].suite,
        "facts": cast("Any", list(_flat(said))),
        "began": min(began, default=None),
        "ended": max(ended, default=None),
        "deployments": [
            {"configuration": study.renamed.get(name, name), "facts": cast("Any", list(_flat(deployment)))}
            for name, deployment in deployments.items()
        ],
    }


def _flat(value: object, path: str = "") -> Iterator[list[str]]:
    """Names and texts of all that a JSON value says."""
    if isinstance(value, dict) and value:
        for name, item in cast("dict[str, object]", value).items():
            yield from _flat(item, f"{path}.{name}" if path else name)
    elif value not in (None, {}, []):
        yield [path, value if isinstance(value, str) else canonical_json(cast("object", value))]


def _spreads(trials: Sequence[Trial], configurations: Sequence[str]) -> Iterator[JsonObject]:
    for name in configurations:
        own = [trial for trial in trials if trial.configuration == name]
        spread: JsonObject = {"configuration": name, "trials": len(own)}
        for measure in MEASURES:
            spread[measure] = [*spread_of([float(getattr(trial, measure)) for trial in own])]
        yield spread


def spread_of(values: Sequence[float]) -> list[float]:
    """The quantiles `QUANTILES`, between which values are interpolated; there is at least one value."""
    ordered = sorted(values)
    if len(ordered) == 1:
        return ordered * len(QUANTILES)
    inner = quantiles(ordered, n=20, method="inclusive")
    return [ordered[0], inner[4], inner[9], inner[14], inner[18], ordered[-1]]
