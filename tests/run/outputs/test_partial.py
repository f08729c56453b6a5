"""JSON that is read while it is written: always a beginning of what it will be, and at the end what it is."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from wieldy.core.json import JsonValue
from wieldy.run.outputs.partial import Nothing, PartialJson

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
numbers = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
values = st.recursive(
    st.none() | st.booleans() | numbers | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=12,
)


@st.composite
def written(draw: st.DrawFn) -> str:
    """A value as JSON, in one of the ways in which models write it."""
    value = draw(values)
    return json.dumps(
        value,
        ensure_ascii=draw(st.booleans()),
        indent=draw(st.sampled_from([None, 0, 2])),
        separators=draw(st.sampled_from([(",", ":"), (", ", ": "), (" ,\n", " :\t")])),
    )


def pieces(text: str, cuts: list[int]) -> list[str]:
    places = sorted({cut % (len(text) + 1) for cut in cuts})
    return [text[start:end] for start, end in zip([0, *places], [*places, len(text)], strict=True)]


def is_beginning(earlier: JsonValue, later: JsonValue) -> bool:
    match earlier, later:
        case str(), str():
            return later.startswith(earlier)
        case list(), list():
            *whole, last = earlier or [None]
            return not earlier or (
                len(later) >= len(earlier) and later[: len(whole)] == whole and is_beginning(last, later[len(whole)])
            )
        case dict(), dict():
            return list(later)[: len(earlier)] == list(earlier) and all(
                is_beginning(value, later[key]) if key == list(earlier)[-1] else value == later[key]
                for key, value in earlier.items()
            )
        case _:
            return type(earlier) is type(later) and earlier == later


def shown(reading: PartialJson) -> str:
    return "nothing" if isinstance(reading.value, Nothing) else json.dumps(reading.value)


cuts = st.lists(st.integers(0, 10_000), max_size=12)


@given(text=written(), cuts=cuts)
def test_the_last_value_is_what_a_parser_says(text: str, cuts: list[int]) -> None:
    reading = PartialJson()
    for piece in pieces(text, cuts):
        reading.feed(piece)
    reading.close()

    assert json.dumps(reading.value) == json.dumps(json.loads(text))


@given(text=written())
def test_each_value_begins_as_the_one_before_did_and_news_are_told(text: str) -> None:
    reading = PartialJson()
    seen: list[Any] = []
    for character in text:
        before = reading.value
        has_news = reading.feed(character)
        after = reading.value
        if not has_news:
            assert isinstance(after, Nothing) == isinstance(before, Nothing)
            assert isinstance(after, Nothing) or after == before
        elif not isinstance(after, Nothing):
            seen.append(after)
    if reading.close():
        seen.append(reading.value)

    assert all(is_beginning(earlier, later) for earlier, later in itertools.pairwise(seen))
    assert json.dumps(seen[-1]) == json.dumps(json.loads(text))


@given(text=written(), end=st.integers(0, 10_000), cuts=cuts)
def test_how_the_text_is_cut_does_not_matter(text: str, end: int, cuts: list[int]) -> None:
    text = text[: end % (len(text) + 1)]
    whole, cut = PartialJson(), PartialJson()
    whole.feed(text)
    for piece in pieces(text, cuts):
        cut.feed(piece)

    assert shown(cut) == shown(whole)


@given(text=st.text('{}[]":,\\ud8cfDC0123456789.eE+-truefalsnNI \n\x00é', max_size=30))
@example(text='["\\ud83d\\ud83d\\ude00"]')
@example(text='{"a":1,"a":2}')
@example(text="[1}")
@example(text="[NaN]")
@example(text='"\n"')
@example(text="[" * 80 + "]" * 80)
def test_whatever_the_text_is_nothing_raises_and_no_value_is_other_than_a_beginning(text: str) -> None:
    reading = PartialJson()
    seen: list[Any] = []
    for character in text:
        reading.feed(character)
        if not isinstance(reading.value, Nothing):
            seen.append(reading.value)
    reading.close()

    assert all(is_beginning(earlier, later) for earlier, later in itertools.pairwise(seen))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"name": "A', {"name": "A"}),
        ('{"name": "A"', {"name": "A"}),
        ('{"name": "A", "tot', {"name": "A"}),
        ('{"name": "A", "total": 1', {"name": "A"}),
        ('{"name": "A", "total": 12,', {"name": "A", "total": 12}),
        ('{"items": [{"a": tr', {"items": [{}]}),
        ('{"items": [{"a": true}, ', {"items": [{"a": True}]}),
        ('["caf\\u00', ["caf"]),
        ('["\\ud83d', [""]),
        ('["\\ud83d\\ude00', ["😀"]),
        ('{"a": 1, "a": 2}', {"a": 1}),
        ('{"a": 1} and more', {"a": 1}),
        ('{"a": [1}', {"a": [1]}),
        ('{"a": 01}', {}),
        ('{"a": "te\x00xt"}', {"a": "te"}),
        ('{"a": "te\\x"}', {"a": "te"}),
    ],
)
def test_what_there_is_of_a_text(text: str, value: JsonValue) -> None:
    reading = PartialJson()
    reading.feed(text)

    assert reading.value == value


def test_before_anything_has_begun_there_is_no_value() -> None:
    reading = PartialJson()
    reading.feed("  \n")

    assert isinstance(reading.value, Nothing)
