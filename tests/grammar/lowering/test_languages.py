"""Regular sets of texts: what is in them, whether they are empty, and how they are written."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wieldy.core.errors import GrammarError
from wieldy.grammar.lowering.expressions import language_of
from wieldy.grammar.lowering.languages import (
    ANYTHING,
    NOTHING,
    Language,
    both,
    contains,
    either,
    is_empty,
    length,
    literal,
    of_shape,
    other,
    row,
    times,
)
from wieldy.grammar.lowering.written import pattern, patterns
from wieldy.grammar.shape import Named, Shape, TextWithout

texts = st.text("ab\n é😀", max_size=5)
expressions = st.sampled_from(
    [
        "^a",
        "b$",
        "^[ab]*$",
        "a|b",
        "^$",
        "^(?:ab)+$",
        "[^a]",
        "^.{2,3}$",
        "é|😀",
        "^a?b?$",
        "^(?!a)",
        "^(?=.*b)a",
        "b(?!a)",
    ]
)


def languages() -> st.SearchStrategy[Language]:
    return st.recursive(
        expressions.map(language_of) | texts.map(literal) | st.just(length(1, 3)),
        lambda inner: (
            st.tuples(inner, inner).map(lambda two: both(*two))
            | st.tuples(inner, inner).map(either)
            | inner.map(other)
            | st.tuples(inner, inner).map(lambda two: row(*two))
            | inner.map(lambda part: times(part, 0, 2))
        ),
        max_leaves=4,
    )


@settings(max_examples=200, deadline=None)
@given(languages(), languages(), texts)
def test_and_or_and_not_mean_what_they_say(one: Language, two: Language, text: str) -> None:
    assert contains(both(one, two), text) == (contains(one, text) and contains(two, text))
    assert contains(either((one, two)), text) == (contains(one, text) or contains(two, text))
    assert contains(other(one), text) != contains(one, text)
    cuts = range(len(text) + 1)
    assert contains(row(one, two), text) == any(contains(one, text[:at]) and contains(two, text[at:]) for at in cuts)


@settings(max_examples=150, deadline=None)
@given(languages(), texts)
def test_a_language_is_written_as_an_expression_that_matches_the_same(language: Language, text: str) -> None:
    written = pattern(language)
    found, is_exact = patterns(language)
    if written is not None:
        assert (re.search(_for_python(written), text) is not None) == contains(language, text)
    matches = all(re.search(_for_python(one), text) for one in found)
    assert matches == contains(language, text) if is_exact else matches or not contains(language, text)


def _for_python(written: str) -> str:
    """Python's `$` also matches before a line break at the end, as no JSON Schema means it."""
    return written.replace("[]", "[^\\x00-\\U0010ffff]").removesuffix("$") + "\\Z" if written else written


@settings(max_examples=150, deadline=None)
@given(languages(), st.lists(texts, max_size=5))
def test_a_language_that_is_empty_has_no_text(language: Language, some: list[str]) -> None:
    if is_empty(language):
        assert not any(contains(language, text) for text in some)
    assert is_empty(both(language, other(language))) in (True, None)


@settings(max_examples=200, deadline=None)
@given(expressions, texts)
def test_an_expression_is_read_as_python_reads_it(expression: str, text: str) -> None:
    assert contains(language_of(expression), text) == (re.search(expression.replace("$", "\\Z"), text) is not None)


@pytest.mark.parametrize(
    "expression", ["^((?!a).)*$", "(?<=a)b", r"\bfoo", r"(a)\1", "^(?!a)*b", "(?=a", "(?!", "^(?=[)a", "[", "a{2,1}"]
)
def test_an_expression_that_is_not_enforced_is_an_error(expression: str) -> None:
    with pytest.raises(GrammarError):
        language_of(expression)


def test_white_space_is_read_narrowly_and_under_a_not_widely() -> None:
    narrow, wide = language_of(r"^\s$"), language_of(r"^\s$", is_wide=True)
    assert contains(narrow, " ")
    assert not contains(narrow, "\u00a0")
    assert contains(wide, "\u00a0")
    blank = language_of(r"^(?!\s*$).+")
    assert not contains(blank, " \u00a0")
    assert contains(language_of(r"^[\sx]$", is_wide=True), "\u2003")


@pytest.mark.parametrize("shape", [TextWithout(("a",)), Named("x")])
def test_a_shape_that_is_no_expression_is_an_error(shape: Shape) -> None:
    with pytest.raises(GrammarError, match="Expected the shape of a regular expression"):
        of_shape(shape)


def test_a_language_whose_automaton_is_large_is_not_written() -> None:
    large = both(language_of("^[a-z]+@[a-z]+$"), length(100, 200))
    assert pattern(large) is None
    found, is_exact = patterns(row(literal("x"), large))
    assert not is_exact
    assert found
    assert pattern(NOTHING) is not None
    assert pattern(ANYTHING) == ""
