"""Deciding on calls that wait: which those are, what is decided on, and what comes next.

The decision is bound to what is shown here: if the call is another one by then, it is refused. Calls of runs that a run
has started are found by that run too. Deliberately not here: keeping the decision (`wieldy.run.consent`).
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.text import Text

from wieldy.apps.cli.approvals_view import show_request
from wieldy.apps.cli.deciders import NOBODY, user_name
from wieldy.apps.cli.event_json import request_to_json
from wieldy.apps.cli.facts import counted
from wieldy.apps.cli.journals import find_run, open_for_appending, open_for_reading
from wieldy.apps.cli.json_lines import print_json
from wieldy.apps.cli.next_commands import NextCommands
from wieldy.apps.cli.recipe import Recipe
from wieldy.apps.cli.terminal import out
from wieldy.apps.cli.untrusted import neutralise
from wieldy.connect.serving.calls import CLIENT
from wieldy.core.errors import UsageError
from wieldy.run.consent import Consent
from wieldy.run.nested import root_of
from wieldy.run.state import fold

if TYPE_CHECKING:
    from wieldy.core.approvals import Approval, ApprovalRequest
    from wieldy.core.ports import Journal
    from wieldy.run.state import RunState


def list_waiting(run: str, *, journal: str | None, json: bool) -> None:
    """Print the calls of the run that wait for a decision, and how to decide.

    Raises:
        UsageError: There is no such run.
        JournalError: The journal cannot be read, or was changed.
    """
    recorded = open_for_reading(journal)
    run_id = find_run(recorded, run)
    waiting = list(Consent(recorded).pending(run_id)) if recorded else []
    if json:
        print_json({"run_id": run_id, "waiting": [request_to_json(request) for request in waiting]})
        return
    commands = NextCommands(journal=journal)
    for number, request in enumerate(waiting):
        if number:
            out().print()
        show_request(out(), request, sign="?", now=time.time())
        out().block(Text(commands.approve(request.run_id, request.call_id), style="green"), first="  ", rest="  ")
        out().block(Text(commands.deny(request.run_id, request.call_id), style="red"), first="  ", rest="  ")
    if not waiting:
        out().block(Text(f"No call of run {run_id} waits for a decision."))
    if recorded and not waiting and (state := fold(recorded.read(run_id))).status == "waiting":
        out().block(Text(_go_on(root_of(recorded, state), commands)))


def decide(
    run: str, call: str, *, is_granted: bool, by: str | None, reason: str = "", journal: str | None, json: bool
) -> None:
    """Record the decision, show what it was about, and say what comes next.

    Raises:
        ApprovalError: No such call waits, it was decided on already, or it is too late.
        UsageError: There is no such run, or more than one call fits.
        JournalError: The journal cannot be read or written, or was changed.
    """
    recorded = open_for_appending(journal)
    run_id = find_run(recorded, run)
    consent = Consent(recorded)
    request = _shown(consent, run_id, call)
    by = user_name() if by is None else by
    approval = consent.answer(request.run_id, call, is_granted=is_granted, by=by, reason=reason, digest=request.digest)
    next_up = what_is_next(recorded, run_id, consent=consent)
    if json:
        print_json(_to_json(request, approval, next_up))
    else:
        _show(request, approval, next_up, commands=NextCommands(journal=journal))


@dataclass(frozen=True, slots=True, kw_only=True)
class NextUp:
    """What there is to do once a call was decided on.

    Attributes:
        root: The run that goes on with what was decided.
        left: How many more of its calls wait.
    """

    root: RunState
    left: int

    def words(self, commands: NextCommands) -> str:
        """That, in a sentence with a command."""
        if self.left:
            words = f"{counted(self.left, 'more call')} of it {'waits' if self.left == 1 else 'wait'}: "
            return words + commands.waiting(self.root.run_id)
        return _go_on(self.root, commands)


def what_is_next(journal: Journal, run_id: str, *, consent: Consent) -> NextUp:
    """What a decision about a call of this run leads to.

    Raises:
        JournalError: The journal cannot be read, or was changed.
    """
    root = root_of(journal, fold(journal.read(run_id)))
    return NextUp(root=root, left=len(consent.pending(root.run_id)))


def _shown(consent: Consent, run_id: str, call: str) -> ApprovalRequest:
    """The one that is meant; ids are unique within a run only, and the run's own come first."""
    fitting = [request for request in consent.pending(run_id) if request.call_id == call]
    own = [request for request in fitting if request.run_id == run_id]
    if len(fitting) > 1 and not own:
        runs = ", ".join(request.run_id for request in fitting)
        raise UsageError(f"{len(fitting)} calls {call!r} wait, in the runs {runs}. Name the run itself.")
    if not fitting:
        # Raises, and says why; even if the call begins to wait just now, nothing has this digest.
        consent.answer(run_id, call, is_granted=False, by=NOBODY, digest="of nothing")
    return (own or fitting)[0]


def _to_json(request: ApprovalRequest, approval: Approval, next_up: NextUp) -> dict[str, object]:
    return {
        **request_to_json(request),
        "is_granted": approval.is_granted,
        "by": approval.by,
        "denial": None if approval.is_granted else approval.reason,
        "left": next_up.left,
        "resume": next_up.root.run_id,
    }


def _show(request: ApprovalRequest, approval: Approval, next_up: NextUp, *, commands: NextCommands) -> None:
    terminal = out()
    verb, style = ("Approved", "bold green") if approval.is_granted else ("Denied", "bold red")
    because = f": {approval.reason}" if approval.reason else ""
    terminal.block(Text.assemble((verb, style), neutralise(f" by {approval.by}{because}")))
    show_request(terminal, request, sign="✓" if approval.is_granted else "✗", now=0.0)
    terminal.print()
    terminal.block(Text(next_up.words(commands)))


def _go_on(run: RunState, commands: NextCommands) -> str:
    if run.model == CLIENT:  # the run is a client's call, and the server that it came to goes on with it
        return (
            "A call that still waits for this goes on by itself; a client that was told that it waits makes the same "
            "call again, to the same server. One that was started anew since then asks anew."
        )
    if Recipe.from_metadata(run.metadata) is None:  # `wieldy resume` would have to be told its model and tools
        return f"Go on with the run in the program that started it: agent.resume_sync({run.run_id!r})"
    return f"Go on with the run: {commands.resume(run.run_id)}"
