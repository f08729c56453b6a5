"""Where a text stands within a grammar."""

import pytest

from wieldy.core.errors import GrammarError
from wieldy.grammar import Matcher, Tokenizer, lark

BYTES = Tokenizer.of_bytes()


def test_a_grammar_that_is_too_much_for_the_engine_is_an_error_and_no_refusal():
    grammar = lark("start: " + " | ".join(f'"a" "{number}"' for number in range(21_000)))

    with pytest.raises(GrammarError, match="gave up"):
        Matcher(grammar, BYTES).accept_text("a1")

    with pytest.raises(GrammarError, match="gave up"):
        Matcher(grammar, BYTES).accept_token(ord("a"))


def test_a_refused_text_changes_nothing():
    matcher = Matcher(lark('start: "ab" "c"'), BYTES)

    assert not matcher.accept_text("abd")
    assert matcher.accept_text("abc")
    assert matcher.is_accepting
    assert not matcher.accept_token(97)
