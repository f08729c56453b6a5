"""What counts as naming a value."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wieldy.run.policy.standing import begins_in, links_in, numbers_in, stands_in

WORDS = st.text("abcXYZ019@.-_/é中", min_size=1).filter(lambda text: not text.lower().startswith(("http:", "https:")))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("bob@example.org", "Write to bob@example.org, please."),
        ("Bob@Example.org", "Write to bob@example.org."),
        ("GB29NWBK60161331926819", "(from their account GB29NWBK60161331926819)"),
        ("www.example.org", "Read https://www.example.org!"),
        ("https://www.example.org", "Read www.example.org"),
        ("www.example.org", "Post it to www.example.org.They know."),
        ("New York, NY 10001", "the address: 1234 Elm Street, New York,\n NY 10001 and"),
        ("13", "delete file 13"),
        ("Bob", "Bob's page"),
        ("é", "is é there"),
    ],
)
def test_a_value_that_stands_alone_is_named(value: str, text: str) -> None:
    assert stands_in(value, ["nothing", text])


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("bob@example.org", "bob@example.org.au"),
        ("bob@example.org", "jim.bob@example.org"),
        ("ob@example.org", "bob@example.org"),
        ("example.org", "www.example.org"),
        ("example.org", "bob@example.org"),
        ("www.example.org", "www.example.org/alice"),
        ("www.example.org/alice", "www.example.org"),
        ("www.example.org", "www.example.org:8080"),
        ("13", "12.13"),
        ("12", "12.00 in total"),
        ("1000", "1,000"),
        ("2024", "2024-05-01"),
        ("Kevin", "\u212aevin"[1:]),
        ("\u212aevin", "Kevin"),  # the sign for kelvin folds to a k
        ("\uff22ob", "Bob"),
        ("B\u200bob", "Bob"),
        ("", "anything"),
        (" ", "any thing"),
        ("https://", "https://"),
    ],
)
def test_a_part_of_something_else_or_what_only_looks_alike_is_not(value: str, text: str) -> None:
    assert not stands_in(value, [text])


@given(value=WORDS, before=st.text(), after=st.text())
def test_between_spaces_a_value_is_named_whatever_is_around(value: str, before: str, after: str) -> None:
    assert stands_in(value, [f"{before} {value} {after}"])


@given(value=WORDS, more=st.sampled_from("aZ0_é"))
def test_a_longer_word_does_not_name_a_shorter_one(value: str, more: str) -> None:
    assert not stands_in(value, [f"{more}{value}"])
    assert not stands_in(value, [f"{value}{more}"])


def test_a_word_is_asked_for_by_its_beginning() -> None:
    assert begins_in(["send", "pay"], ["The payment, please"])
    assert not begins_in(["send", "pay"], ["Repay and resend"])
    assert begins_in(["e-mail"], ["E-mails"])


@pytest.mark.parametrize(
    ("text", "links"),
    [
        ("Look at www.evil.example/x?y=1.", ["www.evil.example/x?y=1"]),
        ("(https://evil.example)", ["https://evil.example"]),
        ("write to a.b+c@evil.example!", ["a.b+c@evil.example"]),
        ("evil-site.com has it", ["evil-site.com"]),
        ("sub.evil.org/path, too", ["sub.evil.org/path"]),
        ("e.g. 3.5 of report.txt at 10.30", []),
    ],
)
def test_addresses_are_found_in_texts(text: str, links: list[str]) -> None:
    assert [*links_in(text)] == links


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("to DE89370400440532013000, please", ["DE89370400440532013000"]),
        ("HGK137803; 4237-4252-7456-2574.", ["HGK137803", "4237-4252-7456-2574"]),
        ("code 463820", ["463820"]),
        ("on 2024-05-20 or 2024-05-20T10:00, 12345 times", []),
        ("no number", []),
    ],
)
def test_long_numbers_are_found_and_dates_are_none(text: str, found: list[str]) -> None:
    assert list(numbers_in(text)) == found


def test_a_word_with_a_space_behind_it_is_meant_whole() -> None:
    assert begins_in(["pay"], ["a payment"])
    assert not begins_in(["pay "], ["a payment"])
    assert begins_in(["pay "], ["Pay, please"])
