"""Schemas in the strict dialects of providers: what they mean there, and the way back."""

from __future__ import annotations

import sys
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from anthropic import transform_schema
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from wieldy import ToolDefinition
from wieldy.connect.models.backends.dialects import ANTHROPIC, AZURE, GEMINI, GEMINI_OPENAPI, OPENAI, SchemaDialect
from wieldy.connect.models.backends.strict import Strict, strict_schema
from wieldy.connect.models.dialects import report
from wieldy.grammar.enforcement import Enforcement
from wieldy.schema import CompiledSchema
from wieldy.schema.resolve import at, target
from wieldy.schema.rewrite import subschemas

sys.path.insert(0, str(Path(__file__).parent))  # the tests have no packages
from provider_rules import RULES, as_json_schema, broken

CLOSING = [OPENAI, AZURE, ANTHROPIC, GEMINI]
DIALECTS = [*CLOSING, GEMINI_OPENAPI]


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
    st.just({"type": "string", "format": "date", "maxLength": 10}),
    st.lists(st.sampled_from(["a", 1, 1.5, None, True, False]), min_size=1, max_size=4, unique_by=repr).map(
        lambda values: {"enum": values}
    ),
    st.just({"enum": [1, 5], "maximum": 3}),
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
        st.one_of(
            st.sampled_from(
                [{}, {"additionalProperties": False}, {"additionalProperties": True}, {"minProperties": 1}]
            ),
            st.builds(lambda kind: {"additionalProperties": {"type": kind}}, st.sampled_from(["string", "integer"])),
        ),
    )


def larger(inner: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[dict[str, Any]]:
    bounds = st.sampled_from([{}, {"minItems": 1}, {"minItems": 2, "maxItems": 3}, {"uniqueItems": True}])
    return st.one_of(
        objects(inner),
        st.builds(lambda items, more: {"type": "array", "items": items, **more}, inner, bounds),
        st.builds(
            lambda first, more: {"type": "array", "prefixItems": first, **more},
            st.lists(inner, min_size=1, max_size=2),
            st.one_of(bounds, st.just({"items": False}), inner.map(lambda items: {"items": items})),
        ),
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


def values_of(schema: dict[str, Any], document: dict[str, Any], levels: int = 12) -> st.SearchStrategy[Any]:
    """Values of a schema as strict dialects have them: few keywords; what is in too many others is left out."""
    if "$ref" in schema:
        return values_of(document["$defs"][schema["$ref"].rpartition("/")[2]], document, levels)
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    if "anyOf" in schema:
        return st.one_of([values_of(option, document, levels) for option in schema["anyOf"]])
    match schema["type"]:
        case "object":
            return objects_of(schema, document, levels)
        case "array":
            first = [values_of(part, document, levels - 1) for part in schema.get("prefixItems", [])]
            items = values_of(schema["items"], document, levels - 1) if "items" in schema else st.nothing()
            few = schema.get("minItems", 0), schema.get("maxItems", 3)
            rest = st.lists(items, min_size=max(few[0] - len(first), 0), max_size=max(few[1] - len(first), 0))
            return rest if not first else st.tuples(st.tuples(*first), rest).map(lambda both: [*both[0], *both[1]])
        case "string":
            return st.sampled_from(["", "x", "xy", "2020-02-30"])
        case "boolean":
            return st.booleans()
        case "null":
            return st.none()
        case "integer":
            return st.integers(schema.get("minimum", -5), schema.get("maximum", 5))
        case _:
            return st.sampled_from([0, 1, 1.5, -2])


def objects_of(schema: dict[str, Any], document: dict[str, Any], levels: int) -> st.SearchStrategy[dict[str, Any]]:
    """Objects of the schema, with further properties where it does not forbid them."""
    names = schema["required"] if levels <= 0 and "required" in schema else schema.get("properties", {})
    members = {name: values_of(schema["properties"][name], document, levels - 1) for name in names}
    needed = {name: part for name, part in members.items() if name in schema.get("required", [])}
    free = {name: part for name, part in members.items() if name not in schema.get("required", [])}
    described = st.fixed_dictionaries(needed, optional=free)
    others = schema.get("additionalProperties", True)
    if others is False or levels <= 0:
        return described
    further = st.integers() if others is True else values_of(others, document, levels - 1)
    return st.builds(lambda more, own: {**more, **own}, st.dictionaries(st.just("z"), further), described)


def without(schema: dict[str, Any], left: tuple[Enforcement, ...]) -> dict[str, Any]:
    """The schema without what is said to be left to the validator."""
    less = deepcopy(schema)
    for entry in sorted(left, key=lambda entry: -len(entry.pointer)):  # what lies within is found before it is moved
        place = target(entry.pointer, less)
        part: Any = None if place is None else at(less, place)
        removed = part.pop(entry.keyword, None) if isinstance(part, dict) else None
        if entry.keyword == "oneOf" and removed is not None and "no second one" in entry.reason:
            part["anyOf"] = removed
    return less


def meant(schema: dict[str, Any], dialect: SchemaDialect) -> dict[str, Any]:
    """A schema that was written in the dialect, as JSON Schema."""
    return as_json_schema(schema) if dialect.is_openapi else schema


@settings(max_examples=150, deadline=None)
@given(schema=SCHEMAS, dialect=st.sampled_from(DIALECTS), data=st.data())
def test_what_is_written_under_the_translation_fits_the_schema_once_it_is_brought_back(
    schema: dict[str, Any], dialect: SchemaDialect, data: st.DataObject
) -> None:
    strict = strict_schema(schema, dialect)
    if strict.refused:
        assert strict.schema == {}
        return
    written = meant(strict.schema, dialect)
    value = data.draw(values_of(written, written))
    if not CompiledSchema(written).accepts(value):
        return  # a string that the pattern refuses
    assert CompiledSchema(without(schema, strict.unenforced)).accepts(strict.back(value))


@settings(max_examples=150, deadline=None)
@given(schema=SCHEMAS, name=st.sampled_from([*RULES]))
def test_no_provider_refuses_what_is_written_for_it(schema: dict[str, Any], name: str) -> None:
    (found,) = report([ToolDefinition(name="t", description="", input_schema=schema)], name).tools
    assert (found.schema is None) == bool(found.refused)
    if found.schema is not None:
        assert broken(found.schema, name) == []


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


@pytest.mark.parametrize("dialect", CLOSING, ids=lambda dialect: dialect.name)
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


def many_values(length: int) -> dict[str, Any]:
    return {"enum": [f"{number:0{length}}" for number in range(251)]}


@pytest.mark.parametrize(
    ("fits", "exceeds", "what"),
    [
        (wide(100), wide(101), "properties"),
        (deep(5), deep(6), "levels"),
        ({"enum": [*range(500)]}, {"enum": [*range(501)]}, "values of enums"),
        ({"enum": ["x" * 14_994]}, {"enum": ["x" * 14_995]}, "characters"),
        (many_values(29), many_values(31), "an enum of more than 250 values"),
    ],
)
def test_the_limits_of_a_dialect_are_kept(fits: dict[str, Any], exceeds: dict[str, Any], what: str) -> None:
    assert not strict_schema(fits, AZURE).refused
    assert what in strict_schema(exceeds, AZURE).refused[0].reason


def test_a_translation_is_made_once() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string"}}}
    first: Strict = strict_schema(schema, OPENAI)
    assert strict_schema(dict(schema), OPENAI) is first
