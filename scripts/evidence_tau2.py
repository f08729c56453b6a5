"""tau2 without a model: `python scripts/evidence_tau2.py WHEEL [DOMAIN[:N]...]`.

Every task of the domains, or the first N of one, is run twice by its scripted agent and customer, and judged. Told are
how many pass, whether both trials came to the same, which of the tasks' own calls fail, and the CPU time of a trial.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from pathlib import Path

import anyio

from wieldy.evals.cases.case import Attempt, Case, Judged
from wieldy.evals.tasks.measures import behaviour_of
from wieldy.evals.tau2.package import DOMAINS
from wieldy.evals.tau2.suite import tau2_suite
from wieldy.run.journal import MemoryJournal


async def trial(case: Case) -> tuple[Judged, str]:
    """The verdict of one trial, and a digest of what the agent did."""
    journal = MemoryJournal()
    ids = await case.run(Attempt(model=case.scripts["oracle"](), journal=journal, metadata={}))
    runs = [journal.read(run_id) for run_id in ids]
    return case.judge(runs), behaviour_of(runs)


async def main(wheel: Path, domains: list[str]) -> None:
    """Prints a line for each domain, and one for each task that does not pass."""
    for wanted in domains:
        domain, _, most = wanted.partition(":")
        cases = tau2_suite(wheel, [domain], limit=int(most) if most else None).cases
        counts, began = Counter[str](), time.process_time()
        for case in cases:
            one, other = await trial(case), await trial(case)
            verdict = one[0].verdict
            counts[verdict.kind] += 1
            counts["same twice"] += one == other
            counts["tasks with own calls that fail"] += bool(one[0].measures)
            if verdict.kind != "pass":
                print(f"  {case.id}: {verdict.reason}")
        spent_ms = (time.process_time() - began) / len(cases) / 2 * 1000
        told = ", ".join(f"{count} {name}" for name, count in counts.items())
        print(f"{domain}: {len(cases)} tasks: {told}; {spent_ms:.0f} ms of CPU a trial", flush=True)


if __name__ == "__main__":
    anyio.run(main, Path(sys.argv[1]), sys.argv[2:] or list(DOMAINS[:3]))
