"""The command line's policy: calls that change something run only when a person says yes.

Asked before: every effect that cannot be repeated freely (`unsafe`, which is also what an undeclared effect counts as,
`keyed`, and `reconcile`). Where nobody can be asked, the call is denied, and the person and the model are told why.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import TextIO

import anyio
import anyio.to_thread
from anyio.lowlevel import checkpoint
from rich.text import Text

from wieldy.apps.cli.failures import note
from wieldy.apps.cli.terminal import err, out
from wieldy.apps.cli.untrusted import call_text
from wieldy.core.calls import Effect, ToolCall
from wieldy.run.policy import Allow, Decision, Deny
from wieldy.tools import Tool

ASKED_ABOUT: frozenset[Effect] = frozenset({"unsafe", "keyed", "reconcile"})


class AskingPolicy:
    """Asks on the terminal.

    Args:
        before_question: Called before anything is printed, so that the question starts on a line of its own.
    """

    def __init__(self, *, before_question: Callable[[], None]) -> None:
        self._before_question = before_question

    async def __call__(self, call: ToolCall, tool: Tool) -> Decision:
        """Allow what changes nothing or what the person allows."""
        if tool.effect not in ASKED_ABOUT:
            return Allow()
        await checkpoint()  # what happened before the question is shown before it
        self._before_question()
        if not can_ask():
            return _deny_unasked(call, tool)
        if await _ask(call, tool):
            return Allow()
        return Deny("the person who was asked said no")


def can_ask() -> bool:
    """Whether somebody sits at standard input."""
    stdin: TextIO | None = sys.stdin  # None where the caller closed it, as in `wieldy run <&-`
    return stdin is not None and not stdin.closed and stdin.isatty()


def _deny_unasked(call: ToolCall, tool: Tool) -> Deny:
    note(
        f"Denied {call_text(call, limit=200)}: {_why(tool)}, and nobody can be asked because standard input is no "
        "terminal. Add --yes to let such calls run."
    )
    return Deny("a person would have to consent, and nobody can be asked in this run")


async def _ask(call: ToolCall, tool: Tool) -> bool:
    # The question must be seen: standard error may be a file while somebody sits at the terminal.
    terminal = out() if out().is_terminal and not err().is_terminal else err()
    terminal.block(Text.assemble((call_text(call), "bold"), f" ({_why(tool)})"), first="? ", rest="  ")
    while True:
        terminal.write("  Run it? [y/N] ")
        answer = (await _read_line()).strip().casefold()
        if answer in ("y", "yes"):
            return True
        if answer in ("", "n", "no"):
            return False
        terminal.write("  Please answer y or n.\n")


async def _read_line() -> str:
    # Waiting for the descriptor, not in a thread: a thread that reads a terminal cannot be cancelled by Ctrl-C.
    descriptor = sys.stdin.fileno()
    if sys.platform == "win32":
        return await anyio.to_thread.run_sync(sys.stdin.readline, abandon_on_cancel=True)
    await anyio.wait_readable(descriptor)
    line = os.read(descriptor, 4096)  # a terminal hands out one line at a time
    if not line.endswith(b"\n"):
        err().write("\n")
    return line.decode("utf-8", "replace")


def _why(tool: Tool) -> str:
    if not tool.effect_declared:
        return "its effect is not declared, so it may change something"
    return f"its effect is declared as {tool.effect}"
