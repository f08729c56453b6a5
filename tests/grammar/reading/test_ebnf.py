"""EBNF and GBNF, read into rules."""

import random

import pytest
from gbnf_reader import Recogniser
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from notation_shapes import RECURSIVE, changed, patterns, sampled

from wieldy.core.errors import GrammarError
from wieldy.grammar import Grammar, Guard, Matcher, Tokenizer, grammar
from wieldy.grammar.notation import to_gbnf
from wieldy.grammar.reading import ebnf
from wieldy.grammar.shape import Exact, Rules

BYTES = Tokenizer.of_bytes()
seeds = st.integers(0, 2**32 - 1)


def accepts(found: Grammar, text: str) -> bool:
    matcher = Matcher(found, BYTES)
    return matcher.accept_text(text) and matcher.is_accepting


def read_or_too_large(text: str) -> Grammar | None:
    """The grammar, or None if its rules go over into one another in too many ways; no other refusal is taken."""
    try:
        return grammar(text)
    except GrammarError as error:
        if "too many ways" in str(error):
            return None
        raise


def printed(shape) -> str:
    """The shape in GBNF; a shape that llama.cpp cannot read is not tried."""
    try:
        return to_gbnf(Rules(start=shape))
    except GrammarError:
        return 'root ::= "a"\n'


@settings(max_examples=60, deadline=None)
@given(gbnf=patterns.map(printed), text=st.text('ab<>/ \n"\\é😀', max_size=5), seed=seeds)
def test_a_grammar_allows_what_an_independent_reader_of_it_says(gbnf: str, text: str, seed: int) -> None:
    found, recogniser, chance = read_or_too_large(gbnf), Recogniser(gbnf), random.Random(seed)
    assume(found is not None and found.rules is not None)

    for _ in range(4):
        written = sampled(found.rules, chance)
        assert recogniser.accepts(written)
        for candidate in (text, written, changed(written, chance)):
            assert accepts(found, candidate) is recogniser.accepts(candidate), candidate


@pytest.mark.parametrize("rules", RECURSIVE.values(), ids=RECURSIVE)
@settings(max_examples=25, deadline=None)
@given(seed=seeds)
def test_grammars_that_contain_themselves_are_read(rules: Rules, seed: int) -> None:
    chance, gbnf = random.Random(seed), to_gbnf(rules)
    found, recogniser = grammar(gbnf, "gbnf"), Recogniser(gbnf)

    for _ in range(4):
        written = sampled(rules, chance)
        assert accepts(found, written)
        other = changed(written, chance)
        assert accepts(found, other) is recogniser.accepts(other), other


ARITHMETIC = """
# A comment, and rules in any order.
root  ::= expr "=" ws num "\\n"
expr  ::= term ([-+*/] term)*
term  ::= num | "(" ws expr ")" ws
num   ::= [0-9]+ ws
ws    ::= [ \\t]*
"""
JSON = r"""
root   ::= object
value  ::= object | array | string | number | ("true" | "false" | "null") ws
object ::=
  "{" ws (
            string ":" ws value
    ("," ws string ":" ws value)*
  )? "}" ws
array  ::=
  "[" ws (
            value
    ("," ws value)*
  )? "]" ws
string ::=
  "\"" (
    [^"\\\x7F\x00-\x1F] |
    "\\" (["\\bfnrt] | "u" [0-9a-fA-F]{4}) # escapes
  )* "\"" ws
number ::= ("-"? ([0-9] | [1-9] [0-9]{0,15})) ("." [0-9]+)? ([eE] [-+]? [0-9] [1-9]{0,15})? ws
ws ::= | " " | "\n" [ \t]{0,20}
"""
W3C = """
/* A date, as the W3C would write it. */
date    ::= year '-' month "-" day Z?
year    ::= [0-9] [#x30-#x39]{3}
month   ::= '0' [1-9] | '1' [0-2]
day     ::= ('0' [1-9]) | ([12] [0-9]) | '3' [01]
Z       ::= #x5A | '"' | '\\'
"""
LISTS = """
root ::= item+
item ::= "- " [^\\r\\n\\x0b\\x0c\\x85\\u2028\\u2029]+ "\\n"
"""
ENDLESS = """
root ::= (ws item?)* ws
item ::= [a-z]+ opt
opt ::= ("!" opt)?
ws ::= [ ]*
"""


@pytest.mark.parametrize(
    ("text", "accepted", "refused"),
    [
        (ARITHMETIC, ["1+2=3\n", "(1 *2)/3 = 4\n", "((1))=1\n"], ["1+=3\n", "1=1", "(1=1\n"]),
        (
            JSON,
            ["{}", '{"a": [1, -2.5e3, "x\\n\\u00e9"], "b": {"c": null}}', '{"a":\n   true}'],
            ["[]", '{"a"}', '{"\n":1}'],
        ),
        (W3C, ["2026-11-30", "2026-01-05Z", '2026-12-31"', "2026-12-31\\"], ["2026-13-01", "26-01-01", "2026-01-01z"]),
        (LISTS, ["- a\n", "- a b\n- é\n"], ["", "-a\n", "- a"]),
        (ENDLESS, ["", "   ", "ab cd!! ", "a!b"], ["!", "A"]),
        ('a ::= "x" | b\nb ::= "y" .', ["x", "yé", "y\n"], ["y", ""]),
        ('root ::= r-1 r_1 R-1\nr-1 ::= "a"\nr_1 ::= "b"\nR-1 ::= "c"', ["abc"], ["aaa"]),
        ('x ::= "a"{2} "b"{1,} "c"{0,2}', ["aab", "aabbcc"], ["ab", "aabccc"]),
        (r'x ::= "\"\\\x41\u00e9\U0001f600\n\t\[" [\]\[\-\\]', ['"\\Aé😀\n\t[]', '"\\Aé😀\n\t[\\'], []),
        ("x ::= [\\U0001f600-\\U0001f640]", ["😀"], ["a"]),
    ],
)
def test_grammars_and_their_texts(text: str, accepted: list[str], refused: list[str]) -> None:
    found = grammar(text)

    assert [written for written in accepted if not accepts(found, written)] == []
    assert [written for written in refused if accepts(found, written)] == []
    assert found.rules is not None
    recogniser = Recogniser(to_gbnf(found.rules))
    assert [written for written in accepted if not recogniser.accepts(written)] == []
    assert [written for written in refused if recogniser.accepts(written)] == []


