"""What a principal may have done."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wieldy.core.errors import UsageError
from wieldy.core.principals import Principal

names = st.text("abc:", min_size=1, max_size=6)


@pytest.mark.parametrize(
    ("held", "asked", "may"),
    [
        ("orders:read", "orders:read", True),
        ("orders:read", "orders:write", False),
        ("orders:read", "orders:read:all", False),
        ("orders:*", "orders:write", True),
        ("orders:*", "orders", False),
        ("orders:*", "payments:write", False),
        ("*", "payments:write", True),
        ("Orders:read", "orders:read", False),
    ],
)
def test_a_permission_is_held_by_its_name_or_by_what_it_begins_with(held: str, asked: str, may: bool) -> None:
    assert Principal(name="anna", permissions={held}).may(asked) is may


def test_nobody_may_anything_unless_it_was_said() -> None:
    assert not Principal(name="anna").may("orders:read")


@settings(deadline=None)
@given(st.sets(names), names)
def test_without_a_star_exactly_the_named_ones_are_held(held: set[str], asked: str) -> None:
    assert Principal(name="anna", permissions=held).may(asked) is (asked in held)


@settings(deadline=None)
@given(st.sets(names), names, names)
def test_more_permissions_never_take_one_away(held: set[str], more: str, asked: str) -> None:
    if Principal(name="anna", permissions=held).may(asked):
        assert Principal(name="anna", permissions=held | {more + "*"}).may(asked)


def test_permissions_are_kept_as_they_were() -> None:
    held = {"orders:read"}
    principal = Principal(name="anna", permissions=held)
    held.add("*")
    assert principal.permissions == frozenset({"orders:read"})
    assert hash(principal) == hash(Principal(name="anna", permissions=frozenset({"orders:read"})))


@pytest.mark.parametrize(
    "permissions", ["orders:*", "*", {"admin": False}, b"*", 5, None, {""}, {" a"}, {"a*b"}, {"**"}, {5}, [None]]
)
def test_what_is_no_set_of_permissions_is_refused(permissions: Any) -> None:
    with pytest.raises(UsageError, match="expected"):
        Principal(name="anna", permissions=permissions)


@pytest.mark.parametrize("name", ["", "  ", None, 5])
def test_a_principal_has_a_name(name: Any) -> None:
    with pytest.raises(UsageError, match="expected a name"):
        Principal(name=name)
