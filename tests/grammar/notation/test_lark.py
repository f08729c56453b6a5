import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from notation_shapes import RECURSIVE, patterns, replies, sampled

from wieldy.core.errors import GrammarError
from wieldy.grammar import Matcher, Tokenizer
from wieldy.grammar.compiled import compiled
from wieldy.grammar.shape import Characters, Exact, InOrder, Json, Named, OneOf, Repeated, Rules, TextWithout, maybe

BYTES = Tokenizer.of_bytes()
CALL = InOrder((Exact('<call>{"name": "f", "arguments": '), Json({"type": "object"}), Exact("}</call>")))


def accepts(rules, text):
    matcher = Matcher(compiled(rules if isinstance(rules, Rules) else Rules(start=rules)), BYTES)
    return matcher.accept_text(text) and matcher.is_accepting


@settings(max_examples=150, deadline=None)
@given(patterns, st.integers())
def test_every_text_of_a_shape_of_plain_patterns_is_accepted(shape, seed):
    rules = Rules(start=shape)
    text = sampled(rules, random.Random(seed))
    assert accepts(rules, text), (compiled(rules).lark, text)


@settings(max_examples=150, deadline=None)
@given(replies, st.integers())
def test_every_text_of_a_shape_with_json_between_literals_is_accepted(shape, seed):
    rules = Rules(start=shape)
    text = sampled(rules, random.Random(seed))
    assert accepts(rules, text), (compiled(rules).lark, text)


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(sorted(RECURSIVE)), st.integers())
def test_every_text_of_a_shape_that_contains_itself_is_accepted(name, seed):
    rules = RECURSIVE[name]
    text = sampled(rules, random.Random(seed))
    assert accepts(rules, text), (compiled(rules).lark, text)


@pytest.mark.parametrize(
    ("shape", "text"),
    [
        (Exact("abc"), "ab"),
        (Exact("abc"), "abcd"),
        (TextWithout(("<a>", "b")), "x<a>"),
        (TextWithout(("<a>", "b")), "ab"),
        (TextWithout((("</a>", "<b>"),)), "x</a><b>"),
        (TextWithout((("</a>", "<b>"),)), "x</a>\n\u3000 <b>y"),
        (Characters("a-c", at_least=2, at_most=3), "a"),
        (Characters("a-c", at_least=2, at_most=3), "abca"),
        (Characters('^"\\\\'), 'a"'),
        (Repeated(Exact("a"), at_least=1, between=Exact(",")), "a,"),
        (Repeated(Exact("a"), at_least=1, at_most=2, between=Exact(",")), "a,a,a"),
        (Repeated(CALL, at_most=1), '<call>{"name": "f", "arguments": {}}</call><call>'),
        (Json({"type": "object", "required": ["a"]}), "{}"),
        (Json({}), ' {"a": 1}'),
        (CALL, '<call>{"name": "g", "arguments": {}}</call>'),
        (CALL, '<call>{"name": "f", "arguments": 1}</call>'),
    ],
)
def test_what_is_no_text_of_the_shape_is_refused(shape, text):
    assert not accepts(shape, text)


def test_a_marker_cannot_be_spelled_in_two_halves_around_calls_that_are_left_out():
    text = TextWithout(("<call>",))
    shape = InOrder((text, Repeated(CALL, between=Exact("\n")), text))
    call = '<call>{"name": "f", "arguments": {"a": [1]}}</call>'
    assert accepts(shape, "before <call")
    assert accepts(shape, f"before {call}\n{call}\nafter")
    assert not accepts(shape, "before <call> after")
    assert not accepts(shape, f"before {call}<call>")


@pytest.mark.parametrize("gap", [{"separators": (",", ":")}, {}, {"indent": 4}])
def test_json_is_accepted_as_models_lay_it_out(gap):
    import json

    schema = {"type": "object", "properties": {"a": {"type": "array"}, "b": {"type": "object"}}}
    shape = InOrder((Exact("<"), Json(schema), Exact(">")))
    assert accepts(shape, f"<{json.dumps({'a': [1, {}], 'b': {'c': None}}, **gap)}>")


