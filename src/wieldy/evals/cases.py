"""What a study runs: cases, each a task with its way of being run, judged, and answered by an oracle."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from wieldy.agent.parts import Strategy
    from wieldy.core.json import JsonObject
    from wieldy.core.ports import Entry, Journal, Model
    from wieldy.evals.verdicts import Verdict
    from wieldy.run.policy import Policy


class Attempt(NamedTuple):
    """With what a case is run.

    Attributes:
        strategy: How a local model is led; None for what an `Agent` would do.
        policy: Asked before a call is carried out.
        metadata: Recorded with the run, so that it can be found.
    """

    model: Model
    journal: Journal
    strategy: Strategy | None
    policy: Policy
    metadata: JsonObject


class Judged(NamedTuple):
    """What became of a run.

    Attributes:
        verdict: Ours.
        others: By their names: what other rules say, such as those of a benchmark's own checker.
    """

    verdict: Verdict
    others: Mapping[str, Verdict] = {}


Run: TypeAlias = "Callable[[Attempt], Awaitable[str]]"
"""Runs a case and gives the run's id, which the journal then has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One task of a study.

    Attributes:
        id: Unique within the suite.
        category: What kind of task it is; results are sliced by it.
        cluster: Cases of one cluster may be alike, and are not counted as independent.
        digest: Of everything that makes the task what it is: a changed task is another one.
        oracle: A model that answers from the task's right answer.
    """

    id: str
    category: str
    cluster: str
    digest: str
    run: Run
    judge: Callable[[Sequence[Entry]], Judged]
    oracle: Callable[[], Model]


@dataclass(frozen=True, slots=True, kw_only=True)
class Suite:
    """Cases together.

    Attributes:
        source: Where they come from, and in which version.
    """

    name: str
    cases: tuple[Case, ...]
    source: JsonObject
