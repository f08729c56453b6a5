"""What a prompt asks for, as far as its words say."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wieldy.run.policy.asking import asking, days_in, gives_words, named_among, share_in

DELETE = (["delet", "remov"], ["file", "document"])


@pytest.mark.parametrize(
    ("text", "asks"),
    [
        ("Please delete the largest file.", True),
        ("Remove this document", True),
        ("Delete the mail. Then show me the file.", False),
        ("Read the file.\nDelete the event", False),
        ("Post 'delete the file' to the channel.", False),
        ("Post “delete the file”.", False),
        ("Read Bob's file and delete Ann's.", True),
        ("Delete 'old.txt', my least important file.", True),
        ("What is in the file?", False),
    ],
)
def test_a_deed_and_a_kind_of_thing_are_asked_for_in_one_sentence(text: str, asks: bool) -> None:
    assert bool(asking([text], *DELETE)) is asks


def test_where_a_kind_of_word_is_left_out_every_sentence_has_it() -> None:
    assert asking(["Delete it. Fine."], ["delet"], []) == ["Delete it."]
    assert asking(["Delete it. Fine."], [], []) == ["Delete it.", "Fine."]


@pytest.mark.parametrize(
    "text",
    ["2024-05-02", "on 2024-05-02 at 10:00", "2024-05-02T10:00", "May 2nd", "may 2", "the 2nd of May", "2 May 2024"],
)
def test_a_day_is_written_in_several_ways(text: str) -> None:
    assert days_in([text]) == {(5, 2)}


@pytest.mark.parametrize("text", ["", "you may go", "in 2 days", "10.2", "1-2-2024-05-02", "Maya 2", "2024-05"])
def test_what_is_no_day(text: str) -> None:
    assert not days_in([text])


@given(day=st.dates(), around=st.sampled_from(["{}", "on {}.", "from {} to then", "({})"]))
def test_every_day_is_read_as_it_is_written(day: date, around: str) -> None:
    month = f"{day:%B}"
    for written in (day.isoformat(), f"{month} {day.day}", f"{day.day} {month}", f"the {day.day}th of {month[:3]}"):
        assert days_in([around.format(written)]) == {(day.month, day.day)}


def test_records_are_named_by_what_only_they_have() -> None:
    files = [["1", "grocery-list-today.docx", "ann"], ["2", "plans.docx", "ann"], ["3", "trip-plans.docx", "bob"]]
    assert named_among(files, ["Put it on the grocery list"]) == [True, False, False]
    assert named_among(files, ["Delete Plans, please"]) == [False, True, False]
    assert named_among(files, ["Delete those of Ann"]) == [False, False, False]
    assert named_among(files, ["Delete file 1 and the plan"]) == [False, False, False]


def test_an_amount_names_a_payment() -> None:
    payments = [["10.0", "me"], ["110.0", "me"]]
    assert named_among(payments, ["Refund that 10.00 I got."]) == [True, False]
    assert named_among(payments, ["Refund 10."]) == [False, False]


@given(records=st.lists(st.lists(st.text(max_size=12), max_size=3), max_size=4), texts=st.lists(st.text(), max_size=2))
def test_a_copy_of_a_record_takes_its_name_away(records: list[list[str]], texts: list[str]) -> None:
    assert len(named_among(records, texts)) == len(records)
    assert not any(named_among([*records, *records], texts))


@pytest.mark.parametrize(
    ("text", "gives"),
    [
        ("Write them the following message: Hi", True),
        ("Ask 'Who is in?' there", True),
        ('Say "I am away"', True),
        ("Do these: 1. Read. 2. Write.", False),
        ("Post it to 'general'", False),
        ("Read Ann's message and Bob's", False),
    ],
)
def test_what_gives_a_text(text: str, gives: bool) -> None:
    assert gives_words([text]) is gives


@given(words=st.text(), texts=st.lists(st.text(), max_size=3))
def test_the_share_of_words(words: str, texts: list[str]) -> None:
    assert 0 <= share_in(words, texts) <= share_in(words, [*texts, words]) == 1
