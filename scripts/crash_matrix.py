"""Kills the processes of runs at every boundary of the journal and at random times, and counts what went wrong.

    python scripts/crash_matrix.py                    every plan, every boundary, and random deaths (minutes)
    python scripts/crash_matrix.py --random 200       more random deaths for each plan
    python scripts/crash_matrix.py --plan keyed       one plan only, by a part of its name
    python scripts/crash_matrix.py --postgres         journals in a PostgreSQL server that is started for this
    python scripts/crash_matrix.py --sabotage "repeats unsafe calls"     a wrong recovery, which must be found
    python scripts/crash_matrix.py --json             one JSON object

Each trial is one run with a journal in a file. Its processes are killed with SIGKILL and resumed by new ones until it
ends. Effects are counted by a server process of its own. Exit 1 if any law was broken. The parts are those of the short
form in `tests/run/crashes`.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "run" / "crashes"))

from crash_checks import LAWS, Finding, findings
from crash_plans import PLANS, Plan
from crash_sabotage import SABOTAGES
from crash_trials import Death, Deaths, Laboratory, Trial, boundaries, random_deaths
from services import running_postgres, why_no_postgres

MOMENTS = ("before", "after", "effect", "commit", "time")


@dataclass(kw_only=True)
class Row:
    """What came of all trials of one plan."""

    plan: str
    trials: int = 0
    processes: int = 0
    kills: Counter[str] = field(default_factory=Counter)
    effects: int = 0
    unknown: int = 0
    broken: Counter[str] = field(default_factory=Counter)
    examples: list[str] = field(default_factory=list)

    def add(self, trial: Trial, found: Iterable[Finding]) -> None:
        """One trial more."""
        self.trials += 1
        self.processes += len(trial.lives)
        self.kills.update(_moment(life.death) for life in trial.lives if life.is_killed)
        self.effects += sum(bool(request.get("took_effect")) for request in trial.log)
        self.unknown += sum(
            bool(entry.data.get("is_unknown")) for entries in trial.journal.values() for entry in entries
        )
        deaths = ", ".join(str(life.death) for life in trial.lives if life.is_killed)
        for finding in found:
            self.broken[finding.law] += 1
            self.examples.append(f"{self.plan} (killed {deaths or 'never'}): {finding}")


def main() -> None:
    options = _options()
    if options.postgres and why_no_postgres() is not None:
        sys.exit(why_no_postgres())
    plans = [plan for plan in PLANS if options.plan in plan.name]
    if not plans:
        sys.exit(f"Expected a part of the name of a plan, found {options.plan!r}: {', '.join(p.name for p in PLANS)}.")
    started = time.monotonic()
    with ExitStack() as stack:
        url = stack.enter_context(running_postgres()).url if options.postgres else None
        laboratory = stack.enter_context(Laboratory(lanes=options.lanes, postgres_url=url))
        rows = [_row(plan, laboratory, options) for plan in plans]
    seconds = time.monotonic() - started
    print(json.dumps(_as_json(rows, options, seconds)) if options.json else _as_text(rows, options, seconds))
    sys.exit(1 if any(row.broken for row in rows) else 0)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Kills processes of runs, and counts what went wrong.")
    parser.add_argument("--plan", default="", help="only plans whose name contains this")
    parser.add_argument("--random", type=int, default=40, metavar="N", help="trials with random deaths, for each plan")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--lanes", type=int, default=2, help="trials at once")
    parser.add_argument("--durability", choices=("process", "machine"), default="process")
    parser.add_argument("--postgres", action="store_true", help="journals in a PostgreSQL server instead of files")
    parser.add_argument("--sabotage", choices=SABOTAGES, help="a wrong recovery, which must be found")
    parser.add_argument("--json", action="store_true")
    return parser.parse_args()


def _row(plan: Plan, laboratory: Laboratory, options: argparse.Namespace) -> Row:
    reference = laboratory.trial(plan, durability=options.durability)
    row = Row(plan=plan.name)
    row.add(reference, findings(reference, reference))
    how = {"durability": options.durability, "sabotage": options.sabotage}
    for trial in laboratory.trials(plan, _deaths(reference, options), **how):
        row.add(trial, findings(trial, reference))
    if not options.json:
        print(f"{plan.name}: {row.trials} trials, {sum(row.kills.values())} kills", file=sys.stderr, flush=True)
    return row


def _deaths(reference: Trial, options: argparse.Namespace) -> Iterator[Deaths]:
    yield from boundaries(reference)
    random = Random(f"{options.seed} {reference.plan.name}")
    for _ in range(options.random):
        yield random_deaths(reference, random)


def _journal(options: argparse.Namespace) -> str:
    return "PostgreSQL" if options.postgres else f"SQLite, durability {options.durability}"


def _moment(death: Death | None) -> str:
    return "time" if death is None else death.moment


def _as_json(rows: list[Row], options: argparse.Namespace, seconds: float) -> dict[str, Any]:
    return {
        "plans": [
            {
                "plan": row.plan,
                "trials": row.trials,
                "processes": row.processes,
                "kills": dict(row.kills),
                "effects": row.effects,
                "outcome_unknown": row.unknown,
                "broken": dict(row.broken),
                "examples": row.examples[:10],
            }
            for row in rows
        ],
        "kills": sum(sum(row.kills.values()) for row in rows),
        "broken": {law: sum(row.broken[law] for row in rows) for law in LAWS},
        "journal": _journal(options),
        "seed": options.seed,
        "sabotage": options.sabotage,
        "seconds": round(seconds, 1),
    }


def _as_text(rows: list[Row], options: argparse.Namespace, seconds: float) -> str:
    head = ["plan", "trials", "processes", *(f"killed: {moment}" for moment in MOMENTS), "effects", "unknown", "broken"]
    lines = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    total = Row(plan="all")
    for row in rows:
        total.trials, total.processes = total.trials + row.trials, total.processes + row.processes
        total.effects, total.unknown = total.effects + row.effects, total.unknown + row.unknown
        total.kills += row.kills
        total.broken += row.broken
        total.examples += row.examples[:3]
    for row in (*rows, total):
        cells = [row.plan, row.trials, row.processes, *(row.kills[moment] for moment in MOMENTS)]
        cells += [row.effects, row.unknown, sum(row.broken.values())]
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    lines += [
        "",
        f"{sum(total.kills.values())} kills in {seconds:.0f} s; {_journal(options)}, seed {options.seed}",
    ]
    lines += [f"{total.broken[law]:4} broken: {meaning}" for law, meaning in LAWS.items()]
    return "\n".join([*lines, "", *total.examples[:20]]).rstrip()


if __name__ == "__main__":
    main()
