"""A tool's code is known again in another process and under another name, as far as that can be known."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import pytest

from wieldy.tools import Tool, Toolset, tool
from wieldy.tools.origins import is_same_code, is_same_tool


def pay(amount: int) -> str:
    """Pays."""
    return f"paid {amount}"


def refund(amount: int) -> str:
    """Pays back."""
    return f"paid back {amount}"


def careful(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    return wrapper


def at(bank: str) -> Callable[..., Any]:
    def pay(amount: int) -> str:
        """Pays at one bank."""
        return f"{bank}: {amount}"

    return pay


class Account:
    def pay(self, amount: int) -> str:
        """Pays from one account."""
        return f"paid {amount} from {self}"

    @tool
    def send(self, amount: int) -> str:
        """Sends."""
        return f"sent {amount} from {self}"

    @staticmethod
    def free(amount: int) -> str:
        """Pays from none."""
        return f"paid {amount}"

    def __call__(self, amount: int) -> str:
        """Pays."""
        return f"paid {amount} from {self}"


def named(name: str, function: Callable[..., Any]) -> Tool:
    return tool(name=name)(function)


HERE = __name__


@pytest.mark.parametrize(
    ("function", "origin"),
    [
        (pay, f"{HERE}:pay"),
        (Account.free, f"{HERE}:Account.free"),
        (careful(pay), f"{HERE}:pay#it"),
        (functools.partial(pay), f"{HERE}:pay#it"),
        (at("north"), f"{HERE}:at.<locals>.pay#it"),
        (lambda: "done", f"{HERE}:<lambda>#it"),
        (Account().pay, f"{HERE}:Account.pay#it"),
        (Account(), f"{HERE}:Account.__call__#it"),
    ],
)
def test_an_origin_says_where_the_code_was_written(function: Any, origin: str) -> None:
    assert named("it", function).origin == origin


@pytest.mark.parametrize(
    ("one", "other", "is_certain"),
    [
        (named("pay", pay), named("wire", pay), True),
        (named("pay", pay), tool(pay).renamed("wire"), True),
        (named("pay", pay), Toolset([pay]).prefixed("bank_").tools[0], True),
        (named("pay", pay), named("wire", careful(pay)), False),
        (named("pay", pay), named("wire", functools.partial(pay)), False),
        (named("pay", at("north")), Toolset([at("south")]).prefixed("bank_").tools[0], False),
        (Account().send, Toolset([Account().send]).prefixed("bank_").tools[0], False),
    ],
)
def test_the_same_code_is_known_under_another_name(one: Tool, other: Tool, is_certain: bool) -> None:
    assert one.name != other.name
    for left, right in ((one, other), (other, one)):
        assert is_same_code(left.origin, right.origin)
        assert is_same_tool(left.origin, right.origin) is is_certain


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (named("pay", pay), named("pay", refund)),
        (named("north", at("north")), named("south", at("south"))),
        (named("north", careful(pay)), named("south", careful(pay))),
    ],
)
def test_other_code_and_what_has_a_state_and_a_name_of_its_own_is_something_else(one: Tool, other: Tool) -> None:
    assert not is_same_code(one.origin, other.origin)
    assert not is_same_tool(one.origin, other.origin)


def test_a_tool_of_which_nothing_is_known_is_like_no_other() -> None:
    assert not is_same_code("", "")
    assert not is_same_tool("", "")


def test_functions_that_do_not_say_where_they_are_from_are_not_taken_for_one() -> None:
    made: list[Any] = []
    for text in ("paid", "burnt"):
        names: dict[str, Any] = {}
        exec(f"def act(amount: int) -> str: return {text!r}", names)
        made.append(names["act"])
        made[-1].__module__ = None
    one, other = tool(name="pay", description="Pays.")(made[0]), tool(name="burn", description="Burns.")(made[1])
    assert not is_same_code(one.origin, other.origin)
