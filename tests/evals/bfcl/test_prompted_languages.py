"""Calls in Java and JavaScript in the text of prompted models, and the official verdict on any text."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
from bfcl_examples import function
from hypothesis import given
from hypothesis import strategies as st

from wieldy.evals.bfcl.categories import CATEGORIES
from wieldy.evals.bfcl.data import BfclTask
from wieldy.evals.bfcl.decoding import DecodingError
from wieldy.evals.bfcl.prompted.expressions import MOST_NESTED
from wieldy.evals.bfcl.prompted.java import read_java
from wieldy.evals.bfcl.prompted.javascript import read_javascript
from wieldy.evals.bfcl.prompted.texts import check_text, read_text

JAVA = (
    ("Foo.bar(a=1, b=\"x y\", c='z')", "Foo.bar", {"a": "1", "b": "x y", "c": "z"}),
    (
        'call.it(a = new int[]{1, 2}, b=new String[][]{{"x"}, {}})',
        "call.it",
        {"a": "new int[]{1,2}", "b": 'new String[]{{"x"},{}}'},
    ),
    ('call(a=new ArrayList<>(Arrays.asList("p q", 2)))', "call", {"a": 'new ArrayList<>(Arrays.asList("p q", 2))'}),
    (
        'call(a=new HashMap<String, List<Object>>() {{ put("k", 1); put("l", x + 1); }}, b=true)',
        "call",
        {"a": "new HashMap<String,List<Object>>()", "b": "true"},
    ),
    ("call(a=new P( 1,x.y( 2 ) ), b=(long) 5)", "call", {"a": "new P(1, x.y( 2 ))", "b": "(long)5"}),
    ("call(a=x -> x + 1, b=(p, q) -> f(p , q))", "call", {"a": "x->x+1", "b": "(p,q)->f(p , q)"}),
    ("call(a=b ? c : -5L, d=!x, e=String.class)", "call", {"a": "b?c:-5L", "d": "!x", "e": "String.class"}),
    ('call("dropped", 5, kept, x=Outer.INNER);', "call", {None: "kept", "x": "Outer.INNER"}),
    ("call(a-b=1, c<d=2, e=3)", "call", {"e": "3"}),
    ("call(a=00, b=07L, c=new int[]{1, 2}[0])", "call", {"a": "00", "b": "07L", "c": "new int[]{1,2}[0]"}),
    ("new Maker().make(a=1)", "new Maker().make", {"a": "1"}),
    ("first(a=1); second(b=2)", "first", {"a": "1"}),
    ("label: call(a=case)", "call", {"a": "case"}),
    ('call(é="w", b="xy")', "call", {"é=": '"', "=": 'y"'}),  # bytes are taken for characters there
    ('call(a="""x""", b=1.5e3f)', "call", {"a": '""x""', "b": "1.5e3f"}),
)
JAVASCRIPT = (
    ("f(a=1, b=\"x y\", c='z')", "f", {"a": "1", "b": "x y", "c": "z"}),
    (
        "a.b(x={k: [1, ...r], 'l': v, m() { }, [n]: 2, o}, y=[ , 1 ])",
        "a.b",
        {"x": "{k: [1, ...r], 'l': v, m() { }, [n]: 2, o}", "y": "[ , 1 ]"},
    ),
    (
        "f(a=(x) => x + 1, b=y => { return {} }, c=function (z) { return z; })",
        "f",
        {"a": "(x) => x + 1", "b": "y => { return {} }", "c": "function (z) { return z; }"},
    ),
    (
        "f(a=`t ${x}`, b=/r[/]e/g, c=new Date(1), d=x?.y ?? 2 ** 3)",
        "f",
        {"a": "`t ${x}`", "b": "/r[/]e/g", "c": "new Date(1)", "d": "x?.y ?? 2 ** 3"},
    ),
    (
        "f(a=05.50, b=0, c=0.0e+1, d=.5, e=5., g=0x1Fn, h=00, i=5..x)",
        "f",
        {"a": "05.50", "b": "0", "c": "0.0e+1", "d": ".5", "e": "5.", "g": "0x1Fn", "h": "00", "i": "5..x"},
    ),
    ("f(false, 5, ,name, a=5n)", "f", {None: "name", "a": "5n"}),
    ("x; f(a=1)\ng(b=2)", "f", {"a": "1"}),
    ("f(a=é, b += 1, c=async () => 1)", "f", {"a": "é", "c": "async () => 1"}),
)


@pytest.mark.parametrize(("said", "name", "arguments"), JAVA)
def test_java_is_read_as_the_official_checker_reads_it(said: str, name: str, arguments: dict[Any, str]) -> None:
    assert read_java(said) == [{name: arguments}]


@pytest.mark.parametrize(("said", "name", "arguments"), JAVASCRIPT)
def test_javascript_is_read_as_the_official_checker_reads_it(said: str, name: str, arguments: dict[Any, str]) -> None:
    assert read_javascript(said) == [{name: arguments}]


@pytest.mark.parametrize(
    "said",
    [
        "f(a=1)",  # so short that the checker would rather skip it than add a semicolon
        "call(a=1), call(b=2)",
        "call(a=[1, 2, 3])",
        "call(a: 1, b: 2)",
        "call(a=1, a=2)",
        "call(a=new int[5])",
        "call(a=b c)",
        "call(a=1, b=2",
        "call(a=20=x)",
        "call(a=3_, b=120.L)",
        "call(a=008, b=x)",
        "call(a=new int[3]{1, 2, 3})",
        "a = b = call(c=1, d=2)",
        "for.each(a=1, b=2)",
        "maker.new>Thing(a=1)",
        "call(a=new M() {{ put(1 }})",
        "if (x) call(a=1);",
        "call(a=() -> { return 1; })",
    ],
)
def test_what_is_no_java_is_refused(said: str) -> None:
    with pytest.raises(DecodingError):
        read_java(said)


@pytest.mark.parametrize(
    "said",
    [
        "f(a=1",
        "f(a: 1)",
        "f(a=3.5f)",
        "f(true, x)",
        "f(a=b c)",
        "f(a=2L)",
        "f(a={x: 1)",
        "f(a=class {})",
        "const a = f(b=1)",
        "f(a=2023--4)",
        "f(a=00.5)",
        "f(a=function=b)",
        "for.each(a=1)",
    ],
)
def test_what_is_no_javascript_is_refused(said: str) -> None:
    with pytest.raises(DecodingError):
        read_javascript(said)


def test_where_there_is_no_call_the_official_checker_says_that_the_format_is_wrong() -> None:
    assert read_java("some.value + 12345") is None
    assert read_java("") is None
    assert read_javascript("f(a=1), g(b=2)") is None
    assert read_javascript("x: f(a=1)") is None


@given(st.text(), st.sampled_from(["java", "javascript"]))
def test_any_text_is_read_or_refused(said: str, language: Any) -> None:
    with suppress(DecodingError):
        assert read_text(said, language) is None or read_text(said, language)


@given(st.lists(st.sampled_from([*"(){}[]=,.;:?<>+-/'\"`ax1", " ", "new ", "->", "=>", "f(", "function"]), max_size=25))
def test_marks_in_any_order_are_read_or_refused(parts: list[str]) -> None:
    for language in ("java", "javascript"):
        with suppress(DecodingError):
            read_text("".join(parts), language)


WORDS = st.from_regex(r"[a-z]{1,6}", fullmatch=True)
PLAIN = st.text("abc XYZ0123456789_.:!?", max_size=10)


@given(WORDS, st.dictionaries(WORDS, PLAIN, min_size=1, max_size=3))
def test_texts_in_quotes_are_what_is_in_them(name: str, arguments: dict[str, str]) -> None:
    reserved = {"new", "switch", "class", "import", "yield", "true", "false", "null", "this", "super", "void", "in"}
    if reserved & {name, *arguments} or {"typeof", "delete", "await", "async", "function"} & {name, *arguments}:
        return
    written = ", ".join(f'{key}="{value}"' for key, value in arguments.items())
    said = f"my.{name}({written});"
    assert read_java(said) == [{f"my.{name}": arguments}]
    assert read_javascript(said) == [{f"my.{name}": arguments}]


def test_what_is_nested_too_deeply_is_refused() -> None:
    pairs = (("(", ")"), ("[", "]"), ("!", ""), ("a=", ""), ("{a:", "}"), ("new A(", ")"), ("(a)", ""), ("a+", ""))
    for opening, closing in (*pairs, ("new A<", ">()"), ("new int[]{", "}"), ("a.b(c).", ""), ("a?b:", "")):
        said = f"call(x={opening * 5_000}1{closing * 5_000})"
        for language in ("java", "javascript"):
            with suppress(DecodingError):
                read_text(said, language)
    assert MOST_NESTED < 200


def _task(name: str, kind: str, listed: list[Any]) -> BfclTask:
    category = CATEGORIES[name]
    answers = ({"my.call": {"x": listed}},) if category.wanted == "calls" else ()
    functions = (function("my.call", {"x": {"type": kind, "description": ""}}),)
    return BfclTask(id=f"{name}_0", category=category, messages=(("user", "?"),), functions=functions, answers=answers)


@pytest.mark.parametrize(
    ("name", "kind", "listed", "said", "error"),
    [
        ("simple_java", "String", ["a b"], 'my.call(x="a b")', None),
        ("simple_java", "String", ["a b"], '```\n[my.call(x="a b")]\n```', None),
        ("simple_java", "integer", [5], "my.call(x=6)", "value_error:others"),
        ("simple_java", "integer", [5], "I cannot do that.", "ast_decoder:decoder_failed"),
        ("simple_java", "integer", [5], "nothing_is_called", "ast_decoder:decoder_wrong_output_format"),
        ("simple_javascript", "Boolean", [True], "my.call(x=true)", None),
        ("simple_javascript", "Boolean", [True], "my.call(true)", "simple_function_checker:missing_required"),
        ("simple_javascript", "Boolean", [True], "nothing", "ast_decoder:decoder_wrong_output_format"),
        ("simple_python", "string", ["a"], "my.call(x='a')", None),
        ("irrelevance", "string", [], "There is none.", None),
        ("irrelevance", "string", [], "[]", None),
        ("irrelevance", "string", [], "my.call(x=1)", "irrelevance_error:decoder_success"),
        ("live_relevance", "string", [], "any.other()", None),
        ("live_relevance", "string", [], "There is none.", "relevance_error:decoder_failed"),
    ],
)
def test_the_official_verdict_on_a_text(name: str, kind: str, listed: list[Any], said: str, error: str | None) -> None:
    assert check_text(_task(name, kind, listed), said) == error
