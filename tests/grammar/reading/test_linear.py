"""Rules that repeat themselves at one end become repetitions, and allow the same texts."""

import random

import pytest
from gbnf_reader import Recogniser
from hypothesis import given, settings
from hypothesis import strategies as st
from notation_shapes import changed, sampled

from wieldy.core.errors import GrammarError
from wieldy.grammar import Matcher, Tokenizer, grammar
from wieldy.grammar.naming import recursive_names
from wieldy.grammar.notation import to_gbnf
from wieldy.grammar.shape import Exact, InOrder, Rules, TextWithout

BYTES = Tokenizer.of_bytes()
NAMES = "xyz"


@st.composite
def linear_grammars(draw: st.DrawFn) -> str:
    """Rules whose alternatives are texts, with another rule behind some, and with an end that each rule has."""
    texts = st.text("ab<", min_size=1, max_size=2).map(lambda text: f'"{text}"')
    lines: list[str] = []
    for name in NAMES:
        options = [" ".join([draw(texts), draw(st.sampled_from(["", *NAMES]))]) for _ in range(draw(st.integers(1, 3)))]
        lines.append(f"{name} ::= {' | '.join([draw(texts), *options])}")
    return "\n".join(lines)


def accepts(text: str, candidate: str) -> bool:
    matcher = Matcher(grammar(text), BYTES)
    return matcher.accept_text(candidate) and matcher.is_accepting


@settings(max_examples=60, deadline=None)
@given(text=linear_grammars(), seed=st.integers(0, 2**32 - 1))
def test_rules_that_end_with_rules_are_repetitions(text: str, seed: int) -> None:
    found, chance = grammar(text).rules, random.Random(seed)
    assert found is not None
    assert recursive_names(found) == frozenset()
    recogniser = Recogniser(to_gbnf(Rules(start=found.start, named=found.named)))
    original = Recogniser("root ::= x\n" + text)

    for _ in range(4):
        written = sampled(found, chance)
        assert original.accepts(written)
        for candidate in (written, changed(written, chance)):
            assert recogniser.accepts(candidate) is original.accepts(candidate)
            assert accepts(text, candidate) is original.accepts(candidate)


@pytest.mark.parametrize(
    ("text", "accepted", "refused"),
    [
        ('x ::= x "a" | "b"', ["b", "baa"], ["", "ab", "a"]),
        ('x ::= y "a" | "b"\ny ::= x "c" | y "d" | "e"', ["b", "ea", "eda", "bca", "bcdacda"], ["ba", "ed"]),
        ('x ::= ("a" x)?', ["", "aa"], ["b"]),
        ('x ::= "a" x | "b" x x | "c"', ["c", "bcac", "abcbcc"], ["ab", "b"]),
        ('x ::= "(" x ")" y | "z"\ny ::= "," y | ""', ["z", "(z),,", "((z),)"], ["(z", "z,"]),
    ],
)
def test_rules_at_either_end_and_in_the_middle(text: str, accepted: list[str], refused: list[str]) -> None:
    assert [candidate for candidate in accepted if not accepts(text, candidate)] == []
    assert [candidate for candidate in refused if accepts(text, candidate)] == []


@pytest.mark.parametrize("text", ['x ::= "a" x', 'x ::= y "a"\ny ::= "b" (y | x)+', "x ::= x"])
def test_a_rule_that_never_ends_is_refused(text: str) -> None:
    with pytest.raises(GrammarError, match="'x' never ends"):
        grammar(text)


def test_text_without_a_longer_marker_is_read_from_rules_as_large_as_it_needs() -> None:
    text = to_gbnf(Rules(start=InOrder((TextWithout(("</tool_call>",)), Exact("</tool_call>")))))

    for accepted in ("</tool_call>", "a</tool_calls></tool_call>", "</tool_</</tool_call>"):
        assert accepts(text, accepted)
    for refused in ("", "</tool_call>a", "</tool_call></tool_call>", "</tool_call"):
        assert not accepts(text, refused)
