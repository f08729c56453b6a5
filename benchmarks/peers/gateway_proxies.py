"""Proxies that only pass calls on, for `benchmarks/gateway.py` to compare with.

    python benchmarks/peers/gateway_proxies.py KIND URL                a server behind a URL
    python benchmarks/peers/gateway_proxies.py KIND COMMAND [ARG]...   one on standard input and output

`sdk` is the least that can be written with the SDK; `fastmcp` is fastmcp's proxy as its documents have it, `kept` the
same around a client that stays connected. It listens on the loopback and writes its port. It needs nothing of Wieldy,
so that it can run in an environment of fastmcp's own.
"""

from __future__ import annotations

import socket
import sys
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import anyio
import httpx2
import uvicorn
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.server.lowlevel import Server

CONNECTIONS = 200


async def main(kind: str, target: list[str]) -> None:
    async with AsyncExitStack() as stack:
        if kind == "sdk":
            app = proxy_of_sdk(await stack.enter_async_context(connected(target)))
        else:
            app = await proxy_of_fastmcp(target, stack, is_kept=kind == "kept")
        # Without the protocol's number asyncio leaves Nagle's algorithm on, which costs every answer 40 ms.
        listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        listening.bind(("127.0.0.1", 0))
        sys.stdout.write(f"{listening.getsockname()[1]}\n")
        sys.stdout.flush()
        config = uvicorn.Config(app, log_level="error", access_log=False, timeout_graceful_shutdown=3)
        await uvicorn.Server(config).serve([listening])


def proxy_of_sdk(upstream: Client) -> Any:
    async def list_tools(context: Any, params: Any) -> Any:
        del context, params
        return await upstream.list_tools()

    async def call_tool(context: Any, params: Any) -> Any:
        del context
        return await upstream.call_tool(params.name, params.arguments)

    server: Server[Any] = Server("proxy", on_list_tools=list_tools, on_call_tool=call_tool)
    return server.streamable_http_app()


@asynccontextmanager
async def connected(target: list[str], **headers: str) -> AsyncGenerator[Client]:
    """A session to a server behind a URL, or started by a command."""
    if len(target) > 1:
        async with Client(stdio_client(StdioServerParameters(command=target[0], args=target[1:]))) as client:
            yield client
        return
    limits = httpx2.Limits(max_connections=CONNECTIONS, max_keepalive_connections=CONNECTIONS)
    async with (
        httpx2.AsyncClient(headers=headers, limits=limits, timeout=60) as http,
        Client(streamable_http_client(target[0], http_client=http)) as client,
    ):
        yield client


async def proxy_of_fastmcp(target: list[str], stack: AsyncExitStack, *, is_kept: bool) -> Any:
    from fastmcp import Client as Connection
    from fastmcp.client.transports import StdioTransport
    from fastmcp.server import create_proxy

    there: Any = StdioTransport(command=target[0], args=target[1:]) if len(target) > 1 else target[0]
    if is_kept:
        there = await stack.enter_async_context(Connection(there))
    return create_proxy(there, name="proxy").http_app()


if __name__ == "__main__":
    anyio.run(main, sys.argv[1], sys.argv[2:])
