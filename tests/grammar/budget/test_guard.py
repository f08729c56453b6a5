"""A guard's text is always complete within its budget, whatever the model would have written."""

import json
import random
import sys

import jsonschema_rs
import lowering_cases
import pytest
from budget_schemas import merged_tokens, schemas
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from reluctance import reluctant

from wieldy.core.errors import BudgetError, GrammarError
from wieldy.grammar.budget import Guard, minimum_tokens
from wieldy.grammar.compiled import Grammar, compiled
from wieldy.grammar.constraints import regex
from wieldy.grammar.matcher import Matcher
from wieldy.grammar.shape import Json, Rules
from wieldy.grammar.tokenizer import Tokenizer

VOCABULARIES = [Tokenizer.of_bytes(), merged_tokens()]
vocabularies = st.sampled_from(VOCABULARIES)
"""Made once: each is a second's work of the engine."""


laws = settings(
    deadline=None, max_examples=30, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much]
)


def grammar_of(schema: dict, *, one_line: bool) -> Grammar:
    try:
        return compiled(Rules(start=Json(schema, one_line=one_line)))
    except GrammarError:
        assume(False)  # the engine refuses it, or nothing fits it
        raise


def finite(digits: str) -> float:
    """The number, which JSON lets be larger than a float can be."""
    return max(-sys.float_info.max, min(sys.float_info.max, float(digits)))


@laws
@given(schemas | lowering_cases.schemas(), st.booleans(), vocabularies, st.integers(0, 30), st.integers())
def test_every_budget_from_the_minimum_up_gives_a_complete_value(schema, one_line, tokenizer, more, seed):
    grammar = grammar_of(schema, one_line=one_line)
    minimum = minimum_tokens(grammar, tokenizer)
    guard = Guard(grammar, tokenizer, max_tokens=minimum + more)

    written = reluctant(guard, random.Random(seed), tokenizer)

    engine = Matcher(grammar, tokenizer)
    assert engine.accept_tokens(written) == len(written)
    assert engine.is_accepting
    assert len(written) <= minimum + more
    value = json.loads(b"".join(tokenizer.tokens[token] for token in written), parse_float=finite)
    assert grammar.unenforced or jsonschema_rs.is_valid(schema, value, validate_formats=False)


@laws
@given(schemas, vocabularies)
def test_below_the_minimum_is_an_error_that_names_it(schema, tokenizer):
    grammar = grammar_of(schema, one_line=False)
    minimum = minimum_tokens(grammar, tokenizer)
    with pytest.raises(BudgetError) as caught:
        Guard(grammar, tokenizer, max_tokens=minimum - 1)
    assert (caught.value.minimum, caught.value.budget) == (minimum, minimum - 1)
    Guard(grammar, tokenizer, max_tokens=minimum)
    with pytest.raises(BudgetError):
        Guard(grammar, tokenizer, max_tokens=minimum, end_token_counts=True)


@laws
@given(schemas, vocabularies, st.integers(0, 12), st.integers())
def test_what_is_allowed_is_accepted_and_going_back_undoes_it(schema, tokenizer, more, seed):
    grammar, chance = grammar_of(schema, one_line=True), random.Random(seed)
    guard = Guard(grammar, tokenizer, max_tokens=minimum_tokens(grammar, tokenizer) + more)
    engine = Matcher(grammar, tokenizer)
    for _ in range(10):
        mask = guard.fill_mask()
        assert mask == engine.fill_mask()
        for token in chance.sample(mask.allowed, min(5, len(mask.allowed))):
            before = (guard.remaining, guard.witness, guard.forced, guard.is_accepting, guard.fill_mask())
            allows = guard.allows(token)
            assert guard.accept_token(token) == allows
            if allows:
                guard.rollback(1)
            assert (guard.remaining, guard.witness, guard.forced, guard.is_accepting, guard.fill_mask()) == before
        if guard.is_finished or not guard.remaining:
            break
        token = guard.choose(chance.sample(mask.allowed, min(3, len(mask.allowed))))
        assert engine.accept_token(token)
        if token == tokenizer.end_token:
            break


@laws
@given(st.sampled_from(["a*", "[ab]{2,}", "(ab|a)(bc|c)*", "-?[0-9]+"]), vocabularies, st.integers(0, 9), st.integers())
def test_that_a_text_ends_costs_nothing_and_is_told_where_the_budget_decided_it(pattern, tokenizer, more, seed):
    grammar, chance = regex(pattern), random.Random(seed)
    budget = minimum_tokens(grammar, tokenizer) + more
    guard, engine = Guard(grammar, tokenizer, max_tokens=budget), Matcher(grammar, tokenizer)
    written, is_decided = [], False
    while tokenizer.end_token not in written:
        assert guard.remaining == budget - len(written)
        wish = chance.choice(engine.fill_mask().allowed)
        chosen = guard.choose([wish])
        is_decided = is_decided or chosen != wish
        assert engine.accept_token(chosen)
        written.append(chosen)
    assert guard.remaining == budget - len(written[:-1])
    assert guard.closed_by_budget == is_decided
    size = len(b"".join(tokenizer.tokens[token] for token in written[:-1]))
    assert all(0 <= start <= end <= size for start, end in guard.forced)


@laws
@given(schemas, vocabularies, st.integers(60, 400), st.integers(0, 40), st.integers())
def test_where_it_is_not_tight_no_token_of_the_mask_is_refused(schema, tokenizer, budget, steps, seed):
    grammar, chance = grammar_of(schema, one_line=False), random.Random(seed)
    assume(minimum_tokens(grammar, tokenizer) < budget)
    guard = Guard(grammar, tokenizer, max_tokens=budget)
    for _ in range(steps):
        mask = guard.fill_mask().allowed
        if not guard.is_tight:
            assert all(map(guard.allows, chance.sample(mask, min(len(mask), 40))))
        if guard.is_finished or guard.choose(chance.sample(mask, len(mask))) == tokenizer.end_token:
            break
