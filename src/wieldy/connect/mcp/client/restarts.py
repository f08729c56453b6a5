"""When a server that has ended, or did not start, is started again: a pure decision over when that happened."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Restarts:
    """How often and how soon.

    Attributes:
        limit: So many failures within the window, and it is left alone until the oldest of them has passed.
        window_s: How long a failure counts, in seconds.
        first_wait_s: The wait after the second failure in a row; the first is followed by none. It doubles.
        longest_wait_s: The longest wait.
    """

    limit: int = 5
    window_s: float = 60.0
    first_wait_s: float = 0.1
    longest_wait_s: float = 5.0

    def wait_s(self, failures: Sequence[float], *, now: float) -> float:
        """How long to wait before the next start, in seconds.

        Args:
            failures: When it failed, by a clock that only grows, the oldest first.
            now: By the same clock.
        """
        recent = [moment for moment in failures if now - moment < self.window_s]
        if self.is_exhausted(failures, now=now):
            return recent[-self.limit] + self.window_s - now
        if len(recent) < 2:
            return 0.0
        # Beyond 2 ** 16 it is the longest wait anyway.
        wait_s = min(self.longest_wait_s, self.first_wait_s * 2.0 ** min(len(recent) - 2, 16))
        return max(0.0, recent[-1] + wait_s - now)

    def is_exhausted(self, failures: Sequence[float], *, now: float) -> bool:
        """Whether it is left alone for now, and whoever asks is told so at once."""
        return sum(now - moment < self.window_s for moment in failures) >= self.limit
