"""Regular expressions as shapes: what they allow is what the expression matches."""

import random
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from notation_shapes import changed, sampled

from wieldy.core.errors import GrammarError
from wieldy.grammar import Matcher, Tokenizer
from wieldy.grammar.compiled import compiled
from wieldy.grammar.notation import to_gbnf
from wieldy.grammar.reading.character_class import character_class
from wieldy.grammar.reading.regex import searched, whole
from wieldy.grammar.shape import Characters, Exact, Rules

BYTES = Tokenizer.of_bytes()
ALPHABET = "ab<é1 _-\n"

_atoms = st.sampled_from(
    [
        "a",
        "b",
        "<",
        "é",
        r"\d",
        r"\w",
        r"\s",
        r"[ab]",
        r"[^a\n\r\u2028\u2029]",
        r"[^\d\s]",
        ".",
        r"\-",
        r"\x61",
        "1",
        " ",
    ]
)


def _combined(parts: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    groups = st.tuples(st.sampled_from(["(", "(?:", "(?P<name>"]), parts).map(lambda pair: f"{pair[0]}{pair[1]})")
    return st.one_of(
        st.lists(parts, min_size=1, max_size=3).map("".join),
        st.lists(st.just("") | parts, min_size=2, max_size=3).map(lambda found: f"(?:{'|'.join(found)})"),
        st.tuples(
            parts.map(lambda part: f"(?:{part})"),
            st.sampled_from(["*", "+", "?", "{2}", "{1,}", "{0,2}", "*?", "+?", "??", "{1,3}?"]),
        ).map("".join),
        groups.filter(lambda text: text.count("?P<name>") < 2),
    )


expressions = st.recursive(_atoms, _combined, max_leaves=6).filter(lambda text: text.count("?P<name>") < 2)
texts = st.text(ALPHABET, max_size=6)


def accepts(shape, text: str) -> bool:
    matcher = Matcher(compiled(Rules(start=shape)), BYTES)
    return matcher.accept_text(text) and matcher.is_accepting


@settings(max_examples=100, deadline=None)
@given(pattern=expressions, text=texts, seed=st.integers(0, 2**32 - 1))
def test_the_engine_allows_what_python_matches_whole(pattern: str, text: str, seed: int) -> None:
    shape, chance = whole(pattern), random.Random(seed)

    for candidate in [text, *(changed(sampled(Rules(start=shape), chance), chance) for _ in range(5))]:
        assert accepts(shape, candidate) is bool(re.fullmatch(pattern, candidate, re.ASCII)), candidate


@settings(max_examples=100, deadline=None)
@given(
    sets=st.lists(st.sampled_from([*"dwsDWS"]), min_size=1, max_size=2),
    negation=st.sampled_from(["", "^"]),
    character=st.characters(codec="utf-8") | st.sampled_from("aZ09_ \t\x1c\x85\xa0é٣五\ufeff"),
    ignores_case=st.booleans(),
)
def test_what_a_class_allows_is_in_it_whoever_looks(
    sets: list[str], negation: str, character: str, ignores_case: bool
) -> None:
    pattern = f"[{negation}{''.join(map(chr(92).__add__, sets))}]"
    for is_unicode, flags in ((False, re.ASCII), (True, 0)):
        try:
            shape = whole(pattern, is_unicode=is_unicode, ignores_case=ignores_case)
        except GrammarError:
            continue  # nothing is left that is certain
        assert isinstance(shape, Characters)
        if character in character_class(shape.allowed):
            assert re.fullmatch(pattern, character, flags)


EVERY = "".join(map(chr, (*range(0xD800), *range(0xE000, 0x110000))))
_named = st.sampled_from("aks\u017f\u212aéÉßςσıİ_1\u1e9e\u0345")


@settings(max_examples=25, deadline=None)
@given(
    items=st.lists(_named | st.tuples(_named, _named).map(sorted).map("-".join), min_size=1, max_size=3),
    negation=st.sampled_from(["", "^"]),
)
def test_without_case_a_class_has_of_all_unicode_only_what_is_in_it_whoever_looks(
    items: list[str], negation: str
) -> None:
    pattern = f"(?i)[{negation}{''.join(items)}]"
    exactly, for_all = (
        "".join(
            re.findall(f"{character_class(inside_of(whole(pattern, is_unicode=is_unicode))).text(by_number)}+", EVERY)
        )
        for is_unicode in (True, False)
    )

    assert exactly == "".join(re.findall(f"{pattern}+", EVERY))
    assert re.fullmatch(f"{pattern}*", for_all)
    assert re.fullmatch(f"{pattern}*", "".join(filter(str.isascii, for_all)), re.ASCII)


def inside_of(shape) -> str:
    return by_number(shape.text) if isinstance(shape, Exact) else shape.allowed


def by_number(character: str) -> str:
    return f"\\U{ord(character):08x}"


@settings(max_examples=200, deadline=None)
@given(pattern=expressions, seed=st.integers(0, 2**32 - 1))
def test_every_text_of_the_shape_matches(pattern: str, seed: int) -> None:
    for _ in range(5):
        assert re.fullmatch(pattern, sampled(Rules(start=whole(pattern)), random.Random(seed)), re.ASCII)


@settings(max_examples=100, deadline=None)
@given(
    parts=st.lists(st.tuples(st.booleans(), expressions, st.booleans()), min_size=1, max_size=3),
    text=texts,
)
def test_what_is_searched_is_what_python_finds(parts: list[tuple[bool, str, bool]], text: str) -> None:
    pattern = "|".join("^" * start + f"(?:{inner})" + r"\Z" * end for start, inner, end in parts).replace(
        "?P<name>", ""
    )

    assert accepts(searched(pattern), text) is bool(re.search(pattern, text, re.ASCII))


@pytest.mark.parametrize(
    ("pattern", "matching", "other"),
    [
        ("^a$", ["a"], ["", "aa"]),
        ("^(a|b)$", ["a", "b"], ["ab"]),
        ("(^a|b$)", ["a", "b"], ["ab"]),
        ("(^a)?b", ["ab", "b"], ["a"]),
        ("(?i)aB[c-e]", ["ab" + "d", "ABD"], ["abf"]),
        ("(?i:a)b", ["Ab"], ["aB"]),
        ("(?s).", ["\n", "a"], ["", "aa"]),
        ("(?s)(?i)a.", ["A\n", "aa"], ["ba"]),
        (".", ["a", "\v"], ["\n", "\r", "\u2028"]),
        (r"\S", ["a", "é"], [" ", "\u00a0", "\ufeff"]),
        (r"\W\D\cA\u{e9}\x{41}", ["é-\x01éA"], ["a-\x01éA"]),
        ("a{b}", ["a{b}"], ["ab"]),
        ("a{,}", ["a{,}"], ["aa"]),
        (r"[^\s]", ["é"], [" ", "\u00a0"]),
        (r"[^\S]", [" "], ["\u00a0", "é"]),
        ("[a\\]b-]+", ["a]b-"], ["c"]),
        ("[[]", ["["], ["]"]),
        ("(a*)*", ["", "aaa"], ["b"]),
        ("((a?)(b?)){2}", ["", "ab", "abab", "ba", "bb"], ["aaa"]),
        ("(|a)+", ["", "aa"], ["b"]),
        ("()*|x", ["", "x"], ["xx"]),
        ("", [""], ["a"]),
        ("a||b", ["", "a", "b"], ["ab"]),
        ("[\U0001f600-\U0001f640]", ["\U0001f605"], ["a"]),
    ],
)
def test_expressions_and_their_texts(pattern: str, matching: list[str], other: list[str]) -> None:
    shape = whole(pattern)

    assert [text for text in matching if not accepts(shape, text)] == []
    assert [text for text in other if accepts(shape, text)] == []
    to_gbnf(Rules(start=shape))


@pytest.mark.parametrize(
    ("pattern", "named"),
    [
        ("a(?=b)", "look-ahead"),
        ("a(?!b)", "look-ahead"),
        ("(?<=a)b", "look-behind"),
        ("(?<!a)b", "look-behind"),
        (r"(a)\1", "back references"),
        (r"(?P<x>a)(?P=x)", "back references"),
        (r"(?<x>a)\k<x>", "back references"),
        (r"\bword", "word boundaries"),
        (r"\p{L}+", "Unicode property"),
        ("a++", "possessive"),
        ("(?>a)", "atomic groups"),
        ("(a)(?(1)b)", "conditions"),
        ("a^b", "an anchor stands in the middle"),
        ("(?:a$)b", "an anchor stands in the middle"),
        ("(^a)*", "an anchor is repeated"),
        ("a)", "has no `\\("),
        ("(a", "has no `\\)"),
        ("[a", "has no `\\]"),
        ("[]a]", "names at least one character"),
        ("[^]", "names at least one character"),
        (r"[^\d\D]?a", "has no character"),
        ("[[:alpha:]]", "POSIX"),
        ("*a", "nothing to repeat"),
        ("a**", "nothing to repeat"),
        ("a{3,1}", "counts in order"),
        ("a{,2}", r"write \{0,2\}"),
        ("a{1000000}", "counts in order"),
        ("a\\", "nothing behind it"),
        (r"\q", "not known to every engine"),
        ("(?m)a", "flags"),
        ("a(?i)b", "only stand at the beginning"),
        ("(" * 5000 + ")" * 5000, "nested too deeply"),
    ],
)
def test_what_is_not_read_is_named(pattern: str, named: str) -> None:
    for read in (whole, searched):
        with pytest.raises(GrammarError, match=named):
            read(pattern)


def test_common_expressions_are_few_shapes() -> None:
    assert whole("abc") == Exact("abc")
    assert whole("[a-z]{2,5}") == Characters("a-z", at_least=2, at_most=5)
    assert whole("^x$") == whole("x")


@settings(max_examples=100, deadline=None)
@given(text=st.text(st.sampled_from(r"ab\^$.|?*+()[]{}-,:=!<>&1dwsx") | st.characters(), max_size=12))
def test_any_text_is_read_or_refused_in_few_words(text: str) -> None:
    for read in (whole, searched):
        assert len(refusal(read, text)) < 500


def refusal(read, text: str) -> str:
    try:
        read(text)
    except GrammarError as error:
        return str(error)
    return ""
