"""Constraints: what they let through is what the schema or the choice says, and nothing else."""

from __future__ import annotations

import json
import random
import re
from dataclasses import dataclass
from typing import Any, Literal, TypedDict

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from pydantic import BaseModel

from wieldy.core.errors import GrammarError, UsageError
from wieldy.grammar import Grammar, Matcher, Tokenizer, choice, json_schema, lark, regex
from wieldy.grammar.notation.lark_text import literal

BYTES = Tokenizer.of_bytes()
PIECES = Tokenizer(
    [
        *(bytes([value]) for value in range(256)),
        b"<|end|>",
        b'{"',
        b'": ',
        b'"}',
        b", ",
        b"true",
        b"12",
        b"ab",
        b'": "',
    ],
    end_token=256,
)

SCHEMAS: list[dict[str, Any]] = [
    {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"], "additionalProperties": False},
    {
        "type": "object",
        "properties": {
            "n": {"type": "integer", "minimum": 3, "maximum": 40},
            "tags": {"type": "array", "items": {"enum": ["a", "b"]}},
            "when": {"anyOf": [{"type": "string", "format": "date"}, {"type": "null"}]},
        },
        "required": ["n"],
        "additionalProperties": False,
    },
    {"type": "object", "properties": {"child": {"$ref": "#/$defs/node"}}, "required": ["child"],
     "additionalProperties": False,
     "$defs": {"node": {"type": "object", "properties": {"v": {"type": "boolean"}}, "required": ["v"],
                        "additionalProperties": False}}},
    {"type": "array", "items": {"type": "number"}, "minItems": 1, "maxItems": 3},
]  # fmt: skip


def walk(grammar: Grammar, tokenizer: Tokenizer, seed: int) -> str:
    """A random text that the mask allows, written as a model would: one allowed token after another."""
    matcher, random_source, written = Matcher(grammar, tokenizer), random.Random(seed), b""
    for _ in range(4000):
        allowed = matcher.fill_mask().allowed
        if tokenizer.end_token in allowed and (len(allowed) == 1 or random_source.random() < 0.5):
            return written.decode()
        token = random_source.choice([token for token in allowed if token != tokenizer.end_token])
        assert matcher.accept_token(token)
        written += tokenizer.tokens[token]
    raise AssertionError("the walk did not end")


@pytest.mark.parametrize("tokenizer", [BYTES, PIECES], ids=["bytes", "pieces"])
@pytest.mark.parametrize("schema", SCHEMAS, ids=range(len(SCHEMAS)))
@settings(max_examples=15, deadline=None)
@given(seed=st.integers())
def test_every_walk_under_the_mask_is_json_that_fits_the_schema(
    schema: dict[str, Any], tokenizer: Tokenizer, seed: int
) -> None:
    assert Draft202012Validator(schema).is_valid(json.loads(walk(json_schema(schema), tokenizer, seed)))


@settings(max_examples=60, deadline=None)
@given(
    options=st.lists(st.text(st.characters(exclude_categories=["Cs"]), min_size=1), min_size=1, max_size=5),
    seed=st.integers(),
)
def test_a_choice_allows_exactly_its_options(options: list[str], seed: int) -> None:
    grammar = choice(options)
    assert walk(grammar, BYTES, seed) in options
    for option in options:
        matcher = Matcher(grammar, BYTES)
        assert matcher.accept_text(option)
        assert matcher.is_accepting


@given(value=st.fixed_dictionaries({"city": st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=50)}))
def test_what_python_writes_is_accepted(value: dict[str, str]) -> None:
    matcher = Matcher(json_schema(SCHEMAS[0]), BYTES)
    assert matcher.accept_text(json.dumps(value, ensure_ascii=False))
    assert matcher.is_accepting


def test_a_refused_text_changes_nothing() -> None:
    matcher = Matcher(json_schema(SCHEMAS[0]), BYTES)
    assert matcher.accept_text('{"ci')
    assert not matcher.accept_text('ty": 7')
    assert matcher.accept_text('ty": "Rome"}')
    assert matcher.is_accepting


def test_a_rolled_back_token_is_as_if_never_taken() -> None:
    matcher = Matcher(choice(["ab", "ac"]), BYTES)
    before = matcher.fill_mask()
    assert matcher.accept_token(ord("a"))
    matcher.rollback(1)
    assert matcher.fill_mask() == before


def test_forced_tokens_are_those_without_a_choice() -> None:
    matcher = Matcher(choice(["apple", "apricot"]), BYTES)
    assert bytes(matcher.forced_tokens) == b"ap"


