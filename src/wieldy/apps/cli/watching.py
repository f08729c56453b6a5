"""A run of an agent as it goes on: its events to somebody, and what it raises in one piece.

Deliberately not here: which run, and what is said when it ends (`session`).
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import Any, Protocol

import anyio

from wieldy.agent import Agent
from wieldy.apps.cli.failures import note
from wieldy.core.errors import RunError
from wieldy.core.events import CallFinished, RunEvent, RunFinished, RunResult, RunStarted
from wieldy.run.executor import first_of

Begin = Callable[[Agent], AsyncGenerator[RunEvent]]
"""Begins a run of the agent, or goes on with one."""


class View(Protocol):
    """Shows one run to somebody."""

    def show(self, event: RunEvent) -> None:
        """Show one event."""
        ...

    def fail(self, error: BaseException, *, run_id: str | None) -> None:
        """Show that the run could not go on; the sentence on standard error is not its business."""
        ...

    def make_room(self) -> None:
        """Let somebody else print."""
        ...

    def close(self) -> None:
        """The last thing that is called, whatever happened."""
        ...


class Watched:
    """A view that remembers which run it shows, and what became of it."""

    def __init__(self, output: View, run_id: str | None) -> None:
        self.output = output
        self.run_id = run_id
        self.began = False
        self.tool_failed = False
        self.result: RunResult | None = None

    def show(self, event: RunEvent) -> None:
        """Show one event."""
        self.began = True
        match event:
            case RunStarted():
                self.run_id = event.run_id
            case CallFinished() if event.result.layer == "tool":
                self.tool_failed = True
            case RunFinished():
                self.result = event.result
            case _:
                pass
        self.output.show(event)


def watch(agent: Agent, begin: Begin, watched: Watched) -> None:
    """The run has ended or rests, and all of it was shown.

    Raises:
        KeyboardInterrupt: It was interrupted.
        WieldyError: It could not begin or not go on.
    """
    try:
        anyio.run(_stream, agent, begin, watched)
    except BaseException as ended:
        cause = first_of(ended)
        if isinstance(cause, KeyboardInterrupt):
            raise KeyboardInterrupt from ended
        if isinstance(ended, Exception):
            raise
        # The executor keeps what a tool raises away from the run, but not what a task that the tool started does.
        raise RunError(
            f"A task that a tool started raised {type(cause).__name__} and so ended the whole run. Let the tool catch "
            "what its tasks raise."
        ) from ended


async def _stream(agent: Agent, begin: Begin, watched: Watched) -> None:
    def tell(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        del loop
        error = context.get("exception")
        if isinstance(error, Exception):  # anything else has ended the run, and is told there
            watched.output.make_room()
            note(f"Something that a tool left running failed: {type(error).__name__}: {error}")

    # asyncio would print a traceback.
    asyncio.get_running_loop().set_exception_handler(tell)
    async with aclosing(begin(agent)) as events:
        async for event in events:
            watched.show(event)
