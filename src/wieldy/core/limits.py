"""Limits with names, what a run used, and why it stopped.

Reaching a limit is a named outcome (`StopReason`), never an exception.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, TypeAlias, TypeVar

from wieldy.core.record import Record

_Number = TypeVar("_Number", int, float)

StopReason: TypeAlias = Literal[
    "answered",
    "finished",
    "waiting_for_approval",
    "turn_limit",
    "call_limit",
    "output_token_limit",
    "total_token_limit",
    "cost_limit",
    "wall_time_limit",
    "repeated_call",
    "incomplete_output",
]
"""Why a run ended, or rests.

`answered`: the model answered without a call, or the run was about one call, which has ended. `finished`: it called
`finish`. `waiting_for_approval`: a person must decide on a call, and the run can be resumed then. `incomplete_output`:
its answer is not what it must be, and `Limits.corrections` is used up. All others: it was told to answer without tools.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How far a run may go; None means no limit of that kind.

    Runs that its calls start count as they go, and each is kept to what is left at that moment, however many go on at
    once. Tokens, cost and calls are counted when a reply has come, so what goes beyond a limit is at most one reply of
    each run that is under way; a run within another makes no last answer once nothing is left.

    Attributes:
        turns: Model replies that may call tools; the last answer is not counted. Every run within it may have as many.
        calls: Calls of the whole run.
        output_tokens: Tokens that the model may generate over the whole run, the last answer included.
        total_tokens: Tokens read and generated over the whole run; checked between turns.
        cost_usd: What the model's tokens may cost, in US dollars; checked between turns. Needs a price for the model.
        wall_time_s: Seconds that the run may be at work, pauses not counted. What is under way when they are almost
            over is stopped, so that time is left for the last answer.
        repeats: Consecutive turns that repeat the same calls with the same results before the brake ends the run.
        corrections: How often the model is told that its answer is not what it must be, and asked again.
    """

    turns: int | None = 20
    calls: int | None = None
    output_tokens: int | None = None
    total_tokens: int | None = None
    cost_usd: float | None = None
    wall_time_s: float | None = None
    repeats: int = 3
    corrections: int = 2


def usable(left: Limits) -> Limits:
    """What is left of limits as limits that a run can be given: something may be overdrawn, and a run needs a token."""
    return replace(
        left,
        calls=_at_least(left.calls, 0),
        output_tokens=_at_least(left.output_tokens, 1),
        total_tokens=_at_least(left.total_tokens, 1),
        cost_usd=_at_least(left.cost_usd, 0.0),
        wall_time_s=_at_least(left.wall_time_s, 0.0),
    )


def _at_least(value: _Number | None, least: _Number) -> _Number | None:
    return None if value is None else max(least, value)


class Usage(Record, frozen=True, kw_only=True):
    """What was used, in tokens, requests to the model and calls; `+` adds.

    Attributes:
        input_tokens: Read by the model, cached ones included.
        cached_input_tokens: Those of them that the provider had cached, which it may charge less for.
        cost_usd: In US dollars; None where a request was made whose price is not known.
        calls: That models asked for, whatever became of them.
    """

    input_tokens: int = 0
    output_tokens: int = 0
    requests: int = 0
    cached_input_tokens: int = 0
    cost_usd: float | None = None
    calls: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            requests=self.requests + other.requests,
            cached_input_tokens=self.cached_input_tokens + other.cached_input_tokens,
            cost_usd=_sum_of_costs(self, other),
            calls=self.calls + other.calls,
        )


def _sum_of_costs(one: Usage, other: Usage) -> float | None:
    # One request of unknown price makes the sum unknown; nothing used costs nothing.
    if (one.requests and one.cost_usd is None) or (other.requests and other.cost_usd is None):
        return None
    if one.cost_usd is None and other.cost_usd is None:
        return None
    return (one.cost_usd or 0.0) + (other.cost_usd or 0.0)