@pytest.mark.parametrize("count", [1, 2, 30, 31])
def test_many_parts_with_json_are_counted(count):
    shape = Repeated(CALL, at_least=2, at_most=30, between=Exact(","))
    call = '<call>{"name": "f", "arguments": {}}</call>'
    assert accepts(shape, ",".join([call] * count)) is (2 <= count <= 30)


def tools(count):
    def tool(number):
        parameters = OneOf(
            tuple(
                InOrder(
                    (
                        Exact(f"<parameter={name}>\n"),
                        Json({"type": "integer"}) if name < "c" else TextWithout(("\n</parameter>",)),
                        Exact("\n</parameter>\n"),
                    )
                )
                for name in "abcd"
            )
        )
        return InOrder(
            (Exact(f"<call>\n<function=tool_{number}>\n"), Repeated(parameters), Exact("</function>\n</call>"))
        )

    text = TextWithout(("<call>",))
    calls = Repeated(OneOf(tuple(tool(number) for number in range(count))), between=Exact("\n"))
    return InOrder((text, calls, text))


def test_the_grammar_grows_with_the_number_of_tools_and_not_with_its_square():
    few, many = (len(compiled(Rules(start=tools(count))).lark) for count in (20, 80))
    assert many < 5 * few


def test_a_reply_of_a_thousand_calls_to_one_of_many_tools_is_accepted():
    text, number = "<parameter=d>\n<x>\n</parameter>\n", "<parameter=a>\n5\n</parameter>\n"
    call = f"<call>\n<function=tool_7>\n{text}{number}</function>\n</call>"
    assert accepts(tools(20), "well\n" + "\n".join([call] * 1000) + "\ndone")


def test_a_value_of_one_of_several_types_may_stand_before_others():
    value = Json({"type": ["string", "null"]})
    shape = Repeated(InOrder((Exact("<a>"), value, Exact("</a>"), maybe(Characters("0-9")))), at_least=1)
    assert accepts(OneOf(tuple(InOrder((Exact(f"{n}"), shape)) for n in range(30))), '7<a>null</a>5<a>"x"</a>')


def test_a_special_token_is_the_token_and_not_its_text():
    tokens = [*(bytes([value]) for value in range(256)), b"<|call|>", b"<|end|>"]
    vocabulary = Tokenizer(tokens, end_token=257)
    shape = InOrder((TextWithout(("<|call|>",)), maybe(InOrder((Exact("<|call|>\n", token=True), Json({}))))))
    grammar = compiled(Rules(start=shape), special_tokens={"<|call|>": 256})
    matcher = Matcher(grammar, vocabulary)
    assert matcher.accept_text("hi <")
    assert matcher.fill_mask().allows(256)
    assert matcher.accept_token(256)
    assert not matcher.is_accepting
    assert matcher.accept_text("\n{}")
    assert matcher.is_accepting
    by_letters = Matcher(grammar, vocabulary)
    assert [by_letters.accept_token(byte) for byte in b"<|call|>"] == [True] * 7 + [False]


def test_a_literal_that_no_vocabulary_has_as_a_token_is_text():
    shape = Exact("<|call|>", token=True)
    assert accepts(shape, "<|call|>")
    grammar = compiled(Rules(start=Exact("<|call|>")), special_tokens={"<|call|>": 256})
    assert Matcher(grammar, BYTES).accept_text("<|call|>")


def test_a_pattern_that_the_engine_cannot_read_is_left_out_and_named():
    shape = Json({"type": "object", "properties": {"a": {"type": "string", "pattern": "(x)\\1"}}})
    grammar = compiled(Rules(start=shape))
    assert Matcher(grammar, BYTES).accept_text('{"a": "z"}')
    assert [said.keyword for said in grammar.unenforced] == ["pattern"]


