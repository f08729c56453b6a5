"""Calls through a gateway beside direct ones: p50 one after the other, and a hundred at once, in ratios of one run.

    python benchmarks/gateway.py [--calls 200] [--rounds 3] [--fastmcp PYTHON]

A server is called by the SDK's client: directly, through a proxy that does nothing but pass calls on (the least that
anything with the SDK costs), and through `wieldy gateway` with a journal in a file. The server is reached over
streamable HTTP, and over standard input and output. A tool in the gateway's own process is called too. With the Python
of an environment that has fastmcp, its proxy is measured as well: as its documents have it, and with one session kept.
All are processes on this machine, so CPU time says more than the clock: that of each is printed as well.

The same request and the same answer cost the client and the server more CPU if they have rested before: caches are
cold then. Calls that follow one another directly do not rest, and behind a proxy both sides do. So direct calls with a
pause before each are measured too: what a way costs beside those is its own.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import anyio
from mcp import Client

from peers.gateway_proxies import connected

ROOT = Path(__file__).parents[1]
UPSTREAM = ROOT / "tests" / "gateway" / "upstream_program.py"
PEERS = Path(__file__).parent / "peers" / "gateway_proxies.py"
KEY = "benchmark-benchmark-key"
FUNCTION = """
from wieldy import tool

@tool(effect="read")
async def echo() -> str:
    "Say it again."
    return "echo {}"
"""
TOOL = {"name": "echo", "description": "Say it again.", "inputSchema": {"type": "object"}}
AT_ONCE = 100
PAUSE_S = 0.005
"""About as long as a proxy and the machine's switching take: so long client and server rest behind one."""


@dataclass
class Way:
    """A way to the tool, and what was found of it in each round: seconds, and seconds of CPU of a call by process."""

    name: str
    target: list[str]
    tool: str = "echo"
    pause_s: float = 0.0
    p50: list[float] = field(default_factory=list)
    at_once: list[float] = field(default_factory=list)
    cpu: list[dict[str, float]] = field(default_factory=list)
    cpu_at_once: list[float] = field(default_factory=list)

    def cpu_of(self, part: str) -> float:
        return statistics.median(spent.get(part, 0.0) for spent in self.cpu)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--fastmcp", help="the Python of an environment with fastmcp")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, Processes() as processes:
        for title, ways in ways_to_call(Path(folder), processes, options.fastmcp).items():
            for _ in range(options.rounds):
                for way in ways:  # in turns, so that what else the machine does meets all
                    anyio.run(measure, way, processes, options.calls)
            show(title, ways)


def ways_to_call(folder: Path, processes: Processes, fastmcp: str | None) -> dict[str, list[Way]]:
    (folder / "tools.json").write_text(json.dumps([TOOL]))
    program = [sys.executable, str(UPSTREAM), str(folder / "tools.json"), os.devnull]
    there = {"http": [url_of(processes.start("server", [*program, "http"]))], "stdio": [*program, "stdio"]}
    gateway = start_gateway(folder, processes, there)
    found: dict[str, list[Way]] = {}
    for how, target in there.items():
        ways = [Way("direct", target), Way("direct, rested", target, pause_s=PAUSE_S)]
        for kind, python in (("sdk", sys.executable), ("fastmcp", fastmcp), ("kept", fastmcp)):
            if python is not None:
                line = processes.start("proxy", [python, str(PEERS), kind, *target])
                ways.append(Way(f"{kind} proxy", [url_of(line)]))
        ways.append(Way("gateway", [gateway], f"{how}__echo"))
        if how == "http":
            ways.append(Way("own tool", [gateway], "here__echo"))
        found[f"server over {how}"] = ways
    return found


def start_gateway(
    folder: Path,
    processes: Processes,
    there: dict[str, list[str]],
    program: tuple[str, ...] = ("-m", "wieldy.apps.cli.main"),
) -> str:
    (folder / "here.py").write_text(FUNCTION)
    over_stdio = {"command": there["stdio"][0], "args": there["stdio"][1:]}
    servers = {"http": {"url": there["http"][0]}, "stdio": over_stdio}
    config = {
        "principals": {"bench": {"key": {"env": "BENCH_KEY"}}},
        "functions": {"here": {"file": "here.py", "pinned": False}},
        "mcpServers": {name: {**entry, "pinned": False, "at_once": AT_ONCE} for name, entry in servers.items()},
        "journal": str(folder / "calls.db"),
    }
    (folder / "gateway.json").write_text(json.dumps(config))
    command = [sys.executable, *program, "gateway", str(folder / "gateway.json"), "--json"]
    return json.loads(processes.start("gateway", [*command, "--port", "0"], BENCH_KEY=KEY))["mcp"]


