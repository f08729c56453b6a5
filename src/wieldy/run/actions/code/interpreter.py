"""What runs code for a run: a sandbox that is open (`wieldy.sandbox.Session`), or anything that behaves as one.

The law: what code does is a function of the code, the seed, the clock and the answers, and nothing else. Code asks for
a whole batch of calls at once and goes on when all of them are answered, so it does not depend on their timing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from wieldy.sandbox import Failure, Outcome, Reply


class Interpreter(Protocol):
    """Runs one piece of code after the other; the later ones find the names of the earlier."""

    async def run(self, code: str, *, prelude: str, seed: int, clock: float, fresh: bool) -> Outcome:
        """What the code asks for first (an outcome that is `paused` has the calls in `waiting`), or how it ended.

        Args:
            code: Python.
            prelude: Runs before it.
            seed: Of its chance.
            clock: Where its time stands, in seconds since 1970.
            fresh: Whether to begin without the names of earlier code; code that is paused is given up then.
        """
        ...

    async def answer(self, answers: Sequence[Reply | Failure]) -> Outcome:
        """What the code asks for next, or how it ended, after the calls that it waits for brought this.

        Args:
            answers: In the order of the calls, one for each.
        """
        ...
