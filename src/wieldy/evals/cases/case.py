"""What a study runs: cases, each a task with its way of being run, judged, and answered by an oracle."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from wieldy.agent import Agent
from wieldy.core.limits import Limits
from wieldy.evals.cases.configurations import Configuration
from wieldy.evals.cases.faulty import with_faulty
from wieldy.run.policy import allow_all
from wieldy.run.results import ResultRules
from wieldy.tools import tools_from

if TYPE_CHECKING:
    from pathlib import Path

    from wieldy.core.json import JsonObject
    from wieldy.core.ports import Entry, Journal, Model
    from wieldy.evals.verdicts.verdict import Verdict
    from wieldy.run.policy import Approver, Policy
    from wieldy.tools import Tool, Toolset

VARIANT, TOOLS, CUE = "variant", "tools", "cue"
"""Axes along which cases of one cluster differ: the words of the prompt, the number of tools, an irrelevant cue."""

_LIMITS: Final = Limits()
_RESULTS: Final = ResultRules()
PLAIN: Final = Configuration(model="")
"""Nothing is said of a model but that it is handed over."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """With what a case is run.

    Attributes:
        metadata: Recorded with each run, so that it can be found.
        configuration: How the model is led, held, equipped and limited.
        policy: Asked before a call is carried out, unless the case has a policy of its own.
    """

    model: Model
    journal: Journal
    metadata: JsonObject
    configuration: Configuration = PLAIN
    policy: Policy = allow_all

    def agent(
        self,
        tools: Iterable[Tool | Toolset | Callable[..., object]],
        *,
        instructions: str | None = None,
        limits: Limits = _LIMITS,
        policy: Policy | None = None,
        approver: Approver | None = None,
        results: ResultRules = _RESULTS,
    ) -> Agent:
        """An agent as the study wants it, with what the case brings along."""
        wanted = self.configuration
        offered = tools_from(tools if wanted.tools else ())
        return Agent(
            self.model,
            [offered.filtered(lambda tool: tool.name not in wanted.without)] if wanted.without else [offered],
            instructions=instructions,
            journal=self.journal,
            limits=wanted.limited(limits),
            policy=self.policy if policy is None else policy,
            approver=approver,
            results=results,
            strategy=wanted.strategy,
            actions=wanted.actions,
            search=wanted.searching(),
            metadata=self.metadata,
        )


class Judged(NamedTuple):
    """What became of a run.

    Attributes:
        verdict: Ours.
        others: By their names: what other rules say, such as those of a benchmark's own checker.
        measures: What can be counted only where the task is known, by name.
    """

    verdict: Verdict
    others: Mapping[str, Verdict] = {}
    measures: Mapping[str, float] = {}


Run: TypeAlias = "Callable[[Attempt], Awaitable[Sequence[str]]]"
"""Runs a case and gives the ids of its runs in order: a conversation has one for each message of its user."""

Runs: TypeAlias = "Sequence[Sequence[Entry]]"
"""What the journal has of a case: the entries of each of its runs, in order; see `Case.takes_code`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One task of a study.

    Attributes:
        id: Unique within the suite.
        category: What kind of task it is; results are sliced by it.
        cluster: Cases of one cluster may be alike, and are not counted as independent.
        digest: Of everything that makes the task what it is: a changed task is another one.
        scripts: Models that answer from what the task knows, by name: `oracle` gives the right answer. `faulty` is
            there wherever it is: the same, with mistakes put in.
        tools: Names of the tools that it offers; None if they are not known beforehand.
        takes_code: Whether it can be judged where the model acts by code: each sequence of entries then has those of
            the run, and behind them those of the runs that its code was.
        axes: How it differs from others of its cluster, by name.
        criterion: What models must judge once `judge` has let it pass; None if rules suffice.
    """

    id: str
    category: str
    cluster: str
    digest: str
    run: Run
    judge: Callable[[Runs], Judged]
    scripts: Mapping[str, Callable[[], Model]]
    tools: frozenset[str] | None = None
    takes_code: bool = False
    axes: Mapping[str, str] = field(default_factory=dict[str, str])
    criterion: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "scripts", with_faulty(self.scripts, seed=self.id))


@dataclass(frozen=True, slots=True, kw_only=True)
class Suite:
    """Cases together.

    Attributes:
        source: Where they come from, and in which version.
        file: The file that they are written in; None where they are not.
    """

    name: str
    cases: tuple[Case, ...]
    source: JsonObject
    file: Path | None = None
