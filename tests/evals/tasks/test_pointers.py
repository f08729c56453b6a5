"""Places in JSON values, and what differs between two."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wieldy import UsageError
from wieldy.core.json import canonical_json
from wieldy.evals.tasks.pointers import check_pointer, check_steps, differences, is_within, set_at, value_at
from wieldy.evals.tasks.task import Condition
from wieldy.evals.tasks.worlds import World

VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text(alphabet="aA/~0", max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(alphabet="a/~1", max_size=2), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(VALUES, VALUES)
def test_values_are_the_same_exactly_if_no_place_differs(one: Any, other: Any) -> None:
    assert (not list(differences(one, other))) is (canonical_json(one) == canonical_json(other))


@given(VALUES, VALUES)
def test_every_place_that_is_told_differs(one: Any, other: Any) -> None:
    missing = object()
    for pointer in differences(one, other):
        here, there = value_at(one, pointer, missing), value_at(other, pointer, missing)
        assert here is missing or there is missing or canonical_json(here) != canonical_json(there)


@given(VALUES)
def test_a_value_does_not_differ_from_its_copy(value: Any) -> None:
    assert not list(differences(value, copy.deepcopy(value)))


@pytest.mark.parametrize(
    ("pointer", "place", "expected"),
    [
        ("/orders/17/status", "/orders/17/status", True),
        ("/orders/17/status", "/orders/17", True),
        ("/orders/17/status", "/orders/*/status", True),
        ("/orders/17", "/orders/17/status", False),
        ("/orders/170", "/orders/17", False),
        ("", "", True),
        ("/a", "", True),
    ],
)
def test_what_lies_within_a_place(pointer: str, place: str, expected: bool) -> None:
    assert is_within(pointer, place) is expected


@given(VALUES, VALUES)
def test_what_is_new_is_told_by_what_it_holds(one: Any, other: Any) -> None:
    missing = object()
    for pointer in differences(one, other):
        if value_at(one, pointer, missing) is missing:
            assert not isinstance(value_at(other, pointer, missing), dict | list) or not value_at(
                other, pointer, missing
            )


@pytest.mark.parametrize(
    ("before", "after", "places"),
    [
        ({}, {"refunds": {"1": {"amount": 5}}}, ["/refunds/1/amount"]),
        ({}, {"a": [1, {"b/": []}]}, ["/a/0", "/a/1/b~1"]),
        ([], [{"a": 1}], ["/0/a"]),
        ({"orders": {"1": {"status": "x"}}}, {"orders": {}}, ["/orders/1"]),
        ([[1], [2]], [[1]], ["/1"]),
    ],
)
def test_what_is_gone_is_gone_as_a_whole(before: Any, after: Any, places: list[str]) -> None:
    assert list(differences(before, after)) == places


@pytest.mark.parametrize("pointer", ["orders", "orders/17", "/a~", "/a~2", " /a"])
def test_what_is_no_pointer_is_refused(pointer: str) -> None:
    with pytest.raises(UsageError, match="expected a JSON pointer"):
        check_pointer(pointer)
    with pytest.raises(UsageError, match="expected a JSON pointer"):
        World(start=dict[str, Any], tools=lambda _: (), look=dict[str, Any], changes=(pointer,))
    with pytest.raises(UsageError, match="expected a JSON pointer"):
        Condition(name="x", state={pointer: 1})


@pytest.mark.parametrize("pointer", ["", "orders", "orders/17"])
def test_nothing_is_set_where_no_pointer_leads(pointer: str) -> None:
    with pytest.raises(ValueError, match="Expected a JSON pointer to something within"):
        set_at({}, pointer, 1)


INDEXES = ["00", "01", "-1", "-", "\u0661", "1.0", "+1", " 1", "1_0", "9" * 5000, "1000000000"]


@pytest.mark.parametrize("step", INDEXES)
def test_only_the_number_of_an_item_leads_into_a_list(step: str) -> None:
    missing = object()
    assert value_at([["a", "b"]], f"/0/{step}", missing) is missing
    assert value_at({step: "a"}, f"/{step}", missing) == "a"
    with pytest.raises(ValueError, match="leads to no place"):
        set_at([["a", "b"]], f"/0/{step}", 1)
    with pytest.raises(UsageError, match="the list at '/0', such as 0 or 12"):
        check_steps([["a", "b"]], f"/0/{step}")


@given(VALUES, VALUES)
def test_every_place_that_differs_can_be_written(one: Any, other: Any) -> None:
    for pointer in differences(one, other):
        check_steps(one, pointer)
        check_steps(other, pointer)
