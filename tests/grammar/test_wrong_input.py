"""Whatever programs give to the public names of the room, it is taken or is an error of ours that can be printed."""

import math
from collections.abc import Callable
from typing import Any

import pytest

import wieldy.grammar
from wieldy.core.errors import UsageError, WieldyError
from wieldy.grammar import (
    Guard,
    Matcher,
    Tokenizer,
    check_constraint,
    choice,
    enforcement_of,
    fill_masks,
    grammar,
    in_order,
    json_schema,
    lark,
    minimum_tokens,
    one_of,
    optional,
    regex,
    repeated,
)

BYTES = Tokenizer.of_bytes()
WORDS = choice(["ab", "c"])

VALUES: dict[str, Callable[[], object]] = {
    "None": lambda: None,
    "whole numbers": lambda: 5,
    "numbers below zero": lambda: -1,
    "a huge number": lambda: 10**5000,
    "floats": lambda: 1.5,
    "nan": lambda: math.nan,
    "bytes": lambda: b"a",
    "text": lambda: "a",
    "half a character": lambda: "\ud800",
    "long text": lambda: "x" * 100_000,
    "an object": object,
    "a class": lambda: int,
    "a generator": lambda: (text for text in ("a", "b")),
    "a set": lambda: {1},
    "lists": list,
    "a list of numbers": lambda: [5],
    "a list of nothing": lambda: [None],
    "a list of texts": lambda: ["a"],
    "a list of nan": lambda: [math.nan],
    "dicts": dict,
    "a dict of numbers": lambda: {"a": 5},
    "a dict with numbers as keys": lambda: {5: 5},
    "a schema with nan": lambda: {"const": math.nan},
    "a schema with bytes": lambda: {"const": b"a"},
    "a schema with a huge number": lambda: {"const": 10**5000},
    "a schema with a set": lambda: {"enum": {1, 2}},
    "a schema with half a character": lambda: {"properties": {"\ud800": {"const": "\ud800"}}},
}


def guard() -> Guard:
    return Guard(WORDS, BYTES, max_tokens=9)


def matcher() -> Matcher:
    return Matcher(WORDS, BYTES)


DOORS: dict[str, Callable[[Any], object]] = {
    "choice": choice,
    "choice of one": lambda found: choice([found]),
    "regex": regex,
    "json_schema": json_schema,
    "max_characters": lambda found: json_schema({"type": "string"}, max_characters=found),
    "max_items": lambda found: json_schema({"type": "array"}, max_items=found),
    "grammar": grammar,
    "grammar in EBNF": lambda found: grammar(found, "ebnf"),
    "grammar's notation": lambda found: grammar('a ::= "b"', found),
    "grammar's special tokens": lambda found: grammar('a ::= "b"', special_tokens=found),
    "lark": lark,
    "lark's special tokens": lambda found: lark('start: "b"', special_tokens=found),
    "in_order": in_order,
    "one_of": one_of,
    "optional": optional,
    "repeated": repeated,
    "at_least": lambda found: repeated("a", at_least=found),
    "at_most": lambda found: repeated("a", at_most=found),
    "between": lambda found: repeated("a", between=found),
    "followed_by": WORDS.followed_by,
    "Guard's grammar": lambda found: Guard(found, BYTES, max_tokens=5),
    "Guard's tokenizer": lambda found: Guard(WORDS, found, max_tokens=5),
    "max_tokens": lambda found: Guard(WORDS, BYTES, max_tokens=found),
    "end_token_counts": lambda found: Guard(WORDS, BYTES, max_tokens=5, end_token_counts=found),
    "max_repeated_bytes": lambda found: Guard(WORDS, BYTES, max_tokens=5, max_repeated_bytes=found),
    "Guard.allows": lambda found: guard().allows(found),
    "Guard.accept_token": lambda found: guard().accept_token(found),
    "Guard.choose": lambda found: guard().choose(found),
    "Guard.choose from one": lambda found: guard().choose([found]),
    "Guard.rollback": lambda found: guard().rollback(found),
    "minimum_tokens": lambda found: minimum_tokens(found, BYTES),
    "minimum_tokens' tokenizer": lambda found: minimum_tokens(WORDS, found),
    "Matcher": lambda found: Matcher(found, BYTES),
    "Matcher's tokenizer": lambda found: Matcher(WORDS, found),
    "accept_token": lambda found: matcher().accept_token(found),
    "accept_tokens": lambda found: matcher().accept_tokens(found),
    "accept_tokens of one": lambda found: matcher().accept_tokens([found]),
    "accept_text": lambda found: matcher().accept_text(found),
    "validate": lambda found: matcher().validate(found),
    "validate one": lambda found: matcher().validate([found]),
    "rollback": lambda found: matcher().rollback(found),
    "fill_mask_into": lambda found: matcher().fill_mask_into(found),
    "a mask": lambda found: matcher().fill_mask().allows(found),
    "fill_masks": lambda found: fill_masks(found, bytearray(36)),
    "fill_masks of one": lambda found: fill_masks([found], bytearray(36)),
    "fill_masks' rows": lambda found: fill_masks([matcher()], found),
    "Tokenizer": lambda found: Tokenizer(found, end_token=0),
    "Tokenizer of one": lambda found: Tokenizer([found], end_token=0),
    "end_token": lambda found: Tokenizer([b"a", b"b"], end_token=found),
    "special_tokens": lambda found: Tokenizer([b"a", b"b"], end_token=0, special_tokens=found),
    "of_gguf": Tokenizer.of_gguf,
    "of_gguf's tokens": lambda found: Tokenizer.of_gguf(
        {"tokenizer.ggml.tokens": found, "tokenizer.ggml.model": "gpt2"}, end_token=0
    ),
    "of_json": lambda found: Tokenizer.of_json(found, end_token=0),
    "of_transformers": Tokenizer.of_transformers,
    "tokenize": BYTES.tokenize,
    "spells": lambda found: BYTES.spells(found, b"a"),
    "check_constraint": lambda found: check_constraint(found, BYTES, walks=1),
    "check_constraint's tokenizer": lambda found: check_constraint({"type": "null"}, found, walks=1),
    "walks": lambda found: check_constraint({"type": "null"}, BYTES, walks=found),
    "seed": lambda found: check_constraint({"type": "null"}, BYTES, walks=1, seed=found),
    "enforcement_of": enforcement_of,
    "enforcement_of one": lambda found: enforcement_of([found]),
}
RECORDS = {"ConstraintReport", "Enforcement", "Grammar"}
"""Made by the room itself, and only read by programs."""


