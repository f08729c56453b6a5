"""What descriptions come to in a few characters."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wieldy.tools.gist import gist, is_said_by, sentences_within


@pytest.mark.parametrize(
    ("text", "most", "short"),
    [
        ("The owner. The name is not case sensitive.", 60, "The owner. The name is not case sensitive."),
        ("The owner. The name is not case sensitive.", 30, "The owner."),
        ("A first one. A second one. A third one.", 30, "A first one. A second one."),
        ("One sentence that is too long for it.", 20, "One sentence that..."),
        ("Who may see it, e.g. Anna. Then more of it.", 30, "Who may see it, e.g. Anna."),
        ("If [issues are off](https://a.test/x_(y)), it is an error.", 60, "If issues are off, it is an error."),
        ("See [the list](https://a.test/list)\nof names.", 60, "See the list of names."),
        ("", 60, ""),
    ],
)
def test_the_first_sentences_are_left(text: str, most: int, short: str) -> None:
    assert gist(text, most) == short


@given(st.text(), st.integers(4, 100))
def test_a_gist_is_no_longer_than_it_may_be_and_on_one_line(text: str, most: int) -> None:
    short = gist(text, most)
    assert len(short) <= most
    assert short.splitlines() in ([], [short])


@given(st.text(), st.integers(0, 100))
def test_what_is_within_is_no_longer_than_it_may_be(text: str, most: int) -> None:
    end = sentences_within(text, most)
    assert 0 <= end <= most
    assert end == len(text) or len(text) > most


@pytest.mark.parametrize(
    ("names", "text", "is_said"),
    [
        ("issues_create title", "The title of the issue.", True),
        ("issues_create body", "The contents of the issue.", False),
        ("get_order order_id", "ID of the order", True),
        ("list per_page", "The number of results per page (max 100).", False),
        ("list page", "", True),
        ("PostCustomers address", "The customer's address.", True),
        ("PostCustomers phone", "The vendor's phone.", False),
    ],
)
def test_what_the_names_say_need_not_be_said_again(names: str, text: str, is_said: bool) -> None:
    assert is_said_by(names, text) == is_said
