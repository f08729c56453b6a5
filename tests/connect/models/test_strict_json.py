"""JSON for strict readers."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wieldy.connect.models.strict_json import json_bytes, json_text
from wieldy.core.errors import UsageError

ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=5)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | ANY_TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(ANY_TEXT, inner, max_size=3),
    max_leaves=10,
)


@given(value=VALUES)
def test_every_value_can_be_read_back_by_a_strict_reader(value):
    json.loads(json_bytes(value).decode("utf-8"), parse_constant=pytest.fail)


@given(
    value=st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=5),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    )
)
def test_what_json_can_say_is_unchanged(value):
    assert json.loads(json_text(value)) == json.loads(json_bytes(value)) == value


def test_what_is_nested_too_deeply_is_the_programs_mistake():
    value: list[object] = []
    for _ in range(100_000):
        value = [value]
    with pytest.raises(UsageError, match="nested too deeply"):
        json_text(value)
