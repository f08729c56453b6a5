"""Calls that stand in a reply without the marks of its format."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from wieldy.connect.models.unmarked_calls import UnmarkedCalls
from wieldy.core.calls import ToolCall
from wieldy.core.events import TextDelta
from wieldy.formats import get
from wieldy.formats.events import ParseEvent

LOOK: dict[str, Any] = {"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}
VALUES = st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.lists(st.integers(), max_size=2)
ARGUMENTS = st.dictionaries(st.text(max_size=3), VALUES, max_size=3)
AROUND = st.sampled_from(["{}", " {}\n", "```json\n{}\n```", "```\n{}\n```\n", "```json\n{}", "[{}]"])


def read(text: str, size: int) -> list[ParseEvent]:
    reading = UnmarkedCalls(get("json").parser([LOOK]), {"look"})
    pieces = [text[start : start + size] for start in range(0, len(text), size)]
    return [*(event for piece in pieces for event in reading.feed([TextDelta(text=piece)])), *reading.close()]


def text_of(events: list[ParseEvent]) -> str:
    return "".join(event.text for event in events if isinstance(event, TextDelta))


@given(arguments=ARGUMENTS, around=AROUND, indent=st.sampled_from([None, 2]), size=st.integers(1, 20))
def test_a_reply_that_is_a_call_and_nothing_else_is_that_call(
    arguments: dict[str, Any], around: str, indent: int | None, size: int
) -> None:
    written = json.dumps({"name": "look", "arguments": arguments}, indent=indent)
    events = read(around.replace("{}", written), size)

    assert [(event.name, event.arguments) for event in events if isinstance(event, ToolCall)] == [("look", arguments)]
    assert not text_of(events).strip()


BITS = st.sampled_from(["`", "```", "json", "\n", " ", "{", "}", "[", "]", '"name"', '"arguments"', ":", "a", ","])


@given(text=st.lists(BITS, max_size=12).map("".join) | st.text(max_size=20), size=st.integers(1, 20))
@example(text='{"name": "leap", "arguments": {}}', size=3)
@example(text='{"name": "look", "arguments": {"a": 1, "a": 2}}', size=3)
@example(text='{"name": "look", "arguments": {"a": 1}', size=3)
@example(text='So:\n```json\n{"name": "look", "arguments": {}}\n```', size=3)
@example(text='```json\n{"name": "look", "arguments": {}}\n```\nThat is how.', size=3)
@example(text='{"answer": 42}', size=3)
@example(text="```python\nlook()\n```", size=3)
def test_any_other_reply_is_the_text_that_it_is(text: str, size: int) -> None:
    events = read(text, size)

    assert not any(isinstance(event, ToolCall) for event in events)
    assert text_of(events) == text


@pytest.mark.parametrize(
    ("text", "told"), [("It is ", "It is "), ("``", ""), ("``x", "``x"), (' {"a', ""), ("```c\nx", "```c\nx")]
)
def test_text_that_cannot_be_a_call_is_told_at_once(text: str, told: str) -> None:
    reading = UnmarkedCalls(get("json").parser([LOOK]), {"look"})

    assert text_of(reading.feed([TextDelta(text=text)])) == told
