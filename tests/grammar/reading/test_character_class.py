import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wieldy.core.errors import GrammarError
from wieldy.grammar.reading.character_class import character_class

CLASSES = [
    "a-zA-Z0-9_",
    '^"\\\\',
    "^<",
    r"\w\-.",
    r"\d\s",
    r"\x41-\x43\u00e9",
    "-a",
    "a-",
    r"\]\[\^",
    r"^\n\r",
    "é-ü😀",
    r"\D",
    r"^\W\d",
]


@given(st.sampled_from(CLASSES), st.characters(codec="utf-8") | st.sampled_from('aZ09_-^][\\"<.\n\r\t éA😀'))
def test_a_class_holds_what_a_regular_expression_of_it_matches(allowed, character):
    assert (character in character_class(allowed)) is bool(re.match(f"[{allowed}]", character, re.ASCII))


@given(st.sampled_from(CLASSES), st.characters(codec="utf-8"))
def test_a_class_printed_and_read_again_is_the_same(allowed, character):
    printed = character_class(allowed).text(lambda bound: f"\\x{{{ord(bound):X}}}")
    assert (character in character_class(printed[1:-1])) is (character in character_class(allowed))


@pytest.mark.parametrize("allowed", ["", "^", "\\p{L}", "a\\", "z-a", "\\x{D800}", "\\x{FFFFFF}", "\\b", "\\1"])
def test_what_not_every_engine_reads_is_refused(allowed):
    with pytest.raises(GrammarError, match=r"\w"):
        character_class(allowed)
