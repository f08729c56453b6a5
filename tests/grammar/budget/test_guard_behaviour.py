"""What a guard does beyond being right: sharing what there is, ending repetition, and telling what it decided."""

import json
import random
from itertools import repeat

import pytest
from budget_schemas import merged_tokens

from wieldy.core.errors import BudgetError, GrammarError
from wieldy.grammar.budget import Guard, minimum_tokens
from wieldy.grammar.compiled import compiled
from wieldy.grammar.constraints import choice, json_schema, lark, regex
from wieldy.grammar.shape import Exact, InOrder, Json, Named, OneOf, Repeated, Rules, TextWithout, maybe
from wieldy.grammar.tokenizer import Tokenizer

BYTES = Tokenizer.of_bytes()
END = BYTES.end_token


def an_object(**properties) -> dict:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def written_by(guard: Guard, wishes) -> str:
    """What a model writes that has these wishes at every step, the first that it may have each time."""
    text = b""
    for wish in wishes:
        if guard.is_finished or (not guard.remaining and guard.is_accepting):
            break
        token = guard.choose(wish)
        if token == END:
            break
        text += bytes([token])
    return text.decode()


def wishing(*texts: str):
    """Letters first, and whatever else the grammar asks for."""
    return repeat([*(ord(character) for text in texts for character in text), *range(32, 127)])


def test_the_minimum_is_what_must_be_written():
    assert minimum_tokens(choice(["yes", "perhaps"]), BYTES) == 3
    assert minimum_tokens(regex("[0-9]{4}"), BYTES) == 4
    assert minimum_tokens(json_schema({"type": "object"}), BYTES) == 2


def test_where_nothing_need_be_written_the_minimum_is_nothing():
    grammar = compiled(Rules(start=TextWithout(("<",))))
    assert minimum_tokens(grammar, BYTES) == 0
    guard = Guard(grammar, BYTES, max_tokens=0)
    assert (guard.is_accepting, guard.witness, guard.allows(ord("a")), guard.allows(END)) == (True, (), False, True)
    assert guard.choose([ord("a")]) == END


def test_a_token_that_ends_the_text_is_counted_where_it_counts():
    grammar = choice(["yes"])
    Guard(grammar, BYTES, max_tokens=3)
    with pytest.raises(BudgetError, match="has 4 tokens") as caught:
        Guard(grammar, BYTES, max_tokens=3, end_token_counts=True)
    assert caught.value.minimum == 4


def test_a_half_written_number_becomes_one_that_is_valid():
    grammar = json_schema(an_object(age={"type": "integer", "minimum": 40, "multipleOf": 7}))
    guard = Guard(grammar, BYTES, max_tokens=12)
    assert written_by(guard, ([ord(letter)] for letter in '{"age": 3____')) == '{"age": 301}'


def test_a_half_written_character_is_completed():
    guard = Guard(json_schema({"type": "string"}), BYTES, max_tokens=6)
    for byte in b'"\xf0\x9f':
        assert guard.accept_token(byte)
    assert json.loads(b'"\xf0\x9f' + bytes(guard.witness))
    assert not guard.allows(ord("a"))


def test_a_shorter_spelling_is_looked_for_before_a_budget_is_refused():
    tokens = Tokenizer([*(bytes([value]) for value in range(256)), b"<|end|>", b"descending"], end_token=256)
    grammar = choice(["asc", "descending"])
    assert minimum_tokens(grammar, tokens) == 1
    assert Guard(grammar, tokens, max_tokens=1).witness == (257,)


# What is forced


def test_what_the_model_wanted_is_not_forced():
    guard = Guard(json_schema(an_object(name={"type": "string"})), BYTES, max_tokens=100)
    assert written_by(guard, ([ord(letter)] for letter in '{"name": "Ada"}')) == '{"name": "Ada"}'
    assert (guard.forced, guard.closed_by_budget) == ([], False)


def test_what_the_budget_decided_is_told_by_its_bytes():
    guard = Guard(json_schema(an_object(name={"type": "string"})), BYTES, max_tokens=16)
    assert written_by(guard, wishing("x")) == '{"name": "xxxx"}'
    assert guard.forced == [(14, 15)]
    assert guard.closed_by_budget


@pytest.mark.parametrize("asks_first", [True, False])
def test_a_token_is_forced_if_a_likelier_one_was_refused(asks_first):
    guard = Guard(json_schema(an_object(name={"type": "string"})), BYTES, max_tokens=12)
    for letter in b'{"name": "':
        assert guard.accept_token(letter)
    if asks_first:
        assert guard.allows(ord('"'))
        assert not guard.allows(ord("x"))
    else:
        assert not guard.allows(ord("x"))
        assert guard.allows(ord('"'))
    assert guard.accept_token(ord('"'))
    assert guard.forced == ([] if asks_first else [(10, 11)])
    guard.rollback(1)
    assert guard.forced == []


