"""A recorded call for people: what was asked for, who consented, every attempt, and what came of it.

Nothing is shortened, because this is where one looks when something is in doubt. Deliberately not here: the messages
around it (`run_view`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from rich.text import Text

from wieldy.apps.cli.facts import counted, format_cost, format_duration, format_time
from wieldy.apps.cli.terminal import Terminal
from wieldy.apps.cli.untrusted import call_text, neutralise, one_line
from wieldy.core.calls import AnyCall, ToolResult
from wieldy.core.media import FilePart, ImagePart
from wieldy.run.journal import kinds
from wieldy.run.records import approval_from_json, request_from_json

if TYPE_CHECKING:
    from wieldy.core.approvals import Approval
    from wieldy.core.ports import Entry
    from wieldy.run.state import CallState


def show_call(
    terminal: Terminal, call: AnyCall, state: CallState | None, *, asked: Iterable[str] = (), nested: str | None = None
) -> None:
    """Print the call and what became of it.

    Args:
        terminal: Where.
        call: As the model asked for it.
        state: What is known of it, if anything is.
        asked: When people were asked and what they answered.
        nested: The run that its code started.
    """
    name, bracket, arguments = call_text(call).partition("(")
    terminal.block(Text.assemble((name, "bold cyan"), bracket + arguments), first="→ ", rest="  ")
    if state is None:
        return
    for repair in state.repairs:
        show_indented(terminal, f"repaired: {repair}", style="yellow")
    for words in asked:
        show_indented(terminal, words, style="yellow")
    for failure in state.failures:
        words = f"attempt {failure.attempt} failed: {failure.error}: {failure.message} "
        show_indented(terminal, f"{words}(waited {format_duration(failure.wait_s)})", style="yellow")
    if nested is not None:
        show_indented(terminal, f"its code started run {nested}", style="dim")
    if state.result is None:
        terminal.block(Text(_why_open(state), style="yellow"), first="? ", rest="  ")
    else:
        _show_result(terminal, state, state.result)


def questions_of(entries: Iterable[Entry]) -> dict[str, list[str]]:
    """When people were asked about each call, and what they answered, in words."""
    words: dict[str, list[str]] = {}
    for entry in entries:
        if entry.kind == kinds.CALL_WAITING:
            request = request_from_json(entry.run_id, entry.data)
            until = "" if request.expires is None else f", until {format_time(request.expires)}"
            words.setdefault(request.call_id, []).append(
                f"asked {format_time(entry.time)}{until}: {request.reason}",
            )
        elif entry.kind == kinds.APPROVAL:
            approval = approval_from_json(entry.data)
            words.setdefault(approval.call_id, []).append(f"{_answer(approval)}, {format_time(entry.time)}")
    return words


def show_parts(terminal: Terminal, parts: Iterable[object]) -> None:
    """Name the images and files among the parts."""
    for part in parts:
        if isinstance(part, ImagePart):
            show_indented(terminal, f"(image: {one_line(part.url, limit=100)})", style="dim")
        elif isinstance(part, FilePart):
            what = f"{one_line(part.name, limit=100)}, {one_line(part.media_type, limit=60)}"
            show_indented(terminal, f"(file: {what}: {one_line(part.url, limit=100)})", style="dim")


def show_indented(terminal: Terminal, text: str, *, style: str = "") -> None:
    """Print untrusted text below the line that it belongs to."""
    terminal.block(Text(neutralise(text), style=style), first="  ", rest="  ")


def _answer(approval: Approval) -> str:
    if approval.is_granted:
        return f"approved by {approval.by}"
    return f"denied by {approval.by}{': ' if approval.reason else ''}{approval.reason}"


def _why_open(state: CallState) -> str:
    if state.status == "waiting":
        return f"waits for a person's decision: approve or deny {state.call.id}"
    if state.started is not None:
        return f"started {format_time(state.started)}, no outcome is recorded"
    if state.approval is not None:
        return "decided on; that counts when the run is resumed"
    return "not started, no outcome is recorded"


def _show_result(terminal: Terminal, state: CallState, result: ToolResult) -> None:
    text = Text(neutralise(result.content) or "(empty)", style="red" if result.is_error else "")
    terminal.block(text, first="✗ " if result.is_error else "← ", rest="  ")
    show_parts(terminal, result.parts)
    if state.is_unknown:
        show_indented(terminal, "its outcome is unknown: it may have taken place or not", style="yellow")
    if state.late is not None:
        show_indented(terminal, f"came late: {state.late.content}", style="red" if state.late.is_error else "yellow")
    show_indented(terminal, " · ".join(_facts(state, result)), style="dim")
    if state.detail:
        show_indented(terminal, state.detail.strip("\n"), style="dim")


def _facts(state: CallState, result: ToolResult) -> Iterator[str]:
    yield "did not run" if state.started is None else format_duration(state.duration_s)
    if state.attempts > 1:
        yield counted(state.attempts, "attempt")
    if state.effect is not None:
        yield f"effect {state.effect}"
    if state.answered_by is not None:
        yield f"answered by the fallback `{state.answered_by}`"
    if result.layer is not None:
        yield f"failure layer {result.layer}"
    if result.trust == "untrusted":
        yield f"untrusted source {result.source or 'unknown'}"
    if state.recorded_as is not None:
        yield f"result of call {state.recorded_as} given again"
    if state.whole is not None:
        yield f"shortened for the model; all {len(state.whole):,} characters with --json"
    if state.usage is not None:
        cost = "" if not state.usage.cost_usd else f", {format_cost(state.usage.cost_usd)}"
        yield f"its code made {counted(state.usage.requests, 'request')} to a model{cost}"
