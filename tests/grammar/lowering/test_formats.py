"""Formats as expressions: what is written under them, validators take for that format."""

from __future__ import annotations

import random
from typing import Any

import jsonschema
import jsonschema_rs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wieldy.grammar.lowering.formats import CHECKED, FORMATS
from wieldy.grammar.lowering.languages import NOTHING, Language, after, first_characters, has_empty_text, is_empty


def sampled(language: Language, chance: random.Random) -> str | None:
    """A random text of the language; None if it got too long."""
    text = ""
    while len(text) < 200:
        ways = [(ranges, after(language, ranges[0][0])) for ranges in first_characters(language)]
        ways = [way for way in ways if way[1] != NOTHING]
        if has_empty_text(language) and (not ways or chance.random() < 0.25):
            return text
        ranges, language = chance.choice(ways)
        first, last = chance.choice(ranges)
        text += chr(chance.choice([first, last, chance.randint(first, last)]))
    return None


@pytest.mark.parametrize("name", sorted(FORMATS))
@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_what_is_written_under_a_format_is_of_that_format_to_every_validator(name: str, seed: int) -> None:
    known = FORMATS[name]
    text = sampled(known.language, random.Random(seed))
    if text is None or (known.most is not None and len(text) > known.most):
        return  # not written under this format
    schema: dict[str, Any] = {"format": name}
    assert jsonschema_rs.Draft202012Validator(schema, validate_formats=True).is_valid(text), text
    checker = jsonschema.Draft202012Validator.FORMAT_CHECKER
    assert jsonschema.Draft202012Validator(schema, format_checker=checker).is_valid(text), text


def test_formats_are_not_empty_and_none_is_both_written_and_left() -> None:
    assert not any(is_empty(known.language) for known in FORMATS.values())
    assert CHECKED.isdisjoint(FORMATS)
