"""Compares our verdicts on tau2's conversations with those of the benchmark's own evaluator.

    python conformance/tau2/agree.py WHEEL [DOMAIN:N...]

Every task of the domains (all four) as it is, and N times with changed calls: an agent and a customer that are scripts
carry the conversation out, our judge reads its journal, and the evaluator the messages that it amounts to. The default
is 2,000 changed ones at least. Where the evaluator ends with an exception, ours has to fail. Exit 1 if there is a
difference.
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import anyio

sys.path.insert(0, str(Path(__file__).resolve().parent))

from changed_tasks import ChangedTasks
from real_evaluator import CRASH, RealEvaluator

from wieldy.evals.cases.case import Attempt
from wieldy.evals.tau2.conversations import run_conversation, scripted_agent, scripted_user
from wieldy.evals.tau2.judging import is_of_user, judge
from wieldy.evals.tau2.package import Domain, load_domain
from wieldy.evals.tau2.worlds import TauWorld
from wieldy.evals.verdicts.calls_seen import parts_of, seen
from wieldy.run.journal import MemoryJournal

DEFAULT = ("mock:20", "telecom:9", "airline:4", "retail:6")


async def conversation(domain: Domain, task: Any, scripts: Any) -> list[Any]:
    """The journals of the runs in which agent and customer do what the scripts' task says."""
    journal = MemoryJournal()
    attempt = Attempt(model=scripted_agent(scripts), journal=journal, metadata={})
    ids = await run_conversation(TauWorld(domain=domain, task=task), attempt, scripted_user(scripts))
    return [journal.read(run_id) for run_id in ids]


def messages_of(domain: Domain, task: Any, runs: list[Any], environment: Any) -> list[Any]:
    """The conversation as the benchmark's messages, with what its environment answers to each call as written."""
    kinds = domain.messages
    state = task.initial_state
    before = [] if state is None else list(state.message_history or [])
    if state is not None:
        environment.set_state(state.initialization_data, state.initialization_actions, before)
    said = list(before)
    for entries in runs:
        who = "user" if is_of_user(entries) else "assistant"
        kind = kinds.UserMessage if who == "user" else kinds.AssistantMessage
        for reply in seen(entries).replies:
            parts = parts_of(reply)
            text = "".join(part["text"] for part in parts if part["type"] == "text")
            calls = [
                kinds.ToolCall(id=part["id"], name=part["name"], arguments=part["arguments"], requestor=who)
                for part in parts
                if part["type"] == "call"
            ]
            said.append(kind(role=who, content=text or None, tool_calls=calls or None))
            said.extend(environment.get_response(call) for call in calls)
    return said


class Comparison:
    """Counts of verdicts compared, and the differences."""

    def __init__(self) -> None:
        self.counts: Counter[tuple[str, str]] = Counter()
        self.outcomes: Counter[str] = Counter()
        self.differences: list[str] = []

    async def compare(self, domain: Domain, real: RealEvaluator, task: Any, kind: str, scripts: Any) -> None:
        """One conversation."""
        runs = await conversation(domain, task, scripts)
        verdict = judge(domain, task, runs).verdict
        ours = "" if verdict.kind == "pass" else verdict.code
        theirs = real.verdict(task, messages_of(domain, task, runs, real.environments()))
        self.counts[domain.name, kind] += 1
        self.outcomes[theirs or "right"] += 1
        if theirs == CRASH and ours:
            return  # a failure with us: what an assertion asks about is not there
        if ours != theirs:
            calls = [(each.requestor, each.name, each.arguments) for each in scripts.evaluation_criteria.actions or ()]
            self.differences.append(
                f"{domain.name}/{task.id}, {kind}: ours {ours or 'right'}, the evaluator {theirs or 'right'}; "
                f"{calls!r:.600}"
            )


async def main(wheel: Path, domains: list[str]) -> int:
    """Prints the table and the differences."""
    comparison = Comparison()
    for wanted in domains:
        name, _, times = wanted.partition(":")
        await _compare_domain(comparison, wheel, load_domain(wheel, name), int(times or 1))
        print(f"{name} done: {comparison.counts.total():,} compared", file=sys.stderr, flush=True)
    for (name, kind), number in sorted(comparison.counts.items()):
        print(f"| {name} | {kind} | {number:,} |")
    print(f"\n{len(comparison.differences)} differences of {comparison.counts.total():,}. The evaluator's verdicts:")
    print(", ".join(f"{outcome} {number:,}" for outcome, number in comparison.outcomes.most_common()))
    for difference in comparison.differences:
        print(f"* {difference}")
    return 1 if comparison.differences else 0


async def _compare_domain(comparison: Comparison, wheel: Path, domain: Domain, times: int) -> None:
    tasks, first = domain.module.get_tasks("base"), _digest(domain)
    changes = ChangedTasks(tasks, seed=20_261_130)
    with tempfile.TemporaryDirectory() as folder:
        real = RealEvaluator(wheel, Path(folder), domain)
        for task in tasks:
            await comparison.compare(domain, real, task, "as it is", task)
        for task, kind in zip(cycle(tasks), islice(cycle(changes.kinds), len(tasks) * times)):
            await comparison.compare(domain, real, task, kind, changes.changed(task, kind))
    assert _digest(domain) == first, "What was done in environments has changed the databases that they share."


def _digest(domain: Domain) -> dict[str, str]:
    return {name: database.get_hash() for name, database in domain.databases.items()}


if __name__ == "__main__":
    sys.exit(anyio.run(main, Path(sys.argv[1]), sys.argv[2:] or list(DEFAULT)))
