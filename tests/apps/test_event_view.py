from __future__ import annotations

import io
from collections.abc import Iterable
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from wieldy.apps.cli.event_view import EventView, format_duration
from wieldy.apps.cli.terminal import PIPE_WIDTH, Terminal
from wieldy.core.calls import InvalidToolCall, ToolCall, ToolResult
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

OSLO = ToolCall(id="c1", name="get_weather", arguments={"city": "Oslo"})
ROME = ToolCall(id="c2", name="get_weather", arguments={"city": "Rome"})


def shown(events: Iterable[RunEvent], *, width: int = PIPE_WIDTH) -> str:
    file = io.StringIO()
    view = EventView(Terminal(file=file, width=width, markup=False, highlight=False, emoji=False), clock=lambda: 0.0)
    for event in events:
        view.show(event)
    view.close()
    return file.getvalue()


def finished(call: ToolCall | InvalidToolCall, content: str, *, is_error: bool = False) -> CallFinished:
    result = ToolResult(tool_call_id=call.id, content=content, is_error=is_error)
    return CallFinished(call=call, result=result, duration_s=0.0123)


def ended(text: str, *, stop_reason: StopReason = "answered", usage: Usage | None = None) -> RunFinished:
    usage = usage or Usage(input_tokens=1234, output_tokens=5, requests=2)
    return RunFinished(result=RunResult(run_id="r1", text=text, stop_reason=stop_reason, usage=usage, messages=()))


def test_a_run_reads_from_top_to_bottom() -> None:
    events = [
        RunStarted(run_id="r1", model="local:small"),
        TurnStarted(turn=1),
        ReasoningDelta(text="\nhm"),
        TextDelta(text="I will "),
        TextDelta(text="look.\n\n"),
        CallStarted(call=OSLO),
        finished(OSLO, "4 °C"),
        TurnStarted(turn=2),
        TextDelta(text="It is 4 °C."),
        ended("It is 4 °C."),
    ]

    assert shown(events) == (
        "run r1 · local:small\n"
        "\n"
        "hm\n"
        "\n"
        "I will look.\n"
        "\n"
        '→ get_weather(city="Oslo")\n'
        "← 4 °C  (12 ms)\n"
        "\n"
        "It is 4 °C.\n"
        "\n"
        "under 1 ms · 1 call · 2 requests · 1,234 tokens in, 5 out · run r1\n"
    )


def test_results_of_calls_that_overlap_name_their_call() -> None:
    text = shown([CallStarted(call=OSLO), CallStarted(call=ROME), finished(ROME, "20 °C"), finished(OSLO, "4 °C")])

    assert "← 20 °C" in text
    assert '← get_weather(city="Oslo") 4 °C' in text


def test_a_failed_call_is_marked_and_an_unreadable_one_shows_its_text() -> None:
    broken = InvalidToolCall(id="c3", name="get_weather", text='{"city', error="cut off")

    text = shown([CallStarted(call=broken), finished(broken, "The arguments could not be read.", is_error=True)])

    assert '→ get_weather({"city)' in text
    assert "✗ The arguments could not be read." in text


def test_a_long_result_is_shortened_and_keeps_its_indent() -> None:
    text = shown(
        [CallStarted(call=OSLO), finished(OSLO, "\n".join(f"line {number}" for number in range(1000)))], width=40
    )

    assert "  line 7 …\n" in text
    assert "line 8" not in text
    assert "more characters)" in text


def test_wrapped_lines_fit_the_width_and_keep_their_indent() -> None:
    text = shown([CallStarted(call=OSLO), finished(OSLO, "word " * 40)], width=40)

    lines = text.splitlines()
    assert max(map(len, lines)) <= 40
    assert all(line.startswith("  word") for line in lines[2:])


def test_on_a_pipe_nothing_is_wrapped() -> None:
    text = shown([CallStarted(call=OSLO), finished(OSLO, "word " * 150)])

    assert len(text.splitlines()) == 2


def test_untrusted_text_cannot_reach_the_terminal() -> None:
    hostile = "\x1b[31m[bold]x[/bold]\x1b]0;title\x07\u202e"
    call = ToolCall(id="c1", name=hostile, arguments={hostile: hostile})
    events = [
        RunStarted(run_id="r1", model=hostile),
        ReasoningDelta(text=hostile),
        TextDelta(text=hostile),
        CallStarted(call=call),
        finished(call, hostile),
        ended(hostile),
    ]

    text = shown(events)

    assert not set("\x1b\x07\u202e") & set(text)
    assert "[bold]x[/bold]" in text


def test_a_limit_is_said_in_words_and_again_at_the_end() -> None:
    text = shown([LimitReached(reason="turn_limit"), ended("", stop_reason="turn_limit", usage=Usage())])

    assert "! The limit of turns was reached. The model is asked for its last answer." in text
    assert "(The model gave no text.)" in text
    assert "stopped because the limit of turns was reached · " in text
    assert "tokens" not in text  # a server that counts none is not said to have used none


def test_an_answer_that_was_not_streamed_is_shown_at_the_end() -> None:
    text = shown([TurnStarted(turn=1), TextDelta(text="Let me see."), TurnStarted(turn=2), ended("All at once.")])

    assert text.count("All at once.") == 1


@given(st.text("ab \n\r\x1b", max_size=30), st.lists(st.integers(0, 30), max_size=5))
def test_the_view_does_not_depend_on_where_the_text_was_cut(text: str, cuts: list[int]) -> None:
    edges = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    pieces = [TextDelta(text=text[start:end]) for start, end in pairwise(edges)]

    assert shown([*pieces, ended(text)]) == shown([TextDelta(text=text), ended(text)])


def test_durations_read_well() -> None:
    assert [format_duration(seconds) for seconds in (0.0001, 0.0123, 0.9994, 0.9999, 3.21, 59.96, 125, 3600)] == [
        "under 1 ms",
        "12 ms",
        "999 ms",
        "1.0 s",
        "3.2 s",
        "1 min 00 s",
        "2 min 05 s",
        "60 min 00 s",
    ]
