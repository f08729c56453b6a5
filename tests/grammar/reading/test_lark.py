"""Lark as llguidance has it: what is read says the same as what the engine enforces."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from notation_shapes import changed, sampled

from wieldy.core.errors import GrammarError
from wieldy.grammar import Grammar, Matcher, Tokenizer, lark
from wieldy.grammar.compiled import compiled
from wieldy.grammar.reading.lark import with_ids

BYTES = Tokenizer.of_bytes()

READ = {
    "rules": 'start: greeting " " name ("," " " name)*\ngreeting: "hi" | "ab<"i\nname: /[a-b][5-z]{1,8}/ | "X"\n',
    "terminals": 'start: (NUMBER | "-" NUMBER | [word])+ "."\nNUMBER: D+ ("." D~2)?\nD: "0".."9"\nword: /ab?/i\n',
    "counts": 'start: "a"{2} "b"{1,3} "c"~1..2 "d"? // comment\n  | other -> name\n# another\nother: "(" other? ")"\n',
    "indented": '\n  start: "a" other?\n    | "b"\n  ?other : "-" NAME\n  NAME: /[ab]/\n',
    "escapes": r'start: "\"\\\n\u00e9\x41" /\/[^\/]\d/',
    "json": 'start: "<" obj ">"\nobj: %json {"type": "array", "items": {"type": "integer"}}\n',
    "arithmetic": 'start: sum\nsum: part | sum ("+"|"-") part\npart: atom | part "*" atom\natom: /\\d+/ | "(" sum ")"',
}
"""Grammars whose characters random texts have, too."""


def accepts(found: Grammar, text: str) -> bool:
    matcher = Matcher(found, BYTES)
    return matcher.accept_text(text) and matcher.is_accepting


@pytest.mark.parametrize("text", READ.values(), ids=READ)
@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_what_is_read_allows_what_the_engine_allows(text: str, seed: int) -> None:
    found, chance = lark(text), random.Random(seed)
    assert found.rules is not None
    again = compiled(found.rules)

    for _ in range(4):
        written = sampled(found.rules, chance)
        assert "%json" in text or accepts(again, written)
        for candidate in (written, changed(written, chance)):
            # Endless white space between values of JSON is allowed by the engine alone.
            assert not accepts(found, candidate) or "%json" in text or accepts(again, candidate), candidate
            # A terminal takes all that it can and gives nothing back to what follows.
            assert not accepts(again, candidate) or names[text] == "terminals" or accepts(found, candidate), candidate


names = {text: name for name, text in READ.items()}


@pytest.mark.parametrize(
    "text",
    [
        'start: "a" "b"\n%ignore /[ ]+/',
        "%import common.INT\nstart: INT",
        "start: A\nA: /a/ & ~/b/\n",
        'start[max_tokens=5]: "a"*',
        "start: <[256]>",
        r"start: /\p{L}+/",
        r"start: /(?P<x>a)+?/",
        'start: %regex { "substring_words": "a b" }',
    ],
)
def test_what_is_not_read_is_enforced_all_the_same_if_the_engine_knows_it(text: str) -> None:
    found = lark(text)
    Matcher(found, BYTES).fill_mask()

    if "?P<x>" in text:
        assert found.rules is not None
        return
    assert found.rules is None
    with pytest.raises(GrammarError, match="engine's own dialect"):
        found.followed_by("x")


def test_special_tokens_are_found_by_their_name_but_not_in_texts() -> None:
    tokenizer = Tokenizer([*BYTES.tokens, b"<tool_call>"], end_token=256, special_tokens={"<tool_call>": 257})
    text = 'start: <tool_call> "<tool_call>" /<tool_call>/ // <tool_call>\n'
    found = lark(text, special_tokens=tokenizer.special_tokens)

    matcher = Matcher(found, tokenizer)
    assert matcher.accept_tokens([257, *b"<tool_call><tool_call>"]) == 23
    assert matcher.is_accepting
    assert found.rules is not None
    again = Matcher(compiled(found.rules, special_tokens=found.special_tokens), tokenizer)
    assert again.accept_tokens([257, *b"<tool_call><tool_call>"]) == 23
    with pytest.raises(GrammarError, match="names <tool_call>"):
        with_ids(text, {})


@pytest.mark.parametrize("text", ["", "start: missing", "start: /[/", 'start: "\ud800"', "x" * 100_000, 'start: "\\q"'])
def test_text_that_is_no_grammar_is_refused_in_few_words(text: str) -> None:
    with pytest.raises(GrammarError) as caught:
        lark(text)
    assert len(str(caught.value)) < 1000
