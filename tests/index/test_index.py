"""Laws of the index, and what a search finds."""

from collections.abc import Sequence

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from wieldy.index import Entry, Hit, Index

WORDS = ["order", "refund", "weather", "city", "invoice", "send", "email", "stock", "price", "user", "delete", "list"]
texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=5).map(" ".join)
names = st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map("_".join)
entries = st.builds(Entry, name=names, text=texts, labels=st.lists(st.sampled_from(WORDS), max_size=3).map(tuple))
sets = st.lists(entries, max_size=12, unique_by=lambda entry: entry.name)

SHOP = [
    Entry(name="refund_order", text="Give a customer the money of an order back.", labels=("order_id", "amount")),
    Entry(name="get_order", text="What was ordered, when, and by whom.", labels=("order_id",)),
    Entry(name="get_weather", text="The weather of a city on a day.", labels=("city", "day")),
    Entry(name="send_email", text="Send an email.", labels=("to", "subject", "body")),
    Entry(name="search", text="Find pages on the web.", labels=("words",)),
]


@given(st.text(st.characters(codec=None), max_size=5))
@example("\udcff")
@example("refund \ud800")
def test_whatever_is_asked_for_or_indexed_is_text(text: str) -> None:
    index = Index([*SHOP, Entry(name="odd", text=text)])
    assert {hit.name for hit in index.search(text, limit=9)} <= {"odd", *(entry.name for entry in SHOP)}


def found(hits: Sequence[Hit]) -> list[str]:
    return [hit.name for hit in hits]


def same(one: Sequence[Hit], other: Sequence[Hit]) -> bool:
    """Equal but for the last digits of sums that were made in another order."""
    return sorted(found(one)) == sorted(found(other)) and all(
        abs(mine.score - theirs.score) < 1e-3
        for mine, theirs in zip(sorted(one, key=lambda h: h.name), sorted(other, key=lambda h: h.name), strict=True)
    )


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("the customer wants his money back", "refund_order"),
        ("will it rain in Paris tomorrow", "get_weather"),
        ("send Ada a message", "send_email"),
        ("look something up online", "search"),
    ],
)
def test_what_is_meant_is_found_first(query: str, first: str) -> None:
    assert found(Index(SHOP).search(query))[0] == first


@pytest.mark.parametrize("query", ["", "   ", "qqqq zzzz", "the chess opening of the Sicilian dragon"])
def test_where_nothing_fits_nothing_is_found(query: str) -> None:
    assert Index(SHOP).search(query) == ()


def test_an_empty_index_finds_nothing() -> None:
    assert Index().search("anything") == ()


@pytest.mark.parametrize(
    "query",
    [
        "get_weather",
        "Get weather",
        "getWeather",
        "refund the order, then send the email with get_weather",
        'refund the order with "get weather"',
        "money back of an order through `get_weather`!",
    ],
)
def test_what_is_named_stands_first(query: str) -> None:
    first = Index(SHOP).search(query)[0]
    assert first.name == "get_weather"
    assert first.is_named


def test_a_word_of_prose_names_nothing() -> None:
    assert found(Index(SHOP).search("search for an order of the customer and give the money back"))[0] == "refund_order"
    assert found(Index(SHOP).search("search"))[0] == "search"


@given(sets, st.data())
def test_every_name_finds_its_entry_first(given_entries: list[Entry], data: st.DataObject) -> None:
    index = Index(given_entries)
    for entry in given_entries:
        assert found(index.search(entry.name, limit=1)) == [entry.name]
        if "_" in entry.name:
            around = data.draw(texts)
            assert index.search(f"{around} {entry.name} {around}", limit=1)[0].is_named


@given(sets, sets, sets, texts)
def test_a_changed_index_answers_as_one_made_anew(
    first: list[Entry], second: list[Entry], gone: list[Entry], query: str
) -> None:
    index = Index(first)
    index.add(*second)
    index.remove(*(entry.name for entry in gone))
    left = {entry.name: entry for entry in [*first, *second] if entry.name not in {each.name for each in gone}}
    assert len(index) == len(left)
    assert same(index.search(query, limit=100), Index(left.values()).search(query, limit=100))


@given(sets, st.sets(names), texts)
def test_what_may_not_be_found_changes_nothing(given_entries: list[Entry], hidden: set[str], query: str) -> None:
    seen = Index(given_entries).search(query, limit=100, allowed=lambda name: name not in hidden)
    assert same(seen, Index(entry for entry in given_entries if entry.name not in hidden).search(query, limit=100))


# What scores best does not fit, and what fits scores less.
UNFIT = [Entry(name="order", text="order"), Entry(name="refund", text="order", labels=("weather",))]


@given(sets, texts, st.integers(1, 12))
@example(UNFIT, "weather", 1)
def test_fewer_are_the_beginning_of_more(given_entries: list[Entry], query: str, limit: int) -> None:
    index = Index(given_entries)
    assert index.search(query, limit=limit) == index.search(query, limit=100)[:limit]


def test_each_of_several_queries_has_its_turn() -> None:
    hits = found(Index(SHOP).search("money back for an order", "weather in a city", limit=2))
    assert hits == ["refund_order", "get_weather"]


@given(st.text())
def test_any_text_is_a_query(query: str) -> None:
    assert set(found(Index(SHOP).search(query))) <= {entry.name for entry in SHOP}
