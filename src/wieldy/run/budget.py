"""Whether a run may go on, and how much the model may write next. Pure: numbers in, a named outcome out."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Final, TypeVar

from msgspec import Struct

from wieldy.core.errors import UsageError
from wieldy.core.limits import Limits, Usage

if TYPE_CHECKING:
    from wieldy.core.limits import StopReason

_Number = TypeVar("_Number", int, float)

RESERVED_ANSWER_TOKENS: Final = 256
"""Output tokens kept back for the last answer, or an eighth of the limit where that is less."""

RESERVED_ANSWER_S: Final = 30.0
"""Seconds kept back for the last answer, or an eighth of the limit where that is less."""


class Spent(Struct, frozen=True, kw_only=True):
    """What a run has used up to now, runs within it included."""

    turns: int
    usage: Usage
    elapsed_s: float
    repeats: int

    @property
    def calls(self) -> int:
        """Calls that models asked for."""
        return self.usage.calls


def check_limits(limits: Limits) -> None:
    """The limits can be kept.

    Raises:
        UsageError: One of them is no number, or too small.
    """
    for name, minimum in (
        ("turns", 0),
        ("calls", 0),
        ("output_tokens", 1),
        ("total_tokens", 1),
        ("cost_usd", 0),
        ("wall_time_s", 0),
    ):
        value: object = getattr(limits, name)
        if value is not None and not _is_number(value, minimum):
            raise UsageError(
                f"Expected Limits({name}=...) to be a number of at least {minimum} or None, found {value!r}."
            )
    for name, minimum in (("repeats", 1), ("corrections", 0)):
        if not _is_number(getattr(limits, name), minimum):
            raise UsageError(
                f"Expected Limits({name}=...) to be a number of at least {minimum}, found {getattr(limits, name)!r}."
            )


def reached(limits: Limits, spent: Spent) -> StopReason | None:
    """The limit that forbids another turn; None if there is none."""
    if limits.turns is not None and spent.turns >= limits.turns:
        return "turn_limit"
    if limits.calls is not None and spent.calls >= limits.calls:
        return "call_limit"
    tokens = tokens_for_turn(limits, spent)
    if tokens is not None and tokens <= 0:
        return "output_token_limit"
    if limits.total_tokens is not None and _total(spent.usage) >= limits.total_tokens:
        return "total_token_limit"
    if limits.cost_usd is not None and _cost(spent.usage) >= limits.cost_usd:
        return "cost_limit"
    seconds = seconds_for_turn(limits, spent)
    if seconds is not None and seconds <= 0:
        return "wall_time_limit"
    if spent.repeats >= limits.repeats:
        return "repeated_call"
    return None


def tokens_for_answer(limits: Limits, spent: Spent) -> int | None:
    """How many tokens the last answer may have; None if there is no limit."""
    return None if limits.output_tokens is None else limits.output_tokens - spent.usage.output_tokens


def tokens_for_turn(limits: Limits, spent: Spent) -> int | None:
    """How many tokens the next reply may have, so that a last answer is still possible; None if there is no limit."""
    if limits.output_tokens is None:
        return None
    reserve = min(RESERVED_ANSWER_TOKENS, limits.output_tokens // 8)
    return limits.output_tokens - spent.usage.output_tokens - reserve


def seconds_for_answer(limits: Limits, spent: Spent) -> float | None:
    """How long the last answer may take, which is never less than its reserve; None if there is no limit."""
    if limits.wall_time_s is None:
        return None
    return max(_reserve_s(limits.wall_time_s), limits.wall_time_s - spent.elapsed_s)


def seconds_for_turn(limits: Limits, spent: Spent) -> float | None:
    """How long the next turn may take, so that a last answer is still possible; None if there is no limit."""
    if limits.wall_time_s is None:
        return None
    return limits.wall_time_s - spent.elapsed_s - _reserve_s(limits.wall_time_s)


def _reserve_s(wall_time_s: float) -> float:
    return min(RESERVED_ANSWER_S, wall_time_s / 8)


def calls_left(limits: Limits, calls: int) -> float:
    """How many more calls may run after so many; infinite if there is no limit."""
    return math.inf if limits.calls is None else max(0, limits.calls - calls)


def left_of(limits: Limits, spent: Spent) -> Limits:
    """What is left for a run within this run, which may use all of it but for what the last answer here needs.

    It is below 0 where more was used than there was.
    """
    if _are_open(limits):
        return limits
    return replace(
        limits,
        calls=None if limits.calls is None else limits.calls - spent.calls,
        output_tokens=tokens_for_turn(limits, spent),
        total_tokens=None if limits.total_tokens is None else limits.total_tokens - _total(spent.usage),
        cost_usd=None if limits.cost_usd is None else limits.cost_usd - _cost(spent.usage),
        wall_time_s=seconds_for_turn(limits, spent),
    )


def kept_within(limits: Limits, spent: Spent, left: Limits) -> Limits:
    """The limits of a run that has its own, and from here on no more than what is left of those around it."""
    if _are_open(left):
        return tighter(limits, left)
    # A cost that is not known has reached every limit, whatever is added to it.
    cost = spent.usage.cost_usd or 0.0
    return tighter(
        limits,
        replace(
            left,
            calls=None if left.calls is None else left.calls + spent.calls,
            output_tokens=None if left.output_tokens is None else left.output_tokens + spent.usage.output_tokens,
            total_tokens=None if left.total_tokens is None else left.total_tokens + _total(spent.usage),
            cost_usd=None if left.cost_usd is None else left.cost_usd + cost,
            wall_time_s=None if left.wall_time_s is None else left.wall_time_s + spent.elapsed_s,
        ),
    )


def is_used_up(left: Limits) -> bool:
    """Whether what is left is not enough for another reply of any kind."""
    amounts = (left.output_tokens, left.total_tokens, left.cost_usd, left.wall_time_s)
    return any(amount is not None and amount <= 0 for amount in amounts)


def _are_open(limits: Limits) -> bool:
    """Whether nothing is limited that is used up."""
    return (
        limits.calls is None
        and limits.output_tokens is None
        and limits.total_tokens is None
        and limits.cost_usd is None
        and limits.wall_time_s is None
    )


def tighter(one: Limits, other: Limits) -> Limits:
    """Limits that keep both."""
    return Limits(
        turns=_least(one.turns, other.turns),
        calls=_least(one.calls, other.calls),
        output_tokens=_least(one.output_tokens, other.output_tokens),
        total_tokens=_least(one.total_tokens, other.total_tokens),
        cost_usd=_least(one.cost_usd, other.cost_usd),
        wall_time_s=_least(one.wall_time_s, other.wall_time_s),
        repeats=min(one.repeats, other.repeats),
        corrections=min(one.corrections, other.corrections),
    )


def _least(one: _Number | None, other: _Number | None) -> _Number | None:
    given = [value for value in (one, other) if value is not None]
    return min(given) if given else None


def _total(usage: Usage) -> int:
    return usage.input_tokens + usage.output_tokens


def _cost(usage: Usage) -> float:
    # A limit on cost cannot be kept where a cost is not known, so that counts as reaching it.
    if usage.cost_usd is None:
        return math.inf if usage.requests else 0.0
    return usage.cost_usd


def _is_number(value: object, minimum: float) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value >= minimum
