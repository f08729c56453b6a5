import json
import random

import pytest
from gbnf_reader import Recogniser
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from notation_shapes import RECURSIVE, changed, patterns, replies, sampled

from wieldy.core.errors import GrammarError
from wieldy.grammar import Matcher, Tokenizer
from wieldy.grammar.compiled import compiled
from wieldy.grammar.notation import to_gbnf
from wieldy.grammar.shape import Characters, Exact, InOrder, Json, Named, OneOf, Repeated, Rules, TextWithout

BYTES = Tokenizer.of_bytes()


def accepts(rules, text):
    return Recogniser(to_gbnf(rules if isinstance(rules, Rules) else Rules(start=rules))).accepts(text)


def printed(rules):
    try:
        return to_gbnf(rules)
    except GrammarError as error:
        assume("may be empty" not in str(error))
        raise


@settings(max_examples=100, deadline=None)
@given(patterns | replies, st.integers())
def test_every_text_of_a_shape_is_accepted(shape, seed):
    rules = Rules(start=shape)
    grammar = printed(rules)
    text = sampled(rules, random.Random(seed))
    assert Recogniser(grammar).accepts(text), (grammar, text)


@settings(max_examples=150, deadline=None)
@given(patterns, st.integers())
def test_llama_cpp_and_llguidance_are_told_the_same(shape, seed):
    rules, chance = Rules(start=shape), random.Random(seed)
    gbnf, lark = Recogniser(printed(rules)), compiled(rules)
    for _ in range(4):
        text = changed(sampled(rules, chance), chance)
        matcher = Matcher(lark, BYTES)
        assert gbnf.accepts(text) is (matcher.accept_text(text) and matcher.is_accepting), (lark.lark, text)


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(sorted(RECURSIVE)), st.integers())
def test_the_engines_agree_on_shapes_that_contain_themselves(name, seed):
    rules, chance = RECURSIVE[name], random.Random(seed)
    gbnf, lark = Recogniser(to_gbnf(rules)), compiled(rules)
    text = sampled(rules, chance)
    assert gbnf.accepts(text)
    other, matcher = changed(text, chance), Matcher(lark, BYTES)
    assert gbnf.accepts(other) is (matcher.accept_text(other) and matcher.is_accepting), (lark.lark, other)


ORDER = {
    "type": "object",
    "properties": {
        "id": {"type": "string", "minLength": 1, "maxLength": 3},
        "lines": {"type": "array", "items": {"$ref": "#/$defs/line"}, "minItems": 1, "maxItems": 2},
        "note": {"type": ["string", "null"]},
        "kind": {"enum": ["café", 1, None]},
        "tree": {"$ref": "#/$defs/tree"},
    },
    "required": ["id", "lines"],
    "additionalProperties": False,
    "$defs": {
        "line": {"anyOf": [{"type": "integer"}, {"const": {"a": [True]}}]},
        "tree": {"type": "object", "properties": {"left": {"$ref": "#/$defs/tree"}}, "additionalProperties": False},
    },
}


@pytest.mark.parametrize(
    "text",
    [
        '{"id": "a", "lines": [1]}',
        '{"id":"abc","lines":[1,-20],"note":null}',
        '{"id": "é", "lines": [{"a": [true]}], "kind": "café"}',
        '{"id": "\\u00e9", "lines": [{"a":[true]}], "kind": "caf\\u00e9"}',
        '{"id": "a", "lines": [1], "tree": {"left": {"left": {}}}}',
        json.dumps({"id": "a", "lines": [1, 2], "note": "x\ny", "kind": 1}, indent=4),
    ],
)
def test_json_of_a_tools_schema_is_accepted(text):
    assert accepts(InOrder((Exact("<"), Json(ORDER), Exact(">"))), f"<{text}>")


