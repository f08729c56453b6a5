"""Written schemas are never stricter than the document's, however little they may say."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jsonschema
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from rest_documents import body, document, operation

from wieldy.connect import openapi
from wieldy.core.json import canonical_json

VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text("ab", max_size=3) | st.floats(-2, 2, width=16),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=8,
)
TYPES = {
    type(None): "null",
    bool: "boolean",
    int: "integer",
    float: "number",
    str: "string",
    list: "array",
    dict: "object",
}


@st.composite
def schemas_of(draw: st.DrawFn, value: Any, nesting: int = 0) -> Any:
    """A schema that the value most likely fits, with more in it than is needed."""
    own = TYPES[type(value)]
    plain: list[Any] = [{}, {"type": own}, {"type": [own, "null"]}, {"enum": [value, "other"]}, {"const": value}]
    if nesting > 3:
        return draw(st.sampled_from(plain))
    inner = schemas_of(value, nesting + 1)
    others = st.sampled_from(
        [{"type": "boolean"}, {"type": "string", "maxLength": 1}, {"enum": [7]}, {"type": "object"}]
    )
    structured: st.SearchStrategy[Any] = st.sampled_from(plain)
    if isinstance(value, dict):
        parts = st.fixed_dictionaries({key: schemas_of(part, nesting + 1) for key, part in value.items()})
        structured = st.builds(
            lambda properties, required, more: {
                "type": "object",
                "description": "An object that is described in many words.",
                "properties": {**properties, "z": {"type": "integer"}},
                "required": required,
                **more,
            },
            parts,
            st.lists(st.sampled_from([*value] or ["z"]), unique=True, max_size=len(value)),
            st.sampled_from([{}, {"additionalProperties": True}, {"maxProperties": 9}, {"not": {"required": ["y"]}}]),
        )
    elif isinstance(value, list):
        items = st.one_of(*(schemas_of(item, nesting + 1) for item in value)) if value else st.just({})
        structured = st.builds(
            lambda schemas: {"type": "array", "items": {"anyOf": schemas}}, st.lists(items, min_size=1)
        )
    elif isinstance(value, int | float) and not isinstance(value, bool):
        structured = st.sampled_from([{"type": "number", "minimum": -5, "exclusiveMaximum": 6}, {"multipleOf": 0.5}])
    return draw(
        structured
        | st.sampled_from(plain)
        | st.builds(lambda one, other: {"allOf": [one, other]}, inner, inner)
        | st.builds(lambda one: {"allOf": [{"allOf": [one, one]}, one]}, inner)
        | st.builds(lambda one, other: {"anyOf": [other, one]}, inner, others)
        | st.builds(lambda one, other: {"oneOf": [one, other]}, inner, others)
        | st.builds(lambda one: {"$ref": "#/components/schemas/Shared", "description": "shared", "x": one}, inner)
    )


@settings(max_examples=100)
@given(data=st.data(), value=VALUES, characters=st.sampled_from([0, 60, 200, 4000]))
def test_what_the_document_allows_the_written_schema_allows(data: st.DataObject, value: Any, characters: int) -> None:
    schema = data.draw(schemas_of(value))
    shared = data.draw(schemas_of(value, 3))
    assume(canonical_json(shared).find("$ref") < 0)
    components = {"schemas": {"Shared": shared}}
    assume(jsonschema.Draft202012Validator({**schema, "components": components}).is_valid(value))
    paths = operation("post", **body({"type": "object", "properties": {"value": schema}}))
    source = document("https://example.com", paths, version="3.1.0", components=components)
    (tool,) = openapi(source, schema_characters=characters).tools
    assert tool.schema.violations({"value": value}) == ()
    assert tool.validate({"value": value}).json == {"value": value}


@settings(max_examples=50)
@given(depth=st.integers(1, 6), width=st.integers(1, 12), characters=st.integers(0, 3000))
def test_a_written_schema_spends_about_what_it_may(depth: int, width: int, characters: int) -> None:
    schema: dict[str, Any] = {"type": "string", "description": "words " * 30}
    for _ in range(depth):
        schema = {"type": "object", "properties": {f"property_{index}": schema for index in range(width)}}
    (tool,) = openapi(
        document("https://example.com", operation("post", **body(schema))), schema_characters=characters
    ).tools
    names = sum(len(f'"property_{index}":{{"description":"","type":"object"}},') for index in range(width))
    assert len(canonical_json(tool.definition.input_schema)) <= characters + names * (width + 1) + 800


@pytest.mark.parametrize("levels", [30, 1000])
@pytest.mark.parametrize(
    "level",
    [
        lambda below: {"allOf": [below, below]},
        lambda below: {"anyOf": [below, below]},
        lambda below: {"oneOf": [{"allOf": [below, below]}]},
        lambda below: {"type": "array", "items": {"allOf": [below, below]}},
        lambda below: {"additionalProperties": {"anyOf": [below, below]}},
        lambda below: {"properties": {"a": below, "b": below}},
    ],
    ids=["allOf", "anyOf", "oneOf", "items", "additionalProperties", "properties"],
)
def test_parts_that_are_named_twice_on_each_level_are_read_once(
    level: Callable[[dict[str, Any]], dict[str, Any]], levels: int
) -> None:
    # Read each time they are named, they would be 2**30 parts, and the test would not end.
    schemas = {f"S{i}": level({"$ref": f"#/components/schemas/S{i + 1}"}) for i in range(levels)}
    schemas[f"S{levels}"] = {"type": "object", "properties": {"last": {"type": "string"}}}
    paths = operation("post", **body({"type": "object", "properties": {"value": {"$ref": "#/components/schemas/S0"}}}))
    (tool,) = openapi(document("https://example.com", paths, components={"schemas": schemas})).tools
    assert len(canonical_json(tool.definition.input_schema)) < 20_000


def test_what_branches_say_is_put_together_however_often_they_are_named() -> None:
    last = {"type": "object", "properties": {"last": {"type": "string"}}, "required": ["last"]}
    schemas = {f"S{i}": {"allOf": [{"$ref": f"#/components/schemas/S{i + 1}"}] * 2} for i in range(30)}
    paths = operation("post", **body({"$ref": "#/components/schemas/S0"}))
    source = document("https://example.com", paths, components={"schemas": {**schemas, "S30": last}})
    (tool,) = openapi(source).tools
    assert tool.definition.input_schema["properties"] == {"last": {"type": "string"}}
    assert tool.definition.input_schema["required"] == ["last"]


@pytest.mark.parametrize(
    ("shared", "value"),
    [
        ({"allOf": [{"properties": {f"q{i}": {"type": "string"}}} for i in range(1000)]}, {"q0": "a"}),
        ({"enum": [*range(1000)]}, 999),
        ({"default": {"a": ["text " * 20] * 1000}}, "something else"),
        ({"anyOf": [{"properties": {"x": {"const": i}}} for i in range(1000)]}, {"x": 999}),
    ],
    ids=["allOf", "enum", "default", "anyOf"],
)
def test_of_more_parts_than_are_read_for_one_tool_the_rest_stays_open(shared: dict[str, Any], value: Any) -> None:
    wide = {f"p{i}": {"$ref": "#/components/schemas/Shared"} for i in range(200)}
    paths = operation("post", **body({"allOf": [{"type": "object", "properties": wide}]}))
    (tool,) = openapi(document("https://example.com", paths, components={"schemas": {"Shared": shared}})).tools
    assert tool.validate({"p0": value, "p199": value}).json == {"p0": value, "p199": value}


def test_a_body_of_which_only_a_part_was_read_takes_properties_that_were_not_read() -> None:
    parts = [{"type": "object", "properties": {f"q{i}": {"enum": [*range(1000)]}}} for i in range(50)]
    many = {"allOf": [{"enum": [{"q0": i} for i in range(30_000)]}, {"default": [*range(30_000)]}, *parts]}
    paths = operation("post", **body({"allOf": [{"properties": {"a": {"type": "string"}}}, many, many]}))
    (tool,) = openapi(document("https://example.com", paths)).tools
    assert tool.validate({"a": "x", "q49": 5}).json == {"a": "x", "q49": 5}
