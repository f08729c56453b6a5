"""Calls through a gateway beside direct ones: p50 one after the other, and a hundred at once, in ratios of one run.

    python benchmarks/gateway.py [--calls 200] [--rounds 3]

A server over streamable HTTP is called by the SDK's client: directly, and through `wieldy gateway` with a journal in a
file. All are processes on this machine, so CPU time says more than the clock: that of each is printed as well. A tool
in the gateway's own process is called too, which costs what the gateway does itself.
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
FUNCTION = """
from wieldy import tool

@tool(effect="read")
async def echo() -> str:
    "Say it again."
    return "echo {}"
"""
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
    (folder / "here.py").write_text(FUNCTION)
    config = folder / "gateway.json"
    config.write_text(
        json.dumps(
            {
                "principals": {"bench": {"key": {"env": "BENCH_KEY"}}},
                "functions": {"here": {"file": "here.py", "pinned": False}},
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
    ways = {"direct": (direct, "echo"), "gateway": (through, "up__echo"), "own tool": (through, "here__echo")}
    p50: dict[str, list[float]] = {way: [] for way in ways}
    at_once: dict[str, list[float]] = {way: [] for way in ways}
    cpu = {way: [0.0, 0.0, 0.0] for way in ways}
    for _ in range(rounds):
        for way, (url, tool) in ways.items():  # in turns, so that what else the machine does meets all
            async with connected(url) as client:
                await client.call_tool(tool, {})
                before = spent(processes)
                p50[way].append(await one_by_one(client, tool, calls))
                cpu[way] = [sum_ + a - b for sum_, a, b in zip(cpu[way], spent(processes), before, strict=True)]
                at_once[way].append(await together(client, tool))
    for name, found in (("p50 of one call", p50), ("100 calls at once", at_once)):
        print(f"{name}: {shown({way: statistics.median(times) * 1e3 for way, times in found.items()})}")
    print(f"CPU of all processes a call: {shown({way: sum(cpu[way]) / (rounds * calls) * 1e3 for way in ways})}")
    for way in ways:
        client_ms, server_ms, gateway_ms = (each / (rounds * calls) * 1e3 for each in cpu[way])
        print(f"  {way}: client {client_ms:.1f} ms, server {server_ms:.1f} ms, gateway {gateway_ms:.1f} ms")


def shown(found: dict[str, float]) -> str:
    return ", ".join(f"{way} {ms:.1f} ms ({ms / found['direct']:.2f})" for way, ms in found.items())


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


def spent(processes: tuple[subprocess.Popen[str], ...]) -> list[float]:
    """CPU seconds of this process and of these, so far."""
    ticks = os.sysconf("SC_CLK_TCK")
    found = [time.process_time()]
    for process in processes:
        fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
        found.append((int(fields[11]) + int(fields[12])) / ticks)
    return found


if __name__ == "__main__":
    main()
