"""Addresses, keys and options."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wieldy.connect.models.settings import parse_address
from wieldy.core.errors import UsageError


@pytest.mark.parametrize(
    ("text", "url", "shown"),
    [
        ("http://h/v1/", "http://h/v1", "http://h/v1"),
        ("http://h/v1/models", "http://h/v1", "http://h/v1"),
        ("https://h:8/v1/chat/completions/", "https://h:8/v1", "https://h:8/v1"),
        ("http://ann:p@ss@h/v1", "http://ann:p@ss@h/v1", "http://h/v1"),
        ("http://h", "http://h", "http://h"),
    ],
)
def test_an_address_is_the_base_of_an_api(text, url, shown):
    address = parse_address(text)
    assert (address.url, address.shown) == (url, shown)


@pytest.mark.parametrize(
    ("text", "is_local"),
    [
        ("http://localhost:1", True),
        ("http://LOCALHOST", True),
        ("http://app.localhost", True),
        ("http://127.3.2.1", True),
        ("http://[::1]:1", True),
        ("http://192.168.0.1", False),
        ("http://localhost.example.org", False),
    ],
)
def test_this_machine_is_known_by_its_names(text, is_local):
    assert parse_address(text).is_local is is_local


@pytest.mark.parametrize(
    "text",
    [
        "http://\u2603.invalid/v1",
        "http://256.1.1.1/v1",
        "http://[v1.x]/",
        "http://h/" + "p" * 70_000,
        "http://h\\@x/v1",
        "http://h:0/v1",
        "ftp://h",
        "//h/v1",
        "http://\u202eh/v1",
    ],
)
def test_what_no_client_could_reach_is_refused_before_anything_is_sent(text):
    with pytest.raises(UsageError, match="Expected an address") as caught:
        parse_address(text)
    assert len(str(caught.value)) < 500


@given(text=st.text(max_size=30) | st.text(max_size=20).map("http://".__add__))
def test_every_text_is_an_address_or_refused(text):
    try:
        address = parse_address(text)
    except UsageError:
        return
    assert address.host
    assert address.shown.startswith(("http://", "https://"))


def test_a_password_is_not_shown():
    assert "secret" not in repr(parse_address("http://ann:secret@h/v1"))
    with pytest.raises(UsageError) as caught:
        parse_address("http://ann:secret@h/v1?x=1")
    assert "secret" not in str(caught.value)
