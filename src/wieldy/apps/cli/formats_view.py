"""Chat formats and replies for people, and a format's portrait as JSON."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

from wieldy.apps.cli.formats_probes import Portrait
from wieldy.apps.cli.terminal import Terminal
from wieldy.apps.cli.untrusted import call_text, neutralise
from wieldy.core.calls import AnyCall, InvalidToolCall
from wieldy.core.json import JsonObject
from wieldy.formats.events import Reply
from wieldy.formats.format import ChatFormat


def show_list(terminal: Terminal, formats: Sequence[ChatFormat]) -> None:
    """Print a line for each format."""
    width = max(len(format_.name) for format_ in formats) + 2
    for format_ in formats:
        name = Text(f"{format_.name:<{width}}", style="bold")
        terminal.block(Text(format_.models), first=name, rest=" " * width)


def portrait_to_json(portrait: Portrait) -> JsonObject:
    """A format's portrait as one JSON object."""
    return {
        "name": portrait.format.name,
        "models": portrait.format.models,
        "notes": list(portrait.format.notes),
        "examples": {**portrait.examples},
        "grammar": portrait.grammar or None,
        "does_not_round_trip": [{"of": loss.of, "lost": list(loss.lost)} for loss in portrait.losses],
    }


def show_portrait(terminal: Terminal, portrait: Portrait, *, with_grammar: bool) -> None:
    """Print a format's portrait; its grammar, which is for engines more than for people, only if asked for."""
    format_ = portrait.format
    terminal.block(Text.assemble((format_.name, "bold"), f"  {format_.models}"))
    for remark in format_.notes:
        terminal.block(Text(remark), first="· ", rest="  ")
    for name, text in portrait.examples.items():
        _heading(terminal, name[0].upper() + name[1:])
        terminal.block(Text(neutralise(text)), first="    ", rest="    ")
    if with_grammar:
        _show_grammar(terminal, portrait)
    _heading(terminal, "What does not round-trip")
    if not portrait.losses:
        terminal.block(Text("Everything that was tried comes back."), first="    ", rest="    ")
    for loss in portrait.losses:
        terminal.block(Text(neutralise(f"{loss.of}: {'; '.join(loss.lost)}")), first="  · ", rest="    ")


def _show_grammar(terminal: Terminal, portrait: Portrait) -> None:
    _heading(terminal, "Grammar for one tool (llguidance's Lark)")
    if portrait.grammar:
        terminal.block(Text(neutralise(portrait.grammar.rstrip())), first="    ", rest="    ")
    else:
        terminal.block(Text(neutralise(portrait.no_grammar_because), style="yellow"), first="    ", rest="    ")


def show_rendering(terminal: Terminal, text: str) -> None:
    """Print a conversation: on a terminal made safe to show, elsewhere exactly as it is."""
    terminal.write(f"{neutralise(text)}\n" if terminal.is_terminal else text)


def show_reply(terminal: Terminal, reply: Reply) -> None:
    """Print what a reply says, one part after the other."""
    parts = [("reasoning", reply.reasoning), ("text", reply.content)]
    for name, text in parts:
        if text:
            terminal.block(Text(neutralise(text)), first=_label(name), rest=" " * _WIDTH)
    for call in reply.calls:
        terminal.block(Text(_call(call)), first=_label(call.id), rest=" " * _WIDTH)
    for repaired in reply.repairs:
        for change in repaired.changes:
            terminal.block(Text(neutralise(str(change))), first=_label("repaired"), rest=" " * _WIDTH)
    for problem in reply.problems:
        terminal.block(Text(neutralise(str(problem)), style="yellow"), first=_label("problem"), rest=" " * _WIDTH)
    if not reply.spans:
        terminal.block(Text("The reply is empty.", style="dim"))


_WIDTH = 12


def _label(name: str) -> Text:
    return Text(f"{name:<{_WIDTH - 1}} ", style="bold")


def _call(call: AnyCall) -> str:
    if isinstance(call, InvalidToolCall):
        return f"{neutralise(call.error)} Its text: {neutralise(call.text)}"
    return call_text(call)


def _heading(terminal: Terminal, text: str) -> None:
    terminal.print()
    terminal.block(Text(text, style="bold"))
