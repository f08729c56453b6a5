import json
import random

import pytest
from gbnf_reader import Recogniser
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from notation_shapes import RECURSIVE, patterns, replies, text_of

from wieldy.core.errors import GrammarError
from wieldy.formats.notation import to_gbnf
from wieldy.formats.shape import Characters, Exact, InOrder, Json, Named, OneOf, Repeated, Rules, TextWithout, maybe


def accepts(rules, text):
    return Recogniser(to_gbnf(rules if isinstance(rules, Rules) else Rules(start=rules))).accepts(text)


@settings(max_examples=200, deadline=None)
@given(patterns | replies, st.integers())
def test_every_text_of_a_shape_is_accepted(shape, seed):
    rules = Rules(start=shape)
    try:
        grammar = to_gbnf(rules)
    except GrammarError as error:
        assume("may be empty" not in str(error))
        raise
    text = text_of(shape, rules, random.Random(seed))
    assert Recogniser(grammar).accepts(text), (grammar, text)
