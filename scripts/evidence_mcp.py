"""Measures the MCP client: servers that others wrote, what large results cost, how soon a killed server is back.

    python scripts/evidence_mcp.py [FOLDER]

The servers are installed from the package index, each into an environment of its own below FOLDER (a temporary folder
if left out); those for Node.js are fetched by `fetch_npm_servers.py`. Times are CPU seconds of this process unless they
say otherwise: other work may share the machine.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import anyio
import fetch_npm_servers

import wieldy
from wieldy.tools.cost import token_cost

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = ROOT / "tests" / "connect" / "mcp" / "server_program.py"


async def call(toolset: Any, name: str, **arguments: Any) -> Any:
    tool = toolset.get(name)
    context = wieldy.Context(run_id="evidence", call_id="c", tool_name=name, idempotency_key="")
    return await tool.function(arguments, context)


def installed(package: str, folder: Path) -> None:
    """The package, in an environment of its own."""
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    subprocess.run([str(folder / "bin" / "pip"), "install", "--quiet", package], check=True)


def started(command: list[str]) -> subprocess.Popen[str]:
    """A server, which writes the port on which it listens."""
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


async def real_servers(folder: Path) -> None:
    print("\n## Servers from the package index, over standard input and output\n")
    print("| server | it calls itself | protocol | tools | tokens | notices | a call |\n|---|---|---|---|---|---|---|")
    repository = folder / "repository"
    subprocess.run(["git", "init", "-q", str(repository)], check=True)  # noqa: ASYNC221 - nothing runs beside it
    calls: dict[str, tuple[str, dict[str, Any]]] = {
        "mcp-server-time": (
            "convert_time",
            {"source_timezone": "Europe/Rome", "time": "12:30", "target_timezone": "Asia/Tokyo"},
        ),
        "mcp-server-git": ("git_status", {"repo_path": str(repository)}),
        "mcp-server-fetch": ("fetch", {"url": "http://127.0.0.1:9/"}),
    }
    for package, (tool, arguments) in calls.items():
        python = folder / package
        if not python.exists():
            installed(package, python)
        await shown(package, [str(python / "bin" / package)], tool, arguments)
    await node_servers(folder)


async def node_servers(folder: Path) -> None:
    try:
        fetch_npm_servers.fetch()
    except OSError as error:
        print(f"| servers for Node.js | not measured: {error} |")
        return
    calls: dict[str, tuple[list[str], str, dict[str, Any]]] = {
        "filesystem": ([str(folder)], "list_directory", {"path": str(folder / "repository")}),
        "memory": ([], "search_nodes", {"query": "anything"}),
        "everything": ([], "get-sum", {"a": 19, "b": 23}),
    }
    for name, (options, tool, arguments) in calls.items():
        command = fetch_npm_servers.find(name)
        if command is not None:
            await shown(fetch_npm_servers.SERVERS[name], [*command, *options], tool, arguments)


async def shown(package: str, command: list[str], tool: str, arguments: dict[str, Any]) -> None:
    """A row about a server and one call of it."""
    async with wieldy.connect.mcp(command) as toolset:
        (info,) = toolset.servers.values()
        try:
            said = (await call(toolset, tool, **arguments)).text
        except wieldy.ModelVisibleError as error:
            said = str(error)
        tokens = sum(token_cost(each.definition) for each in toolset)
        print(
            f"| {package} | {info.name} | {info.protocol} | {len(toolset)} | {tokens:,} | {len(toolset.notices)} | "
            f"`{tool}`: {' '.join(said.split())[:90]} |",
            flush=True,
        )


async def large_results() -> None:
    print("\n## Large results\n\n| transport | era | bytes | CPU s of the client |\n|---|---|---|---|")
    for era in ("modern", "legacy"):
        for how in ("stdio", "http"):
            command = [sys.executable, str(PROGRAM), how, *(["0"] if how == "http" else []), "--era", era]
            process = started(command) if how == "http" else None
            try:
                target: Any = command
                if process is not None and process.stdout is not None:
                    target = f"http://127.0.0.1:{int(process.stdout.readline())}/mcp"
                async with wieldy.connect.mcp(target) as toolset:
                    await call(toolset, "echo", text="warm")
                    for size in (2_000_000, 20_000_000):
                        began = time.process_time()
                        result = await call(toolset, "big", size=size)
                        assert len(result.text) == size
                        print(f"| {how} | {era} | {size:,} | {time.process_time() - began:.2f} |", flush=True)
            finally:
                if process is not None:
                    process.kill()
                    process.wait()


async def killed() -> None:
    print("\n## kill -9 between two calls\n")
    print("| attempt | s until the next answer | start of the same server alone, s |\n|---|---|---|")
    command = [sys.executable, str(PROGRAM), "stdio"]
    for attempt in range(1, 4):
        began = time.monotonic()
        async with wieldy.connect.mcp(command) as toolset:
            alone = time.monotonic() - began
            server = int((await call(toolset, "spawn")).text.split()[0])
            os.kill(server, signal.SIGKILL)
            with contextlib.suppress(ChildProcessError):  # it was waited for a moment ago
                os.waitid(os.P_PID, server, os.WEXITED | os.WNOWAIT)  # noqa: ASYNC222
            began = time.monotonic()
            await call(toolset, "echo", text="back")
            print(f"| {attempt} | {time.monotonic() - began:.2f} | {alone:.2f} |", flush=True)


async def overhead() -> None:
    print("\n## What a call costs\n")
    command = [sys.executable, str(PROGRAM), "stdio"]
    async with wieldy.connect.mcp(command) as toolset:
        await call(toolset, "echo", text="warm")
        began, number = time.process_time(), 500
        for _ in range(number):
            await call(toolset, "echo", text="x")
        each = (time.process_time() - began) / number * 1000
        print(f"{each:.2f} ms of the client's CPU time a call, over {number} calls")


async def main(folder: Path) -> None:
    await real_servers(folder)
    await large_results()
    await killed()
    await overhead()


if __name__ == "__main__":
    if len(sys.argv) > 1:
        anyio.run(main, Path(sys.argv[1]))
    else:
        with tempfile.TemporaryDirectory(prefix="wieldy-mcp-") as made:
            anyio.run(main, Path(made))
