"""Whether a text is an output, and texts made whole."""

from __future__ import annotations

import pytest

from wieldy.connect.models.backends.dialects import OPENAI
from wieldy.connect.models.backends.strict import strict_schema
from wieldy.connect.models.fitting import fits, made_whole
from wieldy.core.outputs import ChoiceOutput, JsonOutput, Output, PatternOutput

NUMBER = JsonOutput(schema={"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]})


@pytest.mark.parametrize(
    ("output", "good", "bad"),
    [
        (NUMBER, ['{"n": 1}', ' {"n": 1, "m": 2}'], ['{"n": "1"}', "[1]", "{", "", '```{"n": 1}```']),
        (ChoiceOutput(options=("a", "b")), ["a"], ["A", "a ", ""]),
        (PatternOutput(pattern="[a-z]+"), ["abc"], ["", "abc1"]),
        (PatternOutput(pattern="("), [], ["(", ""]),
        (JsonOutput(schema={"type": "text"}), [], ["1"]),
    ],
)
def test_a_text_fits_or_not(output: Output, good: list[str], bad: list[str]) -> None:
    assert all(fits(text, output) for text in good)
    assert not any(fits(text, output) for text in bad)


def test_a_text_is_made_whole_in_the_dialect_in_which_it_was_written() -> None:
    optional = JsonOutput(schema={"type": "object", "properties": {"n": {"type": "integer"}}})
    assert made_whole('{"n": nu', optional, strict_schema(optional.schema, OPENAI)) == '{"n": null}'
    assert made_whole('{"n": nu', optional, None) is None


def test_nothing_is_made_of_nothing() -> None:
    assert made_whole("", NUMBER, None) is None
    assert made_whole("  ", NUMBER, None) is None
