"""The time that code sees."""

from __future__ import annotations

import datetime
import threading
import time
from typing import Any


class Clock:
    """Stands at a time, and moves by what code waits for and by what the host says; or is the real one."""

    def __init__(self) -> None:
        self._now: float | None = None

    def stand_at(self, now: float | None) -> None:
        """It is that time, or the real one with None."""
        self._now = now

    def time(self) -> float:
        """Seconds since 1970."""
        return time.time() if self._now is None else self._now

    def datetime(self, zone: Any) -> datetime.datetime:
        """The same, in the zone; without one as UTC has it."""
        now = datetime.datetime.fromtimestamp(self.time(), zone or datetime.UTC)
        return now if zone else now.replace(tzinfo=None)

    def move(self, now: float | None) -> None:
        """It is that time, if the clock stands and that is later."""
        if now is not None and self._now is not None:
            self._now = max(self._now, now)

    def wait_until(self, due: float) -> None:
        """It is that time, or later: at once if the clock stands."""
        if self._now is None:
            time.sleep(max(0.0, min(due - time.time(), threading.TIMEOUT_MAX)))
        else:
            self.move(due)
