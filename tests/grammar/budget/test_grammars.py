"""Budgets hold for grammars that people write out: EBNF, GBNF, Lark, regular expressions, and parts put together."""

import random
import re
from functools import cache
from textwrap import dedent

import pytest
from budget_schemas import merged_tokens
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from reluctance import reluctant

from wieldy.core.errors import GrammarError
from wieldy.grammar.budget import Guard, minimum_tokens
from wieldy.grammar.combining import in_order, one_of, repeated
from wieldy.grammar.compiled import Grammar
from wieldy.grammar.constraints import grammar, json_schema, regex
from wieldy.grammar.matcher import Matcher
from wieldy.grammar.tokenizer import Tokenizer

VOCABULARIES = [Tokenizer.of_bytes(), merged_tokens()]

GRAMMARS = {
    "sums": grammar(
        r"""
        root ::= sum "=" number
        sum  ::= part (("+" | "-") part)*
        part ::= number | "(" sum ")"
        number ::= [0-9]{1,9}
        """
    ),
    "queries": grammar(
        dedent(r"""
        start: "SELECT " columns " FROM " NAME where? ";"
        columns: "*" | NAME (", " NAME)*
        where: " WHERE " condition
        condition: comparison | condition " AND " comparison | "(" condition ")"
        comparison: NAME " " OPERATOR " " value
        value: NUMBER | object | "'" TEXT "'" | "(" "SELECT " columns " FROM " NAME where? ")"
        OPERATOR: "=" | "<>" | "<="
        NAME: /[a-z][a-z_]{0,7}/
        NUMBER: /-?[0-9]+/
        TEXT: /[^']*/
        object: %json {"type": "object", "properties": {"a": {"type": "integer", "minimum": 40}}, "required": ["a"]}
        """)
    ),
    "moves": grammar(
        r"""
        root   ::= turn+ ("1-0" | "0-1" | "1/2-1/2")
        turn   ::= [1-9] [0-9]? ". " move " " move " "
        move   ::= (pawn | piece | castle) [+#]?
        piece  ::= [KQRBN] "x"? [a-h] [1-8]
        pawn   ::= ([a-h] "x")? [a-h] [1-8] ("=" [QRBN])?
        castle ::= "O-O" "-O"?
        """
    ),
    "lists in lists": grammar(
        r"""
        root ::= "[" (item ("," item)*)? "]"
        item ::= root | word
        word ::= [a-z]+
        """
    ),
    "telephone": regex(r"\+[1-9]\d{0,2} \(\d{2,4}\) \d{3}(?:-\d{2}){2}"),
    "identifier": regex(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"),
    "thoughts": repeated(
        in_order(
            "Thought: ",
            regex(r"[^\n]{1,80}"),
            "\n",
            one_of(
                in_order("Search: ", regex(r"[^\n]{1,40}")),
                in_order("Answer: ", json_schema({"type": ["null", "array"]})),
            ),
        ),
        at_least=2,
        at_most=5,
        between="\n",
    ),
}


@cache
def minimum_of(name: str, tokenizer: Tokenizer) -> int:
    return minimum_tokens(GRAMMARS[name], tokenizer)


@pytest.mark.parametrize("name", GRAMMARS)
@settings(deadline=None, max_examples=15, suppress_health_check=[HealthCheck.too_slow])
@given(tokenizer=st.sampled_from(VOCABULARIES), more=st.integers(0, 60), seed=st.integers())
def test_every_text_is_complete_within_every_budget(name, tokenizer, more, seed):
    constraint = GRAMMARS[name]
    minimum = minimum_of(name, tokenizer)
    guard = Guard(constraint, tokenizer, max_tokens=minimum + more)

    written = reluctant(guard, random.Random(seed), tokenizer)

    engine = Matcher(constraint, tokenizer)
    assert engine.accept_tokens(written) == len(written) <= minimum + more
    assert engine.is_accepting


def test_the_shortest_texts_are_known():
    texts = {}
    for name, constraint in GRAMMARS.items():
        guard = Guard(constraint, VOCABULARIES[0], max_tokens=200)
        texts[name] = bytes(guard.witness).decode()
    assert re.fullmatch(r"\d=\d", texts["sums"])
    assert re.fullmatch(r"SELECT . FROM [a-z];", texts["queries"])
    assert re.fullmatch(r"\d\. \w\w \w\w [01]-[01]", texts["moves"])
    assert texts["lists in lists"] == "[]"
    assert len(texts["telephone"]) == len("+1 (11) 111-11-11")
    assert len(texts["identifier"]) == 36
    assert texts["thoughts"].count("Thought: ") == 2


def test_what_is_repeated_and_may_begin_again_meanwhile_is_kept_at_every_step() -> None:
    chance, tokenizer = random.Random(1), Tokenizer.of_bytes()
    for pattern in (".*a.{200}b.*", "(?:[ab]*a[ab]{200}){1,5}", ".*a.{100,150}b"):
        guard = Guard(regex(pattern), tokenizer, max_tokens=450, max_repeated_bytes=None)
        written = bytearray()
        while not guard.is_finished and guard.remaining:
            guard.allows(ord("b"))
            written.append(guard.choose([ord(chance.choice("ab")), ord("a")]))
        assert re.fullmatch(pattern, written.decode())


@pytest.mark.parametrize(
    "grammar", [regex(".*a.{1000}b.*"), json_schema({"type": "string", "pattern": "a.{1000}b", "minLength": 3})]
)
def test_what_is_read_in_too_many_ways_at_once_is_refused_before_anything_is_written(grammar: Grammar) -> None:
    with pytest.raises(GrammarError, match="more than 300 ways at once"):
        Guard(grammar, Tokenizer.of_bytes(), max_tokens=5000)
    Guard(regex("a{1000}[ab]{2000}"), Tokenizer.of_bytes(), max_tokens=3000)
