"""Synchronous code in a worker thread, which nobody can stop: whoever stops waiting for it can leave it to itself.

Law: code that had not begun when it was left never begins, so what is said of it is true. Deliberately not here: what
its end means, and who is told (`late`).
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import anyio.to_thread

if TYPE_CHECKING:
    import anyio


class Returned(NamedTuple):
    """The code came to its end with a value."""

    value: object


class Raised(NamedTuple):
    """The code raised, whatever it was: in a thread, not even an interrupt is anybody else's."""

    error: BaseException


ThreadEnd: TypeAlias = "Returned | Raised"


class ThreadCall:
    """One call of a function in a worker thread.

    Attributes:
        has_begun: Whether the function was called.
        end: How it ended; None before.
    """

    __slots__ = ("_function", "_is_left", "_lock", "_on_end", "end", "has_begun")

    def __init__(self, function: Callable[[], object]) -> None:
        self.has_begun = False
        self.end: ThreadEnd | None = None
        self._function = function
        self._is_left = False
        self._on_end: Callable[[ThreadEnd], None] | None = None
        self._lock = Lock()

    async def run(self, limiter: anyio.CapacityLimiter) -> ThreadEnd:
        """How it ended. Who is cancelled while waiting has left it."""
        try:
            # Abandoned when cancelled, because waiting for a thread that may never end would take the run with it.
            await anyio.to_thread.run_sync(self._work, abandon_on_cancel=True, limiter=limiter)
        finally:
            with self._lock:
                self._is_left = True
        assert self.end is not None
        return self.end

    def when_ended(self, tell: Callable[[ThreadEnd], None]) -> None:
        """`tell` is called once it has ended, in its thread; at once and here, if it has already."""
        with self._lock:
            end = self.end
            if end is None:
                self._on_end = tell
        if end is not None:
            tell(end)

    def _work(self) -> None:
        with self._lock:
            if self._is_left:
                return
            self.has_begun = True
        end = self._ended()
        with self._lock:
            self.end = end
            tell = self._on_end
        if tell is not None:
            tell(end)

    def _ended(self) -> ThreadEnd:
        try:
            return Returned(self._function())
        except BaseException as error:  # handed on as it is: some of these would end the event loop if raised there
            return Raised(error)