def test_unbounded_strings_and_arrays_get_bounds_and_declared_bounds_stay() -> None:
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {
            "free": {"type": "string"},
            "long": {"type": "string", "maxLength": 30},
            "list": {"type": "array", "items": {"type": "integer", "minimum": 1, "maximum": 9}, "minItems": 4},
        },
        "required": ["free", "long", "list"],
        "additionalProperties": False,
    }
    grammar = json_schema(schema, max_characters=5, max_items=2)

    def accepts(**value: object) -> bool:
        matcher = Matcher(grammar, BYTES)
        return matcher.accept_text(json.dumps(value)) and matcher.is_accepting

    assert accepts(free="12345", long="x" * 30, list=[1, 2, 3, 4])
    assert not accepts(free="123456", long="", list=[1, 2, 3, 4])
    assert not accepts(free="", long="x" * 31, list=[1, 2, 3, 4])
    assert not accepts(free="", long="", list=[1, 2, 3, 4, 5])


def test_what_the_mask_cannot_enforce_is_named() -> None:
    assert json_schema(SCHEMAS[0]).unenforced == ()
    grammar = json_schema({"type": "array", "items": {"type": "integer"}, "uniqueItems": True})
    assert [(entry.pointer, entry.keyword) for entry in grammar.unenforced] == [("#", "uniqueItems")]
    assert [entry.keyword for entry in grammar.enforcement] == ["type", "items", "uniqueItems", "type"]  # no bounds


@pytest.mark.parametrize("options", [[], [""], ["a", ""]])
def test_a_choice_of_nothing_is_refused(options: list[str]) -> None:
    with pytest.raises(GrammarError, match="at least one option"):
        choice(options)


def test_a_schema_that_no_text_can_fit_is_refused() -> None:
    with pytest.raises(GrammarError, match="cannot be compiled"):
        json_schema({"type": "integer", "minimum": 5, "maximum": 3})


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(), text=st.sampled_from([")", ")\n", '"', "\\", "é)\x7f"]))
def test_a_grammar_followed_by_a_text_is_both_in_this_order(seed: int, text: str) -> None:
    for grammar in (choice(["a", "ab"]), json_schema(SCHEMAS[0])):
        written = walk(grammar.followed_by(text).followed_by("end"), BYTES, seed)
        assert written.endswith(text + "end")
        matcher = Matcher(grammar, BYTES)
        assert matcher.accept_text(written.removesuffix(text + "end"))
        assert matcher.is_accepting


def object_of(**properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


@pytest.mark.parametrize("pattern", ["^((?!a).)*$", r"(a)\1", "[", "(?<!b)a", 5])
def test_a_pattern_that_the_engine_does_not_know_is_left_to_a_validator_and_named(pattern: object) -> None:
    grammar = json_schema(
        object_of(code={"type": "string", "pattern": pattern}, ok={"type": "string", "pattern": "^x$"})
    )
    assert [(entry.pointer, entry.keyword) for entry in grammar.unenforced] == [("#/properties/code", "pattern")]
    matcher = Matcher(grammar, BYTES)
    assert matcher.accept_text('{"code": "anything", "ok": "x"}')
    assert not Matcher(json_schema(object_of(ok={"type": "string", "pattern": "^x$"})), BYTES).accept_text(
        '{"ok": "y"}'
    )


def test_a_property_called_pattern_is_no_pattern() -> None:
    grammar = json_schema(object_of(pattern={"type": "string", "pattern": "["}))
    assert Matcher(grammar, BYTES).accept_text('{"pattern": "x"}')


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "https://example.com/other"},
        {"$ref": "#/nowhere"},
        {"enum": []},
        False,
        {"type": "bogus"},
        {"type": "string", "minLength": 5, "maxLength": 3},
        {"type": "number", "multipleOf": 0},
    ],
)
def test_what_can_never_be_written_or_is_no_schema_is_refused(schema: Any) -> None:
    with pytest.raises(GrammarError, match="cannot be compiled"):
        json_schema(object_of(a=schema))


def test_a_schema_without_end_is_refused() -> None:
    schema: dict[str, Any] = {"type": "object"}
    for _ in range(3000):
        schema = {"type": "object", "properties": {"a": schema}}
    with pytest.raises(GrammarError, match="nested too deeply"):
        json_schema(schema)


