"""What isolated Python costs, beside a plain interpreter that isolates nothing, and beside Monty where it is installed.

    python benchmarks/sandbox.py [--python PATH] [--packages numpy pandas] [--image NAME] [--repeats N] [--json]

For each tier that works here: the first result of a worker that is forked when it is asked for (`fresh`) and of one
that was forked before (`prewarmed`), a further run with the same variables (`same`), a call of the host from within the
code and back (`call`), and the memory that a worker does not share with others. Of times the best and the median are
shown: the best is what it costs, the median what a machine with other work makes of it. The plain interpreter is
started anew for every run, with the same packages imported. `durable` is what one call costs that code makes in an
agent, with policy, pipeline and a journal in SQLite; `direct` is the same call where the model makes it itself. Monty
(`pydantic-monty`), a Python of its own for a part of the language, is measured by itself too, without our process
around it, in the interpreter that is given, if it is there; it keeps a pool of processes.
"""

from __future__ import annotations

import argparse
import itertools
import json
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import anyio

from wieldy import Agent, Limits, SqliteJournal, sandbox, tool
from wieldy.agent import CodeRules
from wieldy.core.messages import Message
from wieldy.sandbox import GuestCall, Session, Tier
from wieldy.testing import ScriptedModel, call, text

CALLS = 500
DURABLE_CALLS = 150
PAUSE_S = 0.05  # between runs, in which one worker ends and the next is forked

GOALS = {"fresh": 5.0, "prewarmed": 1.0, "call": 0.060, "private_mb": 3.0}

ROUND_TRIPS = f"""
import time
taken = []
for _ in range({CALLS}):
    began = time.perf_counter()
    call_sync("nothing")
    taken.append(time.perf_counter() - began)
taken
"""

MONTY = """
import json, sys, time
from pydantic_monty import Monty
taken = {"fresh": [], "same": [], "call": []}
def timed(kind, function):
    began = time.perf_counter()
    function()
    taken[kind].append(time.perf_counter() - began)
def nothing():
    return 1
with Monty() as pool:
    def fresh():
        with pool.checkout() as session:
            session.feed_run("1 + 1")
    for _ in range(int(sys.argv[1])):
        timed("fresh", fresh)
    with pool.checkout() as session:
        for _ in range(int(sys.argv[1])):
            timed("same", lambda: session.feed_run("1 + 1"))
        began = time.perf_counter()
        session.feed_run("for i in range(500):\\n    nothing()", external_lookup={"nothing": nothing})
        taken["call"].append((time.perf_counter() - began) / 500)
print(json.dumps(taken))
"""


async def nothing(_call: GuestCall) -> int:
    return 1


async def timed(work: Callable[[], Awaitable[Any]]) -> float:
    began = time.perf_counter()
    await work()
    return time.perf_counter() - began


def private_mb(session: Session) -> float:
    """Memory of the session's worker that it shares with no other process."""
    worker: Any = vars(session)["_worker"]
    rollup = Path(f"/proc/{vars(worker)['_pid']}/smaps_rollup").read_text(encoding="ascii")
    return sum(int(size) for size in re.findall(r"^Private_\w+:\s+(\d+)", rollup, re.MULTILINE)) / 1024


async def measured(tier: str, options: dict[str, Any], repeats: int) -> dict[str, Any]:
    """Times in seconds by what was measured, and the memory of a worker."""
    found: dict[str, Any] = {"fresh": [], "prewarmed": [], "same": []}
    began = time.perf_counter()
    async with sandbox.open(tier, **options) as session:  # type: ignore[arg-type]
        found["open"] = [time.perf_counter() - began]
        await session.run("1 + 1")
        if tier.startswith("jail"):
            found["private_mb"] = private_mb(session)
        for _ in range(repeats):
            found["same"].append(await timed(partial(session.run, "1 + 1")))
        outcome = await session.run(ROUND_TRIPS, call=nothing)
        found["call"] = outcome.value
        for _ in range(repeats):
            await anyio.sleep(PAUSE_S)
            found["prewarmed"].append(await timed(partial(session.run, "1 + 1", fresh=True)))
        for _ in range(repeats):
            await discard_spare(session)
            await anyio.sleep(PAUSE_S)
            found["fresh"].append(await timed(partial(session.run, "1 + 1", fresh=True)))
    return found


async def discard_spare(session: Session) -> None:
    """The session has no worker in reserve, so that the next one is forked when it is asked for."""
    held: Any = vars(session)
    if held["_spare"] is not None:
        await held["_spare"].close()
        held["_spare"] = None


