"""The one edge at which programs that are not asynchronous wait for a run."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

import anyio

from wieldy.core.errors import UsageError

_T = TypeVar("_T")


def wait_for(work: Callable[[], Awaitable[_T]], *, called: str, instead: str) -> _T:
    """What the work brings, in an event loop of its own.

    Args:
        work: What to wait for.
        called: What the program called, for the error.
        instead: What it can do inside an event loop.

    Raises:
        UsageError: An event loop is running already.
    """
    if _is_in_event_loop():
        raise UsageError(f"`{called}` was called inside a running event loop. Use `await {instead}(...)` there.")
    return anyio.run(work)


def _is_in_event_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