def test_names_in_any_script_are_written_as_they_are() -> None:
    grammar = json_schema(
        object_of(**{"größe": {"type": "integer", "minimum": 1}, "名前": {"enum": ["é", 'a"b', "x\ny"]}})
    )
    for name in ("é", 'a"b', "x\ny"):
        matcher = Matcher(grammar, BYTES)
        assert matcher.accept_text(json.dumps({"größe": 5, "名前": name}, ensure_ascii=False))
        assert matcher.is_accepting


def test_a_vocabulary_need_not_hold_every_byte() -> None:
    with pytest.raises(GrammarError, match="token 5 is not among the 2"):
        Tokenizer([b"a", b"b"], end_token=5)
    letters = Tokenizer([b"a", b"b", b"<end>"], end_token=2)
    matcher = Matcher(choice(["ab"]), letters)
    assert not matcher.accept_token(1)
    assert not matcher.accept_text("ax")
    assert not matcher.accept_text("\ud800")
    assert matcher.accept_text("ab")
    assert matcher.is_accepting
    assert matcher.fill_mask().allowed == [2]
    matcher.rollback(2)
    assert matcher.fill_mask().allowed == [0]


def test_going_back_further_than_one_came_is_refused() -> None:
    matcher = Matcher(choice(["ab"]), BYTES)
    assert matcher.accept_text("a")
    with pytest.raises(GrammarError, match="Cannot go back 5"):
        matcher.rollback(5)


def accepts(grammar: Grammar, text: str) -> bool:
    matcher = Matcher(grammar, BYTES)
    return matcher.accept_text(text) and matcher.is_accepting


@pytest.mark.parametrize(
    ("pattern", "matching", "other"),
    [
        (r"[A-Z]{2}\d{3}", ["AB123"], ["AB12", "ab123", "AB1234", "AB12٣"]),
        (re.compile("a.c", re.IGNORECASE | re.DOTALL), ["ABc", "a\nC"], ["ac"]),
        (re.compile("a.c"), ["a-c"], ["a\nc", "A-c"]),
        (re.compile("(?i)a.c", re.DOTALL), ["A\nC"], ["ac"]),
        (re.compile(r"\W\D"), ["--"], ["é-", "-٣", "a-"]),
        (re.compile(r"\W\D", re.ASCII), ["--", "é-", "-٣"], ["a-"]),
    ],
)
def test_a_regular_expression_allows_what_it_matches_whole(
    pattern: str | re.Pattern[str], matching: list[str], other: list[str]
) -> None:
    grammar = regex(pattern)

    assert [text for text in matching if not accepts(grammar, text)] == []
    assert [text for text in other if accepts(grammar, text)] == []


@pytest.mark.parametrize("pattern", [re.compile(b"a"), re.compile("a b", re.VERBOSE), "a(?=b)", r"(a)\1"])
def test_a_regular_expression_that_cannot_be_enforced_is_refused(pattern: Any) -> None:
    with pytest.raises(GrammarError, match=r"regular expression"):
        regex(pattern)


class Invoice(BaseModel):
    number: str
    total: float


@dataclass
class Point:
    x: int


class Row(TypedDict):
    name: Literal["a", "b"]


@pytest.mark.parametrize(
    ("kind", "text", "other"),
    [
        (Invoice, '{"number": "7", "total": 1.5}', '{"number": 7, "total": 1.5}'),
        (Point, '{"x": 3}', '{"x": "3"}'),
        (Row, '{"name": "b"}', '{"name": "c"}'),
        (list[int], "[1, 2]", '["1"]'),
    ],
)
def test_a_type_says_what_json_may_be(kind: type[Any], text: str, other: str) -> None:
    assert accepts(json_schema(kind), text)
    assert not accepts(json_schema(kind), other)


def test_a_type_that_json_cannot_carry_is_refused() -> None:
    with pytest.raises(UsageError, match="a type that JSON can carry"):
        json_schema(type("Plain", (), {}))


def test_a_grammar_can_be_given_as_text():
    matcher = Matcher(lark("start: " + literal('a"\x7f') + " /[0-9]+/"), Tokenizer.of_bytes())
    assert matcher.accept_text('a"\x7f12')
    assert matcher.is_accepting


@pytest.mark.parametrize("text", ["", "start: missing", "start: /[/", 'start: "\ud800"', "x" * 100_000])
def test_text_that_is_no_grammar_is_refused_in_few_words(text):
    with pytest.raises(GrammarError) as caught:
        lark(text)
    assert len(str(caught.value)) < 1000