@pytest.mark.parametrize(
    "text",
    [
        "{}",
        '{"id": "a"}',
        '{"id": "", "lines": [1]}',
        '{"id": "abcd", "lines": [1]}',
        '{"id": "a", "lines": []}',
        '{"id": "a", "lines": [1, 2, 3]}',
        '{"id": "a", "lines": [1.5]}',
        '{"id": "a", "lines": [01]}',
        '{"id": "a", "lines": [1], "more": 1}',
        '{"id": "a", "lines": [1], "kind": "tea"}',
        '{"id": "a", "lines": [1], "tree": {"right": {}}}',
        '{"id": "a", "lines": [1],}',
        '{"id": "a\n", "lines": [1]}',
        '[{"id": "a", "lines": [1]}]',
    ],
)
def test_json_that_a_tools_schema_forbids_is_refused(text):
    assert not accepts(Json(ORDER), text)


@pytest.mark.parametrize(
    "schema", [{}, {"not": {"type": "string"}}, {"$ref": "https://elsewhere.test/x"}, {"$ref": "#"}]
)
def test_what_a_schema_says_beyond_the_known_keywords_only_widens(schema):
    for text in ('{"a": [1, 2.5e3, true, null, {"b": "c"}]}', "12", "[]", '"x"'):
        assert accepts(Json(schema), text)


def test_further_properties_come_after_the_named_ones():
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}, "additionalProperties": {"type": "string"}}
    for text in ("{}", '{"a": 1}', '{"b": "x", "c": "y"}', '{"a": 1, "b": "x"}'):
        assert accepts(Json(schema), text)
    assert not accepts(Json(schema), '{"a": 1, "b": 2}')


def test_properties_that_several_schemas_of_an_all_of_name_are_all_there():
    parts = [{"properties": {"a": {"type": "integer"}}, "required": ["a"]}, {"properties": {"b": {"const": "x"}}}]
    schema = {"type": "object", "allOf": parts}
    assert accepts(Json(schema), '{"a": 1}')
    assert not accepts(Json(schema), "{}")


@pytest.mark.parametrize(
    ("shape", "said"),
    [
        (Named("nothing"), "nothing"),
        (OneOf(()), "at least one option"),
        (TextWithout(("",)), "empty text"),
        (Repeated(TextWithout(("a",))), "may be empty"),
        (Exact("\ud800"), "surrogate"),
        (Characters("z-a"), "backwards"),
        (Characters("a\\"), "inside an escape"),
        (Characters("\\x{110000}"), "no character"),
    ],
)
def test_what_gbnf_cannot_say_is_named(shape, said):
    with pytest.raises(GrammarError, match=said):
        to_gbnf(Rules(start=shape))


def test_a_shape_nested_without_measure_is_refused():
    shape = Exact("a")
    for _ in range(5000):
        shape = InOrder((shape, OneOf((Exact("b"), Exact("c")))))
    with pytest.raises(GrammarError, match="deeply"):
        to_gbnf(Rules(start=shape))


def test_text_without_markers_costs_a_rule_for_every_beginning_of_a_marker():
    grammar = to_gbnf(Rules(start=TextWithout(("<tool_call>", "<tool_end>"))))
    assert grammar.count("::=") == 1 + len(
        {marker[:end] for marker in ("<tool_call>", "<tool_end>") for end in range(len(marker))}
    )


def test_parts_that_a_shape_shares_are_written_once():
    tail = Exact("z")
    for number in range(40):
        tail = OneOf((InOrder((Exact(f"{number},"), tail)), tail, InOrder((Exact("-"), tail))))
    grammar = to_gbnf(Rules(start=tail))
    assert len(grammar) < 20_000
    assert Recogniser(grammar).accepts("39,-3,z")


@pytest.mark.parametrize(
    ("text", "is_accepted"),
    [
        ("x</a>", True),
        ("</a>\n</a>", True),
        ("</a></a>\n <", True),
        ("</a>x<b>", True),
        ("</a><b>", False),
        ("</a>\n</a> \u3000\n<b>", False),
        ("</</a><b>x", False),
    ],
)
def test_a_marker_may_have_white_space_between_its_texts(text, is_accepted):
    assert accepts(TextWithout((("</a>", "<b>"),)), text) is is_accepted


@pytest.mark.parametrize("shape", [Exact('"\nface"'), InOrder((Characters('"\\\nabc'), Exact("a")))])
def test_escapes_have_a_fixed_length(shape):
    """xgrammar reads every hexadecimal digit after \\x, llama.cpp two of them."""
    assert "\\x" not in printed(Rules(start=shape))
