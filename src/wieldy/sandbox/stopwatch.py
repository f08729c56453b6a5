"""Time that counts: a stopwatch that can be stopped and go on."""

from __future__ import annotations

import time


class Stopwatch:
    """Seconds that were measured, while it was not stopped."""

    def __init__(self) -> None:
        self._measured_s = 0.0
        self._since: float | None = None

    @property
    def elapsed_s(self) -> float:
        """Up to now."""
        return self._measured_s + (0.0 if self._since is None else time.monotonic() - self._since)

    def go_on(self) -> None:
        """Time counts from now on."""
        if self._since is None:
            self._since = time.monotonic()

    def stop(self) -> None:
        """Time counts no more."""
        self._measured_s = self.elapsed_s
        self._since = None
