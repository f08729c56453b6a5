"""The process that runs the tools, and dies when it is told to.

    python crash_worker.py        reads rounds of jobs, one a line; starts a process for each job; says how each ended

Processes are forked from this one, so that each begins with everything imported. A job is one life of one process: it
begins the run in its journal, or answers what waits for people and goes on with it, and may name a moment at which the
process is killed with SIGKILL: before or after its n-th append, before its n-th transaction is committed, after its
n-th effect, or some time after its start.
"""

from __future__ import annotations

import json
import math
import os
import resource
import select
import signal
import sys
import time
import traceback
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import anyio
import anyio._backends._asyncio  # noqa: F401 - so that no child has to import it
import crash_sabotage
from crash_plans import BY_NAME, Plan
from crash_tools import Outside, tools_of
from effect_client import ask

from wieldy import Agent, CodeRules
from wieldy.core.errors import RunBusyError
from wieldy.core.limits import Limits
from wieldy.core.ports import Draft, Entry, Lease
from wieldy.run import retries
from wieldy.run.journal import SqliteJournal, open_journal
from wieldy.run.policy import Allow, Ask, Decision, Policy, Proposal
from wieldy.testing import ScriptedModel

LIFE_S = 60.0
"""After this time a process is taken to hang."""

Moment = Literal["before", "after", "effect", "commit", "read-only"]


@dataclass(kw_only=True)
class Fate:
    """When the process dies by its own hand, if it does; or when its journal becomes read-only.

    Attributes:
        moment: What is counted; `read-only` counts as `before` does.
        number: At which one, from 1.
        counted: How many there were of each.
    """

    moment: Moment | None = None
    number: int = 0
    counted: dict[str, int] = field(default_factory=lambda: dict.fromkeys(("before", "after", "effect", "commit"), 0))

    def strike(self, moment: Moment) -> None:
        """Such a moment has come."""
        self.counted[moment] += 1
        if moment == self.moment and self.counted[moment] == self.number:
            os.kill(os.getpid(), signal.SIGKILL)
            signal.pause()  # from a thread the signal may take a moment


class Perilous:
    """A journal at whose boundaries the process may die."""

    def __init__(self, inner: Any, fate: Fate) -> None:
        self._inner = inner
        self._fate = fate

    def append(
        self, run_id: str, *drafts: Draft, length: int | None = None, is_intent: bool = False
    ) -> Sequence[Entry]:
        self._fate.strike("before")
        if self._fate.moment == "read-only" and self._fate.counted["before"] == self._fate.number:
            # As if the file system had become read-only: no file can be made so for who has it open.
            self._inner._writer.execute("PRAGMA query_only = 1")
        entries = self._inner.append(run_id, *drafts, length=length, is_intent=is_intent)
        self._fate.strike("after")
        return entries

    def lease(self, run_id: str) -> Lease:
        return self._inner.lease(run_id)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


OUTSIDE = Outside()
TOOLS = tools_of(OUTSIDE)
retries.FIRST_WAIT_S = 0.01  # pyright: ignore[reportAttributeAccessIssue] - half a second costs hundreds of trials minutes


def agent_for(plan: Plan, journal: Any) -> Agent:
    """The agent that follows the plan, its helpers included."""
    helpers = [
        agent_for(helper, journal).as_tool(name, f"Does {helper.name}.") for name, helper in plan.helpers.items()
    ]
    return Agent(
        ScriptedModel(plan.turn),
        [*TOOLS, *helpers],
        journal=journal,
        policy=_policy(plan),
        approver=(lambda request: request.approve(by="tester")) if plan.consent == "at once" else None,
        finish=plan.finish,
        limits=Limits(turns=plan.limit or 20),
        actions="code" if plan.by_code else "calls",
        code=CodeRules(taint=plan.taint) if plan.by_code else None,
    )


def _policy(plan: Plan) -> Policy:
    def decide(proposal: Proposal) -> Decision:
        return Ask("a person must consent") if proposal.tool.name in plan.asked else Allow()

    return decide


