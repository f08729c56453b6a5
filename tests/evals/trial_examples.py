"""Trials as a study leaves them, for what looks at many."""

from __future__ import annotations

from wieldy.evals.cases.results import Trial
from wieldy.evals.verdicts.verdict import PASS, Verdict, failed

FAIL = failed("wrong-value: x", evidence=(2,))


def trial(
    task: str,
    verdict: Verdict = PASS,
    *,
    configuration: str = "m",
    number: int = 0,
    category: str = "c",
    cluster: str | None = None,
    official: Verdict | None = None,
) -> Trial:
    return Trial(
        suite="s",
        task=task,
        category=category,
        cluster=cluster or task,
        digest="d",
        configuration=configuration,
        trial=number,
        runs=(f"run-{task}",),
        verdict=verdict,
        others={} if official is None else {"official": official},
        cost_usd=None,
    )
