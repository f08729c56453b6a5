"""A run as a stream of events that can be watched from outside.

The run goes on in a task of its own, from its first step to its last, and only events cross over: so a consumer may
wait, set time limits of its own or leave early without getting between the run and its open connections. Leaving early
ends the run.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable

import anyio

from wieldy.core.events import RunEvent
from wieldy.run.loop import Emit


async def events_of(work: Callable[[Emit], Awaitable[object]]) -> AsyncGenerator[RunEvent]:
    """The events that `work` emits, as they come; at the end whatever it raised is raised.

    Args:
        work: A function that runs something and hands its events to what it is given.
    """
    queue: asyncio.Queue[RunEvent | None] = asyncio.Queue()

    async def host() -> None:
        try:
            await work(queue.put_nowait)
        finally:
            queue.put_nowait(None)

    # Not a task group: a generator that stops in the middle of one would tie the consumer's cancellation to the run's,
    # and break when the garbage collector closes it from another task.
    task = asyncio.create_task(host(), name="wieldy run")
    try:
        while (event := await queue.get()) is not None:
            yield event
        await task
    finally:
        task.cancel()
        with anyio.CancelScope(shield=True):
            await asyncio.wait([task])
        if not task.cancelled():
            task.exception()  # looked at, so that asyncio does not report it as forgotten
