"""Budgets hold for every shape: texts, patterns, grammars that contain themselves, and special tokens."""

import random

import pytest
from budget_schemas import merged_tokens
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from notation_shapes import RECURSIVE, patterns, replies
from reluctance import reluctant

from wieldy.grammar.budget import Guard, minimum_tokens
from wieldy.grammar.compiled import compiled
from wieldy.grammar.matcher import Matcher
from wieldy.grammar.shape import Rules
from wieldy.grammar.tokenizer import Tokenizer

BYTES, MERGED = Tokenizer.of_bytes(), merged_tokens()
laws = settings(deadline=None, max_examples=30, suppress_health_check=[HealthCheck.too_slow])


def is_complete_within(rules: Rules, tokenizer: Tokenizer, more: int, seed: int, tokens: dict[str, int]) -> bool:
    grammar = compiled(rules, special_tokens=tokens)
    guard = Guard(grammar, tokenizer, max_tokens=minimum_tokens(grammar, tokenizer) + more)
    written = reluctant(guard, random.Random(seed), tokenizer)
    engine = Matcher(grammar, tokenizer)
    return engine.accept_tokens(written) == len(written) and engine.is_accepting and guard.remaining >= 0


@laws
@given(patterns | replies, st.sampled_from([BYTES, MERGED]), st.integers(0, 12), st.integers())
def test_every_shape_is_completed_within_every_budget(shape, tokenizer, more, seed):
    assert is_complete_within(Rules(start=shape), tokenizer, more, seed, {})


@pytest.mark.parametrize("name", RECURSIVE)
@laws
@given(more=st.integers(0, 25), seed=st.integers())
def test_shapes_that_contain_themselves_are_completed(name, more, seed):
    assert is_complete_within(RECURSIVE[name], MERGED, more, seed, {})
