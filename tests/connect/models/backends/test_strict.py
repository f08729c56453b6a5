"""Schemas in the strict dialects of providers: what they mean there, and the way back."""

from __future__ import annotations

from typing import Any

import pytest
from anthropic import transform_schema
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from wieldy.connect.models.backends.dialects import ANTHROPIC, AZURE, OPENAI, SchemaDialect
from wieldy.connect.models.backends.strict import Strict, strict_schema
from wieldy.schema import CompiledSchema
from wieldy.schema.rewrite import subschemas

DIALECTS = [OPENAI, AZURE, ANTHROPIC]


class Line(BaseModel):
    name: str = Field(min_length=1, description="What it is.")
    count: int = Field(1, ge=1)


class Invoice(BaseModel):
    number: str
    lines: list[Line]
    note: str | None = None


# Schemas and values at random

NAMES = st.sampled_from(["a", "b", "c"])
PLAIN_LEAVES: st.SearchStrategy[dict[str, Any]] = st.one_of(
    st.sampled_from(["string", "integer", "number", "boolean", "null"]).map(lambda name: {"type": name}),
    st.just({"type": ["string", "null"]}),
    st.just({"type": "integer", "minimum": 0, "maximum": 3}),
    st.just({"type": "string", "minLength": 1, "pattern": "^x"}),
    st.lists(st.sampled_from(["a", 1, None, True]), min_size=1, max_size=3, unique_by=repr).map(
        lambda values: {"enum": values}
    ),
    st.just({"const": "k"}),
)
LEAVES = st.one_of(PLAIN_LEAVES, st.just({"$ref": "#/$defs/D"}))


