"""Toolsets are composed by wrapping, and what they are made of is opened and closed with them."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest

from wieldy.core.errors import ToolSignatureError, UsageError
from wieldy.tools import Tool, Toolset, tool, tools_from

pytestmark = pytest.mark.anyio


@tool(effect="read", reads=["order:{order_id}"])
def get_order(order_id: str) -> str:
    """Get an order."""
    return order_id


@tool(effect="unsafe", writes=["order:{order_id}"])
def cancel_order(order_id: str) -> str:
    """Cancel an order."""
    return order_id


def search(query: str) -> str:
    """Search."""
    return query


def names(toolset: Toolset) -> list[str]:
    return [each.name for each in toolset]


def test_tools_functions_and_toolsets_are_taken_in_order() -> None:
    toolset = Toolset([search, Toolset([get_order]), cancel_order])
    assert names(toolset) == ["search", "get_order", "cancel_order"]
    assert len(toolset) == 3
    assert toolset.get("get_order") is get_order
    assert toolset.get("nothing") is None
    assert [definition.name for definition in toolset.definitions] == names(toolset)
    assert len(Toolset()) == 0


def test_changed_sets_are_sets_around_sets() -> None:
    toolset = Toolset([get_order, cancel_order, search])
    assert names(toolset.filtered(lambda each: each.effect == "read")) == ["get_order"]
    assert names(toolset.prefixed("shop_")) == ["shop_get_order", "shop_cancel_order", "shop_search"]
    assert names(toolset.renamed({"search": "find"})) == ["get_order", "cancel_order", "find"]
    assert names(toolset.renamed({"get_order": "search", "search": "get_order"})) == [
        "search",
        "cancel_order",
        "get_order",
    ]
    changed = toolset.filtered(lambda each: each.name != "search").prefixed("a_").renamed({"a_get_order": "b"})
    assert names(Toolset([changed, search])) == ["b", "a_cancel_order", "search"]
    assert names(toolset) == ["get_order", "cancel_order", "search"]


def test_a_changed_tool_keeps_all_but_its_name_and_is_always_the_same_object() -> None:
    prefixed = Toolset([cancel_order]).prefixed("x_")
    (changed,) = prefixed.tools
    assert changed is prefixed.tools[0] is prefixed.get("x_cancel_order")
    assert (changed.effect, changed.writes, changed.function) == (
        "unsafe",
        ("order:{order_id}",),
        cancel_order.function,
    )
    assert changed.writes_of({"order_id": "1"}) == ("order:1",)


def test_a_fallback_is_named_as_its_tool_is() -> None:
    search_tool = tool(search, effect="read", fallback="look")
    look = tool(search, name="look", effect="read")
    toolset = Toolset([search_tool, look])
    assert [each.fallback for each in toolset.prefixed("x_")] == ["x_look", None]
    assert [each.fallback for each in toolset.renamed({"look": "see"})] == ["see", None]
    assert [each.fallback for each in toolset.renamed({"search": "find"})] == ["look", None]
    assert [each.fallback for each in Toolset([search_tool]).prefixed("x_")] == ["look"]
    assert toolset.renamed({"search": "find"}).tools[1] is look


def test_a_name_that_is_too_long_with_its_prefix_ends_in_a_digest() -> None:
    long, longer = f"get_{'x' * 60}", f"get_{'x' * 59}y"
    prefixed = Toolset([tool(name=long)(lambda: 1), tool(name=longer)(lambda: 2)]).prefixed("shop__")
    first, second = names(prefixed)
    assert first != second
    assert all(name.startswith("shop__get_xxx") and len(name) == 64 for name in (first, second))
    assert names(prefixed) == [first, second]


def test_names_must_differ() -> None:
    with pytest.raises(UsageError, match="'search' more than once"):
        Toolset([search, Toolset([search])])
    with pytest.raises(UsageError, match="'search' more than once"):
        Toolset([search, get_order]).renamed({"get_order": "search"})


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda toolset: toolset.renamed({"get_odrer": "x"}), "did you mean 'get_order'"),
        (lambda toolset: toolset.renamed({"zzz": "x"}), "the tools are 'get_order'"),
        (lambda toolset: toolset.renamed({"get_order": "a b"}), "letters A-Z"),
        (lambda toolset: toolset.prefixed("shop."), "letters A-Z"),
        (lambda toolset: toolset.prefixed("x" * 33), "at most 32 letters"),
    ],
)
def test_changes_that_cannot_be_are_refused_at_once(change: Any, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        change(Toolset([get_order]))


@pytest.mark.parametrize("items", ["search", b"x", 3, None, {"search": search}, [3], ["search"], [None], [[search]]])
def test_what_is_no_tool_is_refused(items: Any) -> None:
    with pytest.raises(UsageError, match="Expected"):
        Toolset(items)
    with pytest.raises(UsageError, match="Expected"):
        tools_from(items)


def test_a_function_that_cannot_be_a_tool_says_why() -> None:
    with pytest.raises(ToolSignatureError, match=r"\*args"):
        Toolset([print])


def test_tools_are_made_from_one_thing_or_many() -> None:
    toolset = Toolset([search])
    assert tools_from(toolset) is toolset
    for items in (search, [search], (tool(search),), [toolset], iter([search])):
        assert names(tools_from(items)) == ["search"]
    assert len(tools_from([])) == 0


class Server(Toolset):
    """A set that learns its tools when it is opened."""

    def __init__(self, log: list[str], found: list[Tool], *, fails: bool = False) -> None:
        self.log, self.found, self.fails = log, found, fails
        self.known: tuple[Tool, ...] = ()
        super().__init__()

    @property
    def tools(self) -> tuple[Tool, ...]:
        return self.known

    @asynccontextmanager
    async def hold(self) -> AsyncGenerator[None]:
        self.log.append("open")
        if self.fails:
            raise ConnectionError("no server")
        # Like a real connection it has tasks of its own, and so must be left by the task that entered it.
        async with anyio.create_task_group() as group:
            group.start_soon(anyio.sleep_forever)
            self.known = tuple(self.found)
            yield
            self.known = ()
            group.cancel_scope.cancel()
        self.log.append("close")


async def test_entering_opens_what_is_inside_and_leaving_closes_it() -> None:
    log: list[str] = []
    server = Server(log, [get_order, cancel_order])
    changed = Toolset(
        [
            search,
            server.filtered(lambda each: each.effect == "read").prefixed("shop_").renamed({"shop_get_order": "order"}),
        ]
    )
    assert names(changed) == ["search"]
    async with changed as opened:
        assert opened is changed
        assert names(changed) == ["search", "order"]
        async with changed:
            assert names(changed) == ["search", "order"]
    assert log == ["open", "close"]


async def test_tools_that_clash_when_opened_are_refused_and_all_is_closed() -> None:
    log: list[str] = []
    toolset = Toolset([get_order, Server(log, [get_order])])
    with pytest.raises(UsageError, match="'get_order' more than once"):
        async with toolset:
            pass
    assert log == ["open", "close"]


async def test_what_was_opened_is_closed_when_the_next_fails() -> None:
    log: list[str] = []
    toolset = Toolset([Server(log, []), Server(log, [], fails=True)])
    with pytest.raises(ConnectionError):
        async with toolset:
            pass
    assert log == ["open", "open", "close"]


@pytest.mark.parametrize("first_out", [0, 1])
async def test_what_two_tasks_use_stays_open_until_both_have_left_in_any_order(first_out: int) -> None:
    log: list[str] = []
    toolset = Toolset([Server(log, [get_order])])
    entered, leave, left = ([anyio.Event(), anyio.Event()] for _ in range(3))

    async def use(index: int) -> None:
        async with toolset:
            entered[index].set()
            await leave[index].wait()
        left[index].set()

    async with anyio.create_task_group() as group:
        for index in (0, 1):
            group.start_soon(use, index)
            await entered[index].wait()
        leave[first_out].set()
        await left[first_out].wait()
        assert names(toolset) == ["get_order"]
        assert log == ["open"]
        leave[1 - first_out].set()
    assert names(toolset) == []
    assert log == ["open", "close"]


async def test_a_set_may_be_left_by_another_task_than_the_one_that_entered_it() -> None:
    log: list[str] = []
    toolset = Toolset([Server(log, [get_order])])
    async with anyio.create_task_group() as group:
        group.start_soon(toolset.__aenter__)
    assert names(toolset) == ["get_order"]
    async with anyio.create_task_group() as group:
        group.start_soon(toolset.__aexit__, None, None, None)
    assert log == ["open", "close"]


async def test_two_sets_share_what_both_are_made_of() -> None:
    log: list[str] = []
    server = Server(log, [get_order])
    async with Toolset([server]), server.prefixed("shop_"):
        pass
    assert log == ["open", "close"]
    async with Toolset([server]):
        pass
    assert log == ["open", "close"] * 2


class Slow(Server):
    """A set whose opening never comes to an end."""

    @asynccontextmanager
    async def hold(self) -> AsyncGenerator[None]:
        try:
            self.log.append("opening")
            await anyio.sleep_forever()
            yield
        finally:
            self.log.append("given up")


async def test_who_stops_waiting_for_a_set_to_open_leaves_nothing_behind() -> None:
    log: list[str] = []
    toolset = Toolset([Slow(log, [])])
    async with anyio.create_task_group() as group:
        group.start_soon(toolset.__aenter__)
        group.start_soon(toolset.__aenter__)
        await anyio.wait_all_tasks_blocked()
        group.cancel_scope.cancel()
    assert log == ["opening", "given up"]
    assert {task.name for task in anyio.get_running_tasks()} & {"wieldy opening"} == set()


class Breaking(Server):
    """A set whose connection breaks while it is in use."""

    @asynccontextmanager
    async def hold(self) -> AsyncGenerator[None]:
        async with anyio.create_task_group() as group:
            group.start_soon(self.break_down)
            yield

    async def break_down(self) -> None:
        raise ConnectionError("the line went dead")


async def test_what_breaks_while_it_is_open_is_told_to_who_comes_and_to_who_leaves_last() -> None:
    toolset = Breaking([], [])
    await toolset.__aenter__()
    await anyio.wait_all_tasks_blocked()
    with pytest.raises(ExceptionGroup) as coming:
        await toolset.__aenter__()
    assert coming.group_contains(ConnectionError, match="went dead")
    with pytest.raises(ExceptionGroup) as leaving:
        await toolset.__aexit__(None, None, None)
    assert leaving.group_contains(ConnectionError, match="went dead")
