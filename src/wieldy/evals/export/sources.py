"""Where rows come from: folders of studies, whose trials are judged and grouped, and journals alone.

A group is all trials of a task with one configuration; a run of a journal is a group of its own. Law: a run belongs to
one group. Deliberately not here: reading the runs (`branches`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from wieldy.core.errors import JournalError, UsageError
from wieldy.core.json import digest
from wieldy.evals.cases.results import Trial
from wieldy.evals.reports.page import StudyResults, read_study_results
from wieldy.run.journal import open_journal
from wieldy.run.state import fold

if TYPE_CHECKING:
    from wieldy.core.ports import Journal


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """One trial, or one run of a journal.

    Attributes:
        trial: Its result; None for a run that nobody judged.
        runs: In the order in which they went on from one another.
    """

    trial: Trial | None
    runs: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """What is compared with one another.

    Attributes:
        id: None where there is no task of which there could be several trials.
        task_id: The same for the same task; for a run of a journal, that of what it began from.
        split_by: The same for tasks that are alike.
        expected: How many trials a whole group has.
        harness: The version that ran it.
        settings: Of the configuration, where they are known.
    """

    id: str | None
    task_id: str
    split_by: str
    members: tuple[Member, ...]
    journal: Journal
    expected: int = 1
    harness: str | None = None
    settings: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(slots=True, kw_only=True)
class Sources:
    """All groups of some folders and of a journal.

    Attributes:
        notes: What a reader has to know.
    """

    folders: Sequence[Path] = ()
    journal: Journal | None = None
    notes: list[str] = field(default_factory=list[str])
    _studies: list[StudyResults] = field(default_factory=list[StudyResults])
    _run_ids: list[str] = field(default_factory=list[str])

    def __post_init__(self) -> None:
        if len({folder.resolve() for folder in self.folders}) < len(self.folders):
            raise UsageError("Expected different folders, found one of them twice.")
        self._studies = [read_study_results(folder) for folder in self.folders]
        self.notes += [note for study in self._studies for note in study.notes]
        if self.journal is not None:
            self._run_ids = list(self.journal.run_ids())

    @property
    def total(self) -> int:
        """How many trials and runs there are to look at."""
        return sum(len(study.trials) for study in self._studies) + len(self._run_ids)

    def groups(self) -> Iterator[Group]:
        """One after the other, the members of each together.

        Raises:
            UsageError: The journal of a folder is not there.
            JournalError: It cannot be opened.
        """
        for study in self._studies:
            if not study.journal.exists():
                raise UsageError(f"{study.journal} is not there: what its models were shown cannot be known.")
            with closing(open_journal(study.journal, read_only=True)) as journal:
                yield from _of_study(study, journal)
        if self.journal is not None:
            for run_id in self._run_ids:
                yield from self._of_run(self.journal, run_id)

    def _of_run(self, journal: Journal, run_id: str) -> Iterator[Group]:
        try:
            start = fold(journal.read(run_id)[:1])
        except JournalError as error:
            self.notes.append(f"Run {run_id} cannot be read: {error}")
            return
        if start.parent is not None and journal.read(start.parent.run_id):
            return  # it comes with the run that started it
        began = [message.to_dict() for message in start.messages]
        task_id = f"prompt-{digest(began)}"
        yield Group(
            id=None, task_id=task_id, split_by=task_id, members=(Member(trial=None, runs=(run_id,)),), journal=journal
        )


def _of_study(study: StudyResults, journal: Journal) -> Iterator[Group]:
    groups = defaultdict[tuple[str, str, str], list[Trial]](list)
    for trial in study.trials:
        groups[trial.configuration, *trial.task_key].append(trial)
    most = defaultdict[str, int](int)
    for (configuration, *_), trials in groups.items():
        most[configuration] = max(most[configuration], len(trials))
    told = study.study.get("deployments")
    deployments = cast("dict[str, Any]", told) if isinstance(told, dict) else {}
    for (configuration, task, task_digest), trials in groups.items():
        suite, cluster = trials[0].suite, trials[0].cluster
        deployment = cast("dict[str, Any]", deployments.get(configuration) or {})
        settings = cast("dict[str, str]", deployment.get("settings") or {})
        runs = [[*trial.runs] for trial in sorted(trials, key=lambda trial: trial.trial)]
        yield Group(
            id=digest(suite, task, task_digest, configuration, runs),
            task_id=f"{suite}/{task}",
            split_by=f"{suite}/{cluster}",
            members=tuple(Member(trial=trial, runs=trial.runs) for trial in trials),
            journal=journal,
            expected=most[configuration],
            harness=deployment.get("harness"),
            settings=settings,
        )
