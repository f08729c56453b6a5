"""Whether a call that failed is tried again, when, and what the model is told if it is not.

Pure decisions. A failure that may pass is tried again only where that cannot repeat an effect: the effect is harmless
to repeat, or carries the same key, or certainly did not take place. Deliberately not here: waiting and trying
(`attempts`).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from wieldy.core.errors import TransientToolError

if TYPE_CHECKING:
    from wieldy.core.calls import Effect

FIRST_WAIT_S: Final = 0.5
"""The longest wait before the second attempt; it doubles with every further one."""

LONGEST_WAIT_S: Final = 30.0
"""The longest wait before any attempt. A service that wants more is left alone, and the model is told."""

_REPEATABLE: Final[tuple[Effect, ...]] = ("read", "idempotent", "keyed")


def wait_before_retry(
    error: TransientToolError, *, effect: Effect, failures: int, retries: int, chance: float
) -> float | None:
    """How long to wait before the next attempt, in seconds; None if there must not be one.

    Args:
        error: What the last attempt failed with.
        effect: The tool's.
        failures: How many attempts have failed, from 1.
        retries: How many further attempts the tool allows.
        chance: From 0 to 1, at random: many who fail at once must not come back at once.
    """
    if failures > retries or not (effect in _REPEATABLE or error.nothing_done):
        return None
    asked_s = retry_after(error)
    if asked_s > LONGEST_WAIT_S:
        return None
    # Beyond 2 ** 16 it is the longest wait anyway, and larger powers do not fit a float.
    longest_s = min(LONGEST_WAIT_S, FIRST_WAIT_S * 2 ** min(failures - 1, 16))
    return max(asked_s, chance * longest_s)


def retry_after(error: TransientToolError) -> float:
    """How long the service asked us to wait, in seconds; 0 if it did not, or said something else than a time."""
    asked: object = error.retry_after_s  # set by a tool's code, which may be wrong
    if not isinstance(asked, int | float) or math.isnan(asked):
        return 0.0
    return max(0.0, float(asked))


def given_up(name: str, error: TransientToolError, *, effect: Effect, attempts: int) -> TransientToolError:
    """The same error, with what the model must know to go on."""
    sentences = [str(error) or f"`{name}` did not work now."]
    if attempts > 1:
        sentences.append(f"It was tried {attempts} times.")
    asked_s = retry_after(error)
    if asked_s > 0:
        wait = f"{asked_s:g} s" if math.isfinite(asked_s) else "longer than this can wait"
        sentences.append(f"It asks to be left alone for {wait}: do something else first, or go on without it.")
    if effect != "read" and not error.nothing_done:
        sentences.append(CHECK_FIRST)
    return TransientToolError(
        " ".join(sentences),
        retry_after_s=error.retry_after_s,
        nothing_done=error.nothing_done,
        detail=error.detail,
    )


CHECK_FIRST: Final = "It may have taken effect all the same: check before you ask for it again."
