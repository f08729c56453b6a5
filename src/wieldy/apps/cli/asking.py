"""The command line's policy and approver: calls that change something run only when a person says yes.

Asked about: every effect that cannot be repeated freely (`unsafe`, which is also what an undeclared effect counts as,
`keyed`, and `reconcile`), and whatever its author calls a high risk. Where nobody can be asked the run rests, if it was
told to, or the call is denied, and the person and the model are told why. Whatever is answered is recorded with the
name of who answered. Deliberately not here: answers that are given later (`approve`).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, TextIO

import anyio
import anyio.to_thread
from anyio.lowlevel import checkpoint
from rich.text import Text

from wieldy.apps.cli.approvals_view import call_of
from wieldy.apps.cli.deciders import NOBODY, user_name
from wieldy.apps.cli.facts import format_time
from wieldy.apps.cli.failures import note
from wieldy.apps.cli.terminal import err, out
from wieldy.apps.cli.untrusted import call_text, neutralise
from wieldy.core.approvals import Approval, ApprovalRequest
from wieldy.core.calls import Effect
from wieldy.run.policy import Allow, Ask, Decision, Proposal

if TYPE_CHECKING:
    from wieldy.tools import Tool

ASKED_ABOUT: Final[frozenset[Effect]] = frozenset({"unsafe", "keyed", "reconcile"})


def ask_about_effects(proposal: Proposal) -> Decision:
    """Allow what can be repeated freely and is no high risk; a person decides on everything else."""
    tool = proposal.tool
    if tool.effect not in ASKED_ABOUT and tool.risk != "high":
        return Allow()
    reasons = [_why(tool)] if tool.effect in ASKED_ABOUT else []
    if tool.risk == "high":
        reasons.append("its author calls it a high risk")
    if proposal.repeats_unknown is not None:
        reasons.append(f"call {proposal.repeats_unknown} was the same and its outcome is unknown: this may do it twice")
    if proposal.is_tainted:
        reasons.append("the model has read text from an untrusted source, which may have asked for it")
    return Ask(reason="; ".join(reasons))


class Approver:
    """Asks on the terminal, if somebody sits there.

    Args:
        asks: Whether to ask; if not, it is as if nobody sat there.
        pauses: Whether the run rests where nobody is asked; else the call is denied.
        advice: What to do so that such a call is not denied.
        before_question: Called before anything is printed, so that it starts on a line of its own.
    """

    def __init__(self, *, asks: bool, pauses: bool, advice: str, before_question: Callable[[], None]) -> None:
        self._asks = asks and can_ask()
        self._pauses = pauses
        self._advice = advice
        self._before_question = before_question

    async def __call__(self, request: ApprovalRequest) -> Approval | None:
        """The person's answer; None if it must be waited for."""
        await checkpoint()  # what happened before the question is shown before it
        if self._asks:
            self._before_question()
            granted = await _ask(request)
            return request.approve(by=user_name()) if granted else request.deny(by=user_name())
        if self._pauses:
            return None
        self._before_question()
        note(
            f"Denied {call_text(call_of(request), limit=200)}: {request.reason}, and nobody can be asked because "
            f"standard input is no terminal. {self._advice}"
        )
        return request.deny(by=NOBODY, reason="a person would have to consent, and nobody can be asked in this run")


def can_ask() -> bool:
    """Whether somebody sits at standard input."""
    stdin: TextIO | None = sys.stdin  # None where the caller closed it, as in `wieldy run <&-`
    return stdin is not None and not stdin.closed and stdin.isatty()


async def _ask(request: ApprovalRequest) -> bool:
    # The question must be seen: standard error may be a file while somebody sits at the terminal.
    terminal = out() if out().is_terminal and not err().is_terminal else err()
    why = neutralise(request.reason)
    if request.expires is not None:
        why += f"; a yes counts until {format_time(request.expires)}"
    terminal.block(Text.assemble((call_text(call_of(request)), "bold"), f" ({why})"), first="? ", rest="  ")
    while True:
        terminal.write("  Run it? [y/N] ")
        answer = (await read_line()).strip().casefold()
        if answer in ("y", "yes"):
            return True
        if answer in ("", "n", "no"):
            return False
        terminal.write("  Please answer y or n.\n")


async def read_line() -> str:
    """The next line that the person at the terminal writes, with its end."""
    # Waiting for the descriptor, not in a thread: a thread that reads a terminal cannot be cancelled by Ctrl-C.
    descriptor = sys.stdin.fileno()
    if sys.platform == "win32":
        return await anyio.to_thread.run_sync(sys.stdin.readline, abandon_on_cancel=True)
    try:
        await anyio.wait_readable(descriptor)
    except BaseException:  # as by Ctrl-C: what is said about it starts on a line of its own
        err().write("\n")
        raise
    line = os.read(descriptor, 4096)  # a terminal hands out one line at a time
    if not line.endswith(b"\n"):
        err().write("\n")
    return line.decode("utf-8", "replace")


def _why(tool: Tool) -> str:
    if not tool.effect_declared:
        return "its effect is not declared, so it may change something"
    return f"its effect is declared as {tool.effect}"
