"""What watchers see of an output while its text comes."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from wieldy import Incomplete, OutputDelta, ReasoningDelta, TextDelta
from wieldy.run.outputs import JsonReader, OutputDeltas, reader_of

scalars = (
    st.none() | st.booleans() | st.integers(-99, 99) | st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
)
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab`", max_size=2), inner, max_size=3)
)
around = st.sampled_from(
    [
        ("", ""),
        (" \n", "\n "),
        ("```json\n", "\n```"),
        ("Here:\n```\n", "\n```\nGood?"),
        ("``` ", ""),
        ("Well, ```x\n", " "),
    ]
)


def told(reader: JsonReader, pieces: list[str], *, is_cut: bool = False) -> list[Any]:
    events: list[Any] = []
    deltas = OutputDeltas(events.append, reader)
    for piece in pieces:
        deltas(TextDelta(text=piece))
    deltas.close(is_cut=is_cut)
    assert "".join(event.text for event in events if isinstance(event, TextDelta)) == "".join(pieces)
    return [event.value for event in events if isinstance(event, OutputDelta)]


@given(value=values, around=around, ensure_ascii=st.booleans(), size=st.integers(1, 9))
@example(value=True, around=("", ""), ensure_ascii=False, size=1)
def test_the_last_one_is_the_output(value: Any, around: tuple[str, str], ensure_ascii: bool, size: int) -> None:
    before, behind = around
    text = before + json.dumps(value, ensure_ascii=ensure_ascii) + behind
    reader = reader_of({})
    assert isinstance(reader, JsonReader)
    output = reader.read(text)

    seen = told(reader, [text[start : start + size] for start in range(0, len(text), size)])

    assert not isinstance(output, Incomplete)
    assert seen[-1] == output
    assert all(earlier != later for earlier, later in pairwise(map(json.dumps, seen)))


def test_what_is_there_of_an_incomplete_answer_was_told_last() -> None:
    reader = reader_of({"type": "object"})
    assert isinstance(reader, JsonReader)
    text = '{"a": [1, 2, {"b": "tex'
    found = reader.read(text)
    assert isinstance(found, Incomplete)

    assert told(reader, list(text))[-1] == found.partial == {"a": [1, 2, {"b": "tex"}]}


def test_what_cannot_be_the_output_is_none() -> None:
    reader = reader_of({"type": "object"})
    assert isinstance(reader, JsonReader)

    assert told(reader, ["3 orders: ", "[1, 2]"]) == []
    assert told(reader, ["I look it up."]) == []


def test_what_is_no_text_passes_and_brings_nothing() -> None:
    events: list[Any] = []
    reader = reader_of({})
    assert isinstance(reader, JsonReader)
    deltas = OutputDeltas(events.append, reader)

    deltas(ReasoningDelta(text="[1]"))
    deltas.close(is_cut=False)

    assert events == [ReasoningDelta(text="[1]")]


@given(value=values, around=around, cut=st.integers(0), size=st.integers(1, 9))
def test_what_is_there_of_an_answer_that_was_cut_off_was_told_last(
    value: Any, around: tuple[str, str], cut: int, size: int
) -> None:
    before, behind = around
    whole = before + json.dumps(value) + behind
    text = whole[: cut % len(whole)]
    reader = reader_of({})
    assert isinstance(reader, JsonReader)
    found = reader.read(text, is_cut=True)

    seen = told(reader, [text[start : start + size] for start in range(0, len(text), size)], is_cut=True)

    assert (seen[-1] if seen else None) == (found.partial if isinstance(found, Incomplete) else found)
    assert isinstance(found, Incomplete) or found == value
