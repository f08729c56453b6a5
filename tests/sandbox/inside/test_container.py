"""The first process of a container knows from what the guest says when its turn is over, wherever the bytes are cut."""

from __future__ import annotations

import json
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

if sys.platform != "linux":
    pytest.skip("what runs in a container runs on Linux", allow_module_level=True)

from wieldy.sandbox.inside.container import Turn

GOES_ON = [
    {"op": "artifact", "name": "a", "data": "x" * 50, "last": True},
    {"op": "calls", "calls": [{}], "more": True},
]
IS_OVER = [
    {"op": "ready"},
    {"op": "done", "value": 1},
    {"op": "done", "value": {"more": True}},
    {"op": "error", "type": "E"},
    {"op": "calls", "calls": [{}], "more": False},
    {"op": "what no guest says"},
]


def framed(content: bytes) -> bytes:
    return len(content).to_bytes(4, "big") + content


@given(
    st.lists(st.sampled_from(GOES_ON), max_size=4), st.sampled_from(IS_OVER), st.lists(st.integers(1, 40), min_size=1)
)
def test_the_turn_is_over_with_the_last_byte_of_what_ends_it(
    before: list[object], last: object, cuts: list[int]
) -> None:
    content = b"".join(framed(json.dumps(each).encode()) for each in [*before, last])
    turn, told = Turn(), list[bool]()
    while content:
        for cut in cuts:
            if content:
                told.append(turn.is_over_with(content[:cut]))
                content = content[cut:]
    assert told == [False] * (len(told) - 1) + [True]


@given(st.binary())
def test_nonsense_ends_the_turn_or_is_waited_for(content: bytes) -> None:
    turn = Turn()
    assert turn.is_over_with(framed(content)) in (True, False)
    assert turn.is_over_with(b"\xff\xff\xff\xff")
