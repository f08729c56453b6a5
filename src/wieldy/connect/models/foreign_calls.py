"""Calls into code outside Python, and an end of the program that waits for them.

A thread that comes back from C++ when the interpreter has ended is torn down inside the frames of C++, and that aborts
the process ("FATAL: exception not rethrown"). So the end of the program asks the calls to stop and waits for the last.
Law: once `end` has returned, no call is open and none begins.
"""

from __future__ import annotations

import threading
from collections.abc import Generator
from contextlib import contextmanager

from wieldy.core.errors import ProviderError


class ForeignCalls:
    """The calls that are open in all threads."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._open = 0
        self._is_ending = False

    @property
    def is_ending(self) -> bool:
        """Whether open calls should stop as soon as they can."""
        return self._is_ending

    @contextmanager
    def one(self) -> Generator[None]:
        """A call is open for as long as this is entered.

        Raises:
            ProviderError: The program is ending.
        """
        with self._changed:
            if self._is_ending:
                raise ProviderError("The program is ending, so nothing more is asked of the local model.")
            self._open += 1
        try:
            yield
        finally:
            with self._changed:
                self._open -= 1
                self._changed.notify_all()

    def end(self) -> None:
        """No call is open any more, and none will be."""
        with self._changed:
            self._is_ending = True
            self._changed.wait_for(lambda: not self._open)
