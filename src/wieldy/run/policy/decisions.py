"""May this call run? A policy is a function that is shown a proposal and decides; an approver asks a person.

These are two ports, and the default policy. Deliberately not here: rules as data (`rules`), where arguments come
from (`provenance`), and keeping what people answered (the journal).
"""

from __future__ import annotations

import copy
import inspect
import sys
from dataclasses import KW_ONLY, dataclass, replace
from typing import TYPE_CHECKING, Final, TypeAlias

from wieldy.core.approvals import Approval
from wieldy.core.errors import ApprovalError, UsageError
from wieldy.core.influence import Influence, Sources

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from wieldy.core.approvals import ApprovalRequest
    from wieldy.core.calls import ToolCall
    from wieldy.core.messages import Message
    from wieldy.core.principals import Principal
    from wieldy.tools import Tool

NOBODY: Final = Influence()
"""No untrusted source had a part in the call."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """A call that would run if the policy lets it.

    Attributes:
        call: With the arguments that will be used: validated, and repaired where they had to be.
        tool: What it would run.
        principal: On whose behalf, if that was said.
        messages: What the model had read when it asked for the call.
        is_tainted: Whether an untrusted source may have had a part in the call.
        influence: Which sources, in what of it: exactly where the call says so itself (`call.influence`); else all of
            which something was read before, in everything.
        prompt_tainted_by: The untrusted sources that may have shaped the prompt, which then are not the user's words.
        repeats_unknown: The id of an earlier call of the same tool with the same arguments, of which nobody knows
            whether its effect took place; `RUN/CALL` if it is one of a run around or within this one.
    """

    run_id: str
    call: ToolCall
    tool: Tool
    principal: Principal | None = None
    messages: Sequence[Message] = ()
    is_tainted: bool = False
    influence: Influence = NOBODY
    prompt_tainted_by: Sources = ()
    repeats_unknown: str | None = None


@dataclass(frozen=True, slots=True)
class Allow:
    """The call may run."""


@dataclass(frozen=True, slots=True)
class Deny:
    """The call must not run.

    Attributes:
        reason: Why; for the model.
    """

    reason: str = "it is not allowed here"

    def __post_init__(self) -> None:
        _check_reason(self)


@dataclass(frozen=True, slots=True)
class Ask:
    """A person decides; until then the call waits, and with it the run.

    Attributes:
        reason: Why somebody is asked; for the person.
        expires_after_s: How long an answer counts, in seconds from the question; None for ever.
    """

    reason: str = "the rules want a person's consent"
    _: KW_ONLY
    expires_after_s: float | None = None

    def __post_init__(self) -> None:
        _check_reason(self)
        seconds = self.expires_after_s
        if seconds is not None and (isinstance(seconds, bool) or not _is_time(seconds)):
            raise UsageError(
                f"Ask: expected expires_after_s to be seconds above 0, or None for ever, found {seconds!r}."
            )


Decision: TypeAlias = Allow | Deny | Ask

Policy: TypeAlias = "Callable[[Proposal], Decision | Awaitable[Decision]]"
"""Asked about each call, in the model's order, before any call of the turn runs; again when a run is resumed, and when
something happened meanwhile that may change the answer."""

Approver: TypeAlias = "Callable[[ApprovalRequest], Approval | Awaitable[Approval | None] | None]"
"""Asks a person, and answers `request.approve(by=...)`, `request.deny(by=...)`, or None: nobody has decided yet."""


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
    return _decision(await answer if inspect.isawaitable(answer) else answer, proposal)


async def consult(approver: Approver, request: ApprovalRequest) -> Approval | None:
    """The approver's answer to this request, waited for if it must be; None if nobody has decided yet.

    Raises:
        UsageError: The approver answered something else.
        ApprovalError: It answered another request.
    """
    # A copy, so that an approver that changes what it is shown does not consent to the change.
    shown = replace(request, arguments=copy.deepcopy(request.arguments))
    answer = approver(shown)
    return _approval(await answer if inspect.isawaitable(answer) else answer, request)


def _decision(answer: object, proposal: Proposal) -> Decision:
    # A policy is the program's own function, and `True` must not pass for `Allow`.
    if isinstance(answer, Allow | Deny | Ask):
        return answer
    raise UsageError(
        f'Expected the policy to answer Allow(), Deny("...") or Ask("...") for `{proposal.call.name}`, '
        f"found {answer!r}."
    )


def _approval(answer: object, request: ApprovalRequest) -> Approval | None:
    # So is an approver, and its `True` must not pass for consent.
    if answer is None:
        return None
    if not isinstance(answer, Approval) or not isinstance(answer.is_granted, bool):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise UsageError(
            "Expected the approver to answer request.approve(by=...), request.deny(by=...) or None for "
            f"`{request.tool_name}`, found {answer!r}."
        )
    if not isinstance(answer.by, str) or not answer.by.strip():  # pyright: ignore[reportUnnecessaryIsInstance]
        raise UsageError(
            f"Expected the approver to say who decided on `{request.tool_name}`, as in request.approve(by='anna'), "
            f"found {answer.by!r}."
        )
    if (answer.call_id, answer.digest) != (request.call_id, request.digest):
        raise ApprovalError(
            f"Expected an answer to the request for call {request.call_id!r} with the digest {request.digest}, found "
            f"one for call {answer.call_id!r} with the digest {answer.digest}. Answer with the request's own approve "
            "or deny; an answer to what was shown earlier, or to something else, does not count."
        )
    return answer


def _check_reason(decision: Deny | Ask) -> None:
    if not isinstance(decision.reason, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise UsageError(f"{type(decision).__name__}: expected the reason as text, found {decision.reason!r}.")


def _is_time(seconds: object) -> bool:
    return isinstance(seconds, int | float) and 0 < seconds <= sys.float_info.max
