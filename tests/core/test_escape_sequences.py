from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wieldy.core.escape_sequences import begun_sequence, without_sequences

SEQUENCES = [
    "\x1b[31m",
    "\x1b[m",
    "\x1b[?25l",
    "\x1b[38;5;200m",
    "\x1b[2 q",
    "\x9b1A",
    "\x1b]0;a title\x07",
    "\x1b]8;;http://127.0.0.1/\x1b\\",
    "\x9d2;ein Träger\x9c",
]


@pytest.mark.parametrize("sequence", SEQUENCES)
def test_of_a_sequence_nothing_is_left(sequence: str) -> None:
    assert without_sequences(f"a{sequence}b{sequence}{sequence}c") == "abc"


@pytest.mark.parametrize("sequence", SEQUENCES)
def test_every_beginning_of_a_sequence_is_known_for_one(sequence: str) -> None:
    for length in range(1, len(sequence)):
        assert begun_sequence("text" + sequence[:length]) == sequence[:length]
    assert begun_sequence("text" + sequence) == ""


@pytest.mark.parametrize(
    "text", ["", "[31m", "a]0;b", "\x1b", "\x1b[31", "\x1b]0;no end", "\x1b]0;two\nlines\x07", "\x1bM"]
)
def test_what_is_no_whole_sequence_stays(text: str) -> None:
    assert without_sequences(text) == text


@given(st.text(max_size=50).filter(str.isprintable))
def test_printable_text_stays_as_it_is(text: str) -> None:
    assert without_sequences(text) == text
    assert begun_sequence(text) == ""


@pytest.mark.parametrize("begin", ["\x1b]", "\x1b[", "\x9d", "\x9b1", "\x1b"])
def test_many_beginnings_take_no_longer_than_they_are_long(begin: str) -> None:
    assert without_sequences(begin * 200_000) == begin * 200_000
