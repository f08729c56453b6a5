"""What the runtime costs, beside a hand-written loop, pydantic-ai and openai-agents, in one run on one machine.

    python benchmarks/runtime.py [--peers] [--only NAME] [--postgres URL] [--json]

Every subject is measured by the same code (`runtimes/measuring.py`) in a process of its own, with a model in that
process that costs next to nothing. With `--peers` the other libraries are installed, in their newest versions, into an
environment of their own (`.benchmarks/peers`); without it they are measured if that environment is there. PostgreSQL is
measured if its server is installed, or at the URL that is given. CPU time is that of the whole process, the best of
several runs; in brackets: how many times that of the hand-written loop.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
PEERS_PYTHON = ROOT / ".benchmarks" / "peers" / "bin" / "python"
PEER_PACKAGES = ("pydantic-ai-slim", "openai-agents")

OURS = "wieldy_agent"
YARDSTICK = "hand_written"
PEERS = ("pydantic_ai_agent", "openai_agents_agent")

Found = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal:
    """What Wieldy must keep."""

    what: str
    found: float
    most: float
    unit: str

    @property
    def is_kept(self) -> bool:
        """Whether it does."""
        return self.found <= self.most


def main() -> None:
    options = _options()
    if options.peers:
        install_peers()
    subjects = [name for name in (OURS, YARDSTICK, *PEERS) if options.only in (None, name)]
    with postgres_url(options.postgres) as url:
        found = {name: result for name in subjects if (result := measure(name, url)) is not None}
    goals = goals_of(found[OURS]) if OURS in found else []
    if options.json:
        kept = [{"what": g.what, "found": g.found, "most": g.most, "unit": g.unit, "kept": g.is_kept} for g in goals]
        print(json.dumps({"subjects": found, "goals": kept}))
    else:
        print_all(list(found.values()), goals)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="What the runtime costs, beside others.")
    parser.add_argument("--peers", action="store_true", help="install the newest pydantic-ai and openai-agents first")
    parser.add_argument("--only", choices=(OURS, YARDSTICK, *PEERS), help="measure one subject alone")
    parser.add_argument("--postgres", metavar="URL", help="a server to measure; one of our own is started without it")
    parser.add_argument("--json", action="store_true", help="everything that was found, as one JSON object")
    return parser.parse_args()


def install_peers() -> None:
    """The newest versions are in their environment."""
    if not PEERS_PYTHON.exists():
        subprocess.run([sys.executable, "-m", "venv", str(PEERS_PYTHON.parent.parent)], check=True)
    pip = [str(PEERS_PYTHON), "-m", "pip", "--disable-pip-version-check", "--no-input", "--quiet"]
    subprocess.run([*pip, "install", "--upgrade", *PEER_PACKAGES], check=True, stdin=subprocess.DEVNULL)


@contextmanager
def postgres_url(given: str | None) -> Iterator[str | None]:
    """The URL of a server; None where there is none."""
    if given is not None:
        yield given
        return
    sys.path.insert(0, str(ROOT / "scripts"))
    import services

    if services.why_no_postgres() is not None:
        yield None
        return
    with services.running_postgres() as server:
        yield server.url


def measure(name: str, postgres: str | None) -> Found | None:
    """What one subject costs; None if its environment is not there."""
    python = str(PEERS_PYTHON) if name in PEERS else sys.executable
    if name in PEERS and not PEERS_PYTHON.exists():
        print(f"{name}: left out; `--peers` installs it.", file=sys.stderr)
        return None
    print(f"{name} ...", file=sys.stderr, flush=True)
    command = [python, "-m", "runtimes.measuring", name]
    if postgres is not None:
        command += ["--postgres", postgres]
    # Nothing of one environment may be seen in another.
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    finished = subprocess.run(
        command, cwd=HERE, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, check=True
    )
    return json.loads(finished.stdout)


def goals_of(ours: Found) -> list[Goal]:
    """Each goal with what was found."""
    turns = list(ours["turn_us"].values())
    appends = {name: store["append_cpu_us"] for name, store in ours["stores"].items() if "append_cpu_us" in store}
    goals = [
        Goal(what="a turn with one call, the dearest history", found=max(turns), most=100, unit="µs"),
        Goal(what="the same at 10,000 messages, to that at 50", found=turns[-1] / turns[0], most=1.2, unit="times"),
        Goal(what="100 parallel calls", found=ours["parallel_ms"], most=5, unit="ms"),
        Goal(what="waiting for three, to the longest", found=ours["waiting"]["ratio"], most=1.02, unit="times"),
        Goal(what="import, all that an agent needs", found=max(ours["import_s"].values()), most=0.3, unit="s"),
    ]
    return goals + [
        Goal(what=f"an append: {name}", found=found, most=50, unit="µs")
        for name, found in appends.items()
        if name != "PostgreSQL"  # its work is done elsewhere
    ]


def print_all(subjects: list[Found], goals: list[Goal]) -> None:
    width = 34
    print(f"{'':<{width}}" + "".join(f"{_title(subject):>24}" for subject in subjects))
    for label, unit, values in _rows(subjects):
        yardstick = dict(zip((subject["name"] for subject in subjects), values, strict=True)).get("hand-written")
        print(f"{label + ', ' + unit:<{width}}" + "".join(f"{_cell(value, yardstick):>24}" for value in values))
    for subject in subjects:
        _print_stores(subject)
    print()
    for goal in goals:
        said = "kept  " if goal.is_kept else "MISSED"
        print(f"{said} {goal.what:<58}{goal.found:>10.3f} {goal.unit:<6} (at most {goal.most:g})")


def _title(subject: Found) -> str:
    return f"{subject['name']} {subject['version']}".strip()


def _rows(subjects: list[Found]) -> Iterator[tuple[str, str, list[float]]]:
    for length in subjects[0]["turn_us"]:
        yield f"turn, {int(length):,} messages", "µs", [subject["turn_us"][length] for subject in subjects]
    yield "turn, tool in a thread", "µs", [subject["turn_in_thread_us"] for subject in subjects]
    yield "100 calls at once", "ms", [subject["parallel_ms"] for subject in subjects]
    yield "100 calls in threads", "ms", [subject["parallel_in_threads_ms"] for subject in subjects]
    for length in subjects[0]["run_without_calls_ms"]:
        costs = [subject["run_without_calls_ms"][length] for subject in subjects]
        yield f"run, no call, {int(length):,} messages", "ms", costs
    yield "waiting for three, to the longest", "x", [subject["waiting"]["ratio"] for subject in subjects]
    yield "import", "s", [max(subject["import_s"].values()) for subject in subjects]


def _cell(value: float, yardstick: float | None) -> str:
    said = f"{value:,.3f}" if value < 10 else f"{value:,.1f}"
    return f"{said} ({value / yardstick:,.1f}x)" if yardstick else said


def _print_stores(subject: Found) -> None:
    for name, store in subject["stores"].items():
        said = [f"turn with 1 kB {store['turn_cpu_us']:,.0f} µs CPU, {store['turn_wall_us']:,.0f} µs in all"]
        if "append_cpu_us" in store:
            said.append(f"append {store['append_cpu_us']:,.1f} µs CPU, {store['append_wall_us']:,.1f} µs in all")
        if "disk_per_turn_bytes" in store:
            disk, long = store["disk_per_turn_bytes"], store["disk_per_turn_of_long_run_bytes"]
            said.append(f"disk per turn {disk:,.0f} bytes, of a run four times as long {long:,.0f}")
        print(f"\n{subject['name']}, {name}:\n  " + "\n  ".join(said))


if __name__ == "__main__":
    main()
