"""Schemas are made small without losing what they accept."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from wieldy.schema import CompiledSchema
from wieldy.schema.rewrite import inlined, ordered, rewritten

LONG = {"type": "object", "properties": {f"property_{index}": {"type": "integer"} for index in range(9)}}
SMALL = {"enum": ["a", "b"]}


def test_a_definition_used_once_is_put_in_its_place() -> None:
    document = {"properties": {"a": {"$ref": "#/$defs/Long"}}, "$defs": {"Long": LONG, "Unused": SMALL}}
    assert inlined(document) == {"properties": {"a": LONG}}


def test_a_small_definition_is_put_in_every_place_and_a_long_one_is_kept() -> None:
    document = {
        "properties": {
            name: {"$ref": f"#/$defs/{kind}"}
            for name, kind in zip("abcd", ["Small", "Small", "Long", "Long"], strict=True)
        },
        "$defs": {"Long": LONG, "Small": SMALL},
    }
    small = inlined(document)
    assert small["properties"]["a"] == small["properties"]["b"] == SMALL
    assert small["properties"]["c"] == {"$ref": "#/$defs/Long"}
    assert small["$defs"] == {"Long": LONG}


def test_what_is_said_beside_a_reference_is_kept() -> None:
    document = {
        "properties": {"a": {"$ref": "#/$defs/S", "description": "here", "default": "b"}},
        "$defs": {"S": {**SMALL, "description": "there"}},
    }
    assert inlined(document)["properties"]["a"] == {**SMALL, "description": "here", "default": "b"}


def test_a_constraint_beside_a_reference_keeps_it() -> None:
    document = {
        "properties": {"a": {"$ref": "#/$defs/S", "maxLength": 3}},
        "$defs": {"S": {"type": "string", "maxLength": 9}},
    }
    assert inlined(document) == document


def test_definitions_that_lead_to_themselves_are_kept() -> None:
    node = {"type": "object", "properties": {"other": {"$ref": "#/$defs/B"}}}
    document = {"$ref": "#/$defs/A", "$defs": {"A": node, "B": {"properties": {"back": {"$ref": "#/$defs/A"}}}}}
    assert inlined(document) == document


def test_a_definition_of_an_odd_name_is_found() -> None:
    document = {"properties": {"a": {"$ref": "#/$defs/My%20~1Kind~0"}}, "$defs": {"My /Kind~": LONG}}
    assert inlined(document) == {"properties": {"a": LONG}}


def test_a_property_called_title_is_no_title() -> None:
    document = {
        "title": "T",
        "properties": {"title": {"title": "T", "type": "string"}},
        "default": {"title": 1},
        "enum": [{"title": 1}],
    }
    bare = rewritten(document, lambda schema: {key: value for key, value in schema.items() if key != "title"})
    assert bare == {"properties": {"title": {"type": "string"}}, "default": {"title": 1}, "enum": [{"title": 1}]}


def test_keywords_are_put_in_the_order_of_reading() -> None:
    assert list(
        ordered({"required": [], "$defs": {}, "minimum": 1, "description": "d", "properties": {}, "type": "object"})
    ) == [
        "type",
        "description",
        "minimum",
        "properties",
        "required",
        "$defs",
    ]


names = st.sampled_from(["A", "B", "C"])
parts = st.recursive(
    st.one_of(
        st.sampled_from([{"type": "integer"}, {"type": "string"}, LONG]),
        names.map(lambda name: {"$ref": f"#/$defs/{name}"}),
    ),
    lambda inner: st.one_of(
        st.dictionaries(st.sampled_from("ab"), inner).map(
            lambda properties: {"type": "object", "properties": properties}
        ),
        inner.map(lambda items: {"type": "array", "items": items}),
        st.lists(inner, min_size=1, max_size=2).map(lambda branches: {"anyOf": branches}),
    ),
    max_leaves=4,
)
values = st.recursive(
    st.sampled_from([1, "a", None]),
    lambda inner: st.one_of(st.lists(inner, max_size=2), st.dictionaries(st.sampled_from("ab"), inner, max_size=2)),
    max_leaves=5,
)


@given(parts, st.fixed_dictionaries({"A": parts, "B": parts, "C": parts}), values)
def test_a_document_accepts_the_same_with_its_definitions_inlined(part: Any, definitions: Any, value: Any) -> None:
    document = {**part, "$defs": definitions}
    assert CompiledSchema(inlined(document)).accepts(value) == CompiledSchema(document).accepts(value)
