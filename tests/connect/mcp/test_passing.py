"""For whose call a server can have asked something."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any, cast

from hypothesis import given
from hypothesis import strategies as st

from wieldy.connect.mcp.client.passing import Callers
from wieldy.connect.serving.client import Client, called_by

if TYPE_CHECKING:
    from collections.abc import Generator


def client(who: str) -> Client:
    return Client(link=cast("Any", None), principal=who)


@contextmanager
def calling(callers: Callers, who: Client | None) -> Generator[None]:
    """A call of this client is under way; what the server says comes outside of it, as over its session."""
    with ExitStack() as stack:
        with called_by(who):
            stack.enter_context(callers.under_way())
        yield


def test_on_a_session_of_one_principal_it_is_the_only_call_that_is_under_way() -> None:
    callers, first, second = Callers(is_shared=False), client("anna"), client("anna")
    assert callers.meant() is None
    with calling(callers, first):
        assert callers.meant() is first
        with calling(callers, second):
            assert callers.meant() is None
        with calling(callers, None):  # over plain HTTP, where nobody can be asked
            assert callers.meant() is None
        assert callers.meant() is first
    assert callers.meant() is None


@given(st.lists(st.sampled_from(["anna", "bob", None]), max_size=4))
def test_on_a_shared_session_it_is_nobody_whoever_calls(names: list[str | None]) -> None:
    callers = Callers(is_shared=True)
    with ExitStack() as stack:
        for name in names:
            stack.enter_context(calling(callers, None if name is None else client(name)))
            assert callers.meant() is None
    assert callers.meant() is None


@given(st.booleans())
def test_what_comes_on_the_stream_of_a_request_is_for_its_client(is_shared: bool) -> None:
    callers, anna, bob = Callers(is_shared=is_shared), client("anna"), client("bob")
    with calling(callers, anna), calling(callers, bob), called_by(bob):
        assert callers.meant() is bob
