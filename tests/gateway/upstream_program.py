"""A server for tests of the gateway, on the SDK's low level, over standard input and output or HTTP on the loopback.

What it says of its tools stands in a file, which is read for every list: a test changes it as a server changes its
mind. Where that file holds an object, it says the same of prompts and resources. What it hears is written to another,
one JSON value a line.

    python upstream_program.py TOOLS.json HEARD stdio
    python upstream_program.py TOOLS.json HEARD http       writes its port
"""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
from pathlib import Path
from typing import Any

import anyio
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

TOOLS, HEARD = Path(sys.argv[1]), Path(sys.argv[2])


def hear(what: Any) -> None:
    with HEARD.open("a") as file:
        file.write(json.dumps(what) + "\n")


def said() -> dict[str, Any]:
    found = json.loads(TOOLS.read_text())
    return found if isinstance(found, dict) else {"tools": found}


def listing(kind: str) -> Any:
    async def listed(context: Any, params: Any) -> Any:
        return {kind: said()[kind], "ttlMs": 0, "cacheScope": "private", "resultType": "complete"}

    return listed


async def get_prompt(context: Any, params: Any) -> Any:
    hear({"prompt": params.name})
    content = {"type": "text", "text": f"The prompt {params.name}."}
    return {"messages": [{"role": "user", "content": content}], "resultType": "complete"}


async def call_tool(context: Any, params: Any) -> Any:
    arguments = params.arguments or {}
    hear({"tool": params.name, "arguments": arguments})
    if params.name.startswith("die"):
        os.kill(os.getpid(), signal.SIGKILL)
    words = {
        "pid": lambda: str(os.getpid()),
        "headers": lambda: json.dumps(dict(context.request.headers)) if context.request else "none",
        "environment": lambda: os.environ.get(arguments.get("name", ""), "(not set)"),
        "long": lambda: "x" * int(arguments["text"]),
        "refuse": lambda: f"refused with {os.environ.get('CANARY_TOKEN')}",
    }
    text = words.get(params.name, lambda: f"{params.name} {json.dumps(arguments, sort_keys=True)}")()
    data = {"structuredContent": {"data": text}} if params.name == "data" else {}
    return {
        "content": [{"type": "text", "text": text}],
        "isError": params.name == "refuse",
        "resultType": "complete",
        **data,
    }


class Recorder:
    """Writes down what comes in, byte by byte."""

    def __init__(self, app: Any) -> None:
        self._app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            hear({"path": scope["path"], "headers": [[a.decode(), b.decode()] for a, b in scope["headers"]]})

        async def hearing() -> Any:
            message = await receive()
            if message["type"] == "http.request":
                hear(message.get("body", b"").decode())
            return message

        await self._app(scope, hearing, send)


async def serve_stdio(server: Server[Any]) -> None:
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())


def main() -> None:
    """Serve as the command line says."""
    more: dict[str, Any] = {}
    if "prompts" in said():
        more = {"on_list_prompts": listing("prompts"), "on_get_prompt": get_prompt}
        more["on_list_resources"] = listing("resources")
    server: Server[Any] = Server(
        "upstream", version="1", on_list_tools=listing("tools"), on_call_tool=call_tool, **more
    )
    if sys.argv[3] == "stdio":
        anyio.run(serve_stdio, server)
        return
    import uvicorn

    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP) as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()  # whoever reads the port may connect at once
        sys.stdout.write(f"{listening.getsockname()[1]}\n")
        sys.stdout.flush()
        uvicorn.Server(uvicorn.Config(Recorder(server.streamable_http_app()), log_level="error")).run([listening])


if __name__ == "__main__":
    main()