def live(job: dict[str, Any]) -> dict[str, Any]:
    """One life: what came of it, if it ends by itself."""
    fate = Fate(**job.get("fate", {}))
    plan = BY_NAME[job["plan"]]
    if "file_limit_bytes" in job:
        resource.setrlimit(resource.RLIMIT_FSIZE, (job["file_limit_bytes"], resource.RLIM_INFINITY))
    inner = open_journal(job["journal"], durability=job.get("durability", "process"))
    if isinstance(inner, SqliteJournal) and inner._writer is not None:
        inner._writer.set_trace_callback(lambda statement: fate.strike("commit") if statement == "COMMIT" else None)
    journal = Perilous(crash_sabotage.sabotaged(inner, job.get("sabotage")), fate)
    OUTSIDE.port, OUTSIDE.world, OUTSIDE.pid = job["port"], job["world"], os.getpid()
    OUTSIDE.after_effect = lambda: fate.strike("effect")
    agent = agent_for(plan, journal)
    runs = list(journal.run_ids())
    if runs:
        for run_id in runs:
            _answer(agent, run_id, grant=plan.grant)
        result = agent.resume_sync(runs[-1])
    else:
        result = agent.run_sync("Go on until all steps are taken.")
    return {"stop_reason": result.stop_reason, "text": result.text, "counted": fate.counted}


def _answer(agent: Agent, run_id: str, *, grant: bool) -> None:
    for request in agent.pending(run_id):
        if grant:
            agent.approve(run_id, request.call_id, by="tester", digest=request.digest)
        else:
            agent.deny(run_id, request.call_id, by="tester", reason="once is enough")


def life_and_death(job: dict[str, Any], report: int) -> None:
    """In the forked process: lives, tells what came of it, and is gone."""
    os.dup2(2, 1)  # standard output belongs to the parent
    try:
        told = live(job)
    except BaseException as error:
        told = {"error": type(error).__name__, "message": str(error), "detail": traceback.format_exc()}
        if isinstance(error, RunBusyError):
            told["holder"] = error.holder
        ask(job["port"], world=job["world"], do="open")  # another process may wait for this one at the gate
    told["pid"] = os.getpid()
    with os.fdopen(report, "w", encoding="utf-8") as pipe:
        json.dump(told, pipe)
    os._exit(0)


@dataclass(kw_only=True)
class Child:
    """A process under way."""

    pid: int
    pipe: int
    dies_at: float
    hangs_at: float
    is_hung: bool = False
    told: bytes = b""

    def kill_if_it_is_time(self, now: float) -> None:
        """Dead if its time is over."""
        if now >= min(self.dies_at, self.hangs_at):
            os.kill(self.pid, signal.SIGKILL)  # it was not waited for yet, so the number is still its own
            self.is_hung = now >= self.hangs_at
            self.dies_at = self.hangs_at = math.inf

    def end(self) -> dict[str, Any]:
        """How it ended, now that its end of the pipe is closed."""
        _, status = os.waitpid(self.pid, 0)
        os.close(self.pipe)
        told = json.loads(self.told) if self.told else None
        is_killed = os.WIFSIGNALED(status)
        return {
            "pid": self.pid,
            "killed": is_killed,
            "hung": self.is_hung,
            "told": None if is_killed else told,
        }


def carry_out(jobs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """How the process of each job ended; all of them began at once."""
    children = [_fork(job) for job in jobs]
    running = {child.pipe: child for child in children}
    while running:
        now = time.monotonic()
        for child in running.values():
            child.kill_if_it_is_time(now)
        next_at = min(min(child.dies_at, child.hangs_at) for child in running.values())
        readable, _, _ = select.select(list(running), [], [], max(0.0, min(next_at - now, LIFE_S)))
        for pipe in readable:
            piece = os.read(pipe, 1 << 16)
            running[pipe].told += piece
            if not piece:
                del running[pipe]
    return [child.end() for child in children]


def _fork(job: dict[str, Any]) -> Child:
    reading, writing = os.pipe()
    started = time.monotonic()
    pid = os.fork()
    if pid == 0:
        life_and_death(job, writing)
    os.close(writing)
    return Child(
        pid=pid,
        pipe=reading,
        dies_at=started + job.get("kill_after_s", math.inf),
        hangs_at=started + LIFE_S,
    )


def main() -> None:
    """Carries out rounds until standard input ends."""
    for line in sys.stdin:
        print(json.dumps(carry_out(json.loads(line))), flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
