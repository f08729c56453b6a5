"""What programs give to the processors is taken or is an error of ours that can be printed; no tensors are needed."""

import math
from collections.abc import Callable
from typing import Any

import pytest

from wieldy.connect.models.processors import ConstraintProcessor, NumpyProcessor
from wieldy.core.errors import UsageError
from wieldy.grammar import Tokenizer, choice

BYTES = Tokenizer.of_bytes()
WORDS = choice(["ab", "c"])
DOORS: dict[str, Callable[[Any], object]] = {
    "constraint": lambda found: ConstraintProcessor(found, BYTES),
    "constraint of a prompt": lambda found: ConstraintProcessor([WORDS, found], BYTES, max_tokens=5),
    "tokenizer": lambda found: ConstraintProcessor(WORDS, found),
    "max_tokens": lambda found: ConstraintProcessor(WORDS, BYTES, max_tokens=found),
    "max_tokens of a prompt": lambda found: ConstraintProcessor([WORDS], BYTES, max_tokens=[found]),
    "grammar of numpy's": lambda found: NumpyProcessor(found, BYTES),
    "tokenizer of numpy's": lambda found: NumpyProcessor(WORDS, found),
    "max_tokens of numpy's": lambda found: NumpyProcessor(WORDS, BYTES, max_tokens=found),
}
VALUES = [5, 1.5, math.nan, b"a", "\ud800", "x" * 100_000, object(), int, {"a": 5}, [5], 10**5000]


@pytest.mark.parametrize("door", DOORS.values(), ids=DOORS)
def test_what_is_of_a_wrong_kind_is_an_error_that_says_so(door: Callable[[Any], object]) -> None:
    refused = 0
    for found in VALUES:
        try:
            door(found)
        except UsageError as error:
            refused += len(str(error).encode()) < 2000
    assert refused >= len(VALUES) - 2  # five tokens are a budget, and so are they for one prompt


def test_a_prompt_may_be_free() -> None:
    assert ConstraintProcessor([None, WORDS], BYTES, max_tokens=5).rows[0] is None
