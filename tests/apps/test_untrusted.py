from __future__ import annotations

import unicodedata
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from wieldy.apps.cli.untrusted import SafeStream, call_text, code_text, neutralise, one_line, shorten
from wieldy.core.calls import InvalidToolCall, ToolCall

pieces_of_sequences = st.sampled_from(
    [*"\x1b[]\x07\\\x9b\x9c\x9d\r\n\t ;?~aZ", "31", "\x1b[31m", "\x1b]0;t\x07", "\u202e"]
)
any_text = st.text(st.characters(codec=None), max_size=200) | st.lists(pieces_of_sequences, max_size=30).map("".join)


@given(any_text)
def test_no_character_that_a_terminal_obeys_is_left(text: str) -> None:
    safe = neutralise(text)

    assert not {character for character in safe if unicodedata.category(character) in ("Cc", "Cs")} - {"\n", "\t"}
    assert not set("\u2028\u2029\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069") & set(safe)


@given(any_text)
def test_in_code_nothing_is_left_out_and_nothing_is_unseen(text: str) -> None:
    shown = code_text(text)

    assert all(character.isprintable() or character in "\n\t" for character in shown)
    assert "".join(code_text(each) for each in text) == shown
    assert not text.isprintable() or shown == text
    assert len(shown) >= len(text)


@given(any_text)
def test_making_safe_text_safe_changes_nothing(text: str) -> None:
    assert neutralise(neutralise(text)) == neutralise(text)


@given(any_text, st.lists(st.integers(0, 200)))
def test_a_stream_gives_the_same_text_wherever_it_is_cut(text: str, cuts: list[int]) -> None:
    edges = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    stream = SafeStream()

    pieces = [stream.feed(text[start:end]) for start, end in pairwise(edges)]

    assert "".join(pieces) + stream.close() == neutralise(text)


def test_escape_sequences_go_line_breaks_stay_and_the_rest_becomes_visible() -> None:
    assert neutralise("a\x1b[31mb\r\nc\td\x07\u202e") == "ab\nc\td\\x07\\u202e"


@given(any_text, st.integers(2, 50))
def test_one_line_is_one_line_within_its_limit(text: str, limit: int) -> None:
    line = one_line(text, limit=limit)

    assert len(line) <= limit
    assert "\n" not in line


def test_one_line_says_that_something_was_left_out() -> None:
    assert one_line("one  two\nthree", limit=13) == "one two three"
    assert one_line("one two three four", limit=10) == "one two t…"
    assert one_line(" " * 1000 + "hidden", limit=10).endswith("…")


def test_shortened_text_says_how_much_is_missing() -> None:
    assert shorten("a\nb\nc", lines=3, characters=10) == "a\nb\nc"
    assert shorten("a\nb\nc", lines=2, characters=10) == "a\nb …\n(2 more characters)"
    assert shorten("x" * 1234, lines=2, characters=34) == "x" * 34 + " …\n(1,200 more characters)"


def test_a_call_reads_like_a_call() -> None:
    call = ToolCall(id="c1", name="refund", arguments={"order_id": "17", "amount": 5.5, "notes": ["a", None]})

    assert call_text(call) == 'refund(order_id="17", amount=5.5, notes=["a",null])'
    assert call_text(call, limit=12) == 'refund(order_id="1…)'


def test_in_a_call_to_which_one_may_consent_nothing_is_left_out() -> None:
    call = ToolCall(id="c1", name="run", arguments={"command": "ls\x9d; rm -r /\x9c"})
    unreadable = InvalidToolCall(id="c1", name=None, text="\x1b]x\x07", error="cut off")

    assert call_text(call) == 'run(command="ls\\x9d; rm -r /\\x9c")'
    assert call_text(unreadable) == "(no name)(\\x1b]x\\x07)"


def test_names_and_arguments_of_a_call_are_untrusted_too() -> None:
    call = ToolCall(id="c1", name="a\x1b]0;b\x07", arguments={"\x1b[2J": "\u202e", "k": "\x9b"})

    assert not set("\x1b\x07\u202e\x9b") & set(call_text(call))


def test_an_unreadable_call_shows_what_the_model_wrote() -> None:
    call = InvalidToolCall(id="c1", name=None, text='{"a": ', error="cut off")

    assert call_text(call) == '(no name)({"a": )'
