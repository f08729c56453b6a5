"""Patterns that know when they cannot tell yet."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wieldy.formats.pattern import SPACE, Either, End, Group, Part, Pattern, Run, Scanner
from wieldy.formats.source import Source

PATTERNS: list[tuple[Part, ...]] = [
    ("[", "ab", "("),
    ("ab", Either((("b",), ("bc",), ()))),
    (SPACE, Group("name", (Run("a-c", at_most=3),)), SPACE, "="),
    (Either((("a", "b"), ("abc",))), SPACE, End()),
    (Run("ab", at_least=2, at_most=3), ")"),
]


def looked(
    parts: tuple[Part, ...], text: str, size: int, *, unless: tuple[Part, ...] | None = None
) -> re.Match[str] | None:
    """The answer to a text that comes in pieces of this size; the pattern is asked again after each."""
    source, pattern = Source(), Pattern(parts, unless=None if unless is None else Pattern(unless))
    reading = pattern.look(source)
    try:
        next(reading)
        for start in range(0, len(text), size):
            source.push(text[start : start + size])
            next(reading)
        source.ended = True
        next(reading)
    except StopIteration as end:
        return end.value
    raise AssertionError("the pattern waits although the text has ended")


@pytest.mark.parametrize("parts", PATTERNS)
@given(text=st.text("abc[( =)\n", max_size=8), size=st.integers(1, 8))
def test_the_answer_is_the_same_however_the_text_is_cut(parts: tuple[Part, ...], text: str, size: int) -> None:
    def answer(size: int) -> str | None:
        found = looked(parts, text, size)
        return found.group() if found else None

    assert answer(size) == answer(len(text) or 1)


@given(text=st.text("abc", max_size=5), size=st.integers(1, 5))
def test_a_pattern_does_not_match_where_its_exception_does(text: str, size: int) -> None:
    found = looked((Run("ab", at_most=3),), text, size, unless=("ab", Either((("b",), ("c",)))))

    assert bool(found) == (text[:1] in ("a", "b") and not text.startswith(("abb", "abc")))
    if found:
        assert found.group() == re.match("[ab]{1,3}", text).group()


def test_a_pattern_that_ends_with_one_character_waits_for_it() -> None:
    source = Source()
    reading = Pattern(("ab", "(")).look(source)
    next(reading)
    source.push("ab")
    next(reading)
    source.push("(")

    with pytest.raises(StopIteration) as end:
        next(reading)

    assert end.value.value.group() == "ab("


@given(st.lists(st.text("ab<", min_size=1, max_size=3), min_size=1, max_size=3), st.text("ab<c", max_size=12))
def test_a_scanner_finds_the_first_literal(literals: list[str], text: str) -> None:
    source = Source()
    source.push(text)
    source.ended = True

    found = Scanner(literals).find(source, 0)

    first = min((text.find(literal) for literal in literals if literal in text), default=-1)
    assert found == ((first, True) if first >= 0 else (len(text), False))
