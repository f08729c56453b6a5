"""Who is told what becomes of calls while they run: the port between the executor and the loop.

Law: for each call `start` comes before its code, again before each further attempt; then exactly one of `end` and
`rest`, and `late` perhaps after `end`. A call that may not start is told of no more. One whose run is stopped from
outside hears neither end nor rest: it was started, and nobody knows how it ended.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from wieldy.core.errors import ModelVisibleError
    from wieldy.run.outcomes import Outcome, Rest, Step


class Recorder(Protocol):
    """Records and tells; no method waits. What one of them raises stops all calls, and is raised by `execute`."""

    def may_start(self, step: Step) -> bool:
        """Asked immediately before a step starts, and before a fallback takes over.

        False where something happened meanwhile that must be looked at first: the step is left as it is, and so are
        those that wait for it.
        """
        ...

    def start(self, steps: Sequence[Step]) -> None:
        """The code of these calls is about to run; `context.attempt` says for which time."""
        ...

    def retry(self, step: Step, error: ModelVisibleError, *, wait_s: float, nothing_done: bool) -> None:
        """An attempt failed, and another follows after the wait: of this tool, or of its fallback.

        Args:
            step: The attempt.
            error: What it failed with.
            wait_s: How long the wait is, in seconds.
            nothing_done: Whether it is certain that the attempt had no effect.
        """
        ...

    def progress(self, step: Step, message: str, fraction: float | None) -> None:
        """The call's code says how far it is."""
        ...

    def end(self, ended: Sequence[tuple[Step, Outcome]]) -> None:
        """These calls have their outcomes; they may never have been started."""
        ...

    def rest(self, step: Step, rest: Rest) -> None:
        """The call has no outcome yet; calls that wait for it are not run."""
        ...

    def late(self, step: Step, outcome: Outcome) -> None:
        """A call that had ended without an answer has brought one after all."""
        ...
