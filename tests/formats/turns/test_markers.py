"""Foreign words between markup."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wieldy.formats.turns.markers import Piece, joined, plain

MARKERS = ("<|a|>", "]~b]", "[e~[", "<<<", "\nUser:")
foreign = st.text(alphabet="<|a>]~b[e \nUser:x", max_size=12)


@given(foreign)
def test_no_marker_is_left_and_nothing_but_spaces_is_added(text: str) -> None:
    defused = plain(text, MARKERS)
    assert not any(marker in defused for marker in MARKERS)
    assert defused.replace(" ", "") == text.replace(" ", "")


@given(foreign, foreign)
def test_markup_between_foreign_texts_is_found_where_it_was_put(first: str, second: str) -> None:
    markup = "[e~["
    said = joined([Piece(text=first, markers=MARKERS), Piece(text=markup), Piece(text=second, markers=MARKERS)])
    assert said.count(markup) == 1
    before, _, after = said.partition(markup)
    assert before.rstrip(" ") == plain(first, MARKERS).rstrip(" ")
    assert after.lstrip(" ") == plain(second, MARKERS).lstrip(" ")


def test_what_stands_before_a_reply_does_not_depend_on_it() -> None:
    start = Piece(text="<|a", markers=MARKERS)
    assert joined([start, Piece(text="|>", is_reply=True)]) == joined([start]) + "|>"


@pytest.mark.parametrize("text", ["<|a|>" * 100_000, "<" * 300_000, "x" * 1_000_000])
def test_long_texts_are_read_once(text: str) -> None:
    assert "<|a|>" not in joined([Piece(text=text, markers=MARKERS)])


def test_a_family_without_markers_changes_nothing() -> None:
    assert joined([Piece(text="<|a|>", markers=())]) == "<|a|>"
