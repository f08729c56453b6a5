"""What shapes allow, seen through a grammar."""

from itertools import combinations

import pytest

from wieldy.grammar import Matcher, Tokenizer
from wieldy.grammar.compiled import compiled
from wieldy.grammar.shape import Exact, Rules, Shape, in_order

BYTES = Tokenizer.of_bytes()


def accepts(shape: Shape, text: str) -> bool:
    matcher = Matcher(compiled(Rules(start=shape)), BYTES)
    return all(matcher.accept_token(byte) for byte in text.encode()) and matcher.is_accepting


@pytest.mark.parametrize("gap", ["", ","])
@pytest.mark.parametrize("required", ["", "a", "c", "d", "bd", "abcd"])
def test_parts_come_in_order_and_those_that_are_not_required_may_be_missing(required: str, gap: str) -> None:
    shape = in_order([(Exact(letter), letter in required) for letter in "abcd"], Exact(gap) if gap else None)

    for count in range(5):
        for letters in combinations("abcd", count):
            assert accepts(shape, gap.join(letters)) is (set(required) <= set(letters))
    assert not accepts(shape, gap.join("aa"))
    assert not accepts(shape, gap.join("ba"))
    assert not accepts(shape, ",")


def test_many_optional_parts_make_a_small_shape() -> None:
    shape = in_order([(Exact(f"<{number}>"), False) for number in range(40)], Exact(","))

    assert accepts(shape, "<3>,<17>,<39>")
    assert len(repr(shape)) < 200_000
