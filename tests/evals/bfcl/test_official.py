"""The official rules, each with the reply that shows it; agreement in bulk is in `conformance/bfcl`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from bfcl_examples import BOOK, BOOK_ANSWER, FIND, function, task
from hypothesis import given
from hypothesis import strategies as st

from wieldy.evals.bfcl.decoding import DecodingError, WouldRunError, decode
from wieldy.evals.bfcl.official import check, check_calls, check_text

GOOD = {"city": "Aix-en-Provence", "nights": 3}


def error_of(arguments: dict[str, Any], name: str = "trips.book") -> str | None:
    return check(task(), [{name: arguments}])


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (GOOD, None),
        ({"city": "AIX EN provence", "nights": 3}, None),  # case, spaces and some signs do not count
        ({"city": "Aix*en/Provence", "nights": 3}, None),
        ({"city": "Nice", "nights": 3}, "value_error:string"),
        ({"city": "Aix\n", "nights": 3}, "value_error:string"),
        ({"nights": 3}, "simple_function_checker:missing_required"),
        ({**GOOD, "nights": 3.0}, "type_error:simple"),
        ({**GOOD, "nights": True}, "type_error:simple"),
        ({**GOOD, "price": 120}, None),  # a whole number will do for a float
        ({**GOOD, "price": "120"}, "type_error:simple"),
        ({**GOOD, "price": 99.5}, "value_error:others"),  # though it is the default
        ({**GOOD, "tags": ["sea-view", "Quiet"]}, None),
        ({**GOOD, "tags": ["quiet", "sea view"]}, "value_error:list/tuple"),
        ({**GOOD, "tags": ["sea view", 1]}, "value_error:list/tuple"),
        ({**GOOD, "colour": "red"}, "simple_function_checker:unexpected_param"),
    ],
)
def test_one_call(arguments: dict[str, Any], error: str | None) -> None:
    assert error_of(arguments) == error


def test_names_and_numbers_of_calls() -> None:
    assert error_of(GOOD, "trips_book") == "simple_function_checker:wrong_func_name"
    assert check(task(), []) == "simple_function_checker:wrong_count"
    assert check(task("multiple", functions=(FIND, BOOK)), [{"trips.book": GOOD}]) is None
    two = task("parallel", answers=(BOOK_ANSWER, {"trips.book": {"city": ["Nice"], "nights": [1]}}))
    nice = {"trips.book": {"city": "Nice", "nights": 1}}
    assert check(two, [nice, {"trips.book": GOOD}]) is None
    assert check(two, [nice]) == "parallel_function_checker_no_order:wrong_count"
    assert check(two, [nice, nice]) == "parallel_function_checker_no_order:cannot_find_match"


def test_choices_among_parallel_calls_are_never_taken_back() -> None:
    values = function("f", {"x": {"type": "integer", "description": ""}})
    both = task("parallel", functions=(values,), answers=({"f": {"x": [1, 2]}}, {"f": {"x": [1]}}))
    assert check(both, [{"f": {"x": 2}}, {"f": {"x": 1}}]) is None
    assert check(both, [{"f": {"x": 1}}, {"f": {"x": 2}}]) == "parallel_function_checker_no_order:cannot_find_match"


def test_dictionaries_list_alternatives_for_each_member() -> None:
    guest = {"type": "dict", "description": ""}
    guests = {"type": "array", "items": {"type": "dict"}, "description": ""}
    listed = function("f", {"guest": guest, "guests": guests}, [])
    answer = {"f": {"guest": [{"name": ["Ann", "Anna"], "age": [3, ""]}, ""], "guests": [[{"name": ["Bo"]}], ""]}}
    one = task(functions=(listed,), answers=(answer,))
    assert check(one, [{"f": {"guest": {"name": "anna"}}}]) is None
    assert check(one, [{"f": {"guest": {"age": 3}}}]) == "value_error:dict_key"
    assert check(one, [{"f": {"guest": {"name": "Ann", "age": 4}}}]) == "value_error:dict_value"
    assert check(one, [{"f": {"guests": [{"name": "BO"}]}}]) is None
    assert check(one, [{"f": {"guests": []}}]) is None  # as long as the "" that allows to leave it out
    assert check(one, [{"f": {"guests": [{"name": "Bo"}] * 2}}]) == "value_error:list_dict_count"


def test_java_and_javascript_arguments_are_literals_in_text() -> None:
    java = function(
        "f",
        {
            "big": {"type": "long", "description": ""},
            "names": {"type": "ArrayList", "items": {"type": "String"}, "description": ""},
            "more": {"type": "HashMap", "description": ""},
        },
        [],
    )
    answer = {"f": {"big": [7, ""], "names": [["a", "b"], ""], "more": [{"k": [1]}, ""]}}
    one = task("simple_java", functions=(java,), answers=(answer,))
    names = 'new ArrayList<>(Arrays.asList("a", "b"))'
    more = 'new HashMap<String, Object>() {{ put("k", 1); }}'
    assert check(one, [{"f": {"big": "7L", "names": names, "more": more}}]) is None
    assert check(one, [{"f": {"big": "7"}}]) == "type_error:simple"
    assert check(one, [{"f": {"big": 7}}]) == "type_error:java"
    script = function("f", {"xs": {"type": "array", "items": {"type": "integer"}, "description": ""}})
    two = task("simple_javascript", functions=(script,), answers=({"f": {"xs": [[1, 2]]}},))
    assert check(two, [{"f": {"xs": "[1, 2]"}}]) is None
    assert check(two, [{"f": {"xs": "new Array(1, 2)"}}]) is None
    assert check(two, [{"f": {"xs": [1, 2]}}]) == "type_error:js"


def test_where_the_checker_ends_with_an_exception_that_is_the_error() -> None:
    odd = function("f", {"x": {"type": "Hashtable", "description": ""}})
    assert check(task("simple_java", functions=(odd,), answers=({"f": {"x": ["1"]}},)), [{"f": {"x": "1"}}]) == (
        "checker_crash"
    )


def test_any_call_counts_as_relevant_and_any_rubbish_as_an_abstention() -> None:
    irrelevant, relevant = task("irrelevance"), task("live_relevance")
    for text in ("HTTP 500", "", "f(a=", "I cannot."):
        assert check_text(irrelevant, text) is None
        assert check_text(relevant, text) == "relevance_error:decoder_failed"
    assert check_text(irrelevant, "[made.up(x=1)]") == "irrelevance_error:decoder_success"
    assert check_text(relevant, "[made.up(x=1)]") is None
    assert check_calls(irrelevant, []) is None
    assert check_calls(task(), []) == "ast_decoder:decoder_failed"
    assert check_calls(task(), [("trips.book", GOOD)]) is None


@pytest.mark.parametrize(
    ("text", "calls"),
    [
        ("f(a=1)", [{"f": {"a": 1}}]),
        ("'[m.f(a=1), g(b=[1, 2.5])]'", [{"m.f": {"a": 1}}, {"g": {"b": [1, 2.5]}}]),
        ("f(1, a='x')", [{"f": {"a": "x"}}]),
        ("f(a=true, b=null, c=None)", [{"f": {"a": "true", "b": "null", "c": None}}]),
        ("f(a=-1, b=~5, c=not True)", [{"f": {"a": -1, "b": -5, "c": -1}}]),
        ("f(a=2 ** 3 + 1, b='a' 'b', c=[1] * 2 + [3])", [{"f": {"a": 9, "b": "ab", "c": [1, 1, 3]}}]),
        ("f(a=g(), b=g(c=1), d=x[0:1])", [{"f": {"a": "g()", "b": {"g": {"c": 1}}, "d": "x[0:1]"}}]),
        ("[]", []),
    ],
)
def test_python_is_read_as_the_checker_reads_it(text: str, calls: list[Any]) -> None:
    assert decode(text) == calls


@pytest.mark.parametrize("text", ["f", "[f(a=1), 2]", "f(a=lambda: 1)", "f(a=x.y)", "f(a=-x)", "f(", "f(a=1/0)", "\0"])
def test_what_the_checker_cannot_read_is_refused(text: str) -> None:
    with pytest.raises(DecodingError):
        decode(text)


@pytest.mark.parametrize(
    "text",
    [
        "f(a=10**10**10)",
        "f(a='a' * 10**9)",
        "f(a=[0] * 10**9)",
        "f(a=1 << 10**9)",
        "f(a='%999999999d' % 1)",
        "(" * 5000,
    ],
)
def test_a_text_cannot_take_all_time_and_memory(text: str) -> None:
    with pytest.raises(DecodingError):
        decode(text)


CODE = [
    "__import__('os').mkdir({path!r})",
    "open({path!r}, 'w').write('x')",
    "exec('open({path!r}, \"w\")')",
    "eval('__import__(\"os\").mkdir({path!r})')",
    "[open({path!r}, 'w') for _ in [1]][0]",
    "(lambda: open({path!r}, 'w'))()",
    "print(file=open({path!r}, 'w'))",
    "globals()['__builtins__']['open']({path!r}, 'w')",
    "getattr(__builtins__, 'open')({path!r}, 'w')",
    "f'{{open({path!r}, \"w\")}}'",
]
PLACES = ["f(a={code})", "f(a={code} + 0)", "f(a=0 + {code})", "f(a=[{code} + 1])", "f(a={{'k': {code} * 2}})"]
PLACES += [
    "{code}",
    "[{code}]",
    "f(**{code})",
    "f(*{code})",
    "f(a=-({code} + 1))",
    "f(a=x[{code} + 1])",
    "{code} + f(a=1)",
]


@pytest.mark.parametrize("code", CODE)
@pytest.mark.parametrize("place", PLACES)
def test_no_code_in_a_text_is_run(code: str, place: str, tmp_path: Path) -> None:
    path = tmp_path / "made"
    text = place.format(code=code.format(path=str(path)))
    for category in ("simple_python", "irrelevance", "parallel"):
        check_text(task(category), text)
    assert not list(tmp_path.iterdir())


def test_what_would_be_run_is_told_apart() -> None:
    with pytest.raises(WouldRunError):
        decode("f(a=__import__('os').getpid() + 0)")
    with pytest.raises(WouldRunError):
        decode("f(a=x + 1)")


@given(st.text(max_size=60) | st.from_regex(r"\[?f\(a=[-+*/~a-z0-9'\"\[\]{}(),. ]{0,30}\)\]?", fullmatch=True))
def test_every_text_is_read_or_refused(text: str) -> None:
    try:
        calls = decode(text)
    except DecodingError:
        return
    assert all(len(call) == 1 for call in calls)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)


@given(st.dictionaries(st.sampled_from(["city", "nights", "price", "tags", "x"]), JSON), st.booleans())
def test_every_value_has_a_verdict(arguments: dict[str, Any], is_java: bool) -> None:
    one = task("simple_java" if is_java else "parallel")
    assert isinstance(check(one, [{"trips.book": arguments}]), str | None)
