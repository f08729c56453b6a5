"""When a failed request is worth repeating, and after how long.

The decision is pure: an error and the number of tries so far go in, a delay or None comes out. The clock, the source of
randomness and the waiting itself are fields, so that a test needs none of them.
"""

from __future__ import annotations

import math
import random
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime

import anyio

from wieldy.core.errors import ModelError


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeouts:
    """How long to wait for a server, in seconds.

    Attributes:
        connect_s: For a connection, TLS included.
        read_s: For the next bytes: the first, or those after a pause. Long prompts and silent reasoning take minutes.
    """

    connect_s: float = 10.0
    read_s: float = 600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Retries:
    """Exponential back-off with full jitter, within limits.

    Attributes:
        attempts: Tries in all, the first included.
        first_delay_s: The longest wait after the first failure; it doubles with each further one.
        longest_delay_s: Where doubling ends.
        longest_retry_after_s: A server that asks for a longer wait is not waited for; the error says how long it is.
        sleep: Waits.
        random: A number from 0 up to 1.
        now: Seconds since the epoch, to read a `Retry-After` that is a date.
    """

    attempts: int = 4
    first_delay_s: float = 0.5
    longest_delay_s: float = 8.0
    longest_retry_after_s: float = 60.0
    sleep: Callable[[float], Awaitable[object]] = anyio.sleep
    random: Callable[[], float] = random.random
    now: Callable[[], float] = time.time

    def delay_s(self, error: ModelError, *, attempt: int) -> float | None:
        """How long to wait before the next try; None: do not try again.

        Args:
            error: Why the last try failed.
            attempt: How many tries were made, from 1.
        """
        if not error.is_transient or attempt >= self.attempts:
            return None
        if error.retry_after_s is not None:
            return error.retry_after_s if error.retry_after_s <= self.longest_retry_after_s else None
        # The exponent is bounded so that a very patient caller does not overflow a float.
        ceiling_s = min(self.longest_delay_s, self.first_delay_s * 2.0 ** min(attempt - 1, 60))
        return ceiling_s * self.random()


NO_RETRIES = Retries(attempts=1)


def parse_retry_after(headers: Mapping[str, str], *, now: Callable[[], float]) -> float | None:
    """The wait that a server asks for, in seconds: a number or a date; None if it asks for none that can be read."""
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    text = headers.get("retry-after")
    seconds = _number(text)
    if seconds is not None or text is None:
        return seconds
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - now())
    except (ValueError, OverflowError):
        return None


def _number(text: str | None) -> float | None:
    try:
        value = float(text or "")
    except ValueError:
        return None
    return max(0.0, value) if math.isfinite(value) else None
