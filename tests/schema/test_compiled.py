"""Every place where a value does not fit is found and named, whatever the value."""

from functools import reduce
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wieldy.core.errors import UsageError
from wieldy.schema import CompiledSchema, is_wellformed, malformed
from wieldy.schema.wellformed import MAX_DEPTH

ORDER = {
    "type": "object",
    "properties": {
        "order_id": {"type": "string", "description": "The order's number."},
        "items": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"name": {"type": "string"}, "count": {"type": "integer", "minimum": 1}},
                "required": ["name"],
                "additionalProperties": False,
            },
        },
        "sent": {"anyOf": [{"type": "string", "format": "date"}, {"type": "null"}]},
    },
    "required": ["order_id"],
    "additionalProperties": False,
}


def found(document: dict[str, Any], value: Any) -> list[tuple[str, str, str]]:
    return [(v.json_path, v.keyword, v.expected) for v in CompiledSchema(document).violations(value)]


def test_places_keywords_and_expectations_are_told() -> None:
    value = {"items": [{"name": "a"}, {"name": 3, "count": 0}], "sent": 5}
    assert sorted(found(ORDER, value)) == [
        ("$.items[1].count", "minimum", "an integer (at least 1)"),
        ("$.items[1].name", "type", "a string"),
        ("$.order_id", "required", "a string (The order's number.)"),
        ("$.sent", "anyOf", "a date such as 2026-01-31 or null"),
    ]


def test_an_unknown_property_is_told_with_the_one_that_was_meant() -> None:
    violation, missing = CompiledSchema(ORDER).violations({"orderID": "17"})
    assert (violation.path, violation.nearest, violation.found) == (("orderID",), "order_id", "17")
    assert (missing.path, missing.keyword) == (("order_id",), "required")


def test_a_property_that_is_there_already_is_not_suggested() -> None:
    (violation,) = CompiledSchema(ORDER).violations({"order_id": "1", "order-id": "2"})
    assert violation.nearest is None


def test_of_alternatives_the_one_that_was_meant_is_explained() -> None:
    cat = {
        "type": "object",
        "properties": {"kind": {"const": "cat"}, "lives": {"type": "integer"}},
        "required": ["kind"],
    }
    dog = {"type": "object", "properties": {"kind": {"const": "dog"}, "age": {"type": "integer"}}, "required": ["kind"]}
    document = {"anyOf": [cat, dog, {"type": "array", "items": {"type": "integer"}}]}
    assert found(document, {"kind": "cat", "lives": "nine"}) == [("$.lives", "type", "an integer")]
    assert found(document, [1, "a"]) == [("$[1]", "type", "an integer")]
    assert found(document, {"kind": "cow"}) == [("$.kind", "anyOf", 'one of "cat", "dog"')]
    assert found({"oneOf": [cat, dog]}, {"kind": 3}) == [("$.kind", "oneOf", 'one of "cat", "dog"')]
    assert [keyword for _, keyword, _ in found(document, {"age": "x"})] == ["anyOf"]
    assert [keyword for _, keyword, _ in found(document, 3)] == ["anyOf"]


def test_a_name_that_does_not_fit_is_where_it_stands() -> None:
    document = {"properties": {"counts": {"propertyNames": {"pattern": "^[0-9]+$"}}}}
    ((path, keyword, expected),) = found(document, {"counts": {"1": 0, "two": 0}})
    assert (path, keyword) == ("$.counts.two", "propertyNames")
    assert expected == 'another name for this property ("two" does not match "^[0-9]+$")'


def test_names_that_are_no_identifiers_are_quoted_in_paths() -> None:
    document = {"properties": {"a b": {"properties": {"ü": {"type": "integer"}, '"': {"type": "integer"}}}}}
    assert [path for path, _, _ in found(document, {"a b": {"ü": "x", '"': "x"}})] == [
        '$["a b"].ü',
        '$["a b"]["\\""]',
    ]


