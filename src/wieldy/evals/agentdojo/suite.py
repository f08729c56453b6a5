"""AgentDojo's tasks as cases of a study, and the policies under which they can be run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from wieldy.core.errors import UsageError
from wieldy.core.json import digest
from wieldy.core.limits import Limits
from wieldy.evals.agentdojo.declarations import DECLARED
from wieldy.evals.agentdojo.judging import judge
from wieldy.evals.agentdojo.models import scripts_of
from wieldy.evals.agentdojo.offering import tools_on
from wieldy.evals.agentdojo.package import BENCHMARK, installed_version, load_suites
from wieldy.evals.agentdojo.tasks import DojoTask, place_of, wants_words
from wieldy.evals.cases.case import Attempt, Case, Suite
from wieldy.evals.cases.recorded import recorded
from wieldy.run.policy import Policy, allow_all, ask_when_tainted, grounded
from wieldy.run.results import ResultRules

if TYPE_CHECKING:
    from wieldy.core.approvals import Approval, ApprovalRequest

NAMES: Final = ("banking", "slack", "travel", "workspace")

KINDS: Final = ("", "-attacked", "-words")
"""Of each suite: no attack; attacks that want a call; attacks that want words in the answer."""

CATEGORIES: Final = tuple(f"{name}{kind}" for name in NAMES for kind in KINDS)

POLICIES: Final[Mapping[str, Policy]] = {
    "allow": allow_all,
    "tainted": ask_when_tainted(),
    "grounded": grounded(
        {name: declared.aim for name, declared in DECLARED.items() if declared.aim is not None},
        vouched={name: declared.vouched for name, declared in DECLARED.items() if declared.vouched},
        reads={name: declared.read_for for name, declared in DECLARED.items() if declared.read_for},
    ),
}
"""By name: none; the library's rules that ask before any change once a stranger was read; those that know the tools."""

# Some tasks take more turns than a run has by default, some attacks repeat a call, and results are as long as those of
# the benchmark's own pipeline, which cuts nothing.
_LIMITS: Final = Limits(turns=60, repeats=20)
_RESULTS: Final = ResultRules(limit_bytes=1_000_000)


def agentdojo_suite(
    categories: Sequence[str] = CATEGORIES,
    *,
    place: Path | None = None,
    limit: int | None = None,
    is_disguised: bool = False,
) -> Suite:
    """The first tasks of each category; all of them without a limit.

    Args:
        categories: Among `CATEGORIES`.
        place: A folder in which the package `agentdojo` lies, if it is not installed.
        limit: How many of each category.
        is_disguised: Whether addresses in strangers' texts are spelled so that no text search finds them.

    Raises:
        UsageError: There is no such category, or the package is not there.
    """
    unknown = next((name for name in categories if name not in CATEGORIES), None)
    if unknown is not None:
        raise UsageError(f"Expected categories of AgentDojo ({', '.join(CATEGORIES)}), found {unknown!r}.")
    suites = load_suites(place)
    cases = [
        case_of(task, category)
        for name in NAMES
        if any(category.partition("-")[0] == name for category in categories)
        for category, tasks in _tasks(suites[name], is_disguised=is_disguised).items()
        if category in categories
        for task in tasks[:limit]
    ]
    version = installed_version() if place is None else "of a folder"
    return Suite(
        name="agentdojo",
        cases=tuple(cases),
        source={"package": "agentdojo", "version": version, "tasks": BENCHMARK, "disguised": is_disguised},
    )


def categories_named(names: Sequence[str]) -> list[str]:
    """The categories that are meant by these names: their own, `all`, `benign` (no attack), `attacked` or `words`.

    Raises:
        UsageError: One of them means nothing.
    """
    return [category for name in names for category in _named(name)]


def _named(name: str) -> Iterator[str]:
    groups = {"all": CATEGORIES, "benign": NAMES}
    groups |= {kind[1:]: tuple(f"{each}{kind}" for each in NAMES) for kind in KINDS[1:]}
    if name not in CATEGORIES and name not in groups:
        known = ", ".join([*groups, *CATEGORIES])
        raise UsageError(f"Expected categories of AgentDojo ({known}), found {name!r}.")
    yield from groups.get(name, (name,))


def _tasks(suite: object, *, is_disguised: bool) -> dict[str, list[DojoTask]]:
    place = place_of(suite)
    found: dict[str, list[DojoTask]] = {f"{place.name}{kind}": [] for kind in KINDS}
    kinds = {attack: KINDS[2] if wants_words(place, attack) else KINDS[1] for attack in place.attacks}
    for user in place.suite.user_tasks.values():
        found[place.name].append(DojoTask(place, user))
        for attack, kind in kinds.items():
            found[f"{place.name}{kind}"].append(DojoTask(place, user, attack, is_disguised))
    return found


def case_of(task: DojoTask, category: str) -> Case:
    """A task as a case."""
    return Case(
        id=task.id,
        category=category,
        cluster=f"{task.place.name}/{task.user.ID}",
        digest=digest(task.id, BENCHMARK, task.user.PROMPT, task.written),
        run=partial(_run, task),
        judge=partial(judge, task),
        scripts=scripts_of(task),
        tools=frozenset(function.name for function in task.place.suite.tools),
    )


async def _run(task: DojoTask, attempt: Attempt) -> list[str]:
    agent = attempt.agent(
        tools_on(task.place, task.environment()), limits=_LIMITS, approver=_nobody_allows, results=_RESULTS
    )
    return [await recorded(agent, task.user.PROMPT)]


def _nobody_allows(request: ApprovalRequest) -> Approval:
    """Counts as neither done nor attacked: the record has the question."""
    return request.deny(by="the study", reason="nobody is there to allow it")
