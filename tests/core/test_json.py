"""Reading JSON without loss."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wieldy.core.calls import InvalidToolCall, ToolCall
from wieldy.core.json import parse_json
from wieldy.core.messages import read_call

VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)
WAYS_IN = st.lists(st.sampled_from(["list", "object"]), max_size=3)
"""How deep something lies in a text, and in what."""


def within(text: str, ways: list[str]) -> str:
    for way in ways:
        text = f"[0, {text}]" if way == "list" else f'{{"a": 0, "b": {text}}}'
    return text


@given(value=VALUES, is_escaped=st.booleans())
def test_json_is_read_as_it_is(value: Any, is_escaped: bool) -> None:
    found = parse_json(json.dumps(value, ensure_ascii=is_escaped))

    assert json.dumps(found) == json.dumps(value)


@given(key=st.text(max_size=3), one=VALUES, other=VALUES, ways=WAYS_IN)
def test_a_key_that_stands_twice_is_refused_wherever_it_is(key: str, one: Any, other: Any, ways: list[str]) -> None:
    name = json.dumps(key)

    with pytest.raises(ValueError, match="stands twice"):
        parse_json(within(f"{{{name}: {json.dumps(one)}, {name}: {json.dumps(other)}}}", ways))


@given(before=st.text(max_size=3), after=st.text(max_size=3), half=st.integers(0xD800, 0xDFFF), ways=WAYS_IN)
def test_half_a_character_is_refused_however_it_is_written(before: str, after: str, half: int, ways: list[str]) -> None:
    for text in (f"\\u{half:04x}", chr(half)):
        written = json.dumps(before)[:-1] + text + json.dumps(after)[1:]
        with pytest.raises(ValueError, match="half a character"):
            parse_json(within(written, ways))
        with pytest.raises(ValueError, match="half a character"):
            parse_json(within(f"{{{written}: 1}}", ways))


@given(character=st.integers(0x10000, 0x10FFFF).map(chr))
def test_the_halves_of_a_character_are_one_however_a_server_cuts(character: str) -> None:
    first, second = (chr(int.from_bytes(character.encode("utf-16-be")[at : at + 2])) for at in (0, 2))

    assert parse_json(f'"{first}{second}"') == character


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("1e999", "too large"),
        ("-1e999", "too large"),
        ("9" * 5000, "digits"),
        *((name, "is no JSON value") for name in ("NaN", "Infinity", "-Infinity")),
        *((text, "Expecting") for text in ("", "{", "[1,", "\ufeff1")),
        ("1 2", "Extra data"),
    ],
)
def test_what_json_or_its_reader_does_not_have_is_refused(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        parse_json(text)


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ('{"a": 1, "a": 2}', "'a' stands twice"),
        ('{"a": {"b": 1, "b": 2}}', "'b' stands twice"),
        ('{"a": "\\ud800"}', "half a character"),
        ('{"a": "\ud800"}', "half a character"),
        ({"a": "\ud800"}, "half a character"),
        ({"a": float("nan")}, "NaN"),
        ({"a": object()}, "cannot be read as one"),
        ('{"a": 1e999}', "too large"),
        ("[1]", "not an object"),
    ],
)
def test_arguments_that_cannot_be_read_without_loss_are_no_call(arguments: object, why: str) -> None:
    found = read_call(call_id="c", name="f", arguments=arguments, provider_id=None)

    assert isinstance(found, InvalidToolCall)
    assert why in found.error


def test_arguments_that_came_as_an_object_keep_their_order() -> None:
    found = read_call(call_id="c", name="f", arguments={"b": 1, "a": "\U0001f600"}, provider_id=None)

    assert isinstance(found, ToolCall)
    assert list(found.arguments) == ["b", "a"]
