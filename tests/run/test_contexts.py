"""A coroutine in a context of its own behaves as if it were awaited where it stands, but for what it sets."""

from __future__ import annotations

import asyncio
import contextvars

import anyio
import pytest

from wieldy.run.contexts import within

pytestmark = pytest.mark.anyio

VARIABLE: contextvars.ContextVar[str] = contextvars.ContextVar("variable", default="unset")


async def test_it_returns_and_raises_what_the_coroutine_does() -> None:
    async def work(fails: bool) -> str:
        await anyio.lowlevel.checkpoint()
        if fails:
            raise ValueError("failed")
        return "done"

    assert await within(contextvars.copy_context(), work(False)) == "done"
    with pytest.raises(ValueError, match="failed"):
        await within(contextvars.copy_context(), work(True))


async def test_what_is_set_inside_is_seen_inside_only() -> None:
    async def work() -> str:
        VARIABLE.set("inside")
        await anyio.lowlevel.checkpoint()
        return VARIABLE.get()

    assert await within(contextvars.copy_context(), work()) == "inside"
    assert VARIABLE.get() == "unset"


async def test_it_is_the_same_task_so_limits_and_cancellation_reach_it() -> None:
    was_stopped: list[bool] = []

    async def work(task: asyncio.Task[object] | None) -> None:
        assert asyncio.current_task() is task
        with anyio.move_on_after(0):
            await anyio.sleep_forever()
        asyncio.get_running_loop().call_soon(scope.cancel)
        try:
            await anyio.sleep_forever()
        except asyncio.CancelledError:
            was_stopped.append(True)
            raise

    with anyio.CancelScope() as scope:
        await within(contextvars.copy_context(), work(asyncio.current_task()))
    assert was_stopped == [True]


async def test_a_coroutine_that_swallows_a_cancellation_goes_on() -> None:
    async def work() -> str:
        try:
            await anyio.sleep_forever()
        except asyncio.CancelledError:
            await asyncio.sleep(0)
            return "went on"
        return "never"

    async def outer() -> str:
        return await within(contextvars.copy_context(), work())

    task = asyncio.create_task(outer())
    await asyncio.sleep(0)
    task.cancel()
    assert await task == "went on"


def test_what_is_thrown_away_is_closed() -> None:
    closed: list[bool] = []

    class Never:
        def __await__(self) -> object:
            yield

    async def work() -> None:
        try:
            await Never()  # type: ignore[misc]
        finally:
            closed.append(True)

    async def outer() -> None:
        await within(contextvars.copy_context(), work())

    coroutine = outer()
    coroutine.send(None)
    coroutine.close()
    assert closed == [True]
