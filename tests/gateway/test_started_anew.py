"""A server behind a URL is started anew and says something else: nobody tells, and no connection shows it."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest
import uvicorn
from anyio.abc import TaskStatus
from gateway_world import accept_all

from wieldy import tool
from wieldy.connect import mcp, mcp_server
from wieldy.connect.serving.listening import listening

pytestmark = pytest.mark.anyio
BOUND_S = 30


class Program:
    """A server on the loopback, in this process."""

    def __init__(self) -> None:
        self.port = 0
        self._running: uvicorn.Server | None = None
        self._ended = anyio.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/mcp"

    async def run(self, description: str, *, task_status: TaskStatus[None]) -> None:
        """It says this of its tool, under the same address each time."""

        @tool(description=description, effect="read")
        def echo() -> str:
            return description

        with listening(port=self.port) as place:
            self.port = place.getsockname()[1]
            config = uvicorn.Config(mcp_server(echo).asgi(), log_level="critical", timeout_graceful_shutdown=0)
            self._running, self._ended = uvicorn.Server(config), anyio.Event()
            task_status.started()
            await self._running.serve([place])
            self._ended.set()

    async def end(self) -> None:
        """It ends at once, whatever is open."""
        assert self._running is not None
        self._running.should_exit = self._running.force_exit = True
        await self._ended.wait()


@asynccontextmanager
async def started(description: str) -> AsyncGenerator[tuple[Program, Any]]:
    program = Program()
    async with anyio.create_task_group() as tasks:
        await tasks.start(program.run, description)
        yield program, tasks
        await program.end()


async def test_its_tools_are_not_callable_until_they_are_accepted_again(world: Any, call: Any) -> None:
    async with (
        started("Say one.") as (program, tasks),
        world.opened(mcpServers={"one": {"url": program.url}}) as gateway,
    ):
        assert (await call(gateway, "anna", "one__echo")).content == "Say one."
        await program.end()
        await tasks.start(program.run, "Say two.")
        with anyio.fail_after(BOUND_S):
            while not (refused := await call(gateway, "anna", "one__echo")).is_error:
                """Until the end of the first one is noticed."""
        assert "was not run" in refused.content
        (state,) = [each.state for each in gateway.catalogue.listed("anna")]
        assert state == "changed"
        accept_all(gateway)
        assert (await call(gateway, "anna", "one__echo")).content == "Say two."


async def test_whoever_keeps_its_tools_hears_of_it_without_calling_one() -> None:
    heard = anyio.Event()
    async with started("Say one.") as (program, tasks), mcp(program.url, on_notice=lambda _: heard.set()) as toolset:
        await program.end()
        await tasks.start(program.run, "Say two.")
        with anyio.fail_after(BOUND_S):
            await heard.wait()
        assert "describes the tool differently" in str(toolset.notices[0])
