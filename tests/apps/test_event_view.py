from __future__ import annotations

import io
from collections.abc import Iterable
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from wieldy.apps.cli.event_view import EventView
from wieldy.apps.cli.terminal import PIPE_WIDTH, Terminal
from wieldy.core.approvals import ApprovalRequest
from wieldy.core.calls import InvalidToolCall, ToolCall, ToolResult
from wieldy.core.events import (
    CallDelta,
    CallFinished,
    CallProgress,
    CallRunning,
    CallStarted,
    CallWaiting,
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
from wieldy.core.media import FilePart, ImagePart
from wieldy.core.messages import Message

OSLO = ToolCall(id="c1", name="get_weather", arguments={"city": "Oslo"})
ROME = ToolCall(id="c2", name="get_weather", arguments={"city": "Rome"})


def shown(events: Iterable[RunEvent], *, width: int = PIPE_WIDTH, asks: bool = True) -> str:
    file = io.StringIO()
    terminal = Terminal(file=file, width=width, markup=False, highlight=False, emoji=False)
    view = EventView(terminal, asks=asks, clock=lambda: 0.0)
    for event in events:
        view.show(event)
    view.close()
    return file.getvalue()


def running(call: ToolCall, *, attempt: int = 1) -> CallRunning:
    return CallRunning(call=call, attempt=attempt)


def finished(call: ToolCall | InvalidToolCall, content: str, *, is_error: bool = False) -> CallFinished:
    result = ToolResult(tool_call_id=call.id, content=content, is_error=is_error)
    return CallFinished(call=call, result=result, duration_s=0.0123)


def ended(text: str, *, stop_reason: StopReason = "answered", usage: Usage | None = None) -> RunFinished:
    usage = usage or Usage(input_tokens=1234, output_tokens=5, requests=2)
    messages = (Message.assistant("", [OSLO]),)
    result = RunResult(run_id="r1", text=text, stop_reason=stop_reason, usage=usage, messages=messages)
    return RunFinished(result=result)


def test_a_run_reads_from_top_to_bottom() -> None:
    events = [
        RunStarted(run_id="r1", model="local:small"),
        TurnStarted(turn=1),
        ReasoningDelta(text="\nhm"),
        TextDelta(text="I will "),
        TextDelta(text="look.\n\n"),
        CallDelta(index=0, name="get_weather"),
        CallDelta(index=0, arguments='{"city": "Oslo"}'),
        CallStarted(call=OSLO),
        running(OSLO),
        CallProgress(call=OSLO, message="asking the satellite", fraction=0.5),
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


def test_calls_are_shown_when_they_run_and_results_that_overlap_name_their_call() -> None:
    started = [CallStarted(call=OSLO), CallStarted(call=ROME)]

    text = shown([*started, running(OSLO), running(ROME), finished(ROME, "20 °C"), finished(OSLO, "4 °C")])

    assert text == (
        '→ get_weather(city="Oslo")\n'
        '→ get_weather(city="Rome")\n'
        "← 20 °C  (12 ms)\n"
        '← get_weather(city="Oslo") 4 °C  (12 ms)\n'
    )


def test_a_call_that_never_ran_is_shown_with_its_result() -> None:
    started = [CallStarted(call=OSLO), CallStarted(call=ROME)]

    text = shown([*started, running(ROME), finished(OSLO, "Not allowed.", is_error=True), finished(ROME, "20 °C")])

    assert text == (
        '→ get_weather(city="Rome")\n'
        '→ get_weather(city="Oslo")\n'
        "✗ Not allowed.  (12 ms)\n"
        '← get_weather(city="Rome") 20 °C  (12 ms)\n'
    )


def test_a_further_attempt_is_one_line_and_the_first_that_is_seen_names_its_number() -> None:
    text = shown([running(OSLO), running(OSLO, attempt=2), finished(OSLO, "4 °C"), running(ROME, attempt=3)])

    assert text == (
        '→ get_weather(city="Oslo")\n↻ once more: attempt 2\n← 4 °C  (12 ms)\n→ get_weather(city="Rome")  (attempt 3)\n'
    )


def test_a_waiting_call_is_shown_only_where_nobody_is_asked_about_it_at_once() -> None:
    request = ApprovalRequest(
        run_id="r1", call_id="c1", tool_name=OSLO.name, arguments=OSLO.arguments, reason="it costs money"
    )
    events = [CallStarted(call=OSLO), CallWaiting(call=OSLO, request=request)]

    assert shown(events) == ""
    assert shown(events, asks=False) == ('? get_weather(city="Oslo") waits for a person\'s decision: it costs money\n')


def test_a_run_that_rests_says_so_and_shows_no_answer() -> None:
    text = shown([CallStarted(call=OSLO), ended("", stop_reason="waiting_for_approval")])

    assert text == (
        "\nrests because a person must decide on a call · under 1 ms · 1 call · 2 requests · "
        "1,234 tokens in, 5 out · run r1\n"
    )


def test_images_and_files_of_a_result_are_named() -> None:
    parts = (ImagePart(url="data:image/png;base64,AA=="), FilePart(name="a.pdf", media_type="application/pdf", url=""))
    result = ToolResult(tool_call_id="c1", content="", parts=parts)

    text = shown([running(OSLO), CallFinished(call=OSLO, result=result, duration_s=0.0)])

    assert text.endswith("← (image) (file a.pdf)\n")


def test_what_finish_was_given_is_the_answer_also_beside_other_words() -> None:
    spoken = [TurnStarted(turn=1), TextDelta(text="I am done.")]

    assert "42" in shown([*spoken, ended("42", stop_reason="finished")])
    assert shown([*spoken, ended("I am done.", stop_reason="finished")]).count("I am done.") == 1


def test_a_failed_call_is_marked_and_an_unreadable_one_shows_its_text() -> None:
    broken = InvalidToolCall(id="c3", name="get_weather", text='{"city', error="cut off")

    text = shown([CallStarted(call=broken), finished(broken, "The arguments could not be read.", is_error=True)])

    assert '→ get_weather({"city)' in text
    assert "✗ The arguments could not be read." in text


def test_a_long_result_is_shortened_and_keeps_its_indent() -> None:
    text = shown([running(OSLO), finished(OSLO, "\n".join(f"line {number}" for number in range(1000)))], width=40)

    assert "  line 7 …\n" in text
    assert "line 8" not in text
    assert "more characters)" in text


def test_wrapped_lines_fit_the_width_and_keep_their_indent() -> None:
    text = shown([running(OSLO), finished(OSLO, "word " * 40)], width=40)

    lines = text.splitlines()
    assert max(map(len, lines)) <= 40
    assert all(line.startswith("  word") for line in lines[2:])


def test_on_a_pipe_nothing_is_wrapped() -> None:
    text = shown([running(OSLO), finished(OSLO, "word " * 150)])

    assert len(text.splitlines()) == 2


def test_untrusted_text_cannot_reach_the_terminal() -> None:
    hostile = "\x1b[31m[bold]x[/bold]\x1b]0;title\x07\u202e"
    call = ToolCall(id="c1", name=hostile, arguments={hostile: hostile})
    events = [
        RunStarted(run_id="r1", model=hostile),
        ReasoningDelta(text=hostile),
        TextDelta(text=hostile),
        CallDelta(index=0, name=hostile, arguments=hostile),
        CallStarted(call=call),
        running(call),
        CallProgress(call=call, message=hostile),
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
