"""Which interpreter runs a piece of code: the one that tracks, where the code and the names that it needs allow it.

Each name is where it was last assigned: what code in the sandbox has left cannot be tracked, and what tracked code has
left is not in the sandbox. So no value crosses, and no label gets lost. Pure: the code is only parsed.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING

from wieldy.run.actions.code.checking import ANY_NAME, names_left
from wieldy.run.actions.code.taken import names_taken
from wieldy.sandbox.tracked import BUILTIN_NAMES, UnsupportedCodeError, check_code

if TYPE_CHECKING:
    from wieldy.run.actions.code.stubs import Stubs
    from wieldy.sandbox.tracked import TrackedLimits


@dataclass(frozen=True, slots=True, kw_only=True)
class Placement:
    """Where a piece of code runs.

    Attributes:
        because: Why it cannot be tracked; None where it is.
        lacking: The names that it needs and that are not there; it cannot run then.
    """

    because: str | None
    lacking: tuple[str, ...] = ()

    @property
    def is_tracked(self) -> bool:
        """Whether it runs in the interpreter that tracks."""
        return self.because is None


def placed(
    code: str, stubs: Stubs, *, tracked: Collection[str], sandboxed: Collection[str], limits: TrackedLimits
) -> Placement:
    """Where the code runs.

    Args:
        code: Python that was checked.
        stubs: The tools that it may call.
        tracked: The names that tracked code has left.
        sandboxed: Those that other code has left.
        limits: Of tracked code.
    """
    taken = names_taken(code)
    because = _why_not(code, limits)
    foreign = sorted(taken - {*BUILTIN_NAMES, *stubs.by_identifier, *tracked})
    if because is None and foreign:
        left = "was left by code that ran in the sandbox" if foreign[0] in sandboxed else "is not there in tracked code"
        because = f"`{foreign[0]}` {left}"
    lacking = sorted(taken & set(tracked)) if because is not None else []
    return Placement(because=because, lacking=tuple(lacking))


def _why_not(code: str, limits: TrackedLimits) -> str | None:
    try:
        check_code(code, limits=limits)
    except UnsupportedCodeError as error:
        return str(error).removesuffix(".")
    return None


def refused(placement: Placement) -> str:
    """What a model is told of code that can run nowhere."""
    names = ", ".join(f"`{name}`" for name in placement.lacking)
    return (
        f"The code was not run. It cannot be tracked ({placement.because}), and where other code runs {names} of "
        "earlier tracked code is not there. Write it so that it can be tracked, or get what it needs from the tools "
        "again in this code."
    )


def moved(code: str, *, into: set[str], out_of: set[str]) -> None:
    """The names that the code has left are in one set now, and no longer in the other."""
    left = names_left(code)
    into |= left
    out_of -= left - {ANY_NAME}
