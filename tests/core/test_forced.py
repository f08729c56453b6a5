"""Which values of a JSON text lie where the budget decided."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wieldy.core.forced import forced_pointers

TEXT = '{"a": "xy", "b": [1, {"c/d": true, "~": []}], "": null}'
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=12,
)


def at(value: Any, pointer: str) -> Any:
    for step in pointer.split("/")[1:]:
        key = step.replace("~1", "/").replace("~0", "~")
        value = value[int(key)] if isinstance(value, list) else value[key]
    return value


def leaves(value: Any) -> int:
    if isinstance(value, dict | list) and value:
        return sum(map(leaves, value.values() if isinstance(value, dict) else value))
    return 1


@pytest.mark.parametrize(
    ("part", "pointers"),
    [
        ('"xy"', ("/a",)),
        ("y", ("/a",)),
        ("1", ("/b/0",)),
        ("true", ("/b/1/c~1d",)),
        ("[]", ("/b/1/~0",)),
        ("null", ("/",)),
        ('"xy", "b": [1', ("/a", "/b/0")),
        ('"b": ', ("",)),
        ("}]", ("",)),
        (", {", ("/b/0",)),
    ],
)
def test_values_that_lie_in_a_range_are_pointed_at(part: str, pointers: tuple[str, ...]) -> None:
    start = TEXT.index(part)
    assert forced_pointers(TEXT, [(start, start + len(part))]) == pointers


@pytest.mark.parametrize("ranges", [[], [(len(TEXT), len(TEXT) + 5)], [(-3, 0)]])
def test_where_nothing_was_decided_nothing_is_pointed_at(ranges: list[tuple[int, int]]) -> None:
    assert forced_pointers(TEXT, ranges) == ()


@given(value=VALUES, indent=st.sampled_from([None, 0, 2]))
def test_the_whole_text_points_at_every_value_and_every_pointer_leads_to_one(value: Any, indent: int | None) -> None:
    text = json.dumps(value, indent=indent)
    pointers = forced_pointers(text, [(0, len(text))])
    assert len(pointers) == leaves(value)
    for pointer in pointers:
        found = at(value, pointer)
        assert not (isinstance(found, dict | list) and found)


@given(numbers=st.lists(st.integers() | st.floats(allow_nan=False, allow_infinity=False), min_size=1), data=st.data())
def test_a_number_that_the_budget_ended_is_pointed_at_because_it_may_have_gone_on(
    numbers: list[float], data: st.DataObject
) -> None:
    place = data.draw(st.integers(0, len(numbers) - 1))
    text = json.dumps({"a": numbers})
    end = len(json.dumps({"a": numbers[: place + 1]})) - len("]}")

    assert forced_pointers(text, [(end, len(text))]) == tuple(f"/a/{at}" for at in range(place, len(numbers)))


@given(value=VALUES, data=st.data())
def test_more_ranges_point_at_no_less(value: Any, data: st.DataObject) -> None:
    text = json.dumps(value)
    ends = st.integers(0, len(text))
    ranges = data.draw(st.lists(st.tuples(ends, ends).map(lambda pair: (min(pair), max(pair))), max_size=4))
    for count in range(len(ranges)):
        fewer, more = (set(forced_pointers(text, ranges[:size])) for size in (count, count + 1))
        assert fewer - {""} <= more


@given(text=st.text(max_size=30), start=st.integers(0, 10), size=st.integers(1, 10))
def test_text_that_is_no_json_is_pointed_at_as_a_whole(text: str, start: int, size: int) -> None:
    found = forced_pointers("{" + text, [(start, start + size)])
    assert found in ((), ("",)) or json.loads("{" + text) is not None
