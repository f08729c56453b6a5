"""A tool that requires a permission runs only for those who have it."""

from __future__ import annotations

import pytest

from wieldy.core.principals import Principal
from wieldy.run.policy import Deny, permitted
from wieldy.tools import tool


@tool(permission="orders:write")
def refund(order: str) -> str:
    """Refund an order."""
    return order


@tool
def look_up(order: str) -> str:
    """Look an order up."""
    return order


@pytest.mark.parametrize("held", ["orders:write", "orders:*", "*"])
def test_who_has_the_permission_may(held: str) -> None:
    assert permitted(refund, Principal(name="anna", permissions={held})) is None


@pytest.mark.parametrize("held", [set[str](), {"orders:read"}, {"payments:*"}])
def test_who_has_it_not_may_not_and_the_model_is_told_which(held: set[str]) -> None:
    denied = permitted(refund, Principal(name="anna", permissions=held))
    assert isinstance(denied, Deny)
    assert "'orders:write'" in denied.reason
    assert "anna" not in denied.reason  # the model need not know who somebody is


def test_without_a_principal_nobody_has_a_permission() -> None:
    denied = permitted(refund, None)
    assert isinstance(denied, Deny)
    assert "nobody was named" in denied.reason


@pytest.mark.parametrize("principal", [None, Principal(name="anna")])
def test_a_tool_that_requires_none_is_open_to_everybody(principal: Principal | None) -> None:
    assert permitted(look_up, principal) is None
