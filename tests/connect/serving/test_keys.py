"""Who calls, by their key."""

from __future__ import annotations

import string
from hashlib import sha256
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wieldy import Principal, UsageError
from wieldy.connect.serving.keys import Guarded, Keys, principal_in

pytestmark = pytest.mark.anyio
keys = st.text(string.ascii_letters + string.digits + "-._~+/=", min_size=16, max_size=24)


holders = st.dictionaries(st.sampled_from("abc"), keys, min_size=1).filter(
    lambda known: len(set(known.values())) == len(known)
)


@given(known=holders, other=keys)
def test_a_key_is_that_of_its_principal_and_of_nobody_else(known: dict[str, str], other: str) -> None:
    made = Keys.of(known)
    for name, key in known.items():
        found = made.principal_of(f"Bearer {key}")
        assert found is not None
        assert found.name == name
        assert key not in repr(made)
        assert made.principal_of(f"Bearer {sha256(key.encode()).hexdigest()}") is None
    assert (made.principal_of(f"bearer  {other}") is None) == (other not in known.values())


@pytest.mark.parametrize("header", [None, "", "Bearer", "Bearer ", "Basic a-long-key-of-anna", "a-long-key-of-anna"])
def test_what_is_no_bearer_key_is_nobodys(header: str | None) -> None:
    assert Keys.of({"anna": "a-long-key-of-anna"}).principal_of(header) is None


def test_what_cannot_be_a_key_is_refused() -> None:
    with pytest.raises(UsageError, match="at least one key"):
        Keys([])
    with pytest.raises(UsageError, match="64 hexadecimal digits"):
        Keys([("zz", Principal(name="anna"))])
    with pytest.raises(UsageError, match="at least 16 characters"):
        Keys.of({"anna": "short"})


async def test_what_is_behind_sees_the_principal_and_no_key() -> None:
    seen: list[Any] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        seen.append((principal_in(scope), scope["headers"]))

    async def nothing(*_: Any) -> None:
        raise AssertionError

    guarded = Guarded(app, Keys.of({"anna": "a-long-key-of-anna"}))
    headers = [(b"authorization", b"Bearer a-long-key-of-anna"), (b"x-other", b"1")]
    await guarded({"type": "http", "headers": headers}, nothing, nothing)
    assert seen == [(Principal(name="anna"), [(b"x-other", b"1")])]


async def test_two_headers_of_that_kind_are_none() -> None:
    sent: list[Any] = []

    async def app(*_: Any) -> None:
        raise AssertionError

    async def send(message: Any) -> None:
        sent.append(message)

    guarded = Guarded(app, Keys.of({"anna": "a-long-key-of-anna"}))
    header = (b"authorization", b"Bearer a-long-key-of-anna")
    await guarded({"type": "http", "headers": [header, header]}, app, send)
    assert sent[0]["status"] == 401
