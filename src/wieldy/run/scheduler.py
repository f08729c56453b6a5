"""Which calls of a turn must wait for which earlier ones.

Law: the outcome is as if the calls ran one by one in the model's order. Calls that cannot disturb one another are free
to run at once: readers of a key share it, a writer has it for itself. Keys are paths: `a` stands for all of `a/b`. A
call with an effect that does not say what it writes excludes every other call; a reading call that does not say what it
reads excludes none but those. A call waits only for earlier ones, so there is no deadlock.
Deliberately not here: running anything, and how many calls may run at once (`executor`). Keys are compared as text: two
spellings of one thing are two things.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from wieldy.core.calls import Effect


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """What one call touches.

    Attributes:
        effect: Its tool's declared effect.
        reads: Keys that it reads, as paths.
        writes: Keys that it changes, as paths.
    """

    effect: Effect
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()

    @property
    def is_exclusive(self) -> bool:
        """Whether it may change anything at all, because it does not say what."""
        return self.effect != "read" and not self.writes


def schedule(accesses: Sequence[Access]) -> tuple[tuple[int, ...], ...]:
    """For each call, in the model's order, the indices of the earlier calls that must have ended before it starts.

    What those calls waited for themselves is left out where an exclusive call stands between.

    Cost: the square of the number of calls with keys between two exclusive calls.
    """
    waits: list[tuple[int, ...]] = []
    barrier: tuple[int, ...] = ()  # the last exclusive call: it waited for everything before it
    footprints: list[tuple[int, _Footprint]] = []  # the calls since then
    for index, access in enumerate(accesses):
        footprint = _Footprint(access)
        if access.is_exclusive:
            waits.append(tuple(earlier for earlier, _ in footprints) or barrier)
            barrier, footprints = (index,), []
            continue
        conflicts = tuple(earlier for earlier, other in footprints if footprint.conflicts_with(other))
        waits.append(conflicts or barrier)
        footprints.append((index, footprint))
    return tuple(waits)


class _Footprint:
    """An access with its keys split into paths, once."""

    __slots__ = ("reads", "writes")

    def __init__(self, access: Access) -> None:
        self.reads = tuple(map(_path, access.reads))
        self.writes = tuple(map(_path, access.writes))

    def conflicts_with(self, other: _Footprint) -> bool:
        """Whether the order of the two can be noticed."""
        return (
            _overlap(self.writes, other.writes)
            or _overlap(self.writes, other.reads)
            or _overlap(self.reads, other.writes)
        )


def _path(key: str) -> tuple[str, ...]:
    return tuple(part for part in key.split("/") if part)


def _overlap(paths: tuple[tuple[str, ...], ...], others: tuple[tuple[str, ...], ...]) -> bool:
    return any(path[: len(other)] == other[: len(path)] for path in paths for other in others)
