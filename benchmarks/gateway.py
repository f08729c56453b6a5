"""Calls through a gateway beside direct ones: p50 one after the other, and a hundred at once, in ratios of one run.

    python benchmarks/gateway.py [--calls 200] [--rounds 3]

A server over streamable HTTP is called by the SDK's client: directly, and through `wieldy gateway` with a journal in a
file. All are processes on this machine, so CPU time says more than the clock: that of all three is printed as well.
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
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

ROOT = Path(__file__).parents[1]
UPSTREAM = ROOT / "tests" / "gateway" / "upstream_program.py"
KEY = "benchmark-benchmark-key"
TOOL = {"name": "echo", "description": "Say it again.", "inputSchema": {"type": "object"}}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        anyio.run(measure, Path(folder), options.calls, options.rounds)


async def measure(folder: Path, calls: int, rounds: int) -> None:
    (folder / "tools.json").write_text(json.dumps([TOOL]))
    upstream = start([sys.executable, str(UPSTREAM), str(folder / "tools.json"), os.devnull, "http"])
    direct = f"http://127.0.0.1:{int(upstream.stdout.readline())}/mcp"
    config = folder / "gateway.json"
    config.write_text(
        json.dumps(
            {
                "principals": {"bench": {"key": {"env": "BENCH_KEY"}}},
                "mcpServers": {"up": {"url": direct, "pinned": False, "at_once": 100}},
                "journal": str(folder / "calls.db"),
            }
        )
    )
    command = [sys.executable, "-m", "wieldy.apps.cli.main", "gateway", str(config), "--port", "0", "--json"]
    gateway = start(command, BENCH_KEY=KEY)
    try:
        through = json.loads(gateway.stdout.readline())["mcp"]
        await compare(direct, through, (upstream, gateway), calls, rounds)
    finally:
        for process in (gateway, upstream):
            process.terminate()
            process.wait()


async def compare(
    direct: str, through: str, processes: tuple[subprocess.Popen[str], ...], calls: int, rounds: int
) -> None:
    p50: dict[str, list[float]] = {"direct": [], "gateway": []}
    at_once: dict[str, list[float]] = {"direct": [], "gateway": []}
    cpu: dict[str, float] = {"direct": 0.0, "gateway": 0.0}
    ways = {"direct": (direct, "echo"), "gateway": (through, "up__echo")}
    for _ in range(rounds):
        for way, (url, tool) in ways.items():  # in turns, so that what else the machine does meets both
            async with connected(url) as client:
                await client.call_tool(tool, {})
                before = spent(processes)
                p50[way].append(await one_by_one(client, tool, calls))
                cpu[way] += spent(processes) - before
                at_once[way].append(await together(client, tool))
    for name, found in (("p50 of one call", p50), ("100 calls at once", at_once)):
        one, other = (statistics.median(found[way]) for way in ways)
        print(f"{name}: direct {one * 1e3:.1f} ms, gateway {other * 1e3:.1f} ms, ratio {other / one:.2f}")
    one, other = (cpu[way] / (rounds * calls) * 1e3 for way in ways)
    print(f"CPU of all processes a call: direct {one:.1f} ms, gateway {other:.1f} ms, ratio {other / one:.2f}")


async def one_by_one(client: Client, tool: str, calls: int) -> float:
    times: list[float] = []
    for _ in range(calls):
        start_s = time.perf_counter()
        await client.call_tool(tool, {})
        times.append(time.perf_counter() - start_s)
    return statistics.median(times)


async def together(client: Client, tool: str) -> float:
    start_s = time.perf_counter()
    async with anyio.create_task_group() as tasks:
        for _ in range(100):
            tasks.start_soon(client.call_tool, tool, {})
    return time.perf_counter() - start_s


@asynccontextmanager
async def connected(url: str) -> AsyncGenerator[Client]:
    limits = httpx2.Limits(max_connections=200, max_keepalive_connections=200)
    async with (
        httpx2.AsyncClient(headers={"Authorization": f"Bearer {KEY}"}, limits=limits, timeout=60) as http,
        Client(streamable_http_client(url, http_client=http)) as client,
    ):
        yield client


def start(command: list[str], **environment: str) -> subprocess.Popen[str]:
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=os.environ | environment)


def spent(processes: tuple[subprocess.Popen[str], ...]) -> float:
    """CPU seconds of these processes and this one, so far."""
    ticks = os.sysconf("SC_CLK_TCK")
    total = time.process_time()
    for process in processes:
        fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
        total += (int(fields[11]) + int(fields[12])) / ticks
    return total


if __name__ == "__main__":
    main()
