"""Trees of elements become arguments, and arguments trees, whichever way arrays are written."""

from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wieldy.formats.values.trees import TEXT, Arrays, Element, decode_tree, encode_tree, is_tree_carried
from wieldy.formats.values.values import ANYTHING, Expected, is_same
from wieldy.schema.wellformed import MAX_DEPTH

INTEGER, STRING, NULL, ARRAY, OBJECT = ({"type": name} for name in ("integer", "string", "null", "array", "object"))
POINT = {"type": "object", "properties": {"x": INTEGER, "y": INTEGER}}


def array(items: Any) -> dict[str, Any]:
    return {"type": "array", "items": items}


def tree(name: str, *inside: Element | str) -> Element:
    return Element(
        name=name,
        children=tuple(part for part in inside if isinstance(part, Element)),
        text="".join(part for part in inside if isinstance(part, str)),
    )


@pytest.mark.parametrize(
    ("schema", "element", "value"),
    [
        (INTEGER, tree("a", "5"), 5),
        (STRING, tree("a", "5"), "5"),
        (POINT, tree("a", "\n", tree("x", "5"), "\n"), {"x": 5}),
        ({}, tree("a", tree("x", "5")), {"x": "5"}),
        # Nothing inside.
        (STRING, tree("a"), ""),
        (OBJECT, tree("a"), {}),
        (OBJECT, tree("a", "\n"), {}),
        (ARRAY, tree("a"), []),
        ({}, tree("a"), ""),
        (INTEGER, tree("a"), ""),
        # Items.
        (array(INTEGER), tree("a", tree("item", "1"), tree("item", "2")), [1, 2]),
        (array(array(INTEGER)), tree("a", tree("item", tree("item", "1")), tree("item")), [[1], []]),
        (array(POINT), tree("a", tree("item", tree("x", "1"))), [{"x": 1}]),
        ({}, tree("a", tree("item", "1"), tree("item", "2")), ["1", "2"]),
        ({"properties": {"item": INTEGER}}, tree("a", tree("item", "1")), {"item": 1}),
        # Once per item.
        (OBJECT | {"properties": {"t": array(INTEGER)}}, tree("a", tree("t", "1"), tree("t", "2")), {"t": [1, 2]}),
        (OBJECT | {"properties": {"t": array(INTEGER)}}, tree("a", tree("t", "1")), {"t": [1]}),
        (OBJECT | {"properties": {"t": array(POINT)}}, tree("a", tree("t", tree("x", "1"))), {"t": [{"x": 1}]}),
        (array(STRING), tree("a", tree("tag", "x"), tree("tag", "y")), ["x", "y"]),
        ({}, tree("a", tree("t", "1"), tree("t", "2")), {"t": ["1", "2"]}),
        # Leaves that hold JSON.
        (array(INTEGER), tree("a", "[1, 2]"), [1, 2]),
        (POINT, tree("a", '{"x": 1}'), {"x": 1}),
        # What does not fit is kept for the validator to name.
        (INTEGER, tree("a", tree("b", "1"), "2"), "2<b>1</b>"),
        (STRING, tree("a", "see ", tree("b", tree("i", "x"), "y")), "see <b>y<i>x</i></b>"),
        (POINT, tree("a", "text", tree("x", "1")), {"x": 1, TEXT: "text"}),
        (array(INTEGER), tree("a", "text", tree("item", "1")), {"item": "1", TEXT: "text"}),
        (POINT, tree("a", tree("x", "1"), tree("x", "2")), {"x": ["1", "2"]}),
        (array(INTEGER), tree("a", "x"), "x"),
    ],
)
def test_a_tree_means_what_the_schema_says(schema: Any, element: Element, value: Any) -> None:
    decoded = decode_tree(element, Expected.of(schema))
    assert is_same(decoded, value), decoded