def test_what_the_grammar_leaves_no_choice_about_is_not_the_budgets_doing():
    guard = Guard(choice(["yes", "yesterday"]), BYTES, max_tokens=9)
    assert [guard.choose([]) for _ in range(3)] == list(b"yes")
    assert guard.forced == []


def test_nothing_can_be_chosen_when_all_is_over():
    guard = Guard(choice(["yes"]), BYTES, max_tokens=5)
    written_by(guard, wishing("yes"))
    assert guard.is_finished
    assert guard.choose([]) == END
    assert guard.remaining == 2


# Sharing


@pytest.mark.parametrize(
    ("more", "lengths"), [(0, (0, 0, 0)), (10, (4, 3, 3)), (60, (20, 20, 20)), (300, (236, 32, 32))]
)
def test_strings_that_are_still_to_come_have_their_share(more, lengths):
    text = {"type": "string"}
    grammar = json_schema(an_object(a=text, b=text, c=text), max_characters=10_000)
    guard = Guard(grammar, BYTES, max_tokens=minimum_tokens(grammar, BYTES) + more)
    value = json.loads(written_by(guard, wishing("x")))
    assert tuple(map(len, value.values())) == lengths


def test_text_before_a_call_leaves_its_strings_their_share():
    call = InOrder((Exact("<call>"), Json(an_object(a={"type": "string"}), one_line=True), Exact("</call>")))
    guard = Guard(compiled(Rules(start=InOrder((TextWithout(("<call>",)), call)))), BYTES, max_tokens=60)
    text = written_by(guard, wishing("x"))
    said, _, called = text.partition("<call>")
    assert abs(len(said) - len(json.loads(called.removesuffix("</call>"))["a"])) <= 1
    assert len(text) == 60


def test_what_is_not_needed_gets_no_share():
    schema = an_object(a={"type": "string"}) | {"properties": {"a": {"type": "string"}, "b": {"type": "string"}}}
    grammar = json_schema(schema, max_characters=10_000)
    guard = Guard(grammar, BYTES, max_tokens=minimum_tokens(grammar, BYTES) + 20)
    assert json.loads(written_by(guard, wishing("x"))) == {"a": "x" * 20}


# Repetition


def test_a_string_that_repeats_itself_is_closed_and_the_text_goes_on():
    text = {"type": "string"}
    grammar = json_schema(an_object(a=text, b=text), max_characters=10_000)
    guard = Guard(grammar, BYTES, max_tokens=3000, max_repeated_bytes=200)
    wishes = [*([ord(letter)] for letter in '{"a": "'), *([ord("ha"[index % 2])] for index in range(300))]
    rest = iter('", "b": "well"}')
    for wish in wishes:
        guard.choose(wish)
        if guard.closed_by_budget:
            break
    assert guard.forced[0][0] in range(205, 210)
    next(rest)
    assert written_by(guard, ([ord(letter)] for letter in rest)).endswith('"b": "well"}')


def test_a_list_that_repeats_itself_is_closed():
    grammar = json_schema(an_object(tags={"type": "array", "items": {"type": "string"}}), max_items=10_000)
    guard = Guard(grammar, BYTES, max_tokens=5000)
    text = written_by(guard, ([ord(letter)] for letter in '{"tags": [' + '"tech", ' * 600))
    assert len(json.loads(text)["tags"]) in range(48, 60)
    assert guard.closed_by_budget


def test_free_text_that_repeats_itself_ends():
    guard = Guard(compiled(Rules(start=TextWithout(("<",)))), BYTES, max_tokens=5000)
    assert len(written_by(guard, ([ord("ha "[index % 3])] for index in range(5000)))) in range(400, 410)
    assert guard.remaining > 4000


def test_what_follows_a_text_that_repeats_itself_is_the_models_own():
    call = InOrder((Exact("<call>"), Json(an_object(a={"type": "string"}), one_line=True), Exact("</call>")))
    guard = Guard(compiled(Rules(start=InOrder((TextWithout(("<call>",)), call)))), BYTES, max_tokens=5000)
    for index in range(5000):
        guard.choose([ord("ha "[index % 3])])
        if guard.forced:
            break
    text = written_by(guard, ([ord(letter)] for letter in 'call>{"a": "hello"}</call>'))
    assert text == 'call>{"a": "hello"}</call>'
    assert len(guard.forced) == 1


