"""What a study is: cases times configurations times trials, and which of them are left to be run.

Deliberately not here: running them (`running`, `processes`), with what (`workbench`).
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from wieldy.core.errors import UsageError
from wieldy.evals.cases.case import Case, Suite
from wieldy.evals.cases.configurations import SCRIPT, Configuration
from wieldy.evals.cases.results import Key, Results, Trial
from wieldy.evals.studies.judges import Judge
from wieldy.run.policy import Policy, allow_all


@dataclass(frozen=True, slots=True, kw_only=True)
class Study:
    """What is to be run.

    Attributes:
        models: Names of models of which nothing else is said; see `Configuration.model`.
        configurations: What else is compared.
        trials: Of each case with each configuration.
        jobs: How many runs at once.
        policy: Asked before a call of a task is carried out.
        policies: By name, for configurations with a policy of their own.
        judges: Asked where a task has a criterion that no rule decides, and its rules have let it pass.
        reruns_unscored: Whether trials are run again that could not be scored.
        begun_by: The command line or program that runs it, for people: it is recorded. None is the program's own name.
    """

    suite: Suite
    models: tuple[str, ...] = ()
    configurations: tuple[Configuration, ...] = ()
    folder: Path
    trials: int = 1
    jobs: int = 1
    policy: Policy = allow_all
    policies: Mapping[str, Policy] = field(default_factory=dict[str, Policy])
    judges: tuple[Judge, ...] = ()
    reruns_unscored: bool = False
    begun_by: str | None = None

    @property
    def compared(self) -> tuple[Configuration, ...]:
        """All configurations, each once."""
        every = (*(Configuration(model=model) for model in self.models), *self.configurations)
        return tuple({configuration.name: configuration for configuration in every}.values())

    def policy_of(self, configuration: Configuration) -> Policy:
        """What is asked before its calls."""
        return self.policy if configuration.policy is None else self.policies[configuration.policy]

    def policy_name(self, configuration: Configuration) -> str:
        """What the policy is recorded as: its name, or else that of its function or class."""
        policy = self.policy_of(configuration)
        known = next((name for name, each in self.policies.items() if each is policy), None)
        return known or getattr(policy, "__qualname__", type(policy).__qualname__)


class Progress(NamedTuple):
    """How far a study is.

    Attributes:
        done: Trials that are in the results, those from before included.
        ran: Trials that were run since the study was started.
        latest: The one that was added last; None at the beginning.
    """

    done: int
    total: int
    ran: int
    latest: Trial | None


class Job(NamedTuple):
    """One trial that is to be run."""

    case: Case
    configuration: Configuration
    trial: int

    @property
    def key(self) -> Key:
        """That of its result."""
        return self.case.id, self.configuration.name, self.trial, self.case.digest


def check_study(study: Study) -> None:
    """Raises UsageError where something cannot be studied, before anything is done."""
    if study.trials < 1 or study.jobs < 1:
        raise UsageError(f"Expected at least one trial and one job, found {study.trials} and {study.jobs}.")
    if not study.suite.cases:
        raise UsageError("Expected at least one task, found none.")
    twice = next((name for name in study.models if study.models.count(name) > 1), None)
    if twice is not None:
        raise UsageError(f"Expected each model once, found {twice!r} twice: several trials of each task are `trials`.")
    for configuration in study.compared:
        _check_script(study, configuration)
        _check_tools(study, configuration)
        if configuration.policy is not None and configuration.policy not in study.policies:
            known = ", ".join(sorted(study.policies)) or "none"
            raise UsageError(f"Expected the name of a policy ({known}), found {configuration.policy!r}.")


def _check_script(study: Study, configuration: Configuration) -> None:
    if not configuration.is_script:
        return
    name = configuration.model.removeprefix(SCRIPT)
    case = next((case for case in study.suite.cases if name not in case.scripts), None)
    if case is not None:
        raise UsageError(
            f"Expected a scripted model that the task {case.id!r} knows ({', '.join(sorted(case.scripts))}), "
            f"found {name!r}."
        )
    if configuration.format is not None or not configuration.constraint:
        raise UsageError(f"{configuration.model!r} writes no text: there is nothing that a format could hold.")
    if configuration.actions != "calls":
        raise UsageError(f"{configuration.model!r} makes calls: expected actions=calls, found {configuration.actions}.")


def _check_tools(study: Study, configuration: Configuration) -> None:
    """A misspelled name would otherwise be found to make no difference, as would a setting of tools where none are."""
    _check_without_tools(configuration)
    cases = study.suite.cases
    if configuration.actions == "code" and not all(case.takes_code for case in cases):
        raise UsageError(f"Tasks of {study.suite.name!r} are judged by the model's own calls: actions=code cannot be.")
    offered = [case.tools for case in cases]
    if None in offered:
        return
    names = {name for tools in offered for name in tools or ()}
    if not configuration.tools and not names:
        raise UsageError(f"No task of {study.suite.name!r} offers a tool: tools=off would change nothing.")
    for name in configuration.without:
        if name not in names:
            close = difflib.get_close_matches(name, names, n=3) or sorted(names)[:5]
            raise UsageError(f"No task offers a tool {name!r} that could be left out; there are {', '.join(close)}.")
    if names and names <= {*configuration.without}:
        raise UsageError(f"{configuration.name!r} leaves no tool: expected tools=off for that.")


def _check_without_tools(configuration: Configuration) -> None:
    idle = {"without", "parallel", "search"} & configuration.settings.keys()
    if idle and not configuration.tools:
        raise UsageError(f"{configuration.name!r}: with tools=off, {min(idle)} would change nothing.")


def jobs_of(study: Study) -> Iterator[Job]:
    """Trial by trial, so that what is broken off has as much of every task as possible."""
    for trial in range(study.trials):
        for configuration in study.compared:
            for case in study.suite.cases:
                yield Job(case, configuration, trial)


def is_done(study: Study, results: Results, job: Job) -> bool:
    """Whether the job's result is there and counts."""
    found = results.trials.get(job.key)
    return found is not None and not (study.reruns_unscored and found.verdict.kind == "unscored")
