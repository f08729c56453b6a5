"""A schema is asked about any place of the arguments, whatever way leads there."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wieldy.core.errors import UsageError
from wieldy.formats.values.expected import ANYTHING, Expected, is_same
from wieldy.formats.values.values import decode
from wieldy.schema import CompiledSchema
from wieldy.schema.resolve import ALL_TYPES, accepted_types

INTEGER, STRING, NULL, OBJECT = ({"type": name} for name in ("integer", "string", "null", "object"))
ORDER = {
    "type": "object",
    "properties": {
        "id": INTEGER,
        "customer": {"$ref": "#/$defs/Customer"},
        "lines": {"type": "array", "prefixItems": [STRING], "items": {"$ref": "#/$defs/Line"}},
    },
    "patternProperties": {"^x-": INTEGER},
    "additionalProperties": {"type": "boolean"},
    "$defs": {
        "Customer": {"allOf": [{"$ref": "#/$defs/Named"}, {"properties": {"age": {"anyOf": [INTEGER, NULL]}}}]},
        "Named": {"properties": {"name": STRING, "parent": {"$ref": "#/$defs/Customer"}}},
        "Line": {
            "oneOf": [
                {"properties": {"kind": {"const": "item"}, "amount": INTEGER}, "required": ["amount"]},
                {"properties": {"text": STRING, "kind": {"const": "note"}}, "required": ["text"]},
            ]
        },
    },
}


@pytest.mark.parametrize(
    ("path", "types"),
    [
        ((), {"object"}),
        (("id",), {"integer"}),
        (("customer", "name"), {"string"}),
        (("customer", "age"), {"integer", "null"}),
        (("customer", "parent", "parent", "age"), {"integer", "null"}),
        (("lines",), {"array"}),
        (("lines", 0), {"string"}),
        (("lines", 1, "amount"), {"integer"}),
        (("lines", 7, "kind"), {"string"}),
        (("x-count",), {"integer"}),
        (("other",), {"boolean"}),
        (("customer", "other"), ALL_TYPES),
        (("id", "other"), ALL_TYPES),
        (("id", 0), ALL_TYPES),
    ],
)
def test_every_place_is_reached(path: tuple[str | int, ...], types: set[str]) -> None:
    expected = Expected.of(ORDER)
    for part in path:
        expected = expected.item(part) if isinstance(part, int) else expected.member(part)
    assert expected.types == types


def test_names_are_those_of_all_parts_in_the_schemas_order() -> None:
    assert Expected.of(ORDER).names == ("id", "customer", "lines")
    assert Expected.of(ORDER).member("customer").names == ("name", "parent", "age")
    assert Expected.of(ORDER).member("lines").item(1).names == ("kind", "amount", "text")


def test_names_for_a_value_are_in_the_order_of_the_alternative_that_it_fits() -> None:
    line = Expected.of(ORDER).member("lines").item(1)
    assert line.names_for({"kind": "item", "amount": 1}) == ("kind", "amount")
    assert line.names_for({"kind": "note", "text": ""}) == ("text", "kind")
    assert line.names_for({"kind": "neither"}) == line.names


def test_only_a_property_of_exactly_this_name_is_declared() -> None:
    order = Expected.of(ORDER)
    assert order.is_declared("id")
    assert not order.is_declared("x-count")
    assert not order.is_declared("other")


def test_a_member_that_alternatives_declare_differently_may_be_either() -> None:
    either = Expected.of({"anyOf": [{"properties": {"a": INTEGER}}, {"properties": {"a": NULL}}, {"properties": {}}]})
    assert either.member("a").types == {"integer", "null"}


def test_a_member_that_several_parts_declare_has_to_fit_all() -> None:
    both = Expected.of({"properties": {"a": {"enum": [1, "b", None]}}, "allOf": [{"properties": {"a": INTEGER}}]})
    assert both.member("a").types == {"integer"}
    assert both.member("a").admitted.values == (1,)


@pytest.mark.parametrize(
    "schema",
    [
        STRING,
        {"anyOf": [STRING, INTEGER]},
        {"type": ["string", "boolean", "number"], "minLength": 3},
        {"anyOf": [STRING, {"enum": ["a", 1]}]},
        {"properties": False, "type": "string"},
        {"type": []},
    ],
)
def test_any_text_is_taken_where_it_can_only_mean_itself(schema: Any) -> None:
    assert Expected.of(schema).takes_any_text


@pytest.mark.parametrize(
    "schema",
    [
        True,
        {},
        INTEGER,
        {"type": ["string", "null"]},
        {"anyOf": [STRING, {"const": None}]},
        {"anyOf": [STRING, OBJECT]},
        {"anyOf": [STRING, {"const": []}]},
        {"enum": ["a", "b"]},
    ],
)
def test_text_is_kept_back_where_it_may_mean_something_else(schema: Any) -> None:
    assert not Expected.of(schema).takes_any_text


def test_a_property_that_may_not_be_there_takes_any_text_and_leaves_it_to_the_validator() -> None:
    assert Expected.of({"properties": {"a": False}}).member("a").takes_any_text


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#"},
        {"anyOf": [{"$ref": "#"}, {"allOf": [{"$ref": "#"}]}]},
        {"type": 5, "enum": "a", "anyOf": {}, "properties": [], "items": 3},
        {"$ref": "https://example.com/other"},
    ],
)
def test_what_makes_no_sense_counts_as_anything(schema: Any) -> None:
    expected = Expected.of(schema)
    assert expected.types == ALL_TYPES
    assert expected.member("a") == expected.item(0) == ANYTHING
    assert expected.names == ()
    assert expected.accepts("a")


def test_alternatives_beyond_all_measure_count_as_anything() -> None:
    deep: Any = {"properties": {"a": INTEGER}}
    for _ in range(5000):
        deep = {"anyOf": [deep]}
    assert Expected.of(deep).types == ALL_TYPES
    assert Expected.of(deep).member("a") == ANYTHING


def test_the_validator_is_asked_about_the_place_itself() -> None:
    amount = Expected.of(ORDER).member("lines").item(1)
    assert amount.accepts({"amount": 1})
    assert not amount.accepts({"amount": "1"})
    both = Expected.of({"properties": {"a": {"minimum": 3}}, "allOf": [{"properties": {"a": {"maximum": 5}}}]}).member(
        "a"
    )
    assert [both.accepts(number) for number in (2, 4, 6)] == [False, True, False]


schemas = st.recursive(
    st.booleans()
    | st.fixed_dictionaries({"type": st.sampled_from(sorted(ALL_TYPES)) | st.just(["string", "null"])})
    | st.fixed_dictionaries({"enum": st.lists(st.sampled_from([None, 1, 1.5, "a", [], {}]), min_size=1)})
    | st.sampled_from([{"$ref": "#"}, {"$ref": "#/anyOf/0"}, {"const": None}]),
    lambda inner: st.dictionaries(
        st.sampled_from(["anyOf", "oneOf", "allOf"]), st.lists(inner, min_size=1, max_size=3), min_size=1
    ),
    max_leaves=8,
)


@given(schemas.filter(lambda schema: isinstance(schema, dict)))
def test_types_are_never_more_than_those_of_the_references_reading(schema: Any) -> None:
    assert Expected.of(schema).types <= accepted_types(schema, ())


@given(schemas, st.sampled_from([None, True, 1, 1.5, 2.0, "a", [], {}, [1], {"a": 1}]))
def test_whatever_the_validator_accepts_is_admitted(schema: Any, value: Any) -> None:
    try:
        compiled = CompiledSchema({"allOf": [schema]} if isinstance(schema, bool) else schema)
    except UsageError:  # a reference leads nowhere
        return
    assert Expected.of(compiled.document).admitted.admits(value) or not compiled.accepts(value)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (1, 1.0, True),
        (1, True, False),
        (0, False, False),
        (None, False, False),
        ("1", 1, False),
        ([1, {"a": 1, "b": []}], [1.0, {"b": [], "a": 1}], True),
        ([True], [1], False),
        ({"a": None}, {}, False),
        ([], {}, False),
        ([1], [1, 2], False),
    ],
)
def test_sameness_is_that_of_json(one: Any, other: Any, same: bool) -> None:
    assert is_same(one, other) is same
    assert is_same(other, one) is same


@pytest.mark.parametrize("nullable", [True, False])
def test_a_keyword_that_json_schema_does_not_have_admits_what_the_validator_accepts(nullable: bool) -> None:
    schema = {"type": "string", "nullable": nullable}

    assert Expected.of(schema).types == {"string"}
    assert decode("null", Expected.of(schema)) == "null"
    assert list(CompiledSchema(schema).violations(None))
