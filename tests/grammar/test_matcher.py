"""Where a text stands within a grammar."""

import random
from array import array

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wieldy.core.errors import GrammarError, UsageError
from wieldy.grammar import Grammar, Matcher, Tokenizer, choice, fill_masks, json_schema, lark

BYTES = Tokenizer.of_bytes()
PIECES = Tokenizer(
    [*(bytes([value]) for value in range(256)), b"<end>", b"<call>", b"<stop>", b"ab", b'{"', b'": ', b"", b"<never>"],
    end_token=["<end>", "<stop>"],
    special_tokens={"<end>": 256, "<call>": 257, "<stop>": 258, "<never>": 263},
)
"""264 tokens: with the engine's own one more than 32 go into whole words."""
WORDS = Tokenizer([*(bytes([value]) for value in range(255)), b"<end>"], end_token=255)
"""256 tokens: with the engine's own one more, a word more."""
GRAMMARS = [
    choice(["ab", "abc", "b"]),
    json_schema({"type": "object", "properties": {"ab": {"type": "integer"}}, "required": ["ab"]}),
    lark('start: "a" <[257]> /[ab]*/ (<[256]> "b")?'),
    lark("start: /(ab|c)*/"),
]
grammars = pytest.mark.parametrize("grammar", GRAMMARS, ids=["choice", "json", "special tokens", "run"])
seeds = st.integers(0, 2**32 - 1)


def walked(grammar: Grammar, chance: random.Random) -> tuple[Matcher, list[int]]:
    """A matcher some allowed tokens into its grammar, and these tokens."""
    matcher, taken = Matcher(grammar, PIECES), list[int]()
    for _ in range(chance.randint(0, 8)):
        token = chance.choice(matcher.fill_mask().allowed)
        assert matcher.accept_token(token)
        taken.append(token)
    return matcher, taken


@grammars
@settings(max_examples=40, deadline=None)
@given(seed=seeds)
def test_the_mask_allows_what_is_accepted_and_of_a_text_that_must_come_one_spelling(
    grammar: Grammar, seed: int
) -> None:
    matcher, _ = walked(grammar, random.Random(seed))
    mask, forced = matcher.fill_mask(), matcher.forced_tokens

    accepted = [token for token in range(-1, len(PIECES) + 40) if matcher.copy().accept_token(token)]
    assert [token for token in range(-1, len(PIECES) + 40) if matcher.validate([token])] == accepted
    assert [token for token in range(-1, len(PIECES) + 40) if mask.allows(token)] == mask.allowed
    assert mask.allowed == (forced[:1] or accepted)
    assert set(mask.allowed) <= set(accepted)
    assert matcher.fill_mask() == mask
    assert [end for end in PIECES.end_tokens if mask.allows(end)] == [
        end for end in PIECES.end_tokens if matcher.is_accepting or end in mask.allowed
    ]


@grammars
@settings(max_examples=60, deadline=None)
@given(seed=seeds, others=st.lists(st.sampled_from([*b'abc{"', 256, 257, 258, 259, 260, 300, -5]), max_size=6))
def test_validating_says_how_far_accepting_would_come(grammar: Grammar, seed: int, others: list[int]) -> None:
    chance = random.Random(seed)
    matcher, taken = walked(grammar, chance)
    start = chance.randint(0, len(taken))
    mask = matcher.fill_mask()

    one_by_one = matcher.copy()
    count = next((index for index, token in enumerate(others) if not one_by_one.accept_token(token)), len(others))

    assert matcher.validate(others) == count
    assert matcher.fill_mask() == mask
    again = Matcher(grammar, PIECES)
    assert again.accept_tokens(taken[:start]) == start
    assert again.accept_tokens([*taken[start:], *others]) == len(taken) - start + count
    assert again.fill_mask() == one_by_one.fill_mask()
    assert (again.is_accepting, again.is_finished) == (one_by_one.is_accepting, one_by_one.is_finished)


@grammars
@settings(max_examples=60, deadline=None)
@given(seed=seeds)
def test_going_back_is_as_if_never_gone(grammar: Grammar, seed: int) -> None:
    chance = random.Random(seed)
    matcher, taken = walked(grammar, chance)
    kept = chance.randint(0, len(taken))
    shorter = Matcher(grammar, PIECES)
    assert shorter.accept_tokens(taken[:kept]) == kept

    matcher.rollback(len(taken) - kept)

    assert matcher.fill_mask() == shorter.fill_mask()
    assert (matcher.is_accepting, matcher.is_finished) == (shorter.is_accepting, shorter.is_finished)
    for again in (matcher.copy(), matcher):
        with pytest.raises(GrammarError, match=f"Cannot go back {kept + 1} tokens: {kept} were taken"):
            again.rollback(kept + 1)  # and nothing has changed
        assert again.fill_mask() == shorter.fill_mask()
        assert again.accept_tokens(taken[kept:]) == len(taken) - kept


