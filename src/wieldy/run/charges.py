"""What calls under way have used of models before their outcomes say so, from any thread.

Law: what was charged counts once: here for as long as the call has no outcome, and by its outcome afterwards.
Deliberately not here: limits on it (`budget`), and collecting it for the outcome (`saying`).
"""

from __future__ import annotations

from functools import partial
from threading import Lock
from typing import TYPE_CHECKING

from wieldy.core.limits import Usage

if TYPE_CHECKING:
    from wieldy.core.context import Charge
    from wieldy.run.state import Fold


class Charges:
    """Of the calls of one run.

    Args:
        known: What is known of the run.
        pass_on: Told at once of each, for a run around this one.
    """

    def __init__(self, known: Fold, pass_on: Charge) -> None:
        self._known = known
        self._pass_on = pass_on
        self._lock = Lock()
        self._open: dict[str, Usage] = {}

    def of(self, call_id: str) -> Charge:
        """Takes what this call uses."""
        return partial(self._take, call_id)

    def added_to(self, usage: Usage) -> Usage:
        """The usage, and what calls without an outcome have used."""
        if not self._open:
            return usage
        with self._lock:
            self._open = {
                call_id: used for call_id, used in self._open.items() if self._known.calls[call_id].result is None
            }
            return sum(self._open.values(), start=usage)

    def _take(self, call_id: str, usage: Usage) -> None:
        with self._lock:
            self._open[call_id] = self._open.get(call_id, Usage()) + usage
        self._pass_on(usage)