@pytest.mark.parametrize(
    ("document", "value", "word"),
    [
        ({"enum": ["a", "b", 3]}, "c", 'one of "a", "b", 3'),
        ({"const": "a"}, "c", '"a"'),
        ({"type": "number", "exclusiveMinimum": 0, "maximum": 5}, 0, "greater than 0, at most 5"),
        ({"type": "string", "pattern": "^a$"}, "b", "matching ^a$"),
        ({"type": "array", "minItems": 2, "uniqueItems": True}, [1], "at least 2 items, no item twice"),
        ({"type": ["integer", "null"]}, "a", "an integer or null"),
        ({"not": {"type": "integer"}}, 1, "not allowed"),
        ({"properties": {"a": False}}, {"a": 1}, "nothing"),
        ({"type": "object", "required": ["a"]}, 3, "an object with `a`"),
        ({"enum": list(range(50))}, 99, "or one of 20 more"),
        ({"type": "string", "format": "email"}, "x", "an e-mail address such as name@example.com"),
        ({"$defs": {"A": {"type": "boolean"}}, "$ref": "#/$defs/A"}, 1, "a boolean (true or false)"),
        (
            {"allOf": [{"anyOf": [{"allOf": [{"type": "array", "items": {"type": "integer"}}]}]}]},
            None,
            "each item an integer",
        ),
    ],
)
def test_expectations_are_put_into_words(document: dict[str, Any], value: Any, word: str) -> None:
    assert word in " ".join(expected for _, _, expected in found(document, value))


def test_formats_are_checked_and_checks_can_be_replaced() -> None:
    document = {"type": "string", "format": "date-time"}
    assert not CompiledSchema(document).accepts("2026-01-31T09:30:00")
    assert CompiledSchema(document, formats={"date-time": lambda text: "T" in text}).accepts("2026-01-31T09:30:00")


@pytest.mark.parametrize(
    "document",
    [
        {"type": "strange"},
        {"pattern": "("},
        {"$ref": "#/$defs/missing"},
        {"$ref": "https://example.com/schema.json"},
        {"properties": []},
        {"required": "a"},
    ],
)
def test_what_is_no_schema_is_a_usage_error(document: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="Expected a JSON Schema"):
        CompiledSchema(document)


def test_what_is_wrong_in_a_schema_is_told_with_its_place() -> None:
    with pytest.raises(UsageError, match=r'found at #/properties/a~1b/type: "strange" is'):
        CompiledSchema({"properties": {"a/b": {"type": "strange"}}})
    with pytest.raises(UsageError, match=r"found: \[1\] is not"):
        CompiledSchema([1])  # pyright: ignore[reportArgumentType]


def nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("value", "path", "word"),
    [
        ({"a": float("nan")}, "$.a", "a finite number"),
        ([1, float("-inf")], "$[1]", "a finite number"),
        ({"a": "\ud800"}, "$.a", "whole Unicode"),
        ({"\udfff": 1}, "$", "whole Unicode"),
        ({1: 2}, "$", "keys that are text"),
        ({"a": {1, 2}}, "$.a", "a JSON value"),
        ({"a": b"x"}, "$.a", "a JSON value"),
        ((1, 2), "$", "a JSON value"),
        (nested(MAX_DEPTH + 1), "$[0][0][0]", "levels of nesting"),
        (nested(50_000), "$[0][0][0]", "levels of nesting"),
    ],
)
def test_what_is_no_json_is_a_violation_too(value: Any, path: str, word: str) -> None:
    (violation,) = CompiledSchema({}).violations(value)
    assert (violation.json_path, violation.keyword) == (path, "json")
    assert word in violation.expected
    assert not CompiledSchema({}).accepts(value)


def test_deep_json_within_the_limit_is_taken() -> None:
    assert CompiledSchema({}).accepts(nested(MAX_DEPTH))


anything = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(), st.binary(), st.just(object())),
    lambda parts: st.one_of(
        st.lists(parts, max_size=3),
        st.tuples(parts),
        st.dictionaries(st.one_of(st.text(), st.integers()), parts, max_size=3),
    ),
    max_leaves=6,
)


@given(anything)
def test_a_value_is_well_formed_if_nothing_of_it_is_malformed(value: Any) -> None:
    assert is_wellformed(value) == (not list(malformed(value)))


@pytest.mark.parametrize("levels", [MAX_DEPTH - 1, MAX_DEPTH, MAX_DEPTH + 1, MAX_DEPTH + 2])
@pytest.mark.parametrize("innermost", [1, "a", 0.5, None, [], {}])
def test_a_value_nested_too_deeply_is_not_well_formed(levels: int, innermost: Any) -> None:
    for value in (reduce(lambda inner, _: [inner], range(levels), innermost), nested_objects(levels, innermost)):
        assert is_wellformed(value) == (not list(malformed(value))) == (levels <= MAX_DEPTH)


def nested_objects(levels: int, innermost: Any) -> Any:
    return reduce(lambda inner, _: {"a": inner}, range(levels), innermost)


@given(anything)
def test_no_value_raises_and_only_json_is_accepted_by_the_empty_schema(value: Any) -> None:
    schema = CompiledSchema({})
    assert schema.accepts(value) == (not list(malformed(value)))
    assert (schema.violations(value) == ()) == schema.accepts(value)
