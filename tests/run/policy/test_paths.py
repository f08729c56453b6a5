"""Paths lead to values, and arguments that were left out have the values that the tool will use."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wieldy.core.errors import UsageError
from wieldy.run.policy.paths import leaves, read_path, render_path, value_at, with_defaults
from wieldy.tools import tool

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(min_size=1, max_size=4), inner, max_size=3),
    max_leaves=10,
)


@settings(deadline=None)
@given(st.lists(st.text(min_size=1), min_size=1).map(tuple))
def test_a_path_that_was_written_is_read_as_it_was(path: tuple[str, ...]) -> None:
    assert read_path(render_path(path)) == path


@settings(deadline=None)
@given(st.dictionaries(st.text(min_size=1, max_size=4), values, max_size=3))
def test_every_leaf_lies_where_its_path_says(arguments: dict[str, Any]) -> None:
    for path, value in leaves(arguments):
        found = value_at(arguments, read_path(render_path(path)))
        assert found == value
        assert type(found) is type(value)


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("order.lines.1.price", 7),
        ("order.lines.0", {"price": 5}),
        ("order.lines.2", None),
        ("order.lines.-1", None),
        ("order.lines.price", None),
        ("order.lines.99999999999999999999", None),
        ("order.lines.²", None),
        ("order.name.0", None),
        (r"a\.b", 1),
        ("a.b", None),
        ("10", "ten"),
        ("nothing", None),
    ],
)
def test_a_path_leads_to_its_value_or_to_nothing(path: str, found: Any) -> None:
    arguments: Any = {"order": {"lines": [{"price": 5}, {"price": 7}], "name": "x"}, "a.b": 1, "10": "ten"}
    assert value_at(arguments, read_path(path)) == found


@pytest.mark.parametrize("path", ["", ".", "a.", ".a", "a..b", None, 5, ("a",)])
def test_what_is_no_path_is_refused(path: Any) -> None:
    with pytest.raises(UsageError, match="expected the path of an argument"):
        read_path(path)


@dataclass
class Line:
    article: str
    count: int = 1


@dataclass
class Order:
    lines: list[Line]
    currency: str = "EUR"
    notes: dict[str, str] = field(default_factory=dict)


@dataclass
class Card:
    kind: Literal["card"] = "card"
    secure: bool = True


@dataclass
class Cash:
    kind: Literal["cash"] = "cash"
    change: float = 0.0


@tool
def buy(
    order: Order, again: Order | None = None, pay: Card | Cash | None = None, limit: float = 500, tip: int | None = None
) -> str:
    """Buy what is in the order."""
    return f"{order}{again}{pay}{limit}{tip}"


def test_what_was_left_out_has_its_default_at_every_depth() -> None:
    filled = with_defaults({"order": {"lines": [{"article": "mug"}]}}, buy.definition.input_schema)
    assert filled["limit"] == 500
    assert filled["tip"] is None
    assert filled["again"] is None
    assert value_at(filled, ("order", "currency")) == "EUR"
    assert value_at(filled, ("order", "lines", "0", "count")) == 1


def test_what_was_given_stays() -> None:
    arguments: Any = {"order": {"lines": [{"article": "mug", "count": 3}], "currency": "USD"}, "limit": None, "tip": 2}
    filled: Any = with_defaults(arguments, buy.definition.input_schema)
    assert filled["limit"] is None
    assert filled["tip"] == 2
    assert filled["order"]["lines"] == [{"article": "mug", "count": 3}]
    assert filled["order"]["currency"] == "USD"
    assert "limit" in arguments
    assert "again" not in arguments


def test_a_value_that_may_also_be_null_has_its_defaults() -> None:
    filled = with_defaults({"order": {"lines": []}, "again": {"lines": []}}, buy.definition.input_schema)
    assert value_at(filled, ("again", "currency")) == "EUR"


def test_where_several_kinds_of_object_would_do_nothing_is_guessed() -> None:
    filled = with_defaults({"order": {"lines": []}, "pay": {"kind": "cash"}}, buy.definition.input_schema)
    assert filled["pay"] == {"kind": "cash"}


@settings(deadline=None)
@given(st.dictionaries(st.text(max_size=4), values, max_size=3))
def test_arguments_that_no_schema_knows_are_kept(arguments: dict[str, Any]) -> None:
    assert with_defaults(arguments, {}) == arguments
    assert with_defaults(arguments, {"type": "object", "properties": {}}) == arguments


def test_a_schema_that_refers_to_itself_ends() -> None:
    schema: Any = {
        "$ref": "#/$defs/node",
        "$defs": {"node": {"properties": {"next": {"$ref": "#/$defs/node"}, "weight": {"default": 1}}}},
    }
    assert with_defaults({"next": {"next": {}}}, schema) == {
        "next": {"next": {"weight": 1}, "weight": 1},
        "weight": 1,
    }


def test_the_validated_arguments_of_a_real_tool_are_filled() -> None:
    valid = buy.validate({"order": {"lines": [{"article": "mug"}]}})
    assert value_at(with_defaults(valid.json, buy.definition.input_schema), ("limit",)) == 500
