"""Constraints put together allow what their parts allow, in the way in which they were put together."""

import random
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from notation_shapes import changed, sampled

from wieldy.core.errors import GrammarError
from wieldy.grammar import (
    Grammar,
    Matcher,
    Tokenizer,
    choice,
    grammar,
    in_order,
    json_schema,
    lark,
    one_of,
    optional,
    regex,
    repeated,
)

BYTES = Tokenizer.of_bytes()
NUMBERS = ["[0-9]{1,3}", "a|bc", "(x?y)*", "é+", ""]
"""Regular expressions, so that the whole can be said as one as well."""

parts = st.sampled_from(NUMBERS)


def accepts(found: Grammar, text: str) -> bool:
    matcher = Matcher(found, BYTES)
    return matcher.accept_text(text) and matcher.is_accepting


@settings(max_examples=80, deadline=None)
@given(
    first=parts,
    second=parts,
    literal=st.sampled_from(["", "a", "-", "<"]),
    least=st.integers(0, 2),
    more=st.none() | st.integers(0, 2),
    seed=st.integers(0, 2**32 - 1),
)
def test_what_is_put_together_is_what_the_whole_expression_matches(
    first: str, second: str, literal: str, least: int, more: int | None, seed: int
) -> None:
    most = None if more is None else least + more
    count = f"{{{least},{'' if most is None else most}}}"
    middle, chance = re.escape(literal), random.Random(seed)
    wholes = [
        (in_order(regex(first), literal, regex(second)), f"(?:{first}){middle}(?:{second})"),
        (one_of(regex(first), literal, regex(second)), f"{first}|{middle}|{second}"),
        (repeated(regex(first), at_least=least, at_most=most), f"(?:{first}){count}"),
        (optional(in_order(literal, regex(second))), f"(?:{middle}(?:{second}))?"),
    ]

    for found, expression in wholes:
        assert found.rules is not None
        written = sampled(found.rules, chance)
        assert re.fullmatch(expression, written, re.ASCII)
        for candidate in (written, changed(written, chance), "", literal):
            assert accepts(found, candidate) is bool(re.fullmatch(expression, candidate, re.ASCII)), candidate


def test_between_stands_between_two() -> None:
    found = repeated(choice(["a", "b"]), at_least=1, at_most=3, between=regex(", ?"))

    assert all(accepts(found, text) for text in ("a", "a,b", "a, b,a"))
    assert not any(accepts(found, text) for text in ("", "a,", ",a", "a,b,a,b", "ab"))


def test_rules_of_one_name_stay_what_they_are() -> None:
    brackets = grammar('root ::= "(" inner ")"\ninner ::= "x" | "(" inner ")"')
    braces = grammar('root ::= "{" inner "}"\ninner ::= "y" | "{" inner "}"')

    assert (rules := in_order(brackets, braces, braces).rules) is not None
    assert list(rules.named) == ["inner", "inner_2", "inner_3"]
    assert (rules := in_order(brackets, brackets).rules) is not None
    assert list(rules.named) == ["inner"]
    assert accepts(in_order(brackets, braces, brackets), "((x)){{y}}(x)")
    assert not accepts(in_order(brackets, braces), "(y){y}")
    assert accepts(in_order(braces, in_order(brackets, braces)), "{y}((x)){{{y}}}")


def test_any_constraint_is_a_part() -> None:
    found = in_order(
        "Thought: ",
        regex(r"[^\n]{1,20}"),
        "\n",
        one_of(
            in_order("Action: ", choice(["search", "stop"])),
            in_order("Answer: ", json_schema({"type": "object", "properties": {"n": {"type": "integer"}}})),
        ),
        optional(lark('start: "!"+')),
    )

    assert accepts(found, "Thought: hm\nAction: stop!!")
    assert accepts(found, 'Thought: hm\nAnswer: {"n": 5}')
    assert not accepts(found, "Thought: \nAction: stop")
    assert not accepts(found, "Thought: hm\nAction: stop?")


def test_special_tokens_of_parts_are_kept_and_must_agree() -> None:
    tokenizer = Tokenizer([*BYTES.tokens, b"<x>"], end_token=256, special_tokens={"<x>": 257})
    marked = grammar("root ::= <x>", special_tokens={"<x>": 257})

    matcher = Matcher(in_order(repeated(marked, at_least=2, at_most=2), "a"), tokenizer)
    assert matcher.accept_tokens([257, 257, 97]) == 3
    with pytest.raises(GrammarError, match="different vocabularies: <x> is 5"):
        in_order(marked, grammar("root ::= <x>", special_tokens={"<x>": 5}))


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (one_of, "at least one part"),
        (lambda: repeated("a", at_least=3, at_most=1), "counts in order"),
        (lambda: repeated("a", at_least=-1), "counts in order"),
        (lambda: in_order("a", lark('start: "a"\n%ignore / +/')), "engine's own dialect"),
    ],
)
def test_what_cannot_be_put_together_is_refused(make, said: str) -> None:
    with pytest.raises(GrammarError, match=said):
        make()
