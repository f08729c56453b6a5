"""A run as it is watched from outside: consumers come between nothing, whatever they do."""

import asyncio
import gc
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

import anyio
import pytest

from wieldy.agent import Agent
from wieldy.core.errors import ProviderError
from wieldy.core.events import CallFinished, CallRunning, RunEvent, RunFinished, TextDelta
from wieldy.run.state import RunState, fold
from wieldy.testing import ScriptedModel, call, text
from wieldy.tools import tool

pytestmark = pytest.mark.anyio


class Endless:
    """A tool that ends only when it is cancelled."""

    def __init__(self) -> None:
        self.has_begun, self.was_cancelled = anyio.Event(), anyio.Event()
        self.tool = tool(self.wait, effect="unsafe")

    async def wait(self) -> str:
        """Waits for ever."""
        self.has_begun.set()
        try:
            await anyio.sleep_forever()
        finally:
            self.was_cancelled.set()
        return "never"


def endless_agent() -> tuple[Agent, Endless]:
    endless = Endless()
    return Agent(ScriptedModel([[call("wait")]]), [endless.tool]), endless


def only_state(agent: Agent) -> RunState:
    [run_id] = agent.journal.run_ids()
    return fold(agent.journal.read(run_id))


async def until_begun(events: AsyncGenerator[RunEvent], endless: Endless) -> None:
    async for event in events:
        if isinstance(event, CallRunning):
            await endless.has_begun.wait()
            return


async def test_events_come_while_the_run_goes_on() -> None:
    is_released = anyio.Event()

    @tool(effect="read")
    async def wait() -> str:
        """Waits until it has been seen to start."""
        with anyio.fail_after(60):
            await is_released.wait()
        return "released"

    seen: list[RunEvent] = []
    async for event in Agent(ScriptedModel([[call("wait")], [text("done")]]), [wait]).stream("Go"):
        seen.append(event)
        if isinstance(event, CallRunning):
            is_released.set()
    [finished] = [event for event in seen if isinstance(event, CallFinished)]
    assert finished.result.content == "released"
    assert "".join(event.text for event in seen if isinstance(event, TextDelta)) == "done"
    assert isinstance(seen[-1], RunFinished)


async def test_a_consumer_that_leaves_early_ends_the_run() -> None:
    agent, endless = endless_agent()
    async with aclosing(agent.stream("Go")) as events:
        await until_begun(events, endless)
    assert endless.was_cancelled.is_set()
    assert only_state(agent).status == "interrupted"


async def test_a_consumer_that_forgets_to_close_ends_the_run_all_the_same() -> None:
    agent, endless = endless_agent()
    async for event in agent.stream("Go"):
        if isinstance(event, CallRunning):
            break
    gc.collect()
    with anyio.fail_after(60):
        await endless.was_cancelled.wait()
        while only_state(agent).status == "running":
            await anyio.lowlevel.checkpoint()
    assert only_state(agent).status == "interrupted"


async def test_a_consumer_with_a_time_limit_of_its_own_ends_the_run_and_only_the_run() -> None:
    agent, endless = endless_agent()
    with anyio.move_on_after(60) as scope:
        async with aclosing(agent.stream("Go")) as events:
            await until_begun(events, endless)
            scope.deadline = anyio.current_time() + 0.05
            async for _ in events:
                pass
    assert scope.cancelled_caught
    assert endless.was_cancelled.is_set()
    assert only_state(agent).status == "interrupted"


async def test_a_time_limit_inside_the_consumer_leaves_the_run_alone() -> None:
    agent = Agent(ScriptedModel([[text("done")]]))
    seen: list[RunEvent] = []
    async for event in agent.stream("Go"):
        seen.append(event)
        with anyio.move_on_after(0):
            await anyio.sleep_forever()
    assert isinstance(seen[-1], RunFinished)


async def test_a_consumer_that_raises_ends_the_run_and_keeps_its_error() -> None:
    agent, endless = endless_agent()

    async def consume() -> None:
        async with aclosing(agent.stream("Go")) as events:
            await until_begun(events, endless)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await consume()
    assert endless.was_cancelled.is_set()


async def test_the_consumers_task_being_cancelled_ends_the_run() -> None:
    agent, endless = endless_agent()
    has_started = asyncio.Event()

    async def consume() -> None:
        async for event in agent.stream("Go"):
            if isinstance(event, CallRunning):
                has_started.set()

    task = asyncio.create_task(consume())
    await asyncio.wait_for(has_started.wait(), 60)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    with anyio.fail_after(60):
        await endless.was_cancelled.wait()


class Failing:
    name = "failing"

    async def stream(self, request: Any) -> AsyncGenerator[Any]:
        yield TextDelta(text="Well, ")
        raise ProviderError("The server burns.")


async def test_what_stops_the_run_is_raised_after_the_events_that_came_before_it() -> None:
    seen: list[RunEvent] = []

    async def consume() -> None:
        async for event in Agent(Failing()).stream("Go"):
            seen.append(event)

    with pytest.raises(ProviderError, match="burns"):
        await consume()
    assert seen[-1] == TextDelta(text="Well, ")


async def test_a_consumer_that_leaves_after_a_failure_it_did_not_see_leaves_nothing_behind() -> None:
    complaints: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda loop, context: complaints.append(context))
    async with aclosing(Agent(Failing()).stream("Go")) as events:
        await anext(events)
        await anyio.wait_all_tasks_blocked()
    del events
    gc.collect()
    assert complaints == []


async def test_a_stream_that_is_never_begun_runs_nothing() -> None:
    agent = Agent(ScriptedModel([[text("done")]]))
    events = agent.stream("Go")
    await events.aclose()
    assert list(agent.journal.run_ids()) == []