def test_arrays_are_written_as_items_or_once_per_item() -> None:
    expected = Expected.of({"type": "object", "properties": {"t": array(INTEGER), "o": OBJECT}})
    value: dict[str, Any] = {"t": [1, 2], "o": {}}
    assert encode_tree("a", value, expected) == tree("a", tree("t", tree("item", "1"), tree("item", "2")), tree("o"))
    assert encode_tree("a", value, expected, arrays="repeated") == tree("a", tree("t", "1"), tree("t", "2"), tree("o"))


def test_an_array_of_one_is_repeated_only_where_it_is_read_as_an_array() -> None:
    expected = Expected.of({"type": "object", "properties": {"t": array(INTEGER)}})
    assert encode_tree("a", {"t": [1]}, expected, arrays="repeated") == tree("a", tree("t", "1"))
    assert encode_tree("a", {"u": ["1"]}, expected, arrays="repeated") == tree("a", tree("u", tree("item", "1")))


@pytest.mark.parametrize(
    ("value", "schema"),
    [
        ({"x": "5"}, POINT),
        ({"u": 5}, OBJECT),
        ({"u": None}, OBJECT),
        ([[object()]], ARRAY),
    ],
)
def test_what_would_come_back_as_something_else_is_not_carried(value: Any, schema: Any) -> None:
    assert not is_tree_carried(value, Expected.of(schema))


def test_a_tree_nested_without_end_is_text_at_some_depth() -> None:
    element = tree("a")
    for _ in range(20_000):
        element = tree("a", element)
    value = decode_tree(element, ANYTHING)
    for _ in range(MAX_DEPTH):
        assert isinstance(value, dict)
        value = value["a"]
    assert isinstance(value, str)
    assert value.count("<a>") == 20_000 - MAX_DEPTH


leaves = st.text(max_size=5)
members = st.sampled_from(["a", "b", "item", "tag"])
objects = st.recursive(
    leaves, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(members, inner, max_size=3), max_leaves=10
)
elements = st.recursive(
    st.builds(tree, members, leaves | st.sampled_from(["5", "null", "[1]", "{}"])),
    lambda inner: st.builds(
        lambda name, text, children: tree(name, text, *children),
        members,
        st.sampled_from(["", "\n", "x"]),
        st.lists(inner),
    ),
    max_leaves=8,
)
TREE = {
    "$ref": "#/$defs/node",
    "$defs": {
        "node": {
            "type": ["object", "null", "integer"],
            "properties": {"a": {"$ref": "#/$defs/node"}, "b": array({"$ref": "#/$defs/node"}), "tag": STRING},
            "additionalProperties": array(INTEGER),
        }
    },
}
nodes = st.recursive(
    st.none() | st.integers(),
    lambda inner: st.fixed_dictionaries(
        {}, optional={"a": inner, "b": st.lists(inner, max_size=3), "tag": st.text(), "c": st.lists(st.integers())}
    ),
    max_leaves=12,
)


@given(nodes, st.sampled_from(get_args(Arrays)))
def test_what_the_schema_types_is_carried(value: Any, arrays: Arrays) -> None:
    assert is_tree_carried(value, Expected.of(TREE), arrays=arrays)


@given(
    elements, st.sampled_from([True, TREE, STRING, INTEGER, ARRAY, OBJECT, array(POINT), {"anyOf": [ARRAY, OBJECT]}])
)
def test_no_tree_raises_and_no_text_is_lost(element: Element, schema: Any) -> None:
    read = repr(decode_tree(element, Expected.of(schema)))
    waiting = [element]
    while waiting:
        part = waiting.pop()
        waiting += part.children
        if part.text.strip() and part.text.isalnum() and part.text != "null":
            assert part.text in read


@given(objects, st.sampled_from(get_args(Arrays)))
def test_writing_any_value_and_reading_it_never_raises(value: Any, arrays: Arrays) -> None:
    element = encode_tree("a", value, ANYTHING, arrays=arrays)
    assert is_tree_carried(value, ANYTHING, arrays=arrays) == is_same(decode_tree(element, ANYTHING), value)
