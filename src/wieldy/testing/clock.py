"""A clock that moves only when it is told to."""

from __future__ import annotations

from wieldy.core.errors import UsageError


class FakeClock:
    """Stands where a clock is expected, as an object with `now` and `time` or as a function."""

    def __init__(self, start_s: float = 0.0) -> None:
        self._now_s = start_s

    def __call__(self) -> float:
        """The time, in seconds."""
        return self._now_s

    def now(self) -> float:
        """The time, in seconds."""
        return self._now_s

    def time(self) -> float:
        """The time, in seconds."""
        return self._now_s

    def advance(self, seconds: float) -> None:
        """The time is this much later.

        Raises:
            UsageError: It would go backwards.
        """
        if not seconds >= 0:
            raise UsageError(f"Expected the clock to be advanced by at least 0 s, found {seconds!r}.")
        self._now_s += seconds
