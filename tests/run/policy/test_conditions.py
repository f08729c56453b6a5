"""Conditions hold of what they say, also where a model or a tool spells a value in another way."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wieldy.core.errors import UsageError
from wieldy.run.policy import (
    Condition,
    above,
    at_least,
    at_most,
    below,
    contains,
    equals,
    every,
    fields,
    matches,
    missing,
    one_of,
    some,
)
from wieldy.run.policy.conditions import read_condition, read_where

texts = st.text(max_size=8)
numbers = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
values = st.recursive(
    st.none() | st.booleans() | numbers | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
simple = st.one_of(
    values.map(equals),
    st.lists(values, min_size=1, max_size=3).map(lambda several: one_of(*several)),
    st.sampled_from(["a.*", "x", ".*@example\\.com", "(?i)drop"]).map(matches),
    st.sampled_from(["a+", "x"]).map(contains),
    numbers.map(above),
    numbers.map(below),
    numbers.map(at_least),
    numbers.map(at_most),
    st.just(missing()),
)
conditions: st.SearchStrategy[Condition] = st.recursive(
    simple,
    lambda inner: st.one_of(
        inner.map(some),
        inner.map(every),
        inner.map(lambda one: ~one),
        st.tuples(inner, inner).map(lambda two: two[0] | two[1]),
        st.tuples(inner, inner).map(lambda two: two[0] & two[1]),
        st.dictionaries(st.sampled_from(["a", "b.c", "0"]), inner, min_size=1, max_size=2).map(fields),
    ),
    max_leaves=5,
)


@settings(deadline=None)
@given(conditions, values)
def test_a_condition_that_was_written_and_read_again_holds_of_the_same_values(condition: Any, value: Any) -> None:
    again = read_condition(json.loads(json.dumps(condition.to_dict())))
    assert again == condition
    assert again.holds(value) is condition.holds(value)


@settings(deadline=None)
@given(conditions, conditions, values)
def test_or_and_and_not_are_what_they_are_everywhere(one: Condition, other: Condition, value: Any) -> None:
    assert (one | other).holds(value) is (one.holds(value) or other.holds(value))
    assert (one & other).holds(value) is (one.holds(value) and other.holds(value))
    assert (~one).holds(value) is not one.holds(value)


@settings(deadline=None)
@given(values)
def test_a_value_equals_itself_and_what_a_journal_makes_of_it(value: Any) -> None:
    assert equals(value).holds(value)
    assert equals(value).holds(json.loads(json.dumps(value)))
    assert one_of("other", value).holds(value)


@settings(deadline=None)
@given(st.none() | st.booleans() | numbers | texts)
def test_a_plain_value_means_equals(value: Any) -> None:
    assert read_condition(value).holds(value)


@settings(deadline=None)
@given(numbers, numbers)
def test_numbers_are_compared_as_numbers_also_where_they_are_written_as_text(limit: float, number: float) -> None:
    spelled = repr(number)
    for value in (number, spelled, f" {spelled} "):
        assert above(limit).holds(value) is (number > limit)
        assert below(limit).holds(value) is (number < limit)
        assert at_least(limit).holds(value) is (number >= limit)
        assert at_most(limit).holds(value) is (number <= limit)


def test_a_tenth_is_a_tenth_in_text_and_in_binary() -> None:
    assert at_least(0.1).holds("0.1")
    assert at_most(0.1).holds("0.10")
    assert not above(0.1).holds("0.1")


@pytest.mark.parametrize("value", [None, True, "much", "", "nan", [500], {"amount": 500}, "5,000"])
def test_what_is_no_number_is_neither_above_nor_below(value: Any) -> None:
    assert not above(-1e9).holds(value)
    assert not below(1e9).holds(value)


def test_an_infinite_text_is_above_every_limit() -> None:
    assert above(1e300).holds("Infinity")
    assert above(10**400).holds(10**401)


def test_one_is_not_true_and_text_is_no_number() -> None:
    assert equals(1).holds(1.0)
    assert not equals(1).holds(True)
    assert not equals(True).holds(1)
    assert not equals([0]).holds([False])
    assert not equals({"a": 1}).holds({"a": True})
    assert not equals(1).holds("1")
    assert not equals([1]).holds([1, 2])
    assert not equals({"a": 1}).holds({"a": 1, "b": 2})


def test_a_pattern_fits_the_whole_text_and_contains_looks_anywhere() -> None:
    assert matches(r".+@example\.com").holds("ann@example.com")
    assert not matches(r".+@example\.com").holds("ann@example.com.evil.org")
    assert not matches(r".+@example\.com").holds("evil.org\n@example.com")
    assert contains("(?i)drop table").holds("x; DROP TABLE orders")
    assert not contains("drop").holds(5)
    assert not matches("5").holds(5)


def test_null_and_nothing_are_missing_and_everything_else_is_there() -> None:
    assert missing().holds(None)
    assert read_condition(None).holds(None)
    for value in (0, "", False, [], {}):
        assert not missing().holds(value)
        assert read_condition({"missing": False}).holds(value)


def test_of_null_only_what_speaks_of_it_holds() -> None:
    for condition in (above(0), below(0), matches(".*"), contains(""), some(equals(None)), every(1), fields({"a": 1})):
        assert not condition.holds(None)
        assert (condition | missing()).holds(None)
        assert (~condition).holds(None)


def test_some_and_every_speak_of_lists() -> None:
    inside = matches(r".+@example\.com")
    assert some(inside).holds(["ann@example.com", "eve@evil.org"])
    assert not every(inside).holds(["ann@example.com", "eve@evil.org"])
    assert every(inside).holds(["ann@example.com"])
    assert every(inside).holds([])
    assert not some(inside).holds([])
    assert not every(inside).holds("ann@example.com")
    assert some("x").holds(["y", "x"])


def test_fields_speak_of_objects_in_lists() -> None:
    dear = some(fields({"article.price": above(100), "count": at_least(2)}))
    assert dear.holds([{"article": {"price": 150}, "count": 2}])
    assert not dear.holds([{"article": {"price": 150}, "count": 1}, {"article": {"price": 5}, "count": 9}])


def test_several_kinds_in_one_dictionary_must_all_hold() -> None:
    between = read_condition({"above": 10, "below": 20})
    assert between.holds(15)
    assert not between.holds(25)
    assert not between.holds(5)


@pytest.mark.parametrize("use", [lambda: above(1) or missing(), lambda: not above(1), lambda: above(1) and below(2)])
def test_pythons_own_or_is_refused_because_it_would_forget_a_condition(use: Any) -> None:
    with pytest.raises(UsageError, match="has no truth of its own"):
        use()


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: above("100"), "'above': expected a number such as 100, found '100'"),
        (lambda: above(True), "expected a number"),
        (lambda: above(float("nan")), "expected a number"),
        (lambda: above(float("inf")), "expected a number"),
        (lambda: matches("("), "cannot be read"),
        (lambda: matches(5), "as text"),
        (lambda: contains("a{99999999999}"), "cannot be read"),
        (one_of, "one value or more"),
        (lambda: equals({1, 2}), "expected a JSON value"),
        (lambda: equals(float("nan")), "expected a JSON value"),
        (lambda: some([1, 2]), "'some': expected a condition"),
        (lambda: fields(5), "expected a dictionary"),
        (lambda: fields({"a..b": 1}), "'a..b': expected the path"),
        (lambda: fields({5: 1}), "expected the path"),
        (lambda: fields({"a": above("x")}), "expected a number"),
        (lambda: Condition("abov", 5), "did you mean 'above'"),
        (lambda: Condition("missing", 1), "expected true or false"),
        (lambda: Condition("any_of", ()), "one condition or more"),
        (lambda: read_condition({}), "equals"),
        (lambda: read_condition({"any_of": [{"abov": 1}]}), "'any_of': expected one of .* did you mean 'above'"),
        (lambda: read_condition({5: 1}), "found 5"),
        (lambda: read_condition(["a"]), "one_of"),
        (lambda: read_condition({"a"}), "one_of"),
        (lambda: read_condition(object()), "expected a JSON value"),
        (lambda: read_where([]), "expected a dictionary"),
        (lambda: read_where({"": 1}), "expected the path"),
    ],
)
def test_what_is_no_condition_says_what_would_be(make: Any, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        make()


def test_what_was_given_may_change_afterwards() -> None:
    given = {"a": [1]}
    condition = equals(given)
    given["a"].append(2)
    assert condition.holds({"a": [1]})
    shown = condition.to_dict()
    shown["equals"]["a"].append(3)  # type: ignore[index,call-overload,union-attr]
    assert condition.holds({"a": [1]})
