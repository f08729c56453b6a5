"""The self-test of a constraint: sound ones pass it, and one that says more than it does is found out."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from wieldy.core.calls import ToolDefinition
from wieldy.grammar import Enforcement, Tokenizer, check_constraint, enforcement_of
from wieldy.grammar.check import check as check_module
from wieldy.grammar.check.masked import masked_part
from wieldy.grammar.check.walks import Walker
from wieldy.grammar.compiled import compiled
from wieldy.grammar.lowering import lowered
from wieldy.grammar.shape import Json, Rules

BYTES = Tokenizer.of_bytes()


@pytest.mark.parametrize(
    "schema",
    [
        {},
        {"type": "number"},
        {"type": "object", "properties": {"a": {"type": "string", "format": "date-time"}}, "required": ["a"]},
        {"type": "array", "items": {"enum": ["a", "b"]}, "uniqueItems": True},
        {"oneOf": [{"required": ["a"]}, {"required": ["b"]}], "type": "object"},
        {"type": "array", "contains": {"const": 3}, "default": [3]},
        {"$ref": "#/$defs/n", "$defs": {"n": {"type": "object", "properties": {"left": {"$ref": "#/$defs/n"}}}}},
    ],
)
def test_a_constraint_that_does_what_it_says_is_sound(schema: dict[str, Any]) -> None:
    report = check_constraint(schema, BYTES, walks=60)
    assert report.is_sound, str(report)
    assert report.walks == 60
    assert report.examples
    assert not report.refused
    assert str(report).startswith("sound: 60 walks")


def test_what_is_left_to_the_validator_is_counted_and_makes_nothing_unsound() -> None:
    report = check_constraint({"type": "array", "contains": {"const": "x"}}, BYTES)
    assert report.left["contains"] > 10
    assert report.is_sound
    assert "left to the validator by `contains`" in str(report)


def test_texts_that_are_nested_deeper_than_is_read_are_counted() -> None:
    value: Any = 7
    for _ in range(64):
        value = [value]
    assert not check_constraint({"const": value}, BYTES, walks=3).deep
    report = check_constraint({"const": [value]}, BYTES, walks=3)
    assert report.is_sound
    assert ["".join(text.split()) for text in report.deep] == ["[" * 65 + "7" + "]" * 65] * 3
    assert "nested deeper than is read: 3" in str(report)


def test_a_report_that_claims_too_much_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    schema = {"type": "array", "contains": {"const": "x"}}

    def boasting(rules: Rules) -> Any:
        grammar = compiled(rules)
        return replace(grammar, enforcement=tuple(replace(entry, by="mask") for entry in grammar.enforcement))

    monkeypatch.setattr(check_module, "compiled", boasting)
    report = check_constraint(schema, BYTES)
    assert not report.is_sound
    assert report.silent
    assert "do not fit, unsaid" in str(report)


@pytest.mark.parametrize(
    ("schema", "said"),
    [({"type": "float"}, 'write "number"'), ({"items": [{}], "type": "array"}, "The validator refuses the schema")],
)
def test_a_schema_that_cannot_be_tested_says_why(schema: dict[str, Any], said: str) -> None:
    report = check_constraint(schema, BYTES)
    assert said in report.problem
    assert not report.is_sound
    assert said in str(report)


def test_examples_that_fit_are_tried_as_they_are_and_in_the_order_of_the_schema() -> None:
    schema = {
        "type": "object",
        "properties": {"b": {"type": "integer"}, "a": {"type": "string", "format": "email"}},
        "additionalProperties": False,
        "examples": [{"a": "x@y.z", "b": 1}, {"a": '"q"@y.z'}, {"b": "no example"}],
    }
    report = check_constraint(schema, BYTES, walks=5)
    assert report.refused == ({"a": '"q"@y.z'},)
    assert report.reordered == 1
    assert report.examples == 2  # the third does not fit
    assert "refused: 1" in str(report)


def test_the_same_seed_gives_the_same_walks_and_another_one_others() -> None:
    grammar = compiled(Rules(start=Json({"type": "array", "items": {"type": "string"}})))
    first = [Walker(BYTES, seed=7).walk(grammar) for _ in range(3)]
    walker = Walker(BYTES, seed=7)
    assert walker.walk(grammar) == first[0]
    assert len({Walker(BYTES, seed=seed).walk(grammar) for seed in range(20)}) > 5


def test_a_walk_that_cannot_end_is_given_up() -> None:
    no_end = Tokenizer([*(bytes([value]) for value in range(256) if value not in b'"'), b"<end>"], end_token=255)
    grammar = compiled(Rules(start=Json({"type": "object", "properties": {"a": {}}, "required": ["a"]})))
    assert Walker(no_end, seed=0).walk(grammar) is None


def test_the_masked_part_is_the_schema_without_what_is_left() -> None:
    schema = {
        "type": "array",
        "items": {"oneOf": [{"multipleOf": 2}, {"multipleOf": 3}]},
        "uniqueItems": True,
        "not": {"contains": {"minimum": 3}, "minItems": 2, "uniqueItems": True},
    }
    assert masked_part(schema, lowered(schema).enforcement) == {
        "type": "array",
        "items": {"allOf": [{"anyOf": [{"multipleOf": 2}, {"multipleOf": 3}]}]},
    }


def test_what_tools_ask_for_is_named_by_tool() -> None:
    schema = {"type": "object", "properties": {"tags": {"uniqueItems": True}}}
    tool = ToolDefinition(name="book", description="Books.", input_schema=schema)
    entry = next(entry for entry in enforcement_of([tool]) if entry.by == "validator")
    assert entry == Enforcement(
        pointer="#/properties/tags", keyword="uniqueItems", by="validator", reason=entry.reason, schema="book"
    )
    assert str(entry).startswith("book #/properties/tags `uniqueItems`: by the validator (")