def test_repetition_may_be_let_be():
    grammar = json_schema({"type": "string"}, max_characters=10_000)
    guard = Guard(grammar, BYTES, max_tokens=2000, max_repeated_bytes=None)
    assert len(written_by(guard, wishing("x"))) == 2000


# Size and odd grammars


def test_a_very_long_bound_costs_no_more_than_a_short_one():
    grammar = json_schema({"type": "string", "minLength": 3, "maxLength": 100_000})
    guard = Guard(grammar, BYTES, max_tokens=5_000, max_repeated_bytes=None)
    assert len(written_by(guard, wishing("x"))) == 5_000


def test_a_very_long_text_that_is_needed_is_counted():
    assert minimum_tokens(json_schema({"type": "string", "minLength": 4_000}), BYTES) == 4_002
    assert minimum_tokens(json_schema({"type": "array", "minItems": 500}), BYTES) == 500 * 3


def test_a_rule_that_begins_with_itself_is_completed():
    # Sums: `sum: sum "+" digit | digit`, and the same from the right.
    digit = OneOf((Exact("1"), Exact("2")))
    for order in (("sum", "+", "digit"), ("digit", "+", "sum")):
        named = {"digit": digit, "plus": Exact("+")}
        parts = tuple(Named({"+": "plus"}.get(name, name)) for name in order)
        named["sum"] = OneOf((InOrder(parts), Named("digit")))
        guard = Guard(compiled(Rules(start=Named("sum"), named=named)), BYTES, max_tokens=9)
        assert written_by(guard, wishing("+1")) == "+".join("1" * 5)


def test_a_grammar_that_can_be_read_in_many_ways_stays_cheap():
    # Every `a` may belong to either option, so there are two to the power of the length ways to read a text.
    named = {
        "as": OneOf(
            (InOrder((Exact("a"), Named("as"), Exact("b"))), InOrder((Exact("a"), Named("as"), Exact("c"))), Exact("d"))
        )
    }
    guard = Guard(compiled(Rules(start=Named("as"), named=named)), BYTES, max_tokens=201)
    assert len(written_by(guard, wishing("a"))) == 201


def test_many_tools_are_one_network():
    schema = an_object(path={"type": "string"}, mode={"enum": ["read", "write"]})
    tools = [InOrder((Exact(f"call_{index}("), Json(schema), Exact(")"))) for index in range(300)]
    grammar = compiled(Rules(start=Repeated(OneOf(tuple(tools)), at_least=1, between=Exact(";"))))
    guard = Guard(grammar, BYTES, max_tokens=minimum_tokens(grammar, BYTES) + 40)
    text = written_by(guard, wishing("ce;"))
    assert guard.is_accepting
    assert len(text) <= minimum_tokens(grammar, BYTES) + 40


def test_equal_grammars_share_what_was_found_out():
    schema = an_object(a={"type": "integer"})
    for _ in range(3):
        grammar = compiled(Rules(start=Json(schema)))
        assert minimum_tokens(grammar, BYTES) == 7
    # A grammar of the same text under other rules of special tokens is another one.
    marked = compiled(Rules(start=InOrder((Exact("<x>", token=True), maybe(Exact("y"))))), special_tokens={"<x>": 257})
    vocabulary = Tokenizer([*BYTES.tokens, b"<x>"], end_token=256, special_tokens={"<x>": 257})
    assert Guard(marked, vocabulary, max_tokens=1).witness == (257,)


def test_what_only_the_engine_knows_has_no_budget():
    with pytest.raises(GrammarError, match="budget"):
        Guard(lark('start: %regex { "substring_chars": "abc" }'), BYTES, max_tokens=5)


def test_a_vocabulary_that_cannot_spell_a_text_is_said_to_have_none():
    letters = Tokenizer([b"n", b"o", b"<|end|>"], end_token=2)
    assert minimum_tokens(choice(["yes", "no"]), letters) == 2
    with pytest.raises(GrammarError):
        Guard(choice(["yes"]), letters, max_tokens=9)


def test_tokens_that_are_none_are_refused():
    guard = Guard(choice(["yes"]), merged_tokens(), max_tokens=9)
    assert not guard.allows(-1)
    assert not guard.accept_token(10**6)
    assert guard.remaining == 9


def test_candidates_are_taken_in_their_order():
    guard = Guard(json_schema({"type": "integer"}), BYTES, max_tokens=5)
    chance = random.Random(3)
    for _ in range(4):
        likely = chance.sample(range(ord("0"), ord("9") + 1), 10)
        first = next(token for token in likely if guard.allows(token))
        guard.rollback(0)
        assert guard.choose(likely) == first
