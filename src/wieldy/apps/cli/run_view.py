"""A recorded run for people: all of it, as the journal has it.

A reader of the entries and of the state that they add up to. Nothing is shortened, because this is where one looks when
something is in doubt. Deliberately not here: a single call (`call_view`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from rich.text import Text

from wieldy.apps.cli.call_view import questions_of, show_call, show_indented, show_parts
from wieldy.apps.cli.facts import STOP_WORDS, counted, format_duration, format_time, used
from wieldy.apps.cli.outputs import in_short
from wieldy.apps.cli.run_status import STATUS_STYLES, Status
from wieldy.apps.cli.terminal import Terminal
from wieldy.apps.cli.untrusted import neutralise, one_line
from wieldy.core.messages import Message
from wieldy.run.journal import kinds
from wieldy.run.state import RunState, fold

if TYPE_CHECKING:
    from wieldy.core.ports import Entry


def show_run(
    terminal: Terminal, entries: Sequence[Entry], *, status: Status, holder: str | None, nested: Mapping[str, str]
) -> None:
    """Print the whole run.

    Args:
        terminal: Where.
        entries: All of the run.
        status: How it stands.
        holder: Who is at work on it, if anybody is.
        nested: The runs that its calls started, by the calls' ids.
    """
    state = fold(entries)
    words = _status_words(state, status, holder=holder, nested=nested)
    _show_head(terminal, entries, state, words, style=STATUS_STYLES[status])
    calls = {call.call.id: call for call in state.calls}
    questions = questions_of(entries)
    for message in state.messages:
        if message.result is not None:  # shown with its call
            continue
        _show_message(terminal, message)
        for call in message.calls:
            asked = questions.get(call.id, ())
            show_call(terminal, call, calls.get(call.id), asked=asked, nested=nested.get(call.id))
    if state.status == "failed" and state.error is not None:
        terminal.print()
        terminal.block(Text(neutralise(state.error), style="red"), first="✗ ", rest="  ")


def _show_head(terminal: Terminal, entries: Sequence[Entry], state: RunState, words: str, *, style: str) -> None:
    took = (
        ""
        if state.ended is None or state.status == "waiting"
        else f", took {format_duration(state.ended - state.started)}"
    )
    facts = [counted(state.turns, "turn"), *used(calls=len(state.calls), usage=state.usage)]
    _fact(terminal, "run", Text(one_line(state.run_id, limit=100), style="bold"))
    _fact(terminal, "status", Text(words, style=style))
    _fact(terminal, "model", Text(one_line(state.model, limit=200)))
    wanted = in_short(state)
    if wanted:
        _fact(terminal, "output", Text(one_line(wanted, limit=200)))
    if state.principal is not None:
        _fact(terminal, "for", Text(one_line(state.principal, limit=200)))
    if state.parent is not None:
        parent = f"call {state.parent.call_id} of run {state.parent.run_id}"
        _fact(terminal, "within", Text(one_line(parent, limit=200)))
    _fact(terminal, "started", Text(format_time(state.started) + took))
    for name, event in _turns_of_fate(entries):
        _fact(terminal, name, Text(one_line(event, limit=500)))
    _fact(terminal, "used", Text(" · ".join(facts)))


def _status_words(state: RunState, status: Status, *, holder: str | None, nested: Mapping[str, str]) -> str:
    match status:
        case "running":
            return f"running: {holder} is at work on it"
        case "died":
            return "died: its process ended without another word, and what it had begun is below"
        case "waiting" if state.waiting:
            return f"waiting: a person must decide on {counted(len(state.waiting), 'call')}"
        case "waiting" if any(call.result is None and call.call.id in nested for call in state.calls):
            return "waiting: for a run that it started, which rested"
        case "waiting":
            return "waiting: all is decided, and it goes on when it is resumed"
        case "finished" if state.stop_reason is not None:
            return f"finished: {STOP_WORDS[state.stop_reason]}"
        case _:
            return status


def _turns_of_fate(entries: Sequence[Entry]) -> Iterator[tuple[str, str]]:
    """When the run rested or was stopped, and who went on with it."""
    for entry in entries:
        when = format_time(entry.time)
        match entry.kind:
            case kinds.RUN_PAUSED:
                yield "rested", f"{when}, until calls are decided on"
            case kinds.RUN_RESUMED:
                yield "resumed", f"{when}, by {entry.data.get('by') or 'somebody'}"
            case kinds.RUN_INTERRUPTED:
                yield "stopped", f"{when}, interrupted"
            case kinds.RUN_FAILED:
                yield "stopped", f"{when}, by {entry.data.get('error') or 'an error'}"
            case kinds.LIMIT_REACHED:
                yield "limit", f"{when}, {entry.data.get('reason')}"
            case _:
                pass


def _fact(terminal: Terminal, name: str, value: Text) -> None:
    terminal.block(value, first=Text(f"{name:<9}", style="dim"), rest=" " * 9)


def _show_message(terminal: Terminal, message: Message) -> None:
    terminal.print()
    terminal.block(Text(message.role, style="bold"))
    if message.reasoning:
        show_indented(terminal, message.reasoning.strip("\n"), style="dim italic")
    if message.text:
        show_indented(terminal, message.text.strip("\n"))
    show_parts(terminal, message.parts)
