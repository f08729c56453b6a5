"""Where the code of one run's actions runs, and the names that they have left there.

Each level that the rules allow has a namespace. Deliberately not here: what of a piece of code decides (`placing`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from wieldy.core.errors import ArgumentsError
from wieldy.core.influence import joined
from wieldy.run.actions.code.ended import ended_from_text
from wieldy.run.actions.code.placing import moved, placed, refused
from wieldy.run.actions.code.report import failures_behind_handles

if TYPE_CHECKING:
    from wieldy.core.influence import Sources
    from wieldy.run.actions.code.ended import Ended
    from wieldy.run.actions.code.levels import Level
    from wieldy.run.actions.code.namespace import Namespace
    from wieldy.run.actions.code.replay import Action
    from wieldy.run.actions.code.stubs import Stubs
    from wieldy.run.state import RunState
    from wieldy.sandbox.tracked import TrackedLimits


class Places:
    """Those of one run.

    Args:
        namespaces: By level; where `tracked` is among them, other code runs at the level `run`.
        stubs: The tools, as code calls them.
        limits: Of tracked code.
    """

    def __init__(self, namespaces: Mapping[Level, Namespace], *, stubs: Stubs, limits: TrackedLimits) -> None:
        self._namespaces = namespaces
        self._stubs = stubs
        self._limits = limits
        self._names: dict[Level, set[str]] = {level: set() for level in namespaces}

    @property
    def names(self) -> frozenset[str]:
        """All that earlier actions have left."""
        return frozenset[str]().union(*self._names.values())

    def namespace(self, level: Level | None) -> Namespace | None:
        """The namespace in which code of that level runs; None if none does here."""
        return None if level is None else self._namespaces.get(level)

    def place(self, code: str) -> tuple[Level, str | None]:
        """The level at which the code runs, and why not at the exact one, where that is so.

        Raises:
            ArgumentsError: It needs names that are not there where it would have to run.
        """
        if "tracked" not in self._namespaces:
            return next(iter(self._namespaces)), None
        tracked, others = self._names["tracked"], self._names["run"]
        placement = placed(code, self._stubs, tracked=tracked, sandboxed=others, limits=self._limits)
        if placement.lacking:
            raise ArgumentsError(refused(placement))
        return ("tracked", None) if placement.is_tracked else ("run", placement.because)

    def take(self, state: RunState, level: Level, reading: Callable[[], Action], *, is_current: bool) -> None:
        """An action has ended, and has left its names or lost those of all before it.

        Args:
            state: Of its run.
            level: At which it ran.
            reading: Reads what is recorded of it.
            is_current: Whether its interpreter has the names.
        """
        ended, namespace = ended_from_text(state.text), self._namespaces.get(level)
        if ended is None or namespace is None:
            return
        if ended.has_lost_names:
            namespace.forget()
            self._names[level].clear()
        if ended.keeps_names:
            for other, names in self._names.items():
                moved(state.prompt, into=self._names[level], out_of=names if other != level else set())
            namespace.add(reading, tainted_by=_read_by(state), is_current=is_current)

    def tainted_by(self, state: RunState, level: Level, ended: Ended | None) -> Sources:
        """The untrusted sources that had a part in what is told of an action that has ended.

        Args:
            state: Of its run.
            level: At which it ran.
            ended: How it ended; None if its run ended before it.
        """
        if ended is None or ended.tainted_by is None:
            return joined(_read_by(state), self._namespaces[level].tainted_by)
        exact = joined(state.began_tainted_by, ended.tainted_by)
        # Where it failed its calls are told, with what they brought; and so are failures that it was not told.
        is_telling = ended.status != "done" or (level == "handles" and failures_behind_handles(state.calls))
        return joined(exact, _read_by(state)) if is_telling else exact


def _read_by(state: RunState) -> Sources:
    """All untrusted sources of which something was in the run: in results, or in calls because of earlier names."""
    influences = (call.call.influence for call in state.calls)
    return joined(state.tainted_by, *(influence.sources for influence in influences if influence is not None))
