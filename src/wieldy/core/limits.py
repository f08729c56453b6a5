"""Limits with names, what a run used, and why it stopped.

Reaching a limit is a named outcome (`StopReason`), never an exception.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

StopReason: TypeAlias = Literal[
    "answered", "turn_limit", "call_limit", "output_token_limit", "wall_time_limit", "repeated_call"
]
"""Why a run ended. `answered`: the model answered without a call. All others: it was told to answer without tools."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How far a run may go; None means no limit of that kind.

    Attributes:
        turns: Model replies that may call tools; the last answer is not counted.
        calls: Calls of the whole run.
        output_tokens: Tokens that the model may generate over the whole run, the last answer included.
        wall_time_s: Seconds since the run started; checked between turns.
        repeats: Consecutive turns that repeat the same calls with the same results before the brake ends the run.
    """

    turns: int | None = 20
    calls: int | None = None
    output_tokens: int | None = None
    wall_time_s: float | None = None
    repeats: int = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What was used, in tokens and requests to the model; `+` adds."""

    input_tokens: int = 0
    output_tokens: int = 0
    requests: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            requests=self.requests + other.requests,
        )