def calling_by_code(messages: Sequence[Message]) -> list[Any]:
    code = f"for n in range({DURABLE_CALLS}):\n    await following(n)"
    return [call("python", {"code": code})] if messages[-1].role != "tool" else [text("end")]


def calling_directly(messages: Sequence[Message]) -> list[Any]:
    done = sum(message.role == "tool" for message in messages)
    return [call("following", {"n": done})] if done < DURABLE_CALLS else [text("end")]


async def durable(tier: str, options: dict[str, Any], repeats: int) -> dict[str, Any]:
    """Times in seconds from one call of a tool to the next, made by code and by the model itself."""
    times: list[float] = []

    @tool(effect="read")
    def following(n: int) -> int:
        """The number that follows."""
        times.append(time.perf_counter())
        return n + 1

    async def run(model: ScriptedModel, **acting: Any) -> list[float]:
        times.clear()
        with tempfile.TemporaryDirectory() as directory:
            journal = SqliteJournal(Path(directory) / "journal.db")
            await Agent(model, [following], journal=journal, limits=Limits(turns=None), **acting).run("Go")
        return [later - earlier for earlier, later in itertools.pairwise(times)]

    found: dict[str, Any] = {"durable": [], "direct": []}
    rules = CodeRules(tier=tier, python=options.get("python"))  # type: ignore[arg-type]
    for _ in range(max(repeats // 10, 2)):
        found["durable"] += await run(ScriptedModel(calling_by_code), actions="code", code=rules)
        found["direct"] += await run(ScriptedModel(calling_directly))
    return found


def plain(python: str | None, packages: list[str], repeats: int) -> dict[str, Any]:
    """A new interpreter for each run, which isolates nothing."""
    code = "".join(f"import {package}\n" for package in packages) + "print(1 + 1)"
    taken: list[float] = []
    for _ in range(max(repeats // 4, 3)):
        began = time.perf_counter()
        subprocess.run([python or sys.executable, "-c", code], check=True, capture_output=True)
        taken.append(time.perf_counter() - began)
    return {"fresh": taken}


def monty(python: str | None, repeats: int) -> dict[str, Any] | None:
    """The same of Monty, or None where it is not installed."""
    command = [python or sys.executable, "-c", MONTY, str(repeats)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    return json.loads(run.stdout) if run.returncode == 0 else None


def summary(found: dict[str, Any]) -> dict[str, Any]:
    """Best and median in milliseconds; memory in megabytes."""
    return {
        name: round(taken, 1)
        if isinstance(taken, float)
        else {"best_ms": round(min(taken) * 1e3, 3), "median_ms": round(statistics.median(taken) * 1e3, 3)}
        for name, taken in found.items()
    }


def show(subject: str, found: dict[str, Any]) -> None:
    print(subject)
    for name, value in found.items():
        goal = f"   goal: {GOALS[name]:g}" if name in GOALS and subject.startswith("jail") else ""
        said = f"{value} MB" if isinstance(value, float) else f"{value['best_ms']} ms, median {value['median_ms']} ms"
        print(f"  {name:12} {said}{goal}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", help="the interpreter that runs the code; by default this one")
    parser.add_argument("--packages", nargs="*", default=[], help="imported before code runs")
    parser.add_argument("--image", help="of containers")
    parser.add_argument("--repeats", type=int, default=40)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    tiers: tuple[Tier, ...] = sandbox.probe(python=options.python, image=options.image)
    found: dict[str, Any] = {"plain interpreter": plain(options.python, options.packages, options.repeats)}
    for tier in tiers:
        if tier.works:
            given = {"python": options.python, "image": options.image}
            given |= {} if tier.name == "monty" else {"packages": options.packages}
            found[tier.name] = anyio.run(partial(measured, tier.name, given, options.repeats))
            if tier.name.startswith("jail"):
                found[tier.name] |= anyio.run(partial(durable, tier.name, given, options.repeats))
    beside = monty(options.python, options.repeats)
    if beside is not None:
        found["Monty by itself"] = beside
    summaries = {subject: summary(taken) for subject, taken in found.items()}
    if options.json:
        print(json.dumps(summaries))
        return
    for subject, each in summaries.items():
        show(subject, each)
    for tier in tiers:
        if not tier.works:
            print(f"{tier.name}: not here: {tier.reason}")


if __name__ == "__main__":
    main()
