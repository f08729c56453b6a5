"""Shapes of values that schemas describe, in a notation made up for this test."""

from typing import Any

import pytest

from wieldy.formats.nodes.value_shapes import ValueNotation, ValueShapes
from wieldy.grammar import Matcher, Tokenizer
from wieldy.grammar.compiled import compiled
from wieldy.grammar.shape import Characters, Exact, InOrder, Rules, Shape

BYTES = Tokenizer.of_bytes()


def string(least: int, most: int | None) -> Shape:
    return InOrder((Exact("`"), Characters("a-z", at_least=least, at_most=most), Exact("`")))


def constant(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ",".join(f"{name}>{constant(item)}" for name, item in value.items()) + "}"
    return f"`{value}`" if isinstance(value, str) else str(value).lower()


NOTATION = ValueNotation(
    name="test",
    constant=constant,
    string=string,
    key=lambda name: f"{name}>",
    any_key=InOrder((Characters("a-z"), Exact(">"))),
    comma=",",
    order=sorted,
)


def accepts(schema: dict[str, Any], text: str) -> bool:
    named: dict[str, Shape] = {}
    start = ValueShapes(NOTATION, schema, named).at(())
    matcher = Matcher(compiled(Rules(start=start, named=named)), BYTES)
    return all(matcher.accept_token(byte) for byte in text.encode()) and matcher.is_accepting


TREE = {"type": "object", "properties": {"v": {"type": "integer"}, "next": {"$ref": "#"}}, "required": ["v"]}
PARTS = {"allOf": [{"properties": {"a": {"type": "integer"}}}, {"properties": {"b": {"$ref": "#/$defs/B"}}}]}


@pytest.mark.parametrize(
    ("schema", "allowed", "refused"),
    [
        ({}, ["1", "`a`", "none", "[1,[`a`]]", "{a>{b>1.5}}", "[]", "{}"], ["a", "{1}", "[,]"]),
        ({"type": "string", "minLength": 2}, ["`ab`"], ["`a`", "ab"]),
        ({"type": ["integer", "null"]}, ["7", "none"], ["1.5", "true"]),
        ({"type": "number", "minimum": 0, "maximum": 1}, ["0.5", "1"], ["-1", "2"]),
        ({"const": {"a": "b"}}, ["{a>`b`}"], ["{}"]),
        ({"enum": ["a", 1, True]}, ["`a`", "1", "true"], ["`b`", "false"]),
        ({"type": "boolean"}, ["true", "false"], ["none"]),
        ({"anyOf": [{"type": "integer"}, {"const": "x"}]}, ["3", "`x`"], ["`y`"]),
        (
            {"type": "array", "items": {"type": "integer"}, "minItems": 1, "maxItems": 2},
            ["[1]", "[1,2]"],
            ["[]", "[1,2,3]"],
        ),
        ({"type": "array", "maxItems": 0}, ["[]"], ["[1]"]),
        ({"type": "array", "prefixItems": [{"type": "integer"}]}, ["[1,`a`]"], ["1"]),
        ({"type": "object", "additionalProperties": False}, ["{}"], ["{a>1}"]),
        ({"type": "object", "additionalProperties": {"type": "integer"}}, ["{}", "{x>1,y>2}"], ["{x>`a`}"]),
        (
            {"type": "object", "properties": {"b": {"type": "integer"}, "a": {"type": "null"}}, "required": ["b"]},
            ["{a>none,b>1}", "{b>1}"],
            ["{b>1,a>none}", "{a>none}", "{}", "{b>1,c>1}"],
        ),
        (TREE, ["{v>1}", "{next>{next>{v>3},v>2},v>1}"], ["{next>{},v>1}"]),
        ({"type": "object", **PARTS, "$defs": {"B": {"type": "string"}}}, ["{a>1,b>`x`}", "{b>`x`}"], ["{b>1}"]),
        ({"$ref": "#/$defs/missing"}, ["1", "`a`"], ["a"]),
    ],
)
def test_a_shape_allows_what_the_schema_accepts(schema: dict[str, Any], allowed: list[str], refused: list[str]) -> None:
    assert [text for text in allowed if not accepts(schema, text)] == []
    assert [text for text in refused if accepts(schema, text)] == []
