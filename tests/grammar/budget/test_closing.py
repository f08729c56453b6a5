"""Texts that were cut off are completed to what the grammar allows, or said to be no beginning of that."""

import json
import random

import pytest
from budget_schemas import schemas
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from notation_shapes import RECURSIVE, patterns, sampled

from wieldy.core.errors import GrammarError
from wieldy.formats import get
from wieldy.grammar.budget import closed
from wieldy.grammar.compiled import compiled
from wieldy.grammar.constraints import json_schema, lark, regex
from wieldy.grammar.matcher import Matcher
from wieldy.grammar.shape import Json, Rules
from wieldy.grammar.tokenizer import Tokenizer

BYTES = Tokenizer.of_bytes()
laws = settings(
    deadline=None, max_examples=30, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much]
)
PERSON = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "age": {"type": "integer", "minimum": 40}},
    "required": ["name", "age"],
    "additionalProperties": False,
}


def is_allowed(text: str, grammar) -> bool:
    matcher = Matcher(grammar, BYTES)
    return matcher.accept_text(text) and matcher.is_accepting


def walked(grammar, chance: random.Random) -> str:
    """A beginning of some text of the grammar, of whole characters."""
    matcher, text = Matcher(grammar, BYTES), b""
    for _ in range(chance.randint(0, 40)):
        allowed = [token for token in matcher.fill_mask().allowed if token < 256]
        if not allowed:
            break
        token = chance.choice(allowed)
        matcher.accept_token(token)
        text += bytes([token])
    return text.decode("utf-8", "ignore")


@laws
@given(schemas, st.booleans(), st.randoms(use_true_random=False))
def test_every_beginning_of_a_value_is_completed_to_one_that_fits(schema, one_line, chance):
    try:
        grammar = compiled(Rules(start=Json(schema, one_line=one_line)))
    except GrammarError:
        assume(False)
        raise
    text = walked(grammar, chance)
    whole = closed(text, grammar)
    assert whole is not None
    assert whole.startswith(text)
    assert is_allowed(whole, grammar)


@laws
@given(patterns.map(lambda shape: Rules(start=shape)) | st.sampled_from([*RECURSIVE.values()]), st.data())
def test_every_beginning_of_a_text_is_completed_by_as_little_as_it_lacks(rules, data):
    grammar = compiled(rules)
    text = sampled(rules, data.draw(st.randoms(use_true_random=False)))
    beginning = text[: data.draw(st.integers(0, len(text)))]
    whole = closed(beginning, grammar)
    assert whole is not None
    assert whole.startswith(beginning)
    assert is_allowed(whole, grammar)
    assert len(whole.encode()) <= len(text.encode())


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("", '{"name": "", "age": 40}'),
        ('{"name": "Ada', '{"name": "Ada", "age": 40}'),
        ('{"name": "Ada\\', '{"name": "Ada\\n", "age": 40}'),
        ('{"name": "Ada", "age": 3', '{"name": "Ada", "age": 300}'),
        ('{"name": "Ada", "age": 41', '{"name": "Ada", "age": 41}'),
        ('{"name": "Ada", "age": 41}', '{"name": "Ada", "age": 41}'),
        ('{"name": "Ada", "age": 39}', None),
        ('{"age": 41', None),
        ("Sure! {", None),
        ('{"name": "\ud800', None),
    ],
)
def test_what_is_lacking_is_added_and_nothing_is_changed(text, whole):
    assert closed(text, json_schema(PERSON)) == whole


def test_the_marks_of_a_format_are_text_where_there_is_no_vocabulary():
    tools = [{"type": "function", "function": {"name": "greet", "parameters": PERSON}}]
    grammar = get("hermes").grammar(tools, special_tokens={"<tool_call>": 1, "</tool_call>": 2}, prompt="")
    whole = closed('Hello.\n<tool_call>\n{"name": "greet", "arguments": {"name": "Ada', grammar)
    assert whole is not None
    (call,) = get("hermes").parse(whole, tools, prompt="").calls
    assert call.arguments == {"name": "Ada", "age": 40}


def test_a_text_is_closed_within_a_pattern():
    assert closed("2024-1", regex(r"\d{4}-(?:0[1-9]|1[0-2])-\d{2}")) == "2024-10-00"


def test_a_very_long_text_is_closed():
    grammar = json_schema({"type": "array", "items": {"type": "array", "items": {"type": "integer"}}}, max_items=10**6)
    text = "[" + "[1, 2, 3], " * 3000 + "[1"
    whole = closed(text, grammar)
    assert whole == text + "]]"
    assert len(json.loads(whole)) == 3001


def test_what_only_the_engine_knows_cannot_be_closed():
    with pytest.raises(GrammarError, match="budget"):
        closed("", lark('start: "a" %regex { "substring_chars": "abc" }'))
