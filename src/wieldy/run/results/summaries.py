"""Asks the program's own summariser for a long result; whatever goes wrong there, the result itself is not lost."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread

from wieldy.core.foreign import is_awaitable, plain, traceback_of

if TYPE_CHECKING:
    from wieldy.core.calls import ToolCall
    from wieldy.run.results.rules import ResultRules, Summarise


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """What the summariser said.

    Attributes:
        text: None if it failed.
        detail: Why it did, for the operator.
    """

    text: str | None = None
    detail: str | None = None


async def summarised(call: ToolCall, text: str, rules: ResultRules) -> Summary:
    """The summary of a text that is too long to be shown."""
    if rules.summarise is None:
        return Summary()
    # In a task of its own, where a cancellation is its own, if it does not come from here.
    scope = anyio.CancelScope(deadline=anyio.current_time() + rules.summary_timeout_s)
    asking = asyncio.create_task(_summary(scope, partial(_ask, rules.summarise, call, text), rules.limit_bytes))
    try:
        await asyncio.wait((asking,))
    except BaseException:
        scope.cancel()
        with anyio.CancelScope(shield=True):
            await asyncio.wait((asking,))
        raise
    return asking.result()


async def _summary(scope: anyio.CancelScope, ask: Callable[[], Awaitable[object]], limit_bytes: int) -> Summary:
    why = "TimeoutError: it took too long"
    try:
        with scope:
            return Summary(text=_checked(await ask(), limit_bytes=limit_bytes))
    except BaseException as error:  # the program's own code: a result must not depend on it
        why = traceback_of(error)
    return Summary(detail=f"The summariser failed; the beginning and the end were shown.\n{why}")


async def _ask(summarise: Summarise, call: ToolCall, text: str) -> object:
    if inspect.iscoroutinefunction(summarise):
        return await summarise(call, text)
    # In a thread, because it may well ask a model, and others must not wait for that.
    words: object = await anyio.to_thread.run_sync(partial(summarise, call, text), abandon_on_cancel=True)
    return await words if is_awaitable(words) else words


def _checked(words: object, *, limit_bytes: int) -> str:
    text = plain(words) if isinstance(words, str) else ""
    if not text.strip():
        raise TypeError(f"expected the summary as text that is not empty, found {words!r:.80}")
    size = len(text.encode("utf-8", "replace"))
    if size > limit_bytes:
        raise ValueError(f"expected a summary of at most {limit_bytes} bytes, found {size}")
    return text
