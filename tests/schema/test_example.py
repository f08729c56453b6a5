"""An example is small, plain and fits."""

from typing import Any

import pytest

from wieldy.schema import CompiledSchema, example
from wieldy.schema.describe import FORMATS


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        ({"const": 3}, 3),
        ({"enum": ["b", "a"]}, "b"),
        ({"type": "string", "examples": ["Rome"]}, "Rome"),
        ({"type": "integer", "default": 7}, 7),
        ({"type": "integer", "examples": ["wrong"], "default": "wrong"}, 1),
        ({"type": "integer", "minimum": 15}, 15),
        ({"type": "integer", "exclusiveMinimum": 5, "multipleOf": 4}, 8),
        ({"type": "integer", "maximum": -3}, -3),
        ({"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 0.5}, 0.25),
        ({"type": "string", "maxLength": 2}, "te"),
        ({"type": "string", "minLength": 6}, "textxx"),
        ({"type": "string", "maxLength": 0}, ""),
        ({"type": "boolean"}, True),
        ({"type": "null"}, None),
        ({"anyOf": [{"type": "null"}, {"type": "integer"}]}, 1),
        ({"type": "array", "items": {"type": "boolean"}}, [True]),
        ({"type": "array", "items": {"type": "integer"}, "minItems": 3, "uniqueItems": True}, [1, 10, 0]),
        (
            {"type": "array", "prefixItems": [{"type": "integer"}, {"type": "null"}], "minItems": 2, "items": False},
            [1, None],
        ),
        ({"type": "array", "maxItems": 0}, []),
        ({"type": "object", "additionalProperties": {"type": "integer"}}, {"key": 1}),
        ({"type": "object", "required": ["z"]}, {"z": "text"}),
        (
            {
                "allOf": [
                    {"required": ["a"], "properties": {"a": {"type": "integer"}}},
                    {"properties": {"a": {"minimum": 4}}},
                ]
            },
            {"a": 10},
        ),
    ],
)
def test_examples_follow_what_the_schema_says(document: dict[str, Any], expected: Any) -> None:
    shown = example(CompiledSchema(document))
    assert shown == expected
    assert type(shown) is type(expected)


@pytest.mark.parametrize("name", FORMATS)
def test_the_example_of_every_format_is_one(name: str) -> None:
    shown = example(CompiledSchema({"type": "string", "format": name}))
    assert shown == FORMATS[name][1]


@pytest.mark.parametrize(
    "pattern",
    [
        "^ORD-[0-9]{4}$",
        "^[A-Z]{2,3}$",
        "^(red|green)-\\d+$",
        "^\\w+@\\w+\\.com$",
        "^[^a]b?c*$",
        "^(a)\\1$",
        "^(?:x|y){3}\\s\\S$",
        "^#(?:[0-9a-f]{3}){1,2}$",
        "^é+$",
        "colou?r",
        "^\\D\\W$",
    ],
)
def test_patterns_are_matched(pattern: str) -> None:
    schema = CompiledSchema({"type": "string", "pattern": pattern})
    assert schema.accepts(example(schema))


@pytest.mark.parametrize(
    "document",
    [
        {"not": {}},
        {"type": "string", "minLength": 1_000_000},
        {"type": "string", "pattern": "^(?=b)a$"},
        {"type": "string", "pattern": "^a{100000}$"},
        {"type": "integer", "minimum": 3, "maximum": 2},
        {"type": "array", "minItems": 1_000_000},
        {
            "$defs": {"T": {"type": "object", "required": ["t"], "properties": {"t": {"$ref": "#/$defs/T"}}}},
            "$ref": "#/$defs/T",
        },
    ],
)
def test_where_nothing_fits_or_only_monsters_there_is_no_example(document: dict[str, Any]) -> None:
    assert example(CompiledSchema(document)) is None


def test_optional_properties_are_shown_only_when_asked_for() -> None:
    document = {
        "type": "object",
        "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}, "c": {"type": "integer"}},
        "required": ["a"],
    }
    assert example(CompiledSchema(document)) == {"a": 1}
    assert example(CompiledSchema(document), include=["c"]) == {"a": 1, "c": 1}


def test_an_example_of_optional_properties_alone_shows_one() -> None:
    assert example(CompiledSchema({"type": "object", "properties": {"a": {"type": "integer"}}})) == {"a": 1}


def test_recursive_schemas_have_a_short_example() -> None:
    tree = {
        "type": "object",
        "properties": {"value": {"type": "integer"}, "children": {"type": "array", "items": {"$ref": "#/$defs/Tree"}}},
        "required": ["value", "children"],
    }
    shown = example(CompiledSchema({"$defs": {"Tree": tree}, "$ref": "#/$defs/Tree"}))
    assert len(str(shown)) < 150


@pytest.mark.parametrize("pattern", ["\\p{L}+", "(?<name>a)", "[\\p{N}]"])
def test_an_expression_that_python_cannot_read_is_no_error(pattern: str) -> None:
    schema = CompiledSchema({"type": "string", "pattern": pattern})
    found = example(schema)
    assert found is None or schema.accepts(found)