def objects(values: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[dict[str, Any]]:
    def build(properties: dict[str, Any], required: set[str], closing: dict[str, Any]) -> dict[str, Any]:
        names = [name for name in properties if name in required]
        return {"type": "object", "properties": properties, "required": names, **closing}

    return st.builds(
        build,
        st.dictionaries(NAMES, values, max_size=3),
        st.sets(NAMES),
        st.sampled_from([{}, {"additionalProperties": False}, {"additionalProperties": True}, {"minProperties": 1}]),
    )


def larger(inner: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[dict[str, Any]]:
    bounds = st.sampled_from([{}, {"minItems": 1}, {"minItems": 2, "maxItems": 3}, {"uniqueItems": True}])
    return st.one_of(
        objects(inner),
        st.builds(lambda items, more: {"type": "array", "items": items, **more}, inner, bounds),
        st.lists(inner, min_size=1, max_size=3).map(lambda options: {"anyOf": options}),
        st.lists(inner, min_size=1, max_size=2).map(lambda options: {"oneOf": options}),
        st.lists(objects(LEAVES), min_size=1, max_size=2).map(lambda parts: {"allOf": parts}),
        st.builds(lambda part, other: {**part, "not": other}, inner, inner),
    )


SCHEMAS = st.builds(
    lambda root, definition: {**root, "$defs": {"D": definition}},
    st.recursive(LEAVES, larger, max_leaves=8),
    st.one_of(st.just({"type": "boolean"}), objects(PLAIN_LEAVES)),
)


def values_of(schema: dict[str, Any], document: dict[str, Any]) -> st.SearchStrategy[Any]:
    """Values of a schema as strict dialects have them: few keywords, every object closed."""
    if "$ref" in schema:
        return values_of(document["$defs"][schema["$ref"].rpartition("/")[2]], document)
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    if "anyOf" in schema:
        return st.one_of([values_of(option, document) for option in schema["anyOf"]])
    match schema["type"]:
        case "object":
            members = {name: values_of(part, document) for name, part in schema["properties"].items()}
            needed = {name: part for name, part in members.items() if name in schema["required"]}
            free = {name: part for name, part in members.items() if name not in schema["required"]}
            return st.fixed_dictionaries(needed, optional=free)
        case "array":
            items = values_of(schema["items"], document)
            return st.lists(items, min_size=schema.get("minItems", 0), max_size=schema.get("maxItems", 3))
        case "string":
            return st.sampled_from(["", "x", "xy"])
        case "boolean":
            return st.booleans()
        case "null":
            return st.none()
        case "integer":
            return st.integers(schema.get("minimum", -5), schema.get("maximum", 5))
        case _:
            return st.sampled_from([0, 1, 1.5, -2])


@settings(max_examples=150, deadline=None)
@given(schema=SCHEMAS, dialect=st.sampled_from(DIALECTS), data=st.data())
def test_what_is_written_under_the_translation_fits_the_schema_once_it_is_brought_back(
    schema: dict[str, Any], dialect: SchemaDialect, data: st.DataObject
) -> None:
    strict = strict_schema(schema, dialect)
    if strict.refused:
        assert strict.schema == {}
        return
    value = data.draw(values_of(strict.schema, strict.schema))
    if not CompiledSchema(strict.schema).accepts(value):
        return  # a string that the pattern refuses
    left = {entry.keyword for entry in strict.unenforced}
    found = {violation.keyword for violation in CompiledSchema(schema).violations(strict.back(value))}
    assert found <= left | ({"anyOf", "oneOf"} if left else set())


def with_nulls(value: Any, strict: dict[str, Any], document: dict[str, Any]) -> Any:
    """A value as a model would write it that has to write every property."""
    if "$ref" in strict:
        return with_nulls(value, document["$defs"][strict["$ref"].rpartition("/")[2]], document)
    if "anyOf" in strict:
        for option in strict["anyOf"]:
            candidate = with_nulls(value, option, document)
            if CompiledSchema({**option, "$defs": document.get("$defs", {})}).accepts(candidate):
                return candidate
        return value
    if isinstance(value, dict) and "properties" in strict:
        written = {
            name: with_nulls(value[name], part, document) if name in value else None
            for name, part in strict["properties"].items()
            if name in value or name in strict["required"]
        }
        return value | written
    if isinstance(value, list) and "items" in strict:
        return [with_nulls(item, strict["items"], document) for item in value]
    return value


PLAIN = st.recursive(
    st.sampled_from([{"type": "string"}, {"type": "integer"}, {"type": ["string", "null"]}, {"enum": ["a", 1]}]),
    lambda inner: st.one_of(
        objects(inner),
        inner.map(lambda items: {"type": "array", "items": items}),
        st.lists(inner, min_size=1, max_size=2).map(lambda options: {"anyOf": options}),
    ),
    max_leaves=6,
)


@settings(max_examples=100, deadline=None)
@given(schema=PLAIN, data=st.data())
def test_what_was_left_out_comes_back_left_out(schema: dict[str, Any], data: st.DataObject) -> None:
    strict = strict_schema(schema, OPENAI)
    if strict.refused or strict.unenforced:
        return
    loose = strict_schema(schema, ANTHROPIC)  # the same, with properties that may be left out
    value = loose.back(data.draw(values_of(loose.schema, loose.schema)))
    inner = strict.schema["properties"]["answer"] if strict.is_wrapped else strict.schema
    written = with_nulls(value, inner, strict.schema)
    written = {"answer": written} if strict.is_wrapped else written
    assert CompiledSchema(strict.schema).accepts(written)
    back = strict.back(written)
    assert CompiledSchema(schema).accepts(back)
    assert without_nulls(back) == without_nulls(value)


def without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: without_nulls(member) for name, member in value.items() if member is not None}
    return [without_nulls(item) for item in value] if isinstance(value, list) else value


# What is written


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.name)
def test_every_object_is_closed_and_only_keywords_of_the_dialect_are_used(dialect: SchemaDialect) -> None:
    strict = strict_schema(Invoice.model_json_schema(), dialect)
    known = {"type", "properties", "required", "additionalProperties", "items", "enum", "anyOf", "$ref", "$defs"}
    for _, part in subschemas(strict.schema):
        assert part.keys() <= known | dialect.keywords | {"title", "description"}
        if part.get("type") == "object":
            assert part["additionalProperties"] is False
            if dialect.is_all_required:
                assert part["required"] == list(part["properties"])


def test_a_pydantic_model_is_translated_with_its_words_and_what_is_left_to_the_validator_stands_in_them() -> None:
    strict = strict_schema(Invoice.model_json_schema(), AZURE)
    line = strict.schema["$defs"]["Line"]["properties"]
    assert line["name"] == {"type": "string", "title": "Name", "description": "What it is. (minLength: 1)"}
    assert line["count"]["anyOf"][1] == {"type": "null"}
    assert [(entry.pointer, entry.keyword) for entry in strict.unenforced] == [
        ("#/%24defs/Line/properties/name", "minLength"),
        ("#/%24defs/Line/properties/count", "minimum"),
    ]
    written = {"number": "7", "lines": [{"name": "x", "count": None}], "note": None}
    assert strict.back(written) == {"number": "7", "lines": [{"name": "x"}], "note": None}


