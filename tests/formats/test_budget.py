"""Calls of every format are complete within every budget, with a vocabulary that has the format's marks and without."""

import random

import pytest
from format_cases import TOOLS
from hypothesis import given, settings
from hypothesis import strategies as st

from wieldy.core.calls import ToolCall, ToolChoice
from wieldy.core.errors import BudgetError
from wieldy.formats import get, names
from wieldy.grammar import Grammar, Guard, Tokenizer, minimum_tokens
from wieldy.schema import CompiledSchema

SCHEMAS = {tool["function"]["name"]: CompiledSchema(tool["function"]["parameters"]) for tool in TOOLS}
REQUIRED = ToolChoice(mode="required")
every_format = pytest.mark.parametrize("name", names())
KNOWN: dict[tuple[str, bool], tuple[Grammar, Tokenizer]] = {}


def grammar_and_vocabulary(name: str, has_marks: bool) -> tuple[Grammar, Tokenizer]:
    """The format's grammar for one call at least, and all bytes with its marks as special tokens or without them."""
    if (name, has_marks) not in KNOWN:
        marks = get(name).marks if has_marks else ()
        special = {mark: 257 + index for index, mark in enumerate(marks)}
        tokens = [*(bytes([value]) for value in range(256)), b"<|complete|>", *(mark.encode() for mark in marks)]
        KNOWN[name, has_marks] = (
            get(name).grammar(TOOLS, tool_choice=REQUIRED, special_tokens=special, prompt=""),
            Tokenizer(tokens, end_token=256, special_tokens=special),
        )
    return KNOWN[name, has_marks]


def written(guard: Guard, tokenizer: Tokenizer, chance: random.Random) -> str:
    """What a model writes at random until it must stop."""
    text = b""
    while not guard.is_finished and (guard.remaining or not guard.is_accepting):
        allowed = guard.fill_mask().allowed
        token = guard.choose(chance.sample(allowed, min(4, len(allowed))))
        if token in tokenizer.end_tokens:
            break
        text += tokenizer.tokens[token]
    return text.decode()


@every_format
@settings(max_examples=6, deadline=None)
@given(has_marks=st.booleans(), more=st.integers(0, 60), seed=st.integers())
def test_a_required_call_is_complete_whatever_the_budget(name: str, has_marks: bool, more: int, seed: int) -> None:
    grammar, tokenizer = grammar_and_vocabulary(name, has_marks)
    minimum = minimum_tokens(grammar, tokenizer)
    guard = Guard(grammar, tokenizer, max_tokens=minimum + more)

    reply = get(name).parse(written(guard, tokenizer, random.Random(seed)), TOOLS, prompt="")

    assert guard.is_accepting
    assert guard.remaining >= 0
    assert reply.calls
    for call in reply.calls:
        assert isinstance(call, ToolCall)
        assert SCHEMAS[call.name].accepts(call.arguments)


@every_format
def test_a_budget_below_the_shortest_call_is_refused_beforehand(name: str) -> None:
    grammar, tokenizer = grammar_and_vocabulary(name, True)
    minimum = minimum_tokens(grammar, tokenizer)
    with pytest.raises(BudgetError) as caught:
        Guard(grammar, tokenizer, max_tokens=minimum - 1)
    assert caught.value.minimum == minimum
