"""Numbers that are too long: a mask allows none that nobody can read, and takes nothing else away."""

from __future__ import annotations

import json
import math
import random
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wieldy.grammar import Grammar, Matcher, Tokenizer, json_schema, regex
from wieldy.grammar.budget import Guard
from wieldy.grammar.combining import in_order
from wieldy.grammar.matcher import fill_masks

BYTES = Tokenizer.of_bytes()
PIECES = Tokenizer(
    [
        *(bytes([value]) for value in range(256)),
        *(b"<|end|>", b"1e", b"e9", b"e99", b"999", b"e999", b"E-", b"9}", b"9, ", b"00", b"1e999", b'": 1e', b'"9'),
    ],
    end_token=256,
)
TOO_LONG = ["1e999", "-1e999", "1" * 4301, "9" * 309 + ".5", "9" * 309 + "e0", "1.5E+400", "14E1010936639"]
ORDINARY = ["0", "-0", "1e300", "1.5E-7", "1.7976931348623157e308", "1E-999", "1" * 4300, "1" * 308 + ".5", "0.1"]
FREE: list[dict[str, Any]] = [
    {},
    {"type": "number"},
    {"type": "array"},
    {"anyOf": [{"type": "number"}, {"type": "null"}]},
]


def accepts(grammar: Grammar, text: str, tokenizer: Tokenizer = BYTES) -> bool:
    matcher = Matcher(grammar, tokenizer)
    return matcher.accept_text(text) and matcher.is_accepting


@pytest.mark.parametrize("tokenizer", [BYTES, PIECES], ids=["bytes", "pieces"])
def test_a_mask_allows_the_numbers_that_are_read_and_no_others(tokenizer: Tokenizer) -> None:
    for schema in FREE:
        texts = [f"[{text}]" if schema.get("type") == "array" else text for text in (*TOO_LONG, *ORDINARY)]
        grammar = json_schema(schema)
        assert [text for text in texts if accepts(grammar, text, tokenizer)] == texts[len(TOO_LONG) :]
    member = json_schema({"type": "object", "properties": {"n": {"type": "number"}}, "required": ["n"]})
    for text in TOO_LONG:
        assert not accepts(member, f'{{"n": {text}}}', tokenizer)
    assert accepts(member, '{"n": 1e99}', tokenizer)


@pytest.mark.parametrize("number", [number for number in ORDINARY if "." in number or "e" in number.lower()])
def test_what_is_allowed_is_read_and_valid(number: str) -> None:
    value = json.loads(number)
    assert math.isfinite(value)
    assert jsonschema_rs.Draft202012Validator({"type": "number"}).is_valid(value)


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(),
    start=st.sampled_from(["", "1", "[1", "1e", "[1e3", "-1E+", "[0, 9e9", "7" * 300, '["1e', '{"a": 2e']),
)
def test_a_mask_and_what_is_taken_agree_and_every_walk_is_read(seed: int, start: str) -> None:
    chance = random.Random(seed)
    matcher = Matcher(json_schema({}), PIECES)
    assert matcher.accept_text(start)
    text = start.encode()
    for _ in range(12):
        mask = matcher.fill_mask()
        rows = bytearray(PIECES.mask_bytes)
        fill_masks([matcher], memoryview(rows).cast("i", (1, len(rows) // 4)))
        assert bytes(rows)[: len(mask.bits)] == mask.bits
        allowed = [token for token in mask.allowed if token != PIECES.end_token]
        numeric = [token for token in range(len(PIECES)) if PIECES.tokens[token][:1] in b"0123456789.eE+-"]
        for token in chance.sample(numeric, 5):
            assert matcher.copy().accept_token(token) == mask.allows(token) == (matcher.validate([token]) == 1)
        likely = [token for token in allowed if token in numeric] or allowed
        if not likely:
            break
        token = chance.choice(likely)
        assert matcher.accept_token(token)
        text += PIECES.tokens[token]
    guard_text = _closed(text)
    assert all(map(math.isfinite, _numbers(json.loads(guard_text))))


def _closed(text: bytes) -> str:
    guard = Guard(json_schema({}), BYTES, max_tokens=10_000)
    for byte in text:
        assert guard.accept_token(byte)
    return (text + bytes(guard.witness)).decode()


def _numbers(value: Any) -> list[float]:
    match value:
        case list():
            return [number for item in value for number in _numbers(item)]
        case dict():
            return [number for item in value.values() for number in _numbers(item)]
        case int() | None | str():  # an integer is read whatever its size
            return []
        case _:
            return [value]


def test_going_back_and_copies_know_what_a_number_was() -> None:
    matcher = Matcher(json_schema({"type": "number"}), BYTES)
    assert matcher.accept_text("1e30")
    copied = matcher.copy()
    assert not matcher.accept_text("9")
    matcher.rollback(3)
    assert matcher.accept_text("99")
    assert not copied.accept_text("9")
    assert copied.accept_text("8")


@pytest.mark.parametrize(
    ("grammar", "text"),
    [
        (json_schema({"type": "string"}), '"1e999"'),
        (json_schema({"type": "string"}), '"a 1e999"'),
        (json_schema({"type": "string", "pattern": "^[0-9]E[0-9]{4}$"}), '"5E9999"'),
        (json_schema({"type": "string", "pattern": "^[0-9a-f]{8}-[0-9a-f]{4}$"}), '"12345678-1e99"'),
        (in_order(json_schema({"type": "number"}), regex(" [0-9]E[0-9]{4}x")), "1 5E9999x"),
        (in_order(regex("[a-z0-9]*"), json_schema({"type": "array"})), "1e9999[1]"),
        (regex("[0-9]+"), "1" * 5000),
    ],
)
def test_what_only_looks_like_a_long_number_is_allowed(grammar: Grammar, text: str) -> None:
    assert accepts(grammar, text)
    assert accepts(grammar, text, PIECES)


def test_a_guard_ends_in_no_number_that_is_not_read() -> None:
    grammar = json_schema({"type": "object", "properties": {"n": {"type": "number"}}, "required": ["n"]})
    guard = Guard(grammar, BYTES, max_tokens=30)
    text = bytearray()
    while not guard.is_finished:
        token = guard.choose(b"9Ee")
        text.append(token)
    assert math.isfinite(json.loads(text)["n"])
