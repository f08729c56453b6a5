"""What a tool's code says while it runs: how far it is, and what it used of models; from any thread.

Deliberately not here: what becomes of it (`recorder`).
"""

from __future__ import annotations

import asyncio
import math
from dataclasses import replace
from threading import Lock, get_ident
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from wieldy.core.context import Context
    from wieldy.core.limits import Usage
    from wieldy.run.outcomes import Step
    from wieldy.run.recorder import Recorder
    from wieldy.run.results import Shaper


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
        self._step.context.on_charge(usage)
        with self._lock:
            self._usage = usage if self._usage is None else self._usage + usage

    def _progress(self, message: str, fraction: float | None) -> None:
        if get_ident() == self._thread:
            self._tell(message, fraction)
            return
        try:
            self._loop.call_soon_threadsafe(self._tell, message, fraction)
        except RuntimeError:  # the loop is closed: nobody is there to hear it
            return

    def _tell(self, message: object, fraction: object) -> None:
        # Both come from a tool's code, which may give anything.
        if self._is_open:
            self._recorder.progress(self._step, self._shaper.mask(str(message)), _share(fraction))


def _share(fraction: object) -> float | None:
    if not isinstance(fraction, int | float) or math.isnan(fraction):
        return None
    return min(1.0, max(0.0, float(fraction)))
