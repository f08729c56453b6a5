"""Whether a run may go on, and how much the model may write next. Pure: numbers in, a named outcome out."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from wieldy.core.errors import UsageError

if TYPE_CHECKING:
    from wieldy.core.limits import Limits, StopReason

RESERVED_ANSWER_TOKENS: Final = 256
"""Output tokens kept back for the last answer, or an eighth of the limit where that is less."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """What a run has used up to now."""

    turns: int
    calls: int
    output_tokens: int
    elapsed_s: float
    repeats: int


def check_limits(limits: Limits) -> None:
    """The limits can be kept.

    Raises:
        UsageError: One of them is no number, or too small.
    """
    for name, minimum in (("turns", 0), ("calls", 0), ("output_tokens", 1), ("wall_time_s", 0)):
        value: object = getattr(limits, name)
        if value is not None and not _is_number(value, minimum):
            raise UsageError(
                f"Expected Limits({name}=...) to be a number of at least {minimum} or None, found {value!r}."
            )
    if not _is_number(limits.repeats, 1):
        raise UsageError(f"Expected Limits(repeats=...) to be a number of at least 1, found {limits.repeats!r}.")


def reached(limits: Limits, spent: Spent) -> StopReason | None:
    """The limit that forbids another turn; None if there is none."""
    if limits.turns is not None and spent.turns >= limits.turns:
        return "turn_limit"
    if limits.calls is not None and spent.calls >= limits.calls:
        return "call_limit"
    tokens = tokens_for_turn(limits, spent)
    if tokens is not None and tokens <= 0:
        return "output_token_limit"
    if limits.wall_time_s is not None and spent.elapsed_s >= limits.wall_time_s:
        return "wall_time_limit"
    if spent.repeats >= limits.repeats:
        return "repeated_call"
    return None


def tokens_for_answer(limits: Limits, spent: Spent) -> int | None:
    """How many tokens the last answer may have; None if there is no limit."""
    return None if limits.output_tokens is None else limits.output_tokens - spent.output_tokens


def tokens_for_turn(limits: Limits, spent: Spent) -> int | None:
    """How many tokens the next reply may have, so that a last answer is still possible; None if there is no limit."""
    if limits.output_tokens is None:
        return None
    reserve = min(RESERVED_ANSWER_TOKENS, limits.output_tokens // 8)
    return limits.output_tokens - spent.output_tokens - reserve


def calls_left(limits: Limits, spent: Spent) -> float:
    """How many more calls may run; infinite if there is no limit."""
    return math.inf if limits.calls is None else max(0, limits.calls - spent.calls)


def _is_number(value: object, minimum: float) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value >= minimum
