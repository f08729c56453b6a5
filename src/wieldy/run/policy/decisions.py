"""May this call run? A policy is a function that is shown a proposal and decides; this is the port and the default.

Deliberately not here: rules as data (`rules`), where arguments come from (`provenance`), and keeping what people
answered (the journal).
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from wieldy.core.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from wieldy.core.calls import ToolCall
    from wieldy.core.messages import Message
    from wieldy.core.principals import Principal
    from wieldy.tools import Tool


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """A call that would run if the policy lets it.

    Attributes:
        call: With the arguments that will be used: validated, and repaired where they had to be.
        tool: What it would run.
        principal: On whose behalf, if that was said.
        messages: What the model had read when it asked for the call.
        is_tainted: Whether a result from an untrusted source is among the messages.
        repeats_unknown: The id of an earlier call of the same tool with the same arguments, of which nobody knows
            whether its effect took place.
    """

    run_id: str
    call: ToolCall
    tool: Tool
    principal: Principal | None = None
    messages: Sequence[Message] = ()
    is_tainted: bool = False
    repeats_unknown: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Allow:
    """The call may run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Deny:
    """The call must not run; the model is told why."""

    reason: str = "it is not allowed here"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """A person decides; until then the call waits, and with it the run.

    Attributes:
        reason: Why somebody is asked; for the person.
        expires_after_s: How long an answer counts, in seconds from the question; None for ever.
    """

    reason: str = "the rules want a person's consent"
    expires_after_s: float | None = None


Decision: TypeAlias = Allow | Deny | Ask

Policy: TypeAlias = "Callable[[Proposal], Decision | Awaitable[Decision]]"
"""Asked once per call, in the model's order, before any call of the turn runs; and again when a run is resumed."""


def allow_all(proposal: Proposal) -> Decision:
    """The library's default: a program adds its own rules."""
    del proposal
    return Allow()


async def decide(policy: Policy, proposal: Proposal) -> Decision:
    """The policy's answer, waited for if it must be.

    Raises:
        UsageError: The policy answered something else.
    """
    answer = policy(proposal)
    return _checked(await answer if inspect.isawaitable(answer) else answer, proposal)


def _checked(answer: object, proposal: Proposal) -> Decision:
    # A policy is the program's own function, and `True` must not pass for `Allow`.
    if isinstance(answer, Allow | Deny | Ask):
        return answer
    raise UsageError(
        f"Expected the policy to answer Allow(), Deny(reason=...) or Ask(reason=...) for `{proposal.call.name}`, "
        f"found {answer!r}."
    )
