"""What of a gateway the CPU time of a call goes to: a stack is noted whenever so much of it has passed.

    python benchmarks/gateway_shares.py [--calls 2000] [--tool http__echo]

The gateway, its server and its client are those of `gateway.py`. A stack counts for the part that its innermost frame
of a known package belongs to, so what h11 does for the HTTP client is the client's. The kernel looks at timers a few
hundred times a second only: below a thousand stacks the shares say little.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from types import FrameType

import anyio

from gateway import KEY, TOOL, UPSTREAM, Processes, start_gateway, url_of
from peers.gateway_proxies import connected

INTERVAL_S = 0.001
PARTS = {
    "wieldy/run/journal/": "journal",
    "/httpx2/": "HTTP client",
    "/httpcore2/": "HTTP client",
    "/mcp/client/": "MCP client, ours and the SDK's",
    "/mcp/shared/jsonrpc_dispatcher": "MCP client, ours and the SDK's",
    "wieldy/run/": "run, but for its journal",
    "wieldy/connect/serving/": "run, but for its journal",
    "wieldy/gateway/": "gateway: what is offered to whom",
    "wieldy/connect/mcp/server/": "from a request to a call: ours",
    "/mcp/server/": "from a request to a call: the SDK's",
    "/starlette/": "from a request to a call: the SDK's",
}
"""By the first of these that stands in a file's path."""
REST = "HTTP server and event loop"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=2000)
    parser.add_argument("--tool", default="http__echo", help="or stdio__echo, or here__echo, the gateway's own")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, Processes() as processes:
        place = Path(folder)
        (place / "tools.json").write_text(json.dumps([TOOL]))
        program = [sys.executable, str(UPSTREAM), str(place / "tools.json"), os.devnull]
        there = {"http": [url_of(processes.start("server", [*program, "http"]))], "stdio": [*program, "stdio"]}
        found = place / "found.json"
        url = start_gateway(place, processes, there, (__file__, str(found)))
        anyio.run(call, url, options.tool, options.calls, processes.pid_of("gateway"))
        show(json.loads(found.read_text()), options.calls)


async def call(url: str, tool: str, calls: int, gateway: int) -> None:
    async with connected([url], Authorization=f"Bearer {KEY}") as client:
        for wanted, signals in ((calls, signal.SIGUSR1), (1, signal.SIGUSR2)):
            await client.call_tool(tool, {})  # a call is answered only after the signal before it was heard
            os.kill(gateway, signals)
            for _ in range(wanted):
                await client.call_tool(tool, {})


def show(found: dict[str, float], calls: int) -> None:
    spent_s = found.pop("spent_s")
    total = sum(found.values())
    print(f"{spent_s / calls * 1e3:.2f} ms of CPU a call, {total:.0f} stacks")
    for part, count in sorted(found.items(), key=lambda each: -each[1]):
        print(f"{count / total:6.1%}  {part}")


# In the gateway's process


def serve_noting(place: str) -> None:
    """As `wieldy`; between the two signals stacks are noted, and written down with the second."""
    noted: Counter[str] = Counter()
    began_s = 0.0

    def note(number: int, frame: FrameType | None) -> None:
        noted[part_of(frame)] += 1

    def begin(number: int, frame: FrameType | None) -> None:
        nonlocal began_s
        began_s = time.process_time()
        signal.setitimer(signal.ITIMER_PROF, INTERVAL_S, INTERVAL_S)

    def end(number: int, frame: FrameType | None) -> None:
        signal.setitimer(signal.ITIMER_PROF, 0)
        Path(place).write_text(json.dumps({**noted, "spent_s": time.process_time() - began_s}))

    for number, handler in ((signal.SIGPROF, note), (signal.SIGUSR1, begin), (signal.SIGUSR2, end)):
        signal.signal(number, handler)
    from wieldy.apps.cli.main import main as wieldy

    wieldy()


def part_of(frame: FrameType | None) -> str:
    while frame is not None:
        path = frame.f_code.co_filename
        for known, part in PARTS.items():
            if known in path:
                return part
        frame = frame.f_back
    return REST


if __name__ == "__main__":
    if sys.argv[2:3] == ["gateway"]:
        serve_noting(sys.argv.pop(1))
    else:
        main()