def test_our_schemas_for_anthropic_pass_its_own_transformation_unchanged_but_for_words() -> None:
    schema = strict_schema(Invoice.model_json_schema(), ANTHROPIC).schema
    assert transform_schema(schema) == schema


def test_a_root_that_is_no_object_lies_in_one_and_is_taken_out_again() -> None:
    strict = strict_schema({"type": "array", "items": {"type": "integer"}}, OPENAI)
    assert strict.schema["properties"] == {"answer": {"type": "array", "items": {"type": "integer"}}}
    assert strict.is_wrapped
    assert strict.back({"answer": [1, 2]}) == [1, 2]


def test_a_schema_that_contains_itself_keeps_doing_so_where_that_is_taken() -> None:
    tree = {"type": "object", "properties": {"next": {"$ref": "#"}}, "additionalProperties": False}
    strict = strict_schema(tree, OPENAI)
    assert strict.schema["properties"]["next"] == {"anyOf": [{"$ref": "#/$defs/root"}, {"type": "null"}]}
    assert strict.back({"next": {"next": None}}) == {"next": {}}
    (refusal,) = strict_schema(tree, ANTHROPIC).refused
    assert "contains itself" in refusal.reason


NO_COUNTERPART: dict[str, tuple[dict[str, Any], str]] = {
    "a map": ({"type": "object", "additionalProperties": {"type": "integer"}}, "free keys"),
    "any object": ({"type": "object"}, "no property is named"),
    "anything": ({}, "names no type"),
    "an open list": ({"type": "array"}, "items are not described"),
    "a tuple": ({"type": "array", "prefixItems": [{"type": "integer"}]}, "by their places"),
    "nothing": ({"type": "object", "properties": {"a": False}}, "allows any value, or none"),
    "a constant object": ({"const": {"a": 1}}, "objects or arrays"),
    "constants that do not fit": ({"type": "string", "enum": [1]}, "no value fits"),
    "a property without a schema": ({"type": "object", "properties": {}, "required": ["a"]}, "nothing is said"),
    "two meanings": ({"allOf": [{"type": "string"}, {"type": "integer"}]}, "said twice"),
    "a foreign reference": ({"$ref": "#/$defs/none"}, ""),
    "no schema": ({"type": "text"}, "JSON Schema"),
}


@pytest.mark.parametrize(("schema", "reason"), NO_COUNTERPART.values(), ids=NO_COUNTERPART.keys())
def test_what_has_no_counterpart_is_refused_with_the_reason(schema: dict[str, Any], reason: str) -> None:
    strict = strict_schema(schema, OPENAI)
    assert strict.schema == {}
    assert reason in strict.refused[0].reason


def wide(count: int) -> dict[str, Any]:
    return {"type": "object", "properties": {f"p{number}": {"type": "null"} for number in range(count)}}


def deep(levels: int) -> dict[str, Any]:
    inner: dict[str, Any] = {"type": "null"}
    for _ in range(levels):
        inner = {"type": "object", "properties": {"a": inner}}
    return inner


@pytest.mark.parametrize(
    ("fits", "exceeds", "what"),
    [
        (wide(100), wide(101), "properties"),
        (deep(5), deep(6), "levels"),
        ({"enum": [*range(500)]}, {"enum": [*range(501)]}, "values of enums"),
        ({"enum": ["x" * 14_994]}, {"enum": ["x" * 14_995]}, "characters"),
    ],
)
def test_the_limits_of_a_dialect_are_kept(fits: dict[str, Any], exceeds: dict[str, Any], what: str) -> None:
    assert not strict_schema(fits, AZURE).refused
    assert what in strict_schema(exceeds, AZURE).refused[0].reason


def test_a_translation_is_made_once() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string"}}}
    first: Strict = strict_schema(schema, OPENAI)
    assert strict_schema(dict(schema), OPENAI) is first
