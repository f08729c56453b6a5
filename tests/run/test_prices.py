"""What tokens cost, and when that is not known."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wieldy.core.errors import UsageError
from wieldy.core.limits import Usage
from wieldy.run.prices import PRICES, Price, check_prices, cost_of, price_of

PLAIN = Price(input_usd_per_million=2, output_usd_per_million=10, cached_input_usd_per_million=0.5)
DEAR = Price(input_usd_per_million=20, output_usd_per_million=100)
LONG = Price(input_usd_per_million=4, output_usd_per_million=15)
TIERED = Price(input_usd_per_million=2, output_usd_per_million=10, up_to_input_tokens=1000, beyond=LONG)
MILLION = 1_000_000


def used(read: int = 0, written: int = 0, *, cached: int = 0, requests: int = 1) -> Usage:
    return Usage(input_tokens=read, output_tokens=written, cached_input_tokens=cached, requests=requests)


def test_tokens_read_and_written_are_paid_for() -> None:
    assert cost_of({"a:b": PLAIN}, "a:b", used(MILLION, MILLION)) == 12


def test_cached_tokens_cost_what_they_cost() -> None:
    assert cost_of({"a:b": PLAIN}, "a:b", used(MILLION, cached=MILLION)) == 0.5


def test_cached_tokens_cost_the_same_where_there_is_no_other_price() -> None:
    assert cost_of({"a:b": DEAR}, "a:b", used(MILLION, cached=MILLION)) == 20


def test_a_provider_that_counts_more_cached_tokens_than_tokens_gives_nothing_back() -> None:
    assert cost_of({"a:b": PLAIN}, "a:b", used(MILLION, cached=2 * MILLION)) == 0.5


def test_an_unknown_model_has_no_cost_which_is_not_nothing() -> None:
    assert cost_of({"a:b": PLAIN}, "a:c", used(1)) is None
    assert cost_of({}, "", used(1)) is None


def test_the_name_goes_before_a_beginning_and_the_longer_beginning_before_the_shorter() -> None:
    prices = {"*": DEAR, "a:*": PLAIN, "a:b*": DEAR, "a:bc": PLAIN}
    assert price_of(prices, "a:bc") is PLAIN
    assert price_of(prices, "a:bcd") is DEAR
    assert price_of(prices, "a:x") is PLAIN
    assert price_of(prices, "x") is DEAR


def test_a_name_with_a_star_is_not_taken_for_the_pattern() -> None:
    assert price_of({"a:b*": PLAIN}, "a:b*") is PLAIN
    assert price_of({"a:b": PLAIN}, "a:*") is None


def test_a_long_request_has_its_own_price_for_all_of_its_tokens() -> None:
    assert cost_of({"m": TIERED}, "m", used(1000)) == pytest.approx(0.002)
    assert cost_of({"m": TIERED}, "m", used(1001)) == pytest.approx(1001 * 4 / MILLION)


def test_what_several_requests_cost_together_is_not_guessed() -> None:
    assert cost_of({"m": TIERED}, "m", used(900, requests=2)) == pytest.approx(0.0018)
    assert cost_of({"m": TIERED}, "m", used(1001, requests=2)) is None


def test_a_long_request_of_unknown_price_has_no_cost() -> None:
    price = Price(input_usd_per_million=2, output_usd_per_million=10, up_to_input_tokens=1000)
    assert cost_of({"m": price}, "m", used(1001)) is None


TOKENS = st.integers(0, 10**9)


@given(TOKENS, TOKENS, TOKENS)
def test_costs_of_requests_add_up(read: int, more: int, written: int) -> None:
    prices = {"m": PLAIN}
    one, other = used(read, written), used(more)
    together, first, second = (cost_of(prices, "m", usage) for usage in (one + other, one, other))
    assert together is not None
    assert first is not None
    assert second is not None
    assert math.isclose(together, first + second, abs_tol=1e-9)


@pytest.mark.parametrize("name", ["scripted", "local", "local:qwen.gguf", "hf:someone/model", "script:oracle"])
def test_models_on_this_machine_cost_nothing(name: str) -> None:
    assert cost_of(PRICES, name, used(MILLION, MILLION)) == 0


@pytest.mark.parametrize(
    ("name", "same"),
    [
        ("anthropic:claude-haiku-4-5-20251001", "anthropic:claude-haiku-4-5"),
        ("openai:gpt-4o-mini-2024-07-18", "openai:gpt-4o-mini"),
        ("openai:gpt-4o-2024-08-06", "openai:gpt-4o"),
    ],
)
def test_a_dated_snapshot_costs_what_its_model_costs(name: str, same: str) -> None:
    assert price_of(PRICES, name) is PRICES[same]


@pytest.mark.parametrize(
    "name", ["anthropic:claude-opus-5-7", "openai:gpt-4o-audio-preview", "localhost", "openai:local", "scripted:mine"]
)
def test_a_model_that_only_begins_like_a_known_one_has_no_price(name: str) -> None:
    assert price_of(PRICES, name) is None


def test_the_table_of_the_house_can_be_used_and_extended_and_not_changed() -> None:
    check_prices(PRICES)
    check_prices({**PRICES, "openai:*": DEAR})
    with pytest.raises(TypeError):
        PRICES["openai:gpt-4o"] = DEAR  # type: ignore[index]


BAD = {
    "no table": ([("a", PLAIN)], "Expected prices as a table .* found list"),
    "no name": ({3: PLAIN}, "found 3 in the prices"),
    "an empty name": ({"": PLAIN}, "found '' in the prices"),
    "a star in the middle": ({"a*b": PLAIN}, "one '\\*' at the end, found 'a\\*b'"),
    "two stars": ({"a**": PLAIN}, "found 'a\\*\\*'"),
    "no price": ({"a": 2.0}, "Expected a `Price` for 'a', found 2.0"),
    "less than nothing": (
        {"a": Price(input_usd_per_million=-1, output_usd_per_million=1)},
        "'a': expected input_usd_per_million to be a number of at least 0, found -1",
    ),
    "text": ({"a": Price(input_usd_per_million="1", output_usd_per_million=1)}, "found '1'"),  # type: ignore[arg-type]
    "no number": ({"a": Price(input_usd_per_million=1, output_usd_per_million=math.nan)}, "output_usd.*found nan"),
    "nothing to pay": ({"a": Price(input_usd_per_million=None, output_usd_per_million=1)}, "found None"),  # type: ignore[arg-type]
    "a truth": (
        {"a": Price(input_usd_per_million=1, output_usd_per_million=1, cached_input_usd_per_million=True)},
        "cached_input_usd_per_million to be a number of at least 0, found True",
    ),
    "half a token": (
        {"a": Price(input_usd_per_million=1, output_usd_per_million=1, up_to_input_tokens=1.5)},  # type: ignore[arg-type]
        "up_to_input_tokens to be a number or None, found 1.5",
    ),
    "beyond nothing": ({"a": Price(input_usd_per_million=1, output_usd_per_million=1, beyond=PLAIN)}, "found None"),
    "a wrong price beyond": (
        {"a": Price(input_usd_per_million=1, output_usd_per_million=1, up_to_input_tokens=9, beyond=3)},  # type: ignore[arg-type]
        "Expected a `Price` for 'a beyond 9 input tokens', found 3",
    ),
}


@pytest.mark.parametrize(("prices", "words"), BAD.values(), ids=BAD.keys())
def test_what_is_no_price_table_is_refused(prices, words):
    with pytest.raises(UsageError, match=words):
        check_prices(prices)
