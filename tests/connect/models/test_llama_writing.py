"""Text under a grammar and within a budget, with the smallest real model."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wieldy.connect.models.completing import completed
from wieldy.connect.models.llama import Engine
from wieldy.connect.models.weights import SMALLEST, find
from wieldy.connect.models.writing import Token
from wieldy.core.errors import BudgetError
from wieldy.grammar import Grammar, choice, json_schema, minimum_tokens, regex
from wieldy.schema import CompiledSchema

pytestmark = pytest.mark.model

LETTER: dict[str, Any] = {
    "type": "object",
    "properties": {
        "to": {"type": "string"},
        "pages": {"type": "integer", "minimum": 1, "maximum": 500},
        "kind": {"enum": ["letter", "postcard"]},
        "lines": {"type": "array", "items": {"type": "string"}, "minItems": 1},
    },
    "required": ["to", "pages", "kind", "lines"],
    "additionalProperties": False,
}
SCHEMA = CompiledSchema(LETTER)
GRAMMAR = json_schema(LETTER)
PROMPTS = (
    "Write a letter to my aunt Mary as JSON:\n",
    "Once upon a time",
    '{"to": "',
    "日本語で手紙を書いて 🦕🦖🦕🦖\n",
    "x = [1, 2, 3]\n" * 10,
)


@pytest.fixture(scope="module")
def engine() -> Engine:
    path = find(SMALLEST)
    assert path is not None
    return Engine(path)


@settings(max_examples=6, deadline=None)
@given(prompt=st.sampled_from(PROMPTS), more=st.integers(0, 40))
def test_at_every_budget_that_is_enough_for_anything_the_text_is_whole(engine: Engine, prompt: str, more: int) -> None:
    budget = minimum_tokens(GRAMMAR, engine.tokenizer) + more
    completion = completed(engine, prompt, max_tokens=budget, grammar=GRAMMAR)

    assert not list(SCHEMA.violations(json.loads(completion.text)))
    assert len(completion.tokens) <= budget
    assert "".join(token.text for token in completion.tokens) == completion.text
    assert completion.finish in ("stop", "closed_by_budget")
    assert completion.finish == "closed_by_budget" or not completion.forced
    assert all(0 <= start < end <= len(completion.text) for start, end in completion.forced)


def test_a_budget_that_is_too_small_is_refused_before_anything_is_generated(engine: Engine) -> None:
    least = minimum_tokens(GRAMMAR, engine.tokenizer)
    told: list[Token] = []

    def take(token: Token) -> bool:
        told.append(token)
        return False

    for budget in (0, 1, least - 1):
        with pytest.raises(BudgetError) as caught:
            engine.write("Hi", max_tokens=budget, grammar=GRAMMAR, on_token=take)
        assert caught.value.minimum == least
    assert not told


def native(grammar: Grammar) -> Grammar:
    """The same in the engine's own dialect, of which no budget is known."""
    return replace(grammar, rules=None)


@pytest.mark.parametrize("prompt", PROMPTS)
def test_a_wide_budget_changes_nothing(engine: Engine, prompt: str) -> None:
    short = json_schema(LETTER, max_characters=12, max_items=2)
    # A prompt that is read for the first time is read in one go, which rounds otherwise than token by token.
    completed(engine, prompt, max_tokens=1)
    guarded = completed(engine, prompt, max_tokens=600, grammar=short)
    free = completed(engine, prompt, max_tokens=600, grammar=native(short))
    assert guarded.finish == free.finish == "stop"
    assert guarded.text == free.text
    assert not guarded.forced


def test_a_grammar_of_which_no_budget_is_known_is_cut(engine: Engine) -> None:
    completion = completed(engine, "Once", max_tokens=4, grammar=native(GRAMMAR))
    assert completion.finish == "length"
    assert not completion.forced


CHARACTERS = "ä🙂é中🦖🦕𝄞"


def test_characters_of_several_tokens_are_written_whatever_the_budget(engine: Engine) -> None:
    grammar = choice([CHARACTERS, CHARACTERS + " and more"])
    least = minimum_tokens(grammar, engine.tokenizer)
    for budget in range(least, least + 4):
        completion = completed(engine, "Emoji: 🦕🦖🦕🦖", max_tokens=budget, grammar=grammar)
        assert completion.text in (CHARACTERS, CHARACTERS + " and more")
        assert "".join(token.text for token in completion.tokens) == completion.text


@pytest.mark.parametrize("budget", [3, 5, 8, 13, 21])
def test_a_model_that_never_ends_is_ended(engine: Engine, budget: int) -> None:
    endless = regex("(🦕|🦖|[a-z ,])*!")
    completion = completed(engine, "Emoji: 🦕🦖🦕🦖🦕🦖🦕🦖", max_tokens=budget, grammar=endless)
    assert completion.text.endswith("!")
    assert len(completion.tokens) <= budget


def test_whoever_stops_listening_stops_the_writing(engine: Engine) -> None:
    told: list[Token] = []

    def take(token: Token) -> bool:
        told.append(token)
        return len(told) == 3

    ending = engine.write("Once upon a time", max_tokens=30, grammar=regex("[a-z ]*!"), on_token=take)
    assert len(told) == 3
    assert ending.finish == "stop"


def test_a_text_ends_before_the_text_that_stops_it(engine: Engine) -> None:
    free = completed(engine, "1, 2, 3, 4,", max_tokens=12)
    stopped = completed(engine, "1, 2, 3, 4,", max_tokens=12, stop=["6"])
    assert stopped.text == free.text.partition("6")[0]
    assert stopped.finish == "stop"
    assert "".join(token.text for token in stopped.tokens) == stopped.text


def test_the_budget_is_what_the_context_leaves(engine: Engine) -> None:
    small = Engine(engine.path, context_tokens=256)
    prompt = "word " * 190
    completion = completed(small, prompt, max_tokens=2000, grammar=GRAMMAR)
    assert not list(SCHEMA.violations(json.loads(completion.text)))
    with pytest.raises(BudgetError):
        completed(small, "word " * 250, max_tokens=2000, grammar=GRAMMAR)
