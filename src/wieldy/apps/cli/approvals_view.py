"""Calls that wait for a person's decision, exactly as the answer will be bound to them.

Deliberately not here: asking at once (`asking`) and deciding (`deciding`).
"""

from __future__ import annotations

from rich.text import Text

from wieldy.apps.cli.facts import format_time
from wieldy.apps.cli.terminal import Terminal
from wieldy.apps.cli.untrusted import call_text, neutralise, one_line
from wieldy.core.approvals import ApprovalRequest
from wieldy.core.calls import ToolCall

DIGEST_LENGTH = 16
"""How many characters of a digest people are shown."""


def call_of(request: ApprovalRequest) -> ToolCall:
    """The call that would run."""
    return ToolCall(id=request.call_id, name=request.tool_name, arguments=request.arguments)


def show_request(terminal: Terminal, request: ApprovalRequest, *, sign: str, now: float) -> None:
    """Print all that an answer is bound to; nothing is shortened but the digest."""
    terminal.block(Text(call_text(call_of(request)), style="bold"), first=f"{sign} ", rest="  ")
    _fact(terminal, "call", f"{one_line(request.call_id, limit=100)} of run {one_line(request.run_id, limit=100)}")
    _fact(terminal, "why", neutralise(request.reason))
    _fact(terminal, "expires", _expiry(request, now=now))
    _fact(terminal, "digest", request.digest[:DIGEST_LENGTH])


def _fact(terminal: Terminal, name: str, value: str) -> None:
    terminal.block(Text(value), first=Text.assemble("  ", (f"{name:<9}", "dim")), rest=" " * 11)


def _expiry(request: ApprovalRequest, *, now: float) -> str:
    if request.expires is None:
        return "never"
    when = format_time(request.expires)
    return f"{when}: too late, it is asked again when the run is resumed" if request.is_expired(now) else when