def url_of(port: str) -> str:
    return f"http://127.0.0.1:{int(port)}/mcp"


async def measure(way: Way, processes: Processes, calls: int) -> None:
    async with connected(way.target, Authorization=f"Bearer {KEY}") as client:
        await client.call_tool(way.tool, {})
        with processes.spending() as spent:
            way.p50.append(await one_by_one(client, way, calls))
        way.cpu.append({part: seconds / calls for part, seconds in spent.items()})
        with processes.spending() as spent:
            way.at_once.append(await together(client, way.tool))
        way.cpu_at_once.append(sum(spent.values()) / AT_ONCE)


async def one_by_one(client: Client, way: Way, calls: int) -> float:
    times: list[float] = []
    for _ in range(calls):
        time.sleep(way.pause_s)  # noqa: ASYNC251 - nothing else is to go on, and the loop's own sleep would cost CPU
        start_s = time.perf_counter()
        await client.call_tool(way.tool, {})
        times.append(time.perf_counter() - start_s)
    return statistics.median(times)


async def together(client: Client, tool: str) -> float:
    start_s = time.perf_counter()
    async with anyio.create_task_group() as tasks:
        for _ in range(AT_ONCE):
            tasks.start_soon(client.call_tool, tool, {})
    return time.perf_counter() - start_s


def show(title: str, ways: list[Way]) -> None:
    print(f"\n{title}: milliseconds, medians of the rounds, and in brackets times direct")
    parts = [part for part in ("client", "proxy", "gateway", "server") if any(way.cpu_of(part) for way in ways)]
    columns = [
        "p50 of a call",
        "CPU of a call",
        f"{AT_ONCE} at once",
        "CPU of each",
        *(f"CPU {part}" for part in parts),
    ]
    print(f"{'way':<14}" + "".join(f"{column:>18}" for column in columns))
    direct: list[float] = []
    for way in ways:
        found = [
            statistics.median(way.p50),
            statistics.median(sum(spent.values()) for spent in way.cpu),
            statistics.median(way.at_once),
            statistics.median(way.cpu_at_once),
        ]
        direct = direct or found
        shown = [f"{seconds * 1e3:.2f} ({seconds / base:.2f})" for seconds, base in zip(found, direct, strict=True)]
        shown += [f"{way.cpu_of(part) * 1e3:.2f}" for part in parts]
        print(f"{way.name:<14}" + "".join(f"{each:>18}" for each in shown), flush=True)


class Processes:
    """What was started, by the part that it plays, and the CPU time of each."""

    def __init__(self) -> None:
        self._started: list[tuple[str, subprocess.Popen[str]]] = []
        self._said = tempfile.TemporaryFile("w+")  # noqa: SIM115 - closed on leaving; shown if one does not start

    def __enter__(self) -> Processes:
        return self

    def __exit__(self, *_: object) -> None:
        for _part, process in self._started:
            process.terminate()
            process.wait()
        self._said.close()

    def start(self, part: str, command: list[str], **environment: str) -> str:
        """The first line that it writes: it is ready then."""
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=self._said, text=True, env=os.environ | environment
        )
        self._started.append((part, process))
        assert process.stdout is not None
        line = process.stdout.readline()
        if not line:
            process.wait()
            self._said.seek(0)
            raise SystemExit(f"{' '.join(command)} did not start: {self._said.read()}")
        return line

    def pid_of(self, part: str) -> int:
        """Of the first that plays this part."""
        return next(process.pid for played, process in self._started if played == part)

    @contextmanager
    def spending(self) -> Generator[dict[str, float]]:
        """Seconds of CPU that were spent within, by part; a process that one of them has started is the server."""
        before, spent = self._spent(), dict[str, float]()
        yield spent
        spent |= {part: seconds - before.get(part, 0.0) for part, seconds in self._spent().items()}

    def _spent(self) -> dict[str, float]:
        found = {"client": time.process_time(), "server": 0.0}
        known = {process.pid: part for part, process in self._started}
        for pid, part in known.items():
            found[part] = found.get(part, 0.0) + cpu_of(pid)
        for pid in (os.getpid(), *known):
            found["server"] += sum(cpu_of(child) for child in children_of(pid) if child not in known)
        return found


def cpu_of(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def children_of(pid: int) -> list[int]:
    return [
        int(child) for task in Path(f"/proc/{pid}/task").iterdir() for child in (task / "children").read_text().split()
    ]


if __name__ == "__main__":
    main()