def test_the_start_and_what_it_reaches_are_kept() -> None:
    rules = ebnf.read('other ::= "b"\nroot ::= "a" used\nused ::= "(" used ")" | "c"')

    assert list(rules.named) == ["used"]
    assert rules.start != Exact("b")


def test_special_tokens_are_named_by_their_text() -> None:
    tokenizer = Tokenizer([*BYTES.tokens, b"<think>"], end_token=256, special_tokens={"<think>": 257})
    found = grammar("root ::= <think> [a-z]+", special_tokens=tokenizer.special_tokens)

    matcher = Matcher(found, tokenizer)
    assert matcher.fill_mask().allowed == [257]
    assert not matcher.accept_text("<think>")
    assert matcher.accept_tokens([257, 97]) == 2
    with pytest.raises(GrammarError, match="names <think>: say in `special_tokens`"):
        grammar("root ::= <think> [a-z]+")


CHAINS = {
    "names": ("r{0} ::= r{1}", "z"),
    "sequences": ('r{0} ::= "a" r{1}', "az"),
    "alternatives": ('r{0} ::= "a" | "b" r{1}', "bz"),
    "repetitions": ('r{0} ::= ("a" r{1})*', "az"),
    "circles": ('r{0} ::= "(" r{1} ")" | "[" r{2} "]"', "(z)"),
}


def chain(rule: str, count: int) -> str:
    """So many rules, of which each leads to the next, and the last ends."""
    rules = [rule.format(index, index + 1, max(index - 1, 0)) for index in range(count)]
    return "\n".join([*rules, f'r{count} ::= "z"'])


@pytest.mark.parametrize(("rule", "text"), CHAINS.values(), ids=CHAINS)
def test_long_chains_of_rules_are_read_or_refused_for_what_they_are(rule: str, text: str) -> None:
    if '"' not in rule:
        assert accepts(grammar(chain(rule, 3000)), text)
        return
    assert accepts(grammar(chain(rule, 1)), text)
    Guard(grammar(chain(rule, 50)), BYTES, max_tokens=200)
    with pytest.raises(GrammarError, match=r"nested too deeply. Expected at most 120 groups"):
        grammar(chain(rule, 3000))


def test_names_that_lead_round_in_a_circle_are_no_text() -> None:
    found = grammar('s ::= "a" | x\nx ::= y\ny ::= x')

    assert accepts(found, "a")
    assert not accepts(found, "")


def test_as_many_rules_as_one_likes_are_read_if_they_nest_little() -> None:
    names = [f"r{index}" for index in range(2000)]
    found = grammar(f"root ::= {' | '.join(names)}\n" + "\n".join(f'{name} ::= "{name}" {name}?' for name in names))

    assert accepts(found, "r7r7")
    assert not accepts(found, "r7r8")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("root ::= missing", "refers to 'missing'"),
        ('root ::= "a', "In line 1 of the grammar, this cannot be read"),
        ('root ::= "a"\nroot ::= "b"', "In line 2 .* 'root' is defined again"),
        ('root ::= ("a"', r"In line 1 .* expected a '\)'"),
        ('root ::= "a")', "In line 1 .* expected the beginning of a rule, found '\\)'"),
        ("root ::= * a", "expected a name, a text or a group, found a count"),
        ("root ::= | ::=", "cannot be read"),
        ('"a" root ::= "b"', "expected the beginning of a rule, found a text"),
        ('root ::= "a" ::= "b"', "cannot be read"),
        ('root ::= "a" - "b"', "exceptions"),
        ('root = "a" ::= ;', "ISO 14977"),
        ('root ::= "a"{3,1}', "expected counts in order"),
        ("root ::= [z-a]", "In line 1 .* backwards"),
        (r"root ::= [^\x00-\U0010ffff]", "has no character"),
        (r'root ::= "\q"', "escape"),
        (r'root ::= "\ud800"', "no character"),
        ("root ::= #x110000", "no character"),
        ("root ::= " + "(" * 5000 + '"a"' + ")" * 5000, "nested too deeply"),
        ("::=", "cannot be read"),
        ("# nothing ::=", "has no rules"),
    ],
)
def test_what_is_no_grammar_is_refused_with_the_line(text: str, said: str) -> None:
    with pytest.raises(GrammarError, match=said):
        grammar(text)


def test_a_notation_that_is_none_is_refused() -> None:
    with pytest.raises(GrammarError, match='"ebnf", "gbnf" or "lark"'):
        grammar('root ::= "a"', "iso")  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("count", ["{100001}", "{1,100001}", "{100001,}", "{3,2}"])
def test_counts_that_are_too_large_or_out_of_order_are_refused(count):
    with pytest.raises(GrammarError, match="counts in order and up to 100000"):
        grammar(f'root ::= "a"{count}')
    assert grammar('root ::= "a"{0,100000}')
