"""The strict rules: what means the same is right, and what does not is told apart with a reason."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from bfcl_examples import BOOK, BOOK_ANSWER, FIND, function, task
from hypothesis import example, given
from hypothesis import strategies as st

from wieldy.evals.bfcl.answers import right_calls
from wieldy.evals.bfcl.defects import defects_of, is_valid
from wieldy.evals.bfcl.strict import check
from wieldy.evals.bfcl.values import NO_DEFAULT, documented_default
from wieldy.evals.verdicts.equality import is_equal, layout_free, matched

GOOD = {"city": "Aix-en-Provence", "nights": 3}


def code_of(arguments: dict[str, Any], name: str = "trips.book") -> str | None:
    reason = check(task(), [(name, arguments)])
    return None if reason is None else reason.partition(":")[0]


@pytest.mark.parametrize(
    "arguments",
    [
        GOOD,
        {"city": "aix-en-provence\n", "nights": 3},
        {"city": "Aix", "nights": 3.0},
        {**GOOD, "price": 120},
        {**GOOD, "price": 99.5},  # the documented default, written out
        {**GOOD, "tags": ["sea\tview", "Quiet"]},
    ],
)
def test_what_means_the_same_is_right(arguments: dict[str, Any]) -> None:
    assert code_of(arguments) is None


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"city": "Aix*en*Provence", "nights": 3}, "wrong-value"),
        ({"city": "Aix en Provence", "nights": 3}, "wrong-value"),
        ({"city": "Nice", "nights": 3}, "wrong-value"),
        ({**GOOD, "nights": 4}, "wrong-value"),
        ({**GOOD, "nights": True}, "wrong-type"),
        ({**GOOD, "nights": "3"}, "wrong-type"),
        ({**GOOD, "nights": 3.5}, "wrong-type"),
        ({**GOOD, "tags": ["quiet", "sea view"]}, "wrong-value"),
        ({**GOOD, "tags": "sea view"}, "wrong-type"),
        ({**GOOD, "price": 100}, "wrong-value"),
        ({**GOOD, "price": None}, "wrong-type"),
        ({**GOOD, "colour": "red"}, "undeclared-parameter"),
        ({"nights": 3}, "missing-parameter"),
    ],
)
def test_what_means_something_else_is_wrong_for_a_reason(arguments: dict[str, Any], code: str) -> None:
    assert code_of(arguments) == code


def test_calls_are_counted_and_named() -> None:
    assert check(task(), []) == "wrong-count: 0 calls instead of 1"
    assert code_of(GOOD, "trips_book") == "wrong-tool"


def test_a_parameter_without_a_reason_is_unexpected() -> None:
    described = {"a": {"type": "integer", "description": ""}, "b": {"type": "integer", "description": "", "default": 7}}
    one = task(functions=(function("f", described, []),), answers=({"f": {"a": [1]}},))
    assert check(one, [("f", {"a": 1, "b": 7})]) is None
    assert check(one, [("f", {"a": 1, "b": 8})]) == "unexpected-parameter: 'b'"
    assert check(one, [("f", {})]) == "missing-parameter: 'a' may not be left out here"


@given(st.permutations(range(4)), st.permutations(range(4)))
def test_parallel_calls_may_come_in_any_order(calls: list[int], answers: list[int]) -> None:
    values = function("f", {"x": {"type": "integer", "description": ""}})
    listed = tuple({"f": {"x": list(range(at + 1))}} for at in answers)
    several = task("parallel", functions=(values,), answers=listed)
    assert check(several, [("f", {"x": at}) for at in calls]) is None
    assert check(several, [("f", {"x": 3})] * 4) is not None


@given(st.lists(st.lists(st.booleans(), min_size=3, max_size=3), min_size=3, max_size=3))
def test_as_many_rows_as_possible_are_served(fits: list[list[bool]]) -> None:
    ways = itertools.permutations(range(3))
    most = max(sum(fits[row][column] for row, column in enumerate(way)) for way in ways)
    found = matched(fits)
    assert len(found) == most
    assert len(set(found.values())) == most
    assert all(fits[row][column] for column, row in found.items())


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.floats(-9, 9) | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=3),
    max_leaves=6,
)


@given(JSON, JSON)
def test_equality_is_that_of_an_equivalence(one: Any, other: Any) -> None:
    assert is_equal(one, one)
    assert is_equal(one, other) == is_equal(other, one)


@given(st.text() | st.text(alphabet="aA ,.-+*:()[]'\"1\u0130\u0345\u00df\u0301\t\n\u00a0"))
@example(",,")
@example("1 , 2 ,3,,4")
def test_taking_the_layout_away_twice_changes_nothing_more(text: str) -> None:
    once = layout_free(text)
    assert layout_free(once) == once
    assert layout_free(f" {text}\n") == once


@pytest.mark.parametrize(
    ("one", "other", "are_equal"),
    [
        (True, 1, False),
        (0, False, False),
        (1, 1.0, True),
        ({"a": 1}, {"a": True}, False),
        ([1, 2], [2, 1], False),
        ("San Francisco,CA", "San Francisco, CA", True),
        ("x**2 + 1", "x**2+1", True),
        ("x**2", "x2", False),
        ("34.0522", "340522", False),
        ("/home/ann", "homeann", False),
        ("-5", "5", False),
        ("cafe\u0301", "caf\u00e9", True),
        ("it's", "it’s", True),
        ("1,000", "1, 000", False),
        ("1 ,2", "1, 2", True),
        ("Rome , Italy", "Rome,Italy", True),
    ],
)
def test_texts_and_numbers(one: Any, other: Any, are_equal: bool) -> None:
    assert is_equal(one, other) is are_equal


@pytest.mark.parametrize(
    ("detail", "default"),
    [
        ({"default": None}, None),
        ({"description": "How many (default is 7)."}, 7),
        ({"description": "Speed. Default value is -9.81 (Earth)"}, -9.81),
        ({"description": "One of them. Default 'euclidean'"}, "euclidean"),
        ({"description": "If so. Default is false"}, False),
        ({"description": "Tags. Default empty array"}, []),
        ({"description": "Payment. Default annually", "type": "string"}, "annually"),
        ({"description": "Payment. Default is km/h", "type": "string"}, NO_DEFAULT),
        ({"description": "Place. Default is United States", "type": "string"}, NO_DEFAULT),
        ({"description": "The default value to return."}, NO_DEFAULT),
        ({"description": "A number."}, NO_DEFAULT),
    ],
)
def test_defaults_are_read_where_they_are_certain(detail: dict[str, Any], default: Any) -> None:
    assert documented_default(detail) == default


def test_members_of_objects_list_alternatives_at_every_depth() -> None:
    point = {"type": "dict", "properties": {"x": {"type": "integer"}, "y": {"type": "float"}}, "description": ""}
    described = {"at": point, "path": {"type": "array", "items": point, "description": ""}}
    answer = {"f": {"at": [{"x": [1, 2], "y": [0.5, ""]}], "path": [[{"x": [3]}, {"x": 4}], ""]}}
    one = task(functions=(function("f", described, ["at"]),), answers=(answer,))
    assert check(one, [("f", {"at": {"x": 2}})]) is None
    assert check(one, [("f", {"at": {"x": 1.0, "y": 0.5}, "path": [{"x": 3}, {"x": 4}]})]) is None
    assert check(one, [("f", {"at": {"x": 3}})]) is not None
    assert check(one, [("f", {"at": {"x": 2}, "path": [{"x": 4}, {"x": 3}]})]) is not None
    assert right_calls(one) == (("f", {"at": {"x": 1, "y": 0.5}, "path": [{"x": 3}, {"x": 4}]}),)


@pytest.mark.parametrize(
    ("kind", "text", "is_right"),
    [
        ("String[]", 'new String[]{"a", "b"}', True),
        ("String[]", "new String[]{a, b}", True),
        ("String[]", 'new String[]{"a", "c"}', False),
        ("long", "7L", True),
        ("long", "7", True),
        ("long", "8L", False),
    ],
)
def test_java_literals_are_read_for_what_they_say(kind: str, text: str, is_right: bool) -> None:
    array = {"type": "Array", "items": {"type": "String"}, "description": ""}
    detail, value = (array, ["a", "b"]) if kind == "String[]" else ({"type": "long", "description": ""}, 7)
    one = task("simple_java", functions=(function("f", {"x": detail}),), answers=({"f": {"x": [value]}},))
    assert (check(one, [("f", {"x": text})]) is None) is is_right
    assert check(one, right_calls(one)) is None


DEFECTS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "unknown-function": (FIND, {"other": {"x": [1]}}),
    "undeclared-parameter": (FIND, {"find": {"query": ["a"], "extra": [1]}}),
    "required-missing": (FIND, {"find": {}}),
    "no-value": (function("f", {"x": {"type": "array", "items": {"type": "string"}}}), {"f": {"x": [""]}}),
    "no-type": (function("f", {"x": {"type": "string"}}), {"f": {"x": [True]}}),
    "no-option": (function("f", {"x": {"type": "string", "enum": ["a"]}}), {"f": {"x": ["b"]}}),
}


@pytest.mark.parametrize("code", DEFECTS)
def test_tasks_without_a_right_answer_are_found(code: str) -> None:
    described, answer = DEFECTS[code]
    one = task(functions=(described,), answers=(answer,))
    assert code in [defect.code for defect in defects_of(one)]
    assert not is_valid(one)


def test_what_only_the_official_checker_gets_wrong_leaves_the_task_valid() -> None:
    assert defects_of(task()) == ()
    array = {"type": "Array", "items": {"type": "String"}, "description": ""}
    java = task("simple_java", functions=(function("f", {"x": array}),), answers=({"f": {"x": [["a"]]}},))
    assert [(defect.code, defect.concerns) for defect in defects_of(java)] == [("official-rejects", "official")]
    values = function("f", {"x": {"type": "integer", "description": ""}})
    greedy = task("parallel", functions=(values,), answers=({"f": {"x": [1, 2]}}, {"f": {"x": [1]}}))
    assert "official-order" in [defect.code for defect in defects_of(greedy)]
    assert is_valid(java)
    assert is_valid(greedy)


def test_right_calls_are_right() -> None:
    several = task("parallel_multiple", functions=(FIND, BOOK), answers=(BOOK_ANSWER, {"find": {"query": ["x"]}}))
    calls = right_calls(several)
    assert check(several, calls) is None
    assert [name for name, _ in calls] == ["trips.book", "find"]
