"""How far one run may go at this moment: by its own limits, what it has used, and what is left around it.

Deliberately not here: the arithmetic (`budget`), and what follows from a limit that is reached (`next_step`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from wieldy.run.budget import Spent, is_used_up, kept_within, left_of, seconds_for_turn

if TYPE_CHECKING:
    from wieldy.core.limits import Limits
    from wieldy.run.brake import Brake
    from wieldy.run.charges import Charges
    from wieldy.run.state import Fold


@dataclass(slots=True, kw_only=True)
class Allowance:
    """Of one run, for as long as it is at work here.

    Attributes:
        own: The run's own limits.
        around: What is left of the limits of the run around this one; None if there is none.
        clock: Seconds that only grow.
        counts_turns: Whether turns are limited.
    """

    own: Limits
    around: Callable[[], Limits] | None
    known: Fold
    charges: Charges
    brake: Brake
    clock: Callable[[], float]
    counts_turns: bool = True
    _started: float = field(init=False)

    def __post_init__(self) -> None:
        self._started = self.clock()

    def spent(self) -> Spent:
        """What was used up to now, by calls under way too."""
        return Spent(
            # A turn that was begun and has no reply, because its process died, is taken up again and not counted twice.
            turns=self.known.turns - int(self.known.is_turn_open) if self.counts_turns else 0,
            usage=self.charges.added_to(self.known.usage),
            elapsed_s=self.known.active_s + self.clock() - self._started,
            repeats=self.brake.repeats,
        )

    def limits(self, spent: Spent) -> Limits:
        """How far the run may go, as things stand: others may use what is left around it."""
        return self.own if self.around is None else kept_within(self.own, spent, self.around())

    def left(self) -> Limits:
        """What is left for runs within this one."""
        spent = self.spent()
        return left_of(self.limits(spent), spent)

    def seconds(self) -> float | None:
        """How long the code of tools may take; None for as long as it takes."""
        if self.around is None and self.own.wall_time_s is None:
            return None
        spent = self.spent()
        return seconds_for_turn(self.limits(spent), spent)

    @property
    def may_conclude(self) -> bool:
        """Whether the model may be asked for a last answer once a limit is reached."""
        return self.around is None or not is_used_up(self.around())
