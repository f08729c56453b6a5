"""May this call run? A policy is a function that answers; this is the port and the default.

Deliberately not here: rules, principals and approvals that outlive the process.
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from wieldy.core.calls import ToolCall
from wieldy.core.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from wieldy.tools import Tool


@dataclass(frozen=True, slots=True, kw_only=True)
class Allow:
    """The call may run."""


@dataclass(frozen=True, slots=True)
class Deny:
    """The call may not run; `reason` is told to the model."""

    reason: str = "it is not allowed here"


Decision: TypeAlias = Allow | Deny

Policy: TypeAlias = "Callable[[ToolCall, Tool], Decision | Awaitable[Decision]]"
"""Asked once per call, with the arguments that will be used, in the model's order, before any call of the turn runs."""


def allow_all(call: ToolCall, tool: Tool) -> Decision:
    """The library's default: a program adds its own rules."""
    del call, tool
    return Allow()


async def decide(policy: Policy, *, call: ToolCall, tool: Tool) -> Decision:
    """The policy's answer, waited for if it must be.

    Raises:
        UsageError: The policy answered something else.
    """
    answer = policy(call, tool)
    return _checked(await answer if inspect.isawaitable(answer) else answer, call)


def _checked(answer: object, call: ToolCall) -> Decision:
    # A policy is the program's own function, and `True` must not pass for `Allow`.
    if isinstance(answer, Allow | Deny):
        return answer
    raise UsageError(f"Expected the policy to answer Allow() or Deny(reason) for `{call.name}`, found {answer!r}.")
