import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wieldy.core.errors import GrammarError
from wieldy.formats.notation import to_lark
from wieldy.formats.shape import Characters, Exact, InOrder, Json, Named, OneOf, Repeated, Rules, TextWithout, maybe
from wieldy.grammar import Matcher, Tokenizer

from notation_shapes import RECURSIVE, patterns, replies, text_of

BYTES = Tokenizer.of_bytes()


def accepts(rules, text):
    matcher = Matcher(to_lark(rules if isinstance(rules, Rules) else Rules(start=rules)), BYTES)
    return matcher.accept_text(text) and matcher.is_accepting


@settings(max_examples=300, deadline=None)
@given(patterns, st.integers())
def test_every_text_of_a_shape_of_plain_patterns_is_accepted(shape, seed):
    rules = Rules(start=shape)
    text = text_of(shape, rules, random.Random(seed))
    assert accepts(rules, text), (to_lark(rules).lark, text)


@settings(max_examples=300, deadline=None)
@given(replies, st.integers())
def test_every_text_of_a_shape_with_json_between_literals_is_accepted(shape, seed):
    rules = Rules(start=shape)
    text = text_of(shape, rules, random.Random(seed))
    assert accepts(rules, text), (to_lark(rules).lark, text)


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(sorted(RECURSIVE)), st.integers())
def test_every_text_of_a_shape_that_contains_itself_is_accepted(name, seed):
    rules = RECURSIVE[name]
    text = text_of(rules.start, rules, random.Random(seed))
    assert accepts(rules, text), (to_lark(rules).lark, text)
