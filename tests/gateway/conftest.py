"""A gateway in this process, with servers in processes of their own behind it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp_types", reason="version 2 of the MCP library is not installed")

from wieldy.core.calls import ToolResult
from wieldy.gateway.gateway import Gateway

sys.path.insert(0, str(Path(__file__).parent))  # the modules that these tests share; there are no packages in tests

from gateway_world import World, principal


@pytest.fixture
def world(tmp_path: Path, forked_wieldy: tuple[str, ...]) -> Iterator[World]:
    made = World(tmp_path, forked_wieldy)
    yield made
    made.close()


@pytest.fixture
def call() -> Callable[..., Any]:
    """Calls a tool on behalf of a principal."""

    async def call_tool(gateway: Gateway, who: str, name: str, /, **arguments: Any) -> ToolResult:
        return await gateway.call(name, arguments, principal=principal(gateway, who))

    return call_tool
