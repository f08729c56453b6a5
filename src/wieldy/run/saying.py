"""What a tool's code says while it runs: how far it is, and what it used of models; from any thread.

Law: what cannot be meant so is refused at once, in the code that says it, and goes no further. Deliberately not here:
what becomes of the rest (`recorder`).
"""

from __future__ import annotations

import asyncio
import math
import operator
from threading import Lock, get_ident
from typing import TYPE_CHECKING, Any, Final

from msgspec.structs import replace

from wieldy.core.errors import UsageError
from wieldy.core.foreign import plain, type_name
from wieldy.core.limits import Usage
from wieldy.tools.present import whole_characters

if TYPE_CHECKING:
    from wieldy.core.context import Context
    from wieldy.run.outcomes import Step
    from wieldy.run.recorder import Recorder
    from wieldy.run.results import Shaper


_MOST: Final = 10**12
"""More than any single piece of work uses, of tokens or of dollars; sums of such numbers fit every record."""


class Saying:
    """Of one attempt; made in the event loop's thread.

    Attributes:
        context: For the attempt's code.
    """

    __slots__ = ("_is_open", "_lock", "_loop", "_recorder", "_shaper", "_step", "_thread", "_usage", "context")

    def __init__(self, step: Step, *, recorder: Recorder, shaper: Shaper) -> None:
        self._step, self._recorder, self._shaper = step, recorder, shaper
        self._loop, self._thread = asyncio.get_running_loop(), get_ident()
        self._lock = Lock()
        self._usage: Usage | None = None
        self._is_open = True
        self.context: Context = replace(step.context, on_progress=self._progress, on_charge=self._charge)

    def close(self) -> None:
        """Nobody hears any more how far the code is."""
        self._is_open = False

    def take_usage(self) -> Usage | None:
        """What was used since it was last taken; None if nothing was."""
        with self._lock:
            usage, self._usage = self._usage, None
        return usage

    def _charge(self, usage: Usage) -> None:
        usage = _checked(usage)
        self._step.context.on_charge(usage)
        with self._lock:
            self._usage = usage if self._usage is None else self._usage + usage

    def _progress(self, message: str, fraction: float | None) -> None:
        words, share = _words(message), _share(fraction)
        if get_ident() == self._thread:
            self._tell(words, share)
            return
        try:
            self._loop.call_soon_threadsafe(self._tell, words, share)
        except RuntimeError:  # the loop is closed: nobody is there to hear it
            return

    def _tell(self, message: str, fraction: float | None) -> None:
        if self._is_open:
            self._recorder.progress(self._step, self._shaper.mask(message), fraction)


def _words(message: object) -> str:
    if not isinstance(message, str):
        raise UsageError(f"Expected the message of ctx.progress to be text, found {type_name(message)}.")
    return whole_characters(plain(message))


def _share(fraction: Any) -> float | None:
    if fraction is None:
        return None
    try:
        share = float(fraction + 0)  # text with a number in it is no number
    except (TypeError, ValueError, OverflowError):
        share = math.nan
    if math.isnan(share):
        raise UsageError(f"Expected the fraction of ctx.progress to be a number from 0 to 1, {_found(fraction)}.")
    return min(1.0, max(0.0, share))


def _checked(usage: Any) -> Usage:
    """The same numbers, if they are numbers of something that was used."""
    if not isinstance(usage, Usage):
        raise UsageError(f"Expected ctx.charge to be given a Usage, found {type_name(usage)}.")
    return Usage(
        input_tokens=_count(usage.input_tokens, "input_tokens"),
        output_tokens=_count(usage.output_tokens, "output_tokens"),
        requests=_count(usage.requests, "requests"),
        cached_input_tokens=_count(usage.cached_input_tokens, "cached_input_tokens"),
        cost_usd=_cost(usage.cost_usd),
        calls=_count(usage.calls, "calls"),
    )


def _count(number: Any, name: str) -> int:
    try:
        count = operator.index(number)
    except TypeError:
        count = -1
    if 0 <= count <= _MOST:
        return count
    raise UsageError(f"Expected {name} of what is charged to be a whole number from 0 to {_MOST}, {_found(number)}.")


def _cost(number: Any) -> float | None:
    if number is None:
        return None
    try:
        cost = float(number + 0)
    except (TypeError, ValueError, OverflowError):
        cost = math.nan
    if 0 <= cost <= _MOST:
        return cost
    raise UsageError(f"Expected cost_usd of what is charged to be a number from 0 to {_MOST}, {_found(number)}.")


def _found(number: object) -> str:
    is_plain = type(number) is float or (type(number) is int and abs(number) < 10 * _MOST)
    return f"found {number!r}" if is_plain else f"found {type_name(number)}"