@pytest.mark.parametrize("door", DOORS.values(), ids=DOORS)
def test_what_is_of_a_wrong_kind_is_an_error_that_says_so(door: Callable[[Any], object]) -> None:
    said = {name: refusal(door, made()) for name, made in VALUES.items()}

    assert {name: len(text) for name, text in said.items() if len(text.encode()) > 2000} == {}


def refusal(door: Callable[[Any], object], found: object) -> str:
    """What the error says; empty if what was found is taken. No other error is caught."""
    try:
        door(found)
    except UsageError as error:
        return str(error)
    return ""


def test_every_public_name_has_a_door() -> None:
    named = {name for name in wieldy.grammar.__all__ if any(name in door for door in DOORS)}
    assert named | RECORDS == set(wieldy.grammar.__all__)


@pytest.mark.parametrize(
    ("door", "found", "said"),
    [
        (choice, "yes", "Expected the options of a choice, each a text, found 'yes'"),
        (choice, [1], "Expected each option of a choice as text, found 1"),
        (regex, None, "Expected a regular expression as text or compiled, found None"),
        (grammar, b"a", "Expected the grammar as text, found b'a'"),
        (in_order, ["a"], "Expected constraints and texts as parts, found a value of the type list"),
        (json_schema, {"const": 10**5000}, "found in it a whole number of thousands of digits"),
        (json_schema, {"properties": {"a": {"enum": {1}}}}, "found in it a value of the type set"),
        (json_schema, {"const": -math.inf}, "found in it -inf"),
        (DOORS["max_tokens"], math.nan, "Expected max_tokens as a whole number from 0 on, found nan"),
        (DOORS["Guard.rollback"], 1, "Cannot go back 1 tokens: 0 were taken"),
        (DOORS["accept_token"], "a", "Expected a token by its id, a whole number, found 'a'"),
        (DOORS["special_tokens"], {"<a>": "1"}, "Expected the special tokens by their text, each with its id"),
    ],
)
def test_the_error_says_what_was_expected_and_what_was_found(
    door: Callable[[Any], object], found: object, said: str
) -> None:
    with pytest.raises(UsageError) as caught:
        door(found)
    assert said in str(caught.value)


def test_options_may_come_one_by_one() -> None:
    found = Matcher(choice(text for text in ("ab", "c")), BYTES)
    assert found.accept_text("ab")
    assert found.is_accepting


def test_the_text_of_an_error_can_be_printed_whatever_it_quotes() -> None:
    assert str(WieldyError("found \ud800 here")) == "found \\ud800 here"
    with pytest.raises(UsageError) as caught:
        grammar("root ::= [\ud800-\ud800a-Z]")
    str(caught.value).encode()


def test_a_schema_that_contains_itself_as_a_python_object_is_refused() -> None:
    schema: dict[str, object] = {"type": "array", "prefixItems": [{"type": "null"}]}
    schema["items"] = {"anyOf": [schema]}
    with pytest.raises(UsageError, match="found in it a list or an object that contains itself"):
        json_schema(schema)
