import json
import random

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from notation_shapes import RECURSIVE, patterns, replies, sampled

from wieldy.core.errors import GrammarError
from wieldy.grammar.naming import parts
from wieldy.grammar.notation import to_structural_tag
from wieldy.grammar.shape import Characters, Exact, InOrder, Json, Named, OneOf, Repeated, Rules, TextWithout, maybe


@pytest.fixture(scope="module")
def accepts():
    """Whether xgrammar's own matcher takes the text as a whole; one token a byte."""
    xgrammar = pytest.importorskip("xgrammar", reason="xgrammar is not installed: pip install xgrammar")
    tokens = [chr(byte) if byte < 128 else f"<0x{byte:02X}>" for byte in range(256)]
    vocabulary = xgrammar.TokenizerInfo([*tokens, "</s>"], xgrammar.VocabType.BYTE_FALLBACK, stop_token_ids=[256])
    compiler = xgrammar.GrammarCompiler(vocabulary, cache_enabled=False)

    def accepts(rules, text):
        rules = rules if isinstance(rules, Rules) else Rules(start=rules)
        grammar = compiler.compile_structural_tag(json.dumps(to_structural_tag(rules)))
        matcher = xgrammar.GrammarMatcher(grammar, terminate_without_stop_token=True)
        return matcher.accept_string(text) and matcher.is_completed()

    return accepts


@settings(max_examples=100, deadline=None)
@given(patterns | replies, st.integers())
def test_every_text_of_a_shape_is_accepted(accepts, shape, seed):
    rules = Rules(start=shape)
    text = sampled(rules, random.Random(seed))
    # xgrammar has no white space between the texts of a marker: of such a marker, one text is excluded by itself.
    assume(not any(excluded in text for excluded in spaced_texts(shape)))
    assert accepts(rules, text), (to_structural_tag(rules), text)


def spaced_texts(shape):
    """Of every marker with white space in it, its longest text."""
    if isinstance(shape, TextWithout):
        return [max(marker, key=len) for marker in shape.markers if isinstance(marker, tuple)]
    return [text for part in parts(shape) for text in spaced_texts(part)]


def test_of_a_marker_with_white_space_in_it_one_text_is_excluded_by_itself(accepts):
    shape = TextWithout((("</", "call>"),))
    assert accepts(shape, "a</b </")
    assert not accepts(shape, "call>")


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(sorted(RECURSIVE)), st.integers())
def test_every_text_of_a_shape_that_contains_itself_is_accepted(accepts, name, seed):
    rules = RECURSIVE[name]
    text = sampled(rules, random.Random(seed))
    assert accepts(rules, text), (to_structural_tag(rules), text)


@pytest.mark.parametrize(
    ("shape", "text"),
    [
        (Exact("abc"), "abcd"),
        (TextWithout(("<a>",)), "x<a>"),
        (Characters("a-c", at_least=2, at_most=3), "a"),
        (Characters("^-\\]"), "-"),
        (Repeated(Exact("a"), at_least=1, at_most=2, between=Exact(",")), "a,a,a"),
        (Json({"type": "object", "properties": {"a": {"type": "integer"}}}), '{"a": "x"}'),
        (RECURSIVE["a JSON dialect"].start, "call:f{a:b}<end>"),
    ],
)
def test_what_is_no_text_of_the_shape_is_refused(accepts, shape, text):
    assert not accepts(Rules(start=shape, named=RECURSIVE["a JSON dialect"].named), text)


def test_properties_that_a_schema_does_not_forbid_are_allowed(accepts):
    assert accepts(Json({"type": "object", "properties": {"a": {"type": "integer"}}}), '{"a": 1, "b": 2}')


def test_each_shape_has_its_counterpart():
    shape = InOrder(
        (
            TextWithout(("<call>",)),
            Repeated(InOrder((Exact("<call>"), Json({"type": "object"}), Exact("</call>"))), between=Exact("\n")),
            maybe(OneOf((Characters("a-z_", at_most=9), Exact("")))),
        )
    )
    call = {
        "type": "sequence",
        "elements": [
            {"type": "const_string", "value": "<call>"},
            {"type": "json_schema", "json_schema": {"type": "object"}},
            {"type": "const_string", "value": "</call>"},
        ],
    }
    more = {"type": "sequence", "elements": [{"type": "const_string", "value": "\n"}, call]}
    calls = {"type": "sequence", "elements": [call, {"type": "star", "content": more}]}
    word = {
        "type": "or",
        "elements": [{"type": "regex", "pattern": "[a-z\\u{5F}]{1,9}"}, {"type": "const_string", "value": ""}],
    }
    assert to_structural_tag(Rules(start=shape)) == {
        "type": "structural_tag",
        "format": {
            "type": "sequence",
            "elements": [
                {"type": "any_text", "excludes": ["<call>"]},
                {"type": "optional", "content": calls},
                {"type": "optional", "content": word},
            ],
        },
    }


def test_a_shape_that_contains_itself_is_an_embedded_grammar():
    rules = Rules(
        start=InOrder((Exact("<"), Named("value"))),
        named={"value": OneOf((Exact("a"), InOrder((Exact("("), Named("value"), Exact(")")))))},
    )
    begin, value = to_structural_tag(rules)["format"]["elements"]
    assert begin == {"type": "const_string", "value": "<"}
    assert value["type"] == "grammar"
    assert value["grammar"].startswith("root ::= n-value\n")


@pytest.mark.parametrize(
    ("shape", "said"),
    [
        (Named("nothing"), "nothing"),
        (OneOf(()), "at least one option"),
        (TextWithout(("",)), "empty text"),
        (Repeated(Exact("a"), at_least=3, at_most=2), "at least 3"),
        (Characters("a", at_least=3, at_most=2), "at least 3"),
    ],
)
def test_a_shape_that_makes_no_sense_is_named(shape, said):
    with pytest.raises(GrammarError, match=said):
        to_structural_tag(Rules(start=shape))


def test_a_part_too_large_for_a_tree_is_an_embedded_grammar():
    tail = Exact("z")
    for number in range(40):
        tail = OneOf((InOrder((Exact(f"{number},"), tail)), tail))
    whole = InOrder((Exact("<"), tail, Exact(">")))
    begin, inside, end = to_structural_tag(Rules(start=whole))["format"]["elements"]
    assert (begin["value"], inside["type"], end["value"]) == ("<", "grammar", ">")
