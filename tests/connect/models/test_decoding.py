"""Bytes of tokens as text, whole characters at a time."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from wieldy.connect.models.decoding import Decoding
from wieldy.connect.models.writing import Token

ALPHABET = "abé🙂"


def decoded(data: bytes, cuts: list[int], stop: list[str]) -> tuple[str, list[str], bool]:
    """The whole text, its pieces, and whether it was stopped."""
    decoding = Decoding(stop)
    places = sorted({min(cut, len(data)) for cut in cuts} | {0, len(data)})
    pieces = [decoding.feed(Token(id=0, data=data[start:end])) for start, end in pairwise(places)]
    was_stopped = decoding.is_over
    return "".join(pieces) + decoding.flush(), pieces, was_stopped


@given(
    text=st.text(ALPHABET, max_size=20),
    cuts=st.lists(st.integers(0, 80)),
    stop=st.lists(st.text(ALPHABET, max_size=3), max_size=2),
)
def test_the_text_ends_before_the_first_text_that_stops_it_however_it_is_cut(
    text: str, cuts: list[int], stop: list[str]
) -> None:
    whole, pieces, was_stopped = decoded(text.encode(), cuts, stop)
    ends = [(text.index(one) + len(one), text.index(one)) for one in stop if one and one in text]
    # Of several the one that is complete first counts.
    assert whole == (text[: min(ends)[1]] if ends else text)
    assert was_stopped == bool(ends)
    assert all("\ufffd" not in piece for piece in pieces)


@given(data=st.binary(max_size=20), cuts=st.lists(st.integers(0, 20)))
def test_bytes_that_are_no_text_are_replaced_wherever_they_are_cut(data: bytes, cuts: list[int]) -> None:
    assert decoded(data, cuts, [])[0] == data.decode("utf-8", "replace")


@given(text=st.text("ab", max_size=12), cuts=st.lists(st.integers(0, 12)))
def test_nothing_is_held_back_that_cannot_begin_a_stop(text: str, cuts: list[int]) -> None:
    decoding = Decoding(["xyz"])
    assert "".join(decoding.feed(Token(id=0, data=letter.encode())) for letter in text) == text