@pytest.mark.parametrize(
    ("shape", "said"),
    [
        (Named("nothing"), "nothing"),
        (OneOf(()), "at least one option"),
        (TextWithout(("",)), "empty text"),
        (Characters(""), "at least one character"),
        (Characters("\\p{L}"), "escape"),
        (Characters("a", at_least=2, at_most=1), "at least 2"),
        (Repeated(Exact("a"), at_least=3, at_most=2), "at least 3"),
        (Exact("\ud800"), "surrogate"),
        (Json({"type": "nonsense"}), "cannot be compiled"),
    ],
)
def test_a_shape_that_makes_no_sense_is_named(shape, said):
    with pytest.raises(GrammarError, match=said):
        compiled(Rules(start=shape))


def test_a_shape_nested_without_measure_is_refused():
    shape = Exact("a")
    for _ in range(5000):
        shape = InOrder((shape, OneOf((Exact("b"), Exact("c")))))
    with pytest.raises(GrammarError, match="deeply"):
        compiled(Rules(start=shape))


@settings(max_examples=150, deadline=None)
@given(replies, replies, st.integers())
def test_a_part_that_a_shape_has_in_several_places_is_accepted_in_each(part, other, seed):
    uses = (part, InOrder((part, other)), InOrder((other, part)), InOrder((part, Exact("|"), part)), maybe(part))
    rules = Rules(start=OneOf(uses))
    text = sampled(rules, random.Random(seed))
    assert accepts(rules, text), (compiled(rules).lark, text)


def test_what_may_follow_a_part_in_one_place_may_not_in_another():
    fenced = InOrder((Exact("<"), Json({}), Exact(">")))
    shape = OneOf((InOrder((fenced, Exact("a"))), InOrder((Exact("b"), fenced)), InOrder((fenced, fenced, Exact("c")))))
    for text in ("<1>a", "b<1>", "<1><2>c"):
        assert accepts(shape, text)
    for text in ("<1>", "b<1>a", "<1><2>a", "<1>c", "<1><2><3>c"):
        assert not accepts(shape, text)


def optional_parts(count):
    """Any of the parts in their order: every tail is used by all the tails before it."""
    tails = []
    for number in reversed(range(count)):
        value = Json({"type": "integer"}) if number % 2 else TextWithout(("</a>",))
        part = InOrder((Exact(f"<a{number}>"), value, Exact("</a>")))
        tails.insert(0, InOrder((part, maybe(InOrder((Exact("\n"), OneOf(tuple(tails)))))) if tails else (part,)))
    return InOrder((Exact("<"), OneOf(tuple(tails)), Exact("\n>")))


def test_parts_that_a_shape_shares_are_written_once():
    few, many = (len(compiled(Rules(start=optional_parts(count))).lark) for count in (15, 30))
    assert many < 10 * few
    assert accepts(optional_parts(30), "<<a0>x</a>\n<a7>5</a>\n<a29>6</a>\n>")
    assert not accepts(optional_parts(30), "<<a7>5</a>\n<a0>x</a>\n>")


@pytest.mark.parametrize("marker", ["!", "!!", "</think>", "aa"])
@pytest.mark.parametrize("behind", [Exact("[TOOL]", token=True), Exact("y"), None])
def test_a_text_that_ends_with_its_own_marker_is_followed_by_anything(marker, behind):
    # The engine once took the rest of a complement for text that may still come, and fell over a special token.
    tokens = [*(bytes([value]) for value in range(256)), b"<|end|>", b"[TOOL]"]
    tokenizer = Tokenizer(tokens, end_token=256, special_tokens={"[TOOL]": 257})
    parts = (Exact("<"), TextWithout((marker,)), Exact(marker), *([behind] if behind else []))
    matcher = Matcher(compiled(Rules(start=InOrder(parts)), special_tokens={"[TOOL]": 257}), tokenizer)
    for byte in f"<xyz{marker}".encode():
        matcher.fill_mask()
        assert matcher.accept_token(byte)

    # Where a marker's end is its beginning too, the text before it may be one character longer.
    longer = {ord(marker[0])} if marker == len(marker) * marker[0] and len(marker) > 1 else set()
    follows = 256 if behind is None else 257 if isinstance(behind, Exact) and behind.token else ord("y")
    assert set(matcher.fill_mask().allowed) == {follows, *longer}
