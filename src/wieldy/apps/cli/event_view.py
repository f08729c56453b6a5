"""A run for people while it happens: the answer as it streams, each call, its result, and what it all took.

A call is shown when its code begins, or with its result if it never does. A view of events only: it keeps no record of
its own beyond the line that it is writing. Results are shortened here; `wieldy show` has all of them. Deliberately not
here: questions to the person (`asking`), and how to go on with a run that rests (`session`).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Literal, TypeAlias

from rich.status import Status
from rich.text import Text

from wieldy.apps.cli.facts import STOP_WORDS, format_duration, sentence, used
from wieldy.apps.cli.terminal import Terminal
from wieldy.apps.cli.untrusted import SafeStream, call_text, neutralise, one_line, shorten
from wieldy.apps.cli.wrapping import WordWrap
from wieldy.core.calls import AnyCall, ToolResult
from wieldy.core.events import (
    CallDelta,
    CallFinished,
    CallProgress,
    CallRunning,
    CallWaiting,
    LimitReached,
    OutputRefused,
    ReasoningDelta,
    RunEvent,
    RunFinished,
    RunResult,
    RunStarted,
    TextDelta,
    TurnStarted,
)
from wieldy.core.media import ImagePart

RESULT_LINES = 8
RESULT_CHARACTERS = 800
CALL_CHARACTERS = 400

_Mode: TypeAlias = Literal["nothing", "step", "text", "reasoning"]


class EventView:
    """Shows each event of one run.

    Args:
        asks: Whether somebody is asked about a call while the run goes on; then the question shows the call.
    """

    def __init__(self, terminal: Terminal, *, asks: bool = True, clock: Callable[[], float] = time.monotonic) -> None:
        self._terminal = terminal
        self._asks = asks
        self._clock = clock
        self._started_at = clock()
        self._mode: _Mode = "nothing"
        self._stream = SafeStream()
        self._wrap = WordWrap(terminal.width if terminal.wraps else None)
        self._line_breaks = ""
        self._mid_line = False
        self._waiting: Status | None = None
        self._shown: set[str] = set()  # ids of calls
        self._open_call: str | None = None
        self._said: list[str] = []  # in this turn

    def show(self, event: RunEvent) -> None:
        """Show one event."""
        if isinstance(event, CallDelta):
            self._show_writing(event)
        elif isinstance(event, CallProgress):
            self._show_progress(event)
        else:
            self._stop_waiting()
            self._show_settled(event)

    def _show_settled(self, event: RunEvent) -> None:
        match event:
            case RunStarted():
                self._terminal.block(Text(f"run {event.run_id} · {one_line(event.model, limit=100)}", style="dim"))
            case TurnStarted():
                self._said.clear()
                self._start_waiting("waiting for the model")
            case TextDelta():
                self._write(event.text, mode="text")
            case ReasoningDelta():
                self._write(event.text, mode="reasoning")
            case LimitReached():
                self._show_limit(event)
            case OutputRefused():
                self._show_refusal(event)
            case RunFinished():
                self._finish(event.result)
            case _:
                self._show_call_event(event)

    def _show_call_event(self, event: RunEvent) -> None:
        match event:
            case CallWaiting():
                self._show_question(event)
            case CallRunning():
                self._show_attempt(event)
            case CallFinished():
                self._show_result(event)
            case _:  # a call that has started is shown once it is clear what becomes of it
                pass

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

    def _show_writing(self, event: CallDelta) -> None:
        # Only where the person is told anyway that the model is at work: nothing of a call is sure before it is whole.
        if event.name and self._waiting is not None:
            self._waiting.update(Text(f"the model writes a call of {one_line(event.name, limit=40)}", style="dim"))

    def _show_limit(self, event: LimitReached) -> None:
        self._enter("step")
        words = f"{sentence(STOP_WORDS[event.reason])} The model is asked for its last answer."
        self._terminal.block(Text(words, style="yellow"), first="! ", rest="  ")
        self._start_waiting("waiting for the model")

    def _show_refusal(self, event: OutputRefused) -> None:
        self._enter("step")
        self._terminal.block(Text(neutralise(event.error), style="yellow"), first="! ", rest="  ")
        self._start_waiting("waiting for the model")

    def _show_question(self, event: CallWaiting) -> None:
        if self._asks:
            return
        self._enter("step")
        waits = f" waits for a person's decision: {one_line(event.request.reason, limit=200)}"
        self._terminal.block(Text.assemble((call_text(event.call), "bold"), waits), first="? ", rest="  ")

    def _show_attempt(self, event: CallRunning) -> None:
        if event.call.id not in self._shown:
            self._show_call(event.call, attempt=event.attempt)
            return
        self._enter("step")
        again = f"{self._name_unless_open(event.call)}once more: attempt {event.attempt}"
        self._terminal.block(Text(again, style="yellow"), first="↻ ", rest="  ")

    def _show_call(self, call: AnyCall, *, attempt: int = 1) -> None:
        self._enter("step")
        self._shown.add(call.id)
        self._open_call = call.id
        name, bracket, arguments = call_text(call, limit=CALL_CHARACTERS).partition("(")
        text = Text.assemble((name, "bold cyan"), bracket + arguments)
        if attempt > 1:
            text.append(f"  (attempt {attempt})", style="yellow")
        self._terminal.block(text, first="→ ", rest="  ")

    def _show_progress(self, event: CallProgress) -> None:
        # On one line that goes away again: a file would fill up with what is no longer true.
        done = "" if event.fraction is None else f" {event.fraction:.0%}"
        name = one_line(event.call.name or "", limit=40)
        words = f"{name}{done} {one_line(event.message, limit=self._terminal.width // 2)}".rstrip()
        if self._waiting is None:
            self._enter("step")
            self._start_waiting(words)
        else:
            self._waiting.update(Text(words, style="dim"))

    def _show_result(self, event: CallFinished) -> None:
        if event.call.id not in self._shown:
            self._show_call(event.call)
        self._enter("step")
        text = result_text(event.result, duration_s=event.duration_s)
        text = Text.assemble((self._name_unless_open(event.call), "cyan"), text)
        self._open_call = None
        self._terminal.block(text, first="✗ " if event.result.is_error else "← ", rest="  ")

    def _name_unless_open(self, call: AnyCall) -> str:
        """Which call is meant, if the last line of all does not say it."""
        return "" if self._open_call == call.id else f"{call_text(call, limit=40)} "

    def _finish(self, result: RunResult) -> None:
        rests = result.stop_reason == "waiting_for_approval"
        if not rests:
            self._show_answer(result)
        self._end_line()
        took = format_duration(self._clock() - self._started_at)
        calls = sum(len(message.calls) for message in result.messages)  # of the whole run, if it was resumed
        facts = [took, *used(calls=calls, usage=result.usage), f"run {result.run_id}"]
        if result.stop_reason not in ("answered", "finished"):
            facts.insert(0, f"{'rests' if rests else 'stopped'} because {STOP_WORDS[result.stop_reason]}")
        self._terminal.print()
        self._terminal.block(Text(" · ".join(facts), style="dim"))

    def _show_answer(self, result: RunResult) -> None:
        # What `finish` was given is the answer, whatever the model said beside it.
        said = "".join(self._said).strip()
        was_streamed = said and (result.stop_reason != "finished" or said == result.text.strip())
        if result.text and not was_streamed:
            self._write(result.text, mode="text")
        if not result.text.strip():
            self._enter("step")
            self._terminal.block(Text("(The model gave no text.)", style="dim"))

    def _write(self, piece: str, *, mode: Literal["text", "reasoning"]) -> None:
        if self._mode != mode:
            piece = piece.lstrip()
            if not piece:
                return
            self._enter(mode)
        if mode == "text":
            self._said.append(piece)
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

    def _start_waiting(self, words: str) -> None:
        if self._terminal.is_terminal and not self._terminal.is_dumb_terminal:
            spinner = "dots" if self._terminal.encoding.startswith("utf") else "line"
            self._waiting = self._terminal.status(Text(words, style="dim"), spinner=spinner)
            self._waiting.start()

    def _stop_waiting(self) -> None:
        if self._waiting is not None:
            self._waiting.stop()
            self._waiting = None


def result_text(result: ToolResult, *, duration_s: float) -> Text:
    """The beginning of a result and how long it took; 0 seconds means that no code ran."""
    content = shorten(result.content, lines=RESULT_LINES, characters=RESULT_CHARACTERS)
    text = Text(content or ("" if result.parts else "(empty)"), style="red" if result.is_error else "")
    for part in result.parts:
        words = "(image)" if isinstance(part, ImagePart) else f"(file {one_line(part.name, limit=80)})"
        text.append(f"{' ' if text else ''}{words}", style="dim")
    if duration_s:
        text.append(f"  ({format_duration(duration_s)})", style="dim")
    return text
