"""Texts at which an answer ends."""

from __future__ import annotations

import json
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from wieldy.connect.models.strict_json import json_bytes
from wieldy.connect.serving.chat.stops import Stops, first_stop

letters = st.text("ab\U0001f600", max_size=12)


@given(
    text=letters, stops=st.lists(st.text("ab", min_size=1, max_size=3), max_size=3), cuts=st.sets(st.integers(0, 12))
)
def test_what_is_let_go_is_the_text_up_to_the_first_stop_however_it_is_cut(
    text: str, stops: list[str], cuts: set[int]
) -> None:
    halves = text.encode("utf-16-le", "surrogatepass")
    units = [halves[index : index + 2].decode("utf-16-le", "surrogatepass") for index in range(0, len(halves), 2)]
    starts = sorted({0, *cuts, len(units)})
    reading = Stops(stops)
    pieces = [reading.feed("".join(units[one:two])) for one, two in pairwise(starts)]
    # Each goes over the wire by itself, where half of a character is lost.
    found = "".join(json.loads(json_bytes(piece)) for piece in [*pieces, reading.close()])
    assert found == text[: first_stop(text, stops)]