@pytest.mark.parametrize("tokenizer", [BYTES, PIECES, WORDS], ids=["257 tokens", "264 tokens", "256 tokens"])
@pytest.mark.parametrize("words", [1, 8, 9, 10, 40])
def test_a_row_of_any_width_says_what_the_mask_says(tokenizer: Tokenizer, words: int) -> None:
    matcher = Matcher(choice(["ab", "a"]), tokenizer)
    for token in [ord("a"), tokenizer.end_token]:
        row = array("i", [-1] * words)

        matcher.fill_mask_into(row)

        mask, bits = matcher.fill_mask(), memoryview(row).cast("B")
        allowed = [index for index in range(words * 32) if bits[index >> 3] >> (index & 7) & 1]
        assert allowed == [index for index in mask.allowed if index < words * 32]
        assert matcher.accept_token(token)


@settings(max_examples=40, deadline=None)
@given(seed=seeds, words=st.sampled_from([8, 9, 12]))
def test_masks_of_a_batch_are_those_of_each(seed: int, words: int) -> None:
    chance = random.Random(seed)
    matchers = [walked(chance.choice(GRAMMARS), chance)[0] for _ in range(chance.randint(1, 5))]
    rows = memoryview(array("i", [-1] * words * (len(matchers) + 1))).cast("B").cast("i", (len(matchers) + 1, words))

    fill_masks(matchers, rows)

    for index, matcher in enumerate(matchers):
        row = array("i", [0] * words)
        matcher.fill_mask_into(row)
        assert rows.tolist()[index] == row.tolist()


def test_rows_that_cannot_be_filled_are_refused() -> None:
    matcher = Matcher(choice(["a"]), BYTES)
    for row in (bytes(36), bytearray(35), memoryview(bytearray(80))[::2]):
        with pytest.raises(UsageError, match="whole 32-bit words"):
            matcher.fill_mask_into(row)
    two = memoryview(bytearray(72)).cast("i", (2, 9))
    with pytest.raises(UsageError, match="a row for each of 3 matchers"):
        fill_masks([matcher] * 3, two)
    with pytest.raises(UsageError, match="a row for each"):
        fill_masks([matcher], bytearray(36))
    with pytest.raises(UsageError, match="same vocabulary"):
        fill_masks([matcher, Matcher(choice(["a"]), PIECES)], two)
    fill_masks([], two)


@grammars
def test_a_matcher_may_stand_in_several_rows(grammar: Grammar) -> None:
    matcher, other = Matcher(grammar, PIECES), Matcher(grammar, PIECES)
    assert other.accept_token(other.fill_mask().allowed[0])
    rows = memoryview(bytearray(5 * 36)).cast("B").cast("i", (5, 9))
    fill_masks([matcher, other, matcher, matcher, other], rows)
    masks = [bytes(rows)[row * 36 : (row + 1) * 36] for row in range(5)]
    alone, others = matcher.fill_mask().bits, other.fill_mask().bits
    assert masks == [alone, others, alone, alone, others]


def test_forced_tokens_can_all_be_taken() -> None:
    for grammar in GRAMMARS:
        matcher = Matcher(grammar, PIECES)
        forced = matcher.forced_tokens
        assert matcher.accept_tokens(forced) == len(forced)
    finished = Matcher(choice(["ab"]), PIECES)
    assert finished.accept_tokens([259, 256]) == 2
    assert finished.forced_tokens == []


def test_behind_an_end_token_come_end_tokens_only() -> None:
    matcher = Matcher(lark("start: /(ab)*/"), PIECES)
    assert matcher.accept_tokens([259, 258, 256]) == 3

    assert matcher.fill_mask().allowed == [256, 258]
    assert matcher.is_finished
    assert not matcher.accept_token(259)
    matcher.rollback(2)
    assert not matcher.is_finished
    assert matcher.accept_token(259)


def test_a_grammar_that_is_too_much_for_the_engine_is_an_error_and_no_refusal():
    grammar = lark("start: " + " | ".join(f'"a" "{number}"' for number in range(21_000)))

    with pytest.raises(GrammarError, match="gave up"):
        Matcher(grammar, BYTES).accept_text("a1")

    with pytest.raises(GrammarError, match="gave up"):
        Matcher(grammar, BYTES).accept_token(ord("a"))


def test_a_limit_that_one_text_met_is_never_a_refusal_of_another_text_of_the_grammar() -> None:
    grammar, chance = lark("start: /[ab]*a[ab]{2000}/"), random.Random(1)
    one, other, third = (Matcher(grammar, BYTES) for _ in range(3))
    assert other.accept_text("ab")
    texts = ("".join(chance.choices("ab", k=200)) for _ in range(1000))
    with pytest.raises(GrammarError, match="gave up"):
        assert not [text for text in texts if not one.accept_text(text)]

    with pytest.raises(GrammarError, match="gave up"):
        other.accept_text("a")
    with pytest.raises(GrammarError, match="gave up"):
        third.validate(list(b"ab"))
    assert not Matcher(choice(["b"]), BYTES).accept_text("a")
    assert Matcher(grammar, BYTES).accept_text("ab")


def test_a_refused_text_changes_nothing():
    matcher = Matcher(lark('start: "ab" "c"'), BYTES)

    assert not matcher.accept_text("abd")
    assert matcher.accept_text("abc")
    assert matcher.is_accepting
    assert not matcher.accept_token(97)
