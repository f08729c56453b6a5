"""What a run does next: a pure decision over what is known of it, the same for a run that began here and a resumed one.

Deliberately not here: doing it (`loop`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from msgspec import Struct

from wieldy.core.calls import AUTO, NO_TOOLS, ToolChoice
from wieldy.core.limits import Limits, StopReason
from wieldy.core.outputs import Incomplete
from wieldy.run.budget import (
    reached,
    seconds_for_answer,
    seconds_for_turn,
    tokens_for_answer,
    tokens_for_turn,
)

if TYPE_CHECKING:
    from wieldy.run.budget import Spent
    from wieldy.run.outputs import OutputReader
    from wieldy.run.state import Fold


class AskModel(Struct, frozen=True, kw_only=True):
    """The model is asked.

    Attributes:
        seconds: How long it may take; None for as long as it takes.
    """

    choice: ToolChoice
    max_output_tokens: int | None
    seconds: float | None


class DealWithCalls(Struct, frozen=True, kw_only=True):
    """The calls of the last reply that have no result yet are dealt with; none of them runs if there are no tools."""

    may_run: bool


class Correct(Struct, frozen=True, kw_only=True):
    """The answer is not what it must be; the model is told so, and will be asked again."""

    refused: Incomplete


class ReachLimit(Struct, frozen=True, kw_only=True):
    """A limit is reached; it is recorded, and the model will be asked for its last answer."""

    reason: StopReason


class End(Struct, frozen=True, kw_only=True):
    """The run is over."""

    reason: StopReason


NextStep: TypeAlias = AskModel | DealWithCalls | Correct | ReachLimit | End


def next_step(
    known: Fold,
    limits: Limits,
    spent: Spent,
    *,
    wanted: OutputReader | None = None,
    has_tools: bool = True,
    may_conclude: bool = True,
) -> NextStep:
    """The one thing to do next.

    Args:
        known: What is known of the run.
        limits: How far it may go.
        spent: How far it has gone.
        wanted: What the answer must be; None for any text.
        has_tools: Whether tools are on offer; if none are, the next reply is the answer.
        may_conclude: Whether there is enough left for a last answer beyond a limit.
    """
    if known.unanswered:
        return DealWithCalls(may_run=known.tool_choice != "none")
    if known.is_finished_by_call:
        return End(reason="finished")
    if known.has_answer:
        if known.limit is not None:
            return End(reason=known.limit)
        # What there is of it is the answer, and nobody is told that it is whole.
        return ReachLimit(reason="output_token_limit") if known.was_cut else _answered(known, limits, wanted)
    if known.limit is not None:
        return _last_answer(known.limit, limits, spent) if may_conclude else End(reason=known.limit)
    reason = reached(limits, spent)
    if reason is not None:
        return ReachLimit(reason=reason)
    return AskModel(
        choice=AUTO,
        max_output_tokens=tokens_for_turn(limits, spent) if has_tools else tokens_for_answer(limits, spent),
        seconds=seconds_for_turn(limits, spent),
    )


def when_too_late(known: Fold) -> ReachLimit | End:
    """What follows where no reply came in time; a last answer that did not come is not asked for again."""
    return ReachLimit(reason="wall_time_limit") if known.limit is None else End(reason=known.limit)


def when_too_little(known: Fold, limits: Limits, spent: Spent) -> ReachLimit | End | None:
    """What follows where not even the shortest reply fits into the tokens that are left.

    None if nothing was generated yet: then it is the program that asks for what cannot be.
    """
    has_begun = known.turns > int(known.is_turn_open)
    if known.limit is not None:
        return End(reason=known.limit) if has_begun else None
    # The last answer may have what was kept back for it.
    more = (tokens_for_answer(limits, spent) or 0) > (tokens_for_turn(limits, spent) or 0)
    return ReachLimit(reason="output_token_limit") if has_begun or more else None


def _answered(known: Fold, limits: Limits, wanted: OutputReader | None) -> Correct | End:
    value = None if wanted is None else wanted.read(known.text)
    if not isinstance(value, Incomplete):
        return End(reason="answered")
    return Correct(refused=value) if known.corrections < limits.corrections else End(reason="incomplete_output")


def _last_answer(reason: StopReason, limits: Limits, spent: Spent) -> AskModel | End:
    tokens = tokens_for_answer(limits, spent)
    if tokens is not None and tokens <= 0:
        return End(reason=reason)
    return AskModel(choice=NO_TOOLS, max_output_tokens=tokens, seconds=seconds_for_answer(limits, spent))
