"""Schemas of hostile size: work that ends soon, and a report that says what is left, or a refusal that says why."""

from __future__ import annotations

from typing import Any

import pytest

from wieldy.core.errors import GrammarError
from wieldy.grammar import Grammar, Matcher, Tokenizer, check_constraint, json_schema
from wieldy.grammar.budget import Guard
from wieldy.grammar.lowering import lowered

BYTES = Tokenizer.of_bytes()
LETTERS = "abcdefghijklmnopqrstuvwxy"


def left(grammar: Grammar) -> list[str]:
    return [f"{entry.pointer} {entry.keyword}" for entry in grammar.unenforced]


def doubled(count: int) -> dict[str, Any]:
    """A schema whose only value has two to the power of `count` nulls in it."""
    levels = {
        f"level{index}": {"type": "array", "prefixItems": [{"$ref": f"#/$defs/level{index + 1}"}] * 2, "minItems": 2}
        for index in range(count)
    }
    return {"$ref": "#/$defs/level0", "$defs": {**levels, f"level{count}": {"type": "null"}}}


@pytest.mark.parametrize(
    ("schema", "unenforced"),
    [
        ({"not": {"enum": [f"value {n}" for n in range(10_000)]}}, ["# not", "#/not enum"]),
        (
            {"not": {"enum": [f"{n}" * 5 for n in range(10_000)]}, "pattern": "^[1-9]*$"},
            ["# not", "#/not enum"],
        ),
        ({"oneOf": [{"enum": [f"{group} {index}" for index in range(250)]} for group in range(40)]}, []),
        ({"multipleOf": 999_999_937, "minimum": 1e17, "type": "integer"}, ["# multipleOf"]),
        ({"multipleOf": 100_003, "minimum": 1, "type": "integer"}, ["# multipleOf"]),
        ({"multipleOf": 9_999, "minimum": 10**17, "type": "integer"}, []),
        (
            {"type": "string", "allOf": [{"pattern": f"{one}.*{one}"} for one in LETTERS]},
            [f"#/allOf/{index} pattern" for index in range(4, 25)],
        ),
        (
            {"type": "object", "patternProperties": {f"{one}.*{one}": True for one in LETTERS}, "required": ["abba"]},
            ["# patternProperties"],
        ),
        (
            {"allOf": [{"patternProperties": {f"{one}.*{one}": {"minLength": 1}}} for one in LETTERS]},
            [
                f"#/allOf/{index}{rest}"
                for index, one in enumerate(LETTERS)
                for rest in (" patternProperties", f"/patternProperties/{one}.*{one} minLength")
            ],
        ),
        ({"type": "string", "pattern": "^" + "".join(f"(?=.*{one})" for one in LETTERS)}, ["# pattern"]),
    ],
)
def test_what_would_cost_too_much_is_left_to_the_validator(schema: dict[str, Any], unenforced: list[str]) -> None:
    grammar = json_schema(schema)

    assert left(grammar) == unenforced
    assert Guard(grammar, BYTES, max_tokens=500).witness
    assert Matcher(grammar, BYTES).fill_mask().allowed


@pytest.mark.parametrize(
    "both",
    [
        lambda part: {"anyOf": [part, {"allOf": [part]}]},
        lambda part: {"anyOf": [part, part]},
        lambda part: {"allOf": [part, {"allOf": [part]}]},
        lambda part: {"if": part, "then": part, "else": part},
        lambda part: {"not": {"anyOf": [part, part]}},
        lambda part: {"type": "object", "properties": {"a": part, "b": {"allOf": [part, {"required": ["a"]}]}}},
    ],
)
def test_what_is_referred_to_twice_and_again_twice_is_not_gone_through_each_time(both: Any) -> None:
    levels = {f"level{index}": both({"$ref": f"#/$defs/level{index + 1}"}) for index in range(40)}
    report = lowered({"$ref": "#/$defs/level0", "$defs": {**levels, "level40": {"type": ["null", "object"]}}})

    assert not report.refused


def test_a_way_to_texts_that_are_too_long_is_refused_and_the_others_are_not() -> None:
    grammar = json_schema({"anyOf": [{"type": "array", "minItems": 1_000_000}, {"type": "array", "maxItems": 1}, {}]})
    guard = Guard(grammar, BYTES, max_tokens=50)
    assert guard.accept_token(ord("["))
    grammar = json_schema({"anyOf": [{"type": "array", "minItems": 1_000_000}, {"type": "null"}]})
    guard = Guard(grammar, BYTES, max_tokens=10_000_000)
    assert guard.is_tight
    assert not guard.accept_token(ord("["))
    assert bytes(guard.witness) == b"null"


@pytest.mark.parametrize(
    ("schema", "size"),
    [
        ({"type": "array", "minItems": 1_000_000}, "3,000,000"),
        ({"type": "array", "minItems": 1_000, "items": {"type": "object", "required": ["a", "b"]}}, "18,000"),
        ({"type": "string", "minLength": 1_000_000}, "1,000,002"),
        ({"type": "string", "minLength": 50_000, "pattern": "^a*$"}, "50,002"),
        (doubled(30), "8,589,934,588"),
        (doubled(60), "1,099,511,627,775"),
    ],
)
def test_texts_that_no_budget_is_kept_for_are_refused_before_anything_is_written(
    schema: dict[str, Any], size: str
) -> None:
    grammar = json_schema(schema)

    with pytest.raises(GrammarError, match=f"at least {size} bytes; a budget is kept for those of up to 10,000"):
        Guard(grammar, BYTES, max_tokens=10)
    assert "a budget is kept for" in check_constraint(schema, BYTES, walks=3).problem
    assert Matcher(grammar, BYTES).fill_mask().allowed
