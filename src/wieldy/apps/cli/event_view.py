"""A run for people while it happens: the answer as it streams, each call, its result, and what it all took.

A view of events only: it keeps no record of its own beyond the line that it is writing. Results are shortened here;
`wieldy show` has all of them.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Literal, TypeAlias

from rich.status import Status
from rich.text import Text

from wieldy.apps.cli.terminal import Terminal
from wieldy.apps.cli.untrusted import SafeStream, call_text, one_line, shorten
from wieldy.apps.cli.wrapping import WordWrap
from wieldy.core.calls import AnyCall
from wieldy.core.events import (
    CallFinished,
    CallStarted,
    LimitReached,
    ReasoningDelta,
    RunEvent,
    RunFinished,
    RunResult,
    RunStarted,
    TextDelta,
    TurnStarted,
)
from wieldy.core.limits import StopReason, Usage

RESULT_LINES = 8
RESULT_CHARACTERS = 800
CALL_CHARACTERS = 400

STOP_WORDS: dict[StopReason, str] = {
    "answered": "the model answered",
    "turn_limit": "the limit of turns was reached",
    "call_limit": "the limit of calls was reached",
    "output_token_limit": "the limit of output tokens was reached",
    "wall_time_limit": "the limit of time was reached",
    "repeated_call": "the model repeated the same calls",
}

_Mode: TypeAlias = Literal["nothing", "step", "text", "reasoning"]


class EventView:
    """Shows each event of one run."""

    def __init__(self, terminal: Terminal, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._terminal = terminal
        self._clock = clock
        self._started_at = clock()
        self._mode: _Mode = "nothing"
        self._stream = SafeStream()
        self._wrap = WordWrap(terminal.width if terminal.wraps else None)
        self._line_breaks = ""
        self._mid_line = False
        self._waiting: Status | None = None
        self._open_call: str | None = None
        self._calls = 0
        self._said_something = False

    def show(self, event: RunEvent) -> None:
        """Show one event."""
        self._stop_waiting()
        match event:
            case RunStarted():
                self._terminal.block(Text(f"run {event.run_id} · {one_line(event.model, limit=100)}", style="dim"))
            case TurnStarted():
                self._said_something = False
                self._start_waiting()
            case TextDelta():
                self._write(event.text, mode="text")
            case ReasoningDelta():
                self._write(event.text, mode="reasoning")
            case CallStarted():
                self._show_call(event.call)
            case CallFinished():
                self._show_result(event)
            case LimitReached():
                self._enter("step")
                words = f"{_sentence(STOP_WORDS[event.reason])} The model is asked for its last answer."
                self._terminal.block(Text(words, style="yellow"), first="! ", rest="  ")
                self._start_waiting()
            case RunFinished():
                self._finish(event.result)

    def fail(self, error: BaseException, *, run_id: str | None) -> None:
        """Nothing to show: a failure is told on standard error."""

    def make_room(self) -> None:
        """End what is being written, so that a question or a warning starts on a line of its own."""
        self._stop_waiting()
        self._enter("step")

    def close(self) -> None:
        """Leave the terminal as it was found, also after a failure."""
        self._stop_waiting()
        self._end_line()

    def _show_call(self, call: AnyCall) -> None:
        self._enter("step")
        self._calls += 1
        self._open_call = call.id
        name, bracket, arguments = call_text(call, limit=CALL_CHARACTERS).partition("(")
        self._terminal.block(Text.assemble((name, "bold cyan"), bracket + arguments), first="→ ", rest="  ")

    def _show_result(self, event: CallFinished) -> None:
        self._enter("step")
        text = result_text(
            shorten(event.result.content, lines=RESULT_LINES, characters=RESULT_CHARACTERS),
            is_error=event.result.is_error,
            duration_s=event.duration_s,
        )
        if self._open_call != event.call.id:
            text = Text.assemble((call_text(event.call, limit=40) + " ", "cyan"), text)
        self._open_call = None
        self._terminal.block(text, first="✗ " if event.result.is_error else "← ", rest="  ")

    def _finish(self, result: RunResult) -> None:
        if result.text and not self._said_something:
            self._write(result.text, mode="text")
        if not result.text.strip():
            self._enter("step")
            self._terminal.block(Text("(The model gave no text.)", style="dim"))
        self._end_line()
        took = format_duration(self._clock() - self._started_at)
        facts = [took, *used(calls=self._calls, usage=result.usage), f"run {result.run_id}"]
        if result.stop_reason != "answered":
            facts.insert(0, f"stopped because {STOP_WORDS[result.stop_reason]}")
        self._terminal.print()
        self._terminal.block(Text(" · ".join(facts), style="dim"))

    def _write(self, piece: str, *, mode: Literal["text", "reasoning"]) -> None:
        if self._mode != mode:
            piece = piece.lstrip()
            if not piece:
                return
            self._enter(mode)
        self._said_something = self._said_something or mode == "text"
        self._put(self._wrap.feed(self._stream.feed(piece)))

    def _put(self, text: str) -> None:
        # Line breaks at the end wait for what follows: the space between blocks is ours to choose.
        text = self._line_breaks + text
        shown = text.rstrip("\n")
        self._line_breaks = text[len(shown) :]
        if shown:
            style = "dim italic" if self._mode == "reasoning" else None
            self._terminal.out(shown, end="", highlight=False, style=style)
            self._terminal.file.flush()
            self._mid_line = True

    def _enter(self, mode: _Mode) -> None:
        """Go to the start of a line; a blank line sets text apart from the steps around it."""
        if mode == self._mode:
            return
        self._end_line()
        if self._mode != "nothing" or mode != "step":
            self._terminal.print()
        self._mode = mode

    def _end_line(self) -> None:
        self._put(self._wrap.feed(self._stream.close()) + self._wrap.close())
        self._line_breaks = ""
        if self._mid_line:
            self._terminal.print()
            self._mid_line = False

    def _start_waiting(self) -> None:
        if self._terminal.is_terminal and not self._terminal.is_dumb_terminal:
            spinner = "dots" if self._terminal.encoding.startswith("utf") else "line"
            self._waiting = self._terminal.status(Text("waiting for the model", style="dim"), spinner=spinner)
            self._waiting.start()

    def _stop_waiting(self) -> None:
        if self._waiting is not None:
            self._waiting.stop()
            self._waiting = None


def result_text(content: str, *, is_error: bool, duration_s: float) -> Text:
    """A result's safe content and how long it took; 0 seconds means that no code ran."""
    text = Text(content or "(empty)", style="red" if is_error else "")
    if duration_s:
        text.append(f"  ({format_duration(duration_s)})", style="dim")
    return text


def used(*, calls: int, usage: Usage) -> list[str]:
    """What a run used, in words; counts that a server did not tell are left out."""
    facts = [counted(calls, "call"), counted(usage.requests, "request")]
    if usage.input_tokens or usage.output_tokens:
        facts.append(f"{usage.input_tokens:,} tokens in, {usage.output_tokens:,} out")
    return facts


def counted(number: int, noun: str) -> str:
    """`1 call`, `2 calls`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def format_duration(seconds: float) -> str:
    """A duration in the unit that people would choose."""
    if seconds < 0.0005:
        return "under 1 ms"
    if seconds < 0.9995:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 59.95:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest:02} s"


def _sentence(words: str) -> str:
    return words[0].upper() + words[1:] + "."
