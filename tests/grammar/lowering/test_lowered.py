"""Lowered schemas: they allow what their source allows, refuse what the report says, and account for every keyword."""

from __future__ import annotations

import json
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from lowering_cases import schemas, values

from wieldy.core.errors import GrammarError
from wieldy.grammar import Matcher, Tokenizer, json_schema
from wieldy.grammar.check.masked import masked_part
from wieldy.grammar.compiled import compiled_text
from wieldy.grammar.lowering import Lowered, bounded, lowered
from wieldy.grammar.lowering.lowered import OMITTED, pointer
from wieldy.grammar.lowering.vocabulary import ENFORCED, subschemas

BYTES = Tokenizer.of_bytes()


def validator(schema: Any) -> jsonschema_rs.Draft202012Validator:
    return jsonschema_rs.Draft202012Validator(schema, validate_formats=True)


def fits(schema: Any, value: Any) -> bool:
    """Whether the value fits; schemas on which the validator itself would not end are not asked about."""
    try:
        return validator(schema).is_valid(value)
    except ValueError:
        assume(False)
        raise


def by_mask(report: Lowered) -> bool:
    return all(entry.by == "mask" for entry in report.enforcement)


def tidy(value: Any) -> Any:
    """The value as the mask has it: whole numbers without a fraction."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, list):
        return [tidy(item) for item in value]
    return {name: tidy(item) for name, item in value.items()} if isinstance(value, dict) else value


@settings(max_examples=150, deadline=None)
@given(schemas(), st.lists(values, min_size=1, max_size=6))
def test_a_lowered_schema_allows_what_its_source_allows_and_no_more_than_the_report_says(
    schema: dict[str, Any], instances: list[Any]
) -> None:
    report = lowered(schema)
    for value in instances:
        is_allowed = not report.refused and fits(report.schema, value)
        if fits(schema, value):
            assert is_allowed or report.refused or _is_limited(schema, value), report
        elif is_allowed:
            assert not by_mask(report), report
        if is_allowed:
            assert fits(masked_part(schema, report.enforcement), value), report
        if report.refused and report.refused[0].reason == "no value fits it":
            assert not fits(schema, value)


def _is_limited(schema: dict[str, Any], value: Any) -> bool:
    """Whether a format is in it, of which the mask writes a part."""
    return '"format"' in json.dumps(schema)


@settings(max_examples=150, deadline=None)
@given(schemas())
def test_every_keyword_of_every_subschema_is_accounted_for_once(schema: dict[str, Any]) -> None:
    found = [(entry.pointer, entry.keyword) for entry in lowered(schema).enforcement]
    asked = [(pointer(place), keyword) for place, one in subschemas(schema) for keyword in one if keyword in ENFORCED]
    assert sorted(found) == sorted(asked)


KEYWORDS = {
    *("$ref", "$defs", "anyOf", "enum", "type", "minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum"),
    *("multipleOf", "minLength", "maxLength", "pattern", "allOf", "minItems", "maxItems", "prefixItems", "items"),
    *("properties", "required", "patternProperties", "additionalProperties", "minProperties", "maxProperties"),
}


@settings(max_examples=100, deadline=None)
@given(schemas())
def test_a_lowered_schema_is_of_few_kinds_and_the_engine_takes_it(schema: dict[str, Any]) -> None:
    report = lowered(schema)
    for place, one in subschemas(report.schema):
        assert one.keys() <= KEYWORDS
        for alone in one.keys() & {"$ref", "anyOf", "enum"}:
            assert set(one) - ({"$defs"} if not place else set()) == {alone}
        assert isinstance(one.get("type", ""), str)
        assert set(one.get("required", [])) <= set(one.get("properties", {}))
        if "properties" in one or "patternProperties" in one:
            assert one["additionalProperties"] is False
    compiled_text("start: %json " + json.dumps(report.schema, ensure_ascii=False))


@settings(max_examples=80, deadline=None)
@given(schemas(), st.lists(values, min_size=1, max_size=4))
def test_lowering_again_changes_nothing_that_is_allowed(schema: dict[str, Any], instances: list[Any]) -> None:
    once = lowered(schema)
    twice = lowered(once.schema)
    assert {entry.keyword for entry in twice.enforcement if entry.by != "mask"} <= {"minProperties"}
    for value in instances:
        assert fits(once.schema, value) == fits(twice.schema, value)


def accepts(schema: Any, text: str) -> bool:
    matcher = Matcher(compiled_text("start: %json " + json.dumps(schema, ensure_ascii=False)), BYTES)
    return matcher.accept_text(text) and matcher.is_accepting


@settings(max_examples=80, deadline=None)
@given(schemas(), values)
def test_the_engine_allows_what_the_lowered_schema_does(schema: dict[str, Any], value: Any) -> None:
    report = lowered(schema)
    value = tidy(value)
    text = json.dumps(value, separators=(",", ":"))
    if accepts(report.schema, text):
        assert fits(report.schema, value)
    elif fits(report.schema, value):
        # Members in another order than the schema's are the one thing that is written otherwise.
        assert "{" in text or "e" in text


# Bounds


@settings(max_examples=150, deadline=None)
@given(schemas(), st.lists(values, min_size=1, max_size=6))
def test_bounds_allow_nothing_that_a_schema_does_not_and_leave_something_of_what_it_does(
    schema: dict[str, Any], instances: list[Any]
) -> None:
    report = lowered(schema)
    assume(not report.refused)
    narrow = bounded(report.schema, 1, 1)
    assert not lowered(narrow).refused
    for value in instances:
        if fits(narrow, value):
            assert fits(report.schema, value)
            assert fits(masked_part(schema, report.enforcement), value)


@settings(max_examples=60, deadline=None)
@given(schemas(), values)
def test_what_a_bounded_mask_allows_the_schema_allows(schema: dict[str, Any], value: Any) -> None:
    try:
        grammar = json_schema(schema, max_characters=1, max_items=1)
    except GrammarError:
        assume(False)
        raise
    matcher = Matcher(grammar, BYTES)
    if matcher.accept_text(json.dumps(tidy(value))) and matcher.is_accepting:
        assert fits(masked_part(schema, grammar.enforcement), value)


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"not": {"type": "string"}}, "x" * 201),
        ({"not": {"type": "array"}}, [0] * 21),
        ({"oneOf": [{}, {"type": "string"}]}, "x" * 201),
        ({"if": {"type": "string"}, "then": {"pattern": "^b"}}, "x" * 201),
        ({"type": "array", "contains": {"type": "string"}, "maxItems": 1}, ["x" * 201]),
    ],
)
def test_what_a_schema_forbids_is_forbidden_beyond_the_bounds_too(schema: dict[str, Any], value: Any) -> None:
    matcher = Matcher(json_schema(schema), BYTES)
    assert not (matcher.accept_text(json.dumps(value)) and matcher.is_accepting)


def test_a_bound_gives_way_to_what_a_schema_asks_for() -> None:
    schema = {"type": "array", "prefixItems": [{"type": "string", "minLength": 300}] * 30, "minItems": 25}
    matcher = Matcher(json_schema(schema), BYTES)
    assert matcher.accept_text(json.dumps(["x" * 300] * 30))
    assert matcher.is_accepting


# What becomes of single keywords


def left(schema: Any) -> list[str]:
    return [f"{entry.pointer} {entry.keyword}" for entry in lowered(schema).enforcement if entry.by == "validator"]


@pytest.mark.parametrize(
    ("schema", "accepted", "refused"),
    [
        ({"not": {"const": "x"}, "type": "string"}, ["", "xx", "y"], ["x", 1]),
        ({"not": {"enum": [1, 5, "a"]}}, [2, 0.5, "b", None], [1, 5, "a"]),
        ({"not": {"type": ["string", "null"]}}, [1, [], {}], ["", None]),
        ({"not": {"required": ["a"]}, "type": "object"}, [{}, {"b": 1}], [{"a": 1}]),
        ({"not": {"properties": {"a": {"type": "string"}}, "required": ["a"]}}, [{"a": 1}, {}], [{"a": "x"}, 3]),
        ({"type": "string", "pattern": "^(?!foo)[a-z]+$"}, ["bar", "fo"], ["foo", "foobar", ""]),
        ({"type": "string", "pattern": r"^(?=.*\d)(?=.*[a-z]).{3,}$"}, ["a1b"], ["abc", "123", "a1"]),
        ({"oneOf": [{"required": ["a"]}, {"required": ["b"]}], "type": "object"}, [{"a": 1}], [{}, {"a": 1, "b": 1}]),
        ({"oneOf": [{"type": "integer", "minimum": 2}, {"type": "integer", "maximum": 5}]}, [1, 6], [2, 5, "a"]),
        (
            {"if": {"properties": {"k": {"const": 1}}, "required": ["k"]}, "then": {"required": ["v"]},
             "else": {"properties": {"v": False}}, "type": "object", "properties": {"k": {}, "v": {}}},
            [{"k": 1, "v": 1}, {"k": 2}, {}],
            [{"k": 1}, {"k": 2, "v": 1}, {"v": 1}],
        ),
        ({"type": "object", "dependentRequired": {"a": ["b"]}, "properties": {"a": {}, "b": {}}},
         [{"b": 1}, {"a": 1, "b": 1}], [{"a": 1}]),
        ({"type": "object", "dependentSchemas": {"a": {"properties": {"b": {"type": "null"}}}},
          "properties": {"a": {}, "b": {}}}, [{"b": 1}, {"a": 1, "b": None}], [{"a": 1, "b": 1}]),
        ({"dependencies": {"a": ["b"], "c": {"maxProperties": 1}}, "type": "object"},
         [{"b": 1}, {"c": 1}], [{"a": 1}, {"c": 1, "d": 1}]),
        ({"type": "object", "propertyNames": {"pattern": "^[a-z]+$", "maxLength": 2}},
         [{"ab": 1}, {}], [{"abc": 1}, {"1": 1}]),
        ({"type": "object", "propertyNames": {"enum": ["a", "b"]}}, [{"a": 1, "b": 2}], [{"c": 1}]),
        ({"type": "object", "patternProperties": {"^a": {"type": "integer"}, "b$": {"minimum": 3}}},
         [{"ax": 1}, {"xb": "s"}, {"ab": 3}], [{"ab": 1}, {"ab": "s"}, {"ax": "s"}]),
        ({"type": "object", "properties": {"a": {}, "b": {}, "c": {}}, "minProperties": 2,
          "additionalProperties": False}, [{"a": 1, "c": 1}, {"b": 1, "c": 1}], [{}, {"b": 1}]),
        ({"type": "object", "properties": {"a": {}, "b": {}}, "maxProperties": 1}, [{"b": 1}, {"z": 1}, {}],
         [{"a": 1, "b": 1}, {"a": 1, "z": 1}]),
        ({"type": "array", "items": {"enum": ["a", "b"]}, "uniqueItems": True}, [[], ["b", "a"]], [["a", "a"]]),
        ({"type": "array", "items": {"type": "boolean"}, "uniqueItems": True, "minItems": 1},
         [[True], [False, True]], [[], [True, True]]),
        ({"enum": [[1, 1], [1, 2], 3], "uniqueItems": True}, [[1, 2], 3], [[1, 1]]),
        ({"type": "array", "contains": {"type": "integer"}, "maxItems": 2}, [[1], ["a", 1]], [[], ["a", "b"]]),
        ({"allOf": [{"properties": {"a": {"type": "integer"}}}, {"properties": {"b": {"type": "null"}}}],
          "unevaluatedProperties": False, "type": "object"}, [{"a": 1, "b": None}], [{"c": 1}, {"a": "x"}]),
        ({"type": "array", "prefixItems": [{"type": "null"}], "unevaluatedItems": False}, [[None], []], [[None, 1]]),
        ({"allOf": [{"patternProperties": {"^a": {"type": "integer"}}}, {"additionalProperties": False}],
          "type": "object"}, [{}], [{"a1": 1}]),
        ({"$ref": "#/$defs/s", "minLength": 2, "$defs": {"s": {"type": "string"}}}, ["ab"], ["a", 1]),
        ({"$defs": {"s": {"$anchor": "here", "type": "null"}}, "$ref": "#here"}, [None], [1]),
        ({"$id": "https://e.org/a", "$ref": "b", "$defs": {"s": {"$id": "b", "type": "null"}}}, [None], [1]),
        ({"definitions": {"s": {"type": "null"}}, "$ref": "#/definitions/s"}, [None], [1]),
        ({"minimum": 2, "exclusiveMinimum": True, "type": "integer"}, [3], [2]),
        ({"items": [{"type": "null"}], "additionalItems": False, "type": "array"}, [[None]], [[None, 1], [1]]),
        ({"allOf": [{"$ref": "#/$defs/a"}, {"$ref": "#/$defs/b"}],
          "$defs": {"a": {"type": "object", "properties": {"child": {"$ref": "#/$defs/a"}, "n": {"type": "null"}}},
                    "b": {"properties": {"child": {"$ref": "#/$defs/b"}}, "required": ["n"]}}},
         [{"n": None}, {"child": {"n": None}, "n": None}], [{"child": {}, "n": None}, {}]),
        ({"type": "string", "format": "byte"}, ["", "YWI=", "YWJj"], ["YW", "YWI", "é"]),
        ({"type": "string", "format": "date"}, ["2024-02-29", "1900-02-28"], ["2023-02-29", "1900-02-29"]),
    ],
)  # fmt: skip
def test_by_the_mask_means_that_nothing_else_can_be_written(
    schema: Any, accepted: list[Any], refused: list[Any]
) -> None:
    assert left(schema) == []
    found = lowered(schema).schema
    for value in accepted:
        assert accepts(found, json.dumps(value, separators=(",", ":"))), value
    for value in refused:
        assert not accepts(found, json.dumps(value, separators=(",", ":"))), value


@pytest.mark.parametrize(
    ("schema", "entries"),
    [
        ({"type": "array", "items": {"type": "integer"}, "uniqueItems": True}, ["# uniqueItems"]),
        ({"type": "array", "contains": {"type": "null"}}, ["# contains", "#/contains type"]),
        ({"type": "string", "format": "phone"}, ["# format"]),
        ({"type": "string", "format": "regex"}, ["# format"]),
        ({"type": "integer", "format": "int32"}, ["# format"]),
        ({"type": "string", "pattern": r"(a)\1"}, ["# pattern"]),
        ({"type": "number", "multipleOf": 0.07}, ["# multipleOf"]),
        ({"type": "integer", "maximum": 10**20}, ["# maximum"]),
        ({"const": 2**53 + 1}, ["# const"]),
        (
            {"not": {"properties": {"a": {"multipleOf": 2}}}},
            ["# not", "#/not properties", "#/not/properties/a multipleOf"],
        ),
        ({"oneOf": [{"multipleOf": 3}, {"multipleOf": 5}]}, ["# oneOf"]),
        ({"type": "object", "minProperties": 2}, ["# minProperties"]),
        ({"if": {"items": {"type": "null"}}, "then": False}, ["# if", "# then", "#/if items", "#/if/items type"]),
    ],
)
def test_what_the_mask_cannot_hold_is_left_to_the_validator_and_named(schema: Any, entries: list[str]) -> None:
    assert left(schema) == entries
    compiled_text("start: %json " + json.dumps(lowered(schema).schema, ensure_ascii=False))


@pytest.mark.parametrize(
    ("schema", "where", "said"),
    [
        ({"type": "integer", "minimum": 5, "maximum": 3}, "#", "no value fits it"),
        ({"properties": {"a": {"enum": []}}, "required": ["a"], "type": "object"}, "#/properties/a",
         "no value fits it"),
        ({"$ref": "#/$defs/n", "$defs": {"n": {"type": "object", "properties": {"c": {"$ref": "#/$defs/n"}},
                                               "required": ["c"]}}}, "#/$defs/n", "no value fits it"),
        ({"properties": {"a": {"$ref": "https://e.org/x"}}}, "#/properties/a", "put what it names into `$defs`"),
        ({"$ref": "#/nowhere"}, "#", "leads nowhere"),
        ({"properties": {"a": {"type": "float"}}}, "#/properties/a", 'write "number"'),
        ({"properties": {"a": {"type": "strin"}}}, "#/properties/a", 'was "string" meant?'),
        ({"properties": {"a": {"type": "any"}}}, "#/properties/a", "write no type"),
        ({"minLength": -1}, "#", "a whole number from 0 on"),
        ({"allOf": []}, "#", "at least one"),
        ({"$ref": "#"}, "#", "leads back to itself"),
        ({"anyOf": [{"$ref": "#"}, {"type": "null"}]}, "#", "leads back to itself"),
        ({"const": "\ud800"}, "#", "no value fits it"),
        ({"type": "object", "properties": {"\ud800": {}}}, "#", "surrogate"),
    ],
)  # fmt: skip
def test_what_can_be_no_constraint_is_refused_with_what_to_do(schema: Any, where: str, said: str) -> None:
    report = lowered(schema)
    assert report.schema == {}
    (entry,) = report.refused
    assert entry.pointer == where
    assert said in entry.reason


def test_a_schema_that_is_nested_too_deeply_is_refused() -> None:
    schema: dict[str, Any] = {"type": "object"}
    for _ in range(300):
        schema = {"properties": {"a": schema}, "required": ["a"]}
    assert "nested" in lowered(schema).refused[0].reason or not lowered(schema).refused


@pytest.mark.parametrize(
    ("schema", "keyword", "said"),
    [
        ({"type": "integer"}, "type", "1, not 1.0"),
        ({"properties": {"a": {}, "b": {}}}, "properties", "in the order of the schema"),
        ({"type": "string", "format": "date-time"}, "format", "capital T and Z"),
        ({"nullable": True, "type": "string"}, "nullable", "null is not allowed"),
        ({"then": {"type": "null"}}, "then", "says nothing without `if`"),
        ({"const": {"a": 1, "b": 2}}, "const", "members in the order given"),
    ],
)
def test_what_the_mask_refuses_although_the_schema_allows_it_is_said(schema: Any, keyword: str, said: str) -> None:
    (entry,) = [entry for entry in lowered(schema).enforcement if entry.keyword == keyword]
    assert entry.by == "mask"
    assert said in entry.reason


def test_no_escape_spells_a_name_that_is_taken() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}}
    found = lowered(schema).schema
    assert accepts(found, '{"a":1,"b":"x"}')
    assert not accepts(found, '{"a":1,"\\u0061":"x"}')


@pytest.mark.parametrize(
    ("schema", "keyword"),
    [
        (
            {
                "type": "object",
                "patternProperties": {"^a": {"type": "null"}},
                "additionalProperties": {"type": "integer"},
            },
            "patternProperties",
        ),
        (
            {"type": "object", "anyOf": [{"properties": {"a": {"type": "null"}}}], "unevaluatedProperties": False},
            "anyOf",
        ),
    ],
)
def test_what_is_left_out_for_an_engine_makes_no_other_keyword_stricter(schema: dict[str, Any], keyword: str) -> None:
    report = lowered(schema, without=[((), keyword)])
    value = {"a": None}
    assert fits(schema, value)
    assert fits(report.schema, value)
    assert fits(masked_part(schema, report.enforcement), value)


@settings(max_examples=80, deadline=None)
@given(schemas(), values, st.data())
def test_whatever_is_left_out_what_fits_is_allowed(schema: dict[str, Any], value: Any, data: st.DataObject) -> None:
    keywords = [keyword for keyword in schema if keyword in OMITTED]
    chosen = data.draw(st.lists(st.sampled_from(keywords), unique=True)) if keywords else []
    report = lowered(schema, without=[((), keyword) for keyword in chosen])
    if not report.refused and fits(schema, value):
        assert fits(report.schema, value) or _is_limited(schema, value), report


def test_names_that_no_small_expression_tells_from_others_are_left_and_not_worked_out_for_ever() -> None:
    verbs = "(GET|HEAD|POST|PUT|DELETE|CONNECT|OPTIONS|TRACE|PATCH)\\s.*"
    schema = {
        "type": "object",
        "properties": {"host": {"type": "string"}},
        "patternProperties": {verbs: {"minimum": 1}},
    }
    assert "# patternProperties" in left(schema)
    assert accepts(lowered(schema).schema, '{"host":"x","GET a":0}')


def test_alternatives_that_multiply_are_left_and_not_worked_out_for_ever() -> None:
    conditions = [
        {
            "if": {"properties": {f"k{number}": {"const": "x"}}, "required": [f"k{number}"]},
            "then": {"required": [f"a{number}"]},
            "else": {"properties": {f"b{number}": {"maximum": 1}}},
        }
        for number in range(12)
    ]
    parts = [{"properties": {f"c{number}": {"not": {"required": [f"d{number}"]}}}} for number in range(12)]
    schema = {"type": "object", "allOf": [*conditions, *parts]}
    found = lowered(schema)
    assert not found.refused
    assert any(entry.by == "validator" for entry in found.enforcement)
    assert accepts(found.schema, '{"b1":0}')


def test_a_keyword_that_an_engine_does_not_take_is_left_out_alone() -> None:
    from wieldy.grammar.lowering import taken_by

    schema = {
        "type": "object",
        "properties": {name: {"type": "string", "pattern": f"^{name}$", "maxLength": 9} for name in "abcde"},
    }

    def is_taken(part: dict[str, Any]) -> bool:
        return "(?:b)" not in json.dumps(part) and "(?:d)" not in json.dumps(part)

    report = taken_by(is_taken, schema)
    assert is_taken(report.schema)
    assert [entry.pointer for entry in report.enforcement if entry.by == "validator"] == [
        "#/properties/b",
        "#/properties/d",
    ]
    with pytest.raises(GrammarError):
        compiled_text("start: nothing")
