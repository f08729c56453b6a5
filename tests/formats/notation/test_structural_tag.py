import json
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from notation_shapes import RECURSIVE, patterns, replies, text_of

from wieldy.core.errors import GrammarError
from wieldy.formats.notation import to_structural_tag
from wieldy.formats.shape import Characters, Exact, InOrder, Json, Named, OneOf, Repeated, Rules, TextWithout, maybe


@pytest.fixture(scope="module")
def accepts():
    """Whether xgrammar's own matcher takes the text as a whole; one token a byte."""
    xgrammar = pytest.importorskip("xgrammar", reason="xgrammar is not installed: pip install xgrammar")
    tokens = [chr(byte) if byte < 128 else f"<0x{byte:02X}>" for byte in range(256)]
    vocabulary = xgrammar.TokenizerInfo([*tokens, "</s>"], xgrammar.VocabType.BYTE_FALLBACK, stop_token_ids=[256])
    compiler = xgrammar.GrammarCompiler(vocabulary, cache_enabled=False)

    def accepts(rules, text):
        rules = rules if isinstance(rules, Rules) else Rules(start=rules)
        grammar = compiler.compile_structural_tag(json.dumps(to_structural_tag(rules)))
        matcher = xgrammar.GrammarMatcher(grammar, terminate_without_stop_token=True)
        return matcher.accept_string(text) and matcher.is_completed()

    return accepts


@settings(max_examples=200, deadline=None)
@given(patterns | replies, st.integers())
def test_every_text_of_a_shape_is_accepted(accepts, shape, seed):
    rules = Rules(start=shape)
    text = text_of(shape, rules, random.Random(seed))
    assert accepts(rules, text), (to_structural_tag(rules), text)
