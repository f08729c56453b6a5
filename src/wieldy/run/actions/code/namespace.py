"""The names that one run's actions leave to one another: a worker that is kept, or the actions run again in a new one.

Law: what is there is what the actions that ended with `done` or `error` have left, in their order, whoever ran them. An
action that was killed leaves nothing: the worker is given up, and the actions before it are run again when the next
one needs them. Deliberately not here: running the next action (`model`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from wieldy.core.influence import Sources, joined
from wieldy.run.actions.code.replay import Action, DivergedError, run_again

if TYPE_CHECKING:
    from wieldy.run.actions.code.interpreter import Interpreter
    from wieldy.sandbox import Outcome


class Namespace:
    """That of one run.

    Args:
        interpreter: Of the sandbox.
        prelude: The tools, as text.

    Attributes:
        interpreter: In which an action is under way.
        tainted_by: The untrusted sources that may have shaped what is in it.
    """

    def __init__(self, interpreter: Interpreter, *, prelude: str) -> None:
        self.interpreter = interpreter
        self._prelude = prelude
        self._earlier: list[Callable[[], Action]] = []
        self._is_current = False
        self.tainted_by: Sources = ()

    async def begin(self, action: Action) -> Outcome:
        """What the action does after all that is recorded of it.

        Raises:
            DivergedError: It did something else than what is recorded.
            NamesLostError: An earlier action did.
        """
        if not self._is_current:
            await self._restore()
        is_first, self._is_current = not self._earlier, False
        return await run_again(self.interpreter, action, prelude=self._prelude, is_first=is_first)

    def add(self, reading: Callable[[], Action], *, tainted_by: Sources, is_current: bool) -> None:
        """An action has left its names.

        Args:
            reading: Reads what is recorded of it.
            tainted_by: The untrusted sources that it had read something of.
            is_current: Whether the worker has the names; if not, it is run again when they are needed.
        """
        self._earlier.append(reading)
        self._is_current = is_current
        self.tainted_by = joined(self.tainted_by, tainted_by)

    def forget(self) -> None:
        """The names of all actions are lost; what follows begins with none."""
        self._earlier.clear()
        self._is_current = False
        self.tainted_by = ()

    async def _restore(self) -> None:
        for place, reading in enumerate(self._earlier):
            try:
                step = await run_again(self.interpreter, reading(), prelude=self._prelude, is_first=place == 0)
            except DivergedError as error:
                raise NamesLostError(str(error)) from error
            if step.status not in ("done", "error"):
                raise NamesLostError(f"Expected action {place + 1} to end, found that it goes on or was ended.")


class NamesLostError(Exception):
    """An earlier action, run again, did something else than what is recorded."""
