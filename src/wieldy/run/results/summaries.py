"""Asks the program's own summariser for a long result; whatever goes wrong there, the result itself is not lost."""

from __future__ import annotations

import inspect
import traceback
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread

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
    try:
        with anyio.fail_after(rules.summary_timeout_s):
            words = await _ask(rules.summarise, call, text)
        _check(words, limit_bytes=rules.limit_bytes)
    except Exception:  # the program's own code: a result must not depend on it
        return Summary(detail=f"The summariser failed; the beginning and the end were shown.\n{traceback.format_exc()}")
    return Summary(text=words)


async def _ask(summarise: Summarise, call: ToolCall, text: str) -> str:
    if inspect.iscoroutinefunction(summarise):
        return await summarise(call, text)
    # In a thread, because it may well ask a model, and others must not wait for that.
    words = await anyio.to_thread.run_sync(partial(summarise, call, text), abandon_on_cancel=True)
    return await words if inspect.isawaitable(words) else words


def _check(words: object, *, limit_bytes: int) -> None:
    if not isinstance(words, str) or not words.strip():
        raise TypeError(f"expected the summary as text that is not empty, found {words!r:.80}")
    size = len(words.encode("utf-8", "replace"))
    if size > limit_bytes:
        raise ValueError(f"expected a summary of at most {limit_bytes} bytes, found {size}")
