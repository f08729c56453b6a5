"""A recorded run for people: all of it, as the journal has it.

A reader of the folded state. Nothing is shortened, because this is where one looks when something is in doubt.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from rich.text import Text

from wieldy.apps.cli.facts import STOP_WORDS, counted, format_duration, used
from wieldy.apps.cli.terminal import Terminal
from wieldy.apps.cli.untrusted import call_text, neutralise, one_line
from wieldy.core.calls import AnyCall
from wieldy.core.messages import ImagePart, Message
from wieldy.run.state import CallState, RunState

STATUS_WORDS = {
    "running": "running, or its process died",
    "finished": "finished",
    "failed": "failed",
    "interrupted": "interrupted",
}
STATUS_STYLES = {"running": "yellow", "finished": "green", "failed": "red", "interrupted": "yellow"}


def show_run(terminal: Terminal, state: RunState) -> None:
    """Print the whole run."""
    _show_head(terminal, state)
    calls = {call.call.id: call for call in state.calls}
    for message in state.messages:
        if message.result is None:
            _show_message(terminal, message, calls)
    if state.status == "failed" and state.error is not None:
        terminal.print()
        terminal.block(Text(neutralise(state.error), style="red"), first="✗ ", rest="  ")


def format_time(seconds: float) -> str:
    """A moment in local time, to the second."""
    return datetime.fromtimestamp(seconds).astimezone().strftime("%Y-%m-%d %H:%M:%S")


def _show_head(terminal: Terminal, state: RunState) -> None:
    status = STATUS_WORDS[state.status]
    if state.stop_reason is not None:
        status += f": {STOP_WORDS[state.stop_reason]}"
    took = "" if state.ended is None else f", took {format_duration(state.ended - state.started)}"
    facts = [counted(state.turns, "turn"), *used(calls=len(state.calls), usage=state.usage)]
    _fact(terminal, "run", Text(one_line(state.run_id, limit=100), style="bold"))
    _fact(terminal, "status", Text(status, style=STATUS_STYLES[state.status]))
    _fact(terminal, "model", Text(one_line(state.model, limit=200)))
    _fact(terminal, "started", Text(format_time(state.started) + took))
    _fact(terminal, "used", Text(" · ".join(facts)))


def _fact(terminal: Terminal, name: str, value: Text) -> None:
    terminal.block(value, first=Text(f"{name:<9}", style="dim"), rest=" " * 9)


def _show_message(terminal: Terminal, message: Message, calls: Mapping[str, CallState]) -> None:
    terminal.print()
    terminal.block(Text(message.role, style="bold"))
    if message.reasoning:
        _indented(terminal, message.reasoning.strip("\n"), style="dim italic")
    if message.text:
        _indented(terminal, message.text.strip("\n"))
    for image in (part for part in message.parts if isinstance(part, ImagePart)):
        _indented(terminal, f"(image: {one_line(image.url, limit=100)})", style="dim")
    for call in message.calls:
        _show_call(terminal, call, calls.get(call.id))


def _indented(terminal: Terminal, text: str, *, style: str = "") -> None:
    terminal.block(Text(neutralise(text), style=style), first="  ", rest="  ")


def _show_call(terminal: Terminal, call: AnyCall, state: CallState | None) -> None:
    name, bracket, arguments = call_text(call).partition("(")
    terminal.block(Text.assemble((name, "bold cyan"), bracket + arguments), first="→ ", rest="  ")
    if state is None:
        return
    for repair in state.repairs:
        _indented(terminal, f"repaired: {repair}", style="yellow")
    if state.result is None:
        begun = "not started" if state.started is None else f"started {format_time(state.started)}"
        words = f"{begun}, no outcome is recorded"
        terminal.block(Text(words, style="yellow"), first="? ", rest="  ")
        return
    failed = state.result.is_error
    text = Text(neutralise(state.result.content) or "(empty)", style="red" if failed else "")
    terminal.block(text, first="✗ " if failed else "← ", rest="  ")
    _indented(terminal, " · ".join(_call_facts(state)), style="dim")
    if state.detail:
        _indented(terminal, state.detail.strip("\n"), style="dim")


def _call_facts(state: CallState) -> list[str]:
    facts = ["did not run" if state.started is None else format_duration(state.duration_s)]
    if state.effect is not None:
        facts.append(f"effect {state.effect}")
    if state.result is not None and state.result.layer is not None:
        facts.append(f"failure layer {state.result.layer}")
    if state.recorded_as is not None:
        facts.append(f"result of call {state.recorded_as} given again")
    if state.whole is not None:
        facts.append(f"shortened for the model; all {len(state.whole):,} characters with --json")
    return facts
