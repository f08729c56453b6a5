"""What is sent is JSON that the host reads, and what is not JSON is described in a few words that never fail."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wieldy.core.json import is_json
from wieldy.sandbox.frames import FrameReader, frame_of
from wieldy.sandbox.inside.guest.values import NotJsonError, described, plain

anything: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary() | st.complex_numbers(),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.tuples(inner, inner)
        | st.dictionaries(st.text() | st.integers() | st.booleans(), inner, max_size=4)
    ),
    max_leaves=10,
)


@given(anything)
def test_what_is_sent_is_json_and_comes_out_as_it_went_in(value: Any) -> None:
    try:
        sent = plain(value)
    except NotJsonError:
        return
    assert is_json(sent)
    reader = FrameReader()
    reader.feed(frame_of({"value": sent}))
    assert reader.next() == {"value": sent}
    assert plain(sent) == sent


@given(
    st.recursive(st.none() | st.integers() | st.text(st.characters(codec="utf-8")), lambda x: st.lists(x, max_size=3))
)
def test_json_values_are_sent_as_they_are(value: Any) -> None:
    assert plain(value) == value


@given(anything)
def test_a_description_is_short_text_that_can_be_sent(value: Any) -> None:
    text = described(value)
    assert 0 < len(text) <= 2000
    json.dumps(text).encode()
    text.encode()


class Wicked:
    """Its own code fails in every way."""

    def __repr__(self) -> str:
        raise KeyboardInterrupt


class Subclass(str):
    """Text that pretends to be another."""

    def __str__(self) -> str:
        return "pretence"


def test_a_value_whose_own_code_fails_is_described_all_the_same() -> None:
    assert described(Wicked()) == "<Wicked, whose repr raised KeyboardInterrupt>"
    assert plain(Subclass("real")) == "real"


@pytest.mark.parametrize(
    "value",
    [float("inf"), {(1,): 2}, {1: 1, "1": 2}, b"x", pytest.param(10**5000, id="long"), "\ud800", object(), {1, 2}],
)
def test_what_json_does_not_have_is_not_sent(value: object) -> None:
    with pytest.raises(NotJsonError):
        plain(value)
