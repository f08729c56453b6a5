"""A function becomes a tool, and what is declared wrong is found at once."""

from __future__ import annotations

import datetime as dt
import functools
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from enum import Enum
from typing import TYPE_CHECKING, Annotated, Any

import pytest
from pydantic import AfterValidator, AliasPath, BaseModel, Field

from wieldy.core.calls import ToolAnnotations
from wieldy.core.context import Context
from wieldy.core.errors import ToolSignatureError, UsageError
from wieldy.tools import Tool, Toolset, tool

if TYPE_CHECKING:
    from somewhere import Missing

CONTEXT = Context(run_id="run", call_id="call", tool_name="tool", idempotency_key="key")


def run(subject: Tool, **arguments: Any) -> Any:
    return subject.bind(subject.validate(arguments).values, CONTEXT)()


class Receipt(BaseModel):
    order_id: str
    at: dt.date


@tool(
    effect="keyed",
    writes=["order:{order_id}"],
    use_when="a customer wants money back",
    avoid_when="the order was never paid",
    examples=[{"order_id": "17"}],
    timeout_s=5,
)
def refund(order_id: str, ctx: Context, amount: float | None = None) -> Receipt:
    """Refund an order.

    Takes the money back.

    Args:
        order_id: The order's number.
        amount: Part of the sum, in dollars; all of it if left out.
    """
    return Receipt(order_id=f"{order_id}/{ctx.idempotency_key}", at=dt.date(2026, 1, 31))


def test_a_decorated_function_is_a_tool_with_all_that_was_declared() -> None:
    definition = refund.definition
    assert isinstance(refund, Tool)
    assert (refund.name, definition.description) == ("refund", "Refund an order.\n\nTakes the money back.")
    assert (definition.use_when, definition.avoid_when) == ("a customer wants money back", "the order was never paid")
    assert definition.examples == ({"order_id": "17"},)
    assert (refund.effect, refund.effect_declared, refund.writes, refund.reads) == (
        "keyed",
        True,
        ("order:{order_id}",),
        (),
    )
    assert (refund.timeout_s, refund.is_async, refund.reconcile) == (5.0, False, None)
    assert definition.input_schema["required"] == ["order_id"]
    assert list(definition.input_schema["properties"]) == ["order_id", "amount"]
    assert definition.input_schema["properties"]["amount"]["description"].startswith("Part of the sum")
    assert definition.output_schema == {
        "type": "object",
        "properties": {"order_id": {"type": "string"}, "at": {"type": "string", "format": "date"}},
        "required": ["order_id", "at"],
    }


def test_it_can_still_be_called_as_the_function() -> None:
    assert refund("1", CONTEXT) == refund(order_id="1", ctx=CONTEXT) == run(refund, order_id="1")


def test_the_decorator_works_with_and_without_brackets_and_as_a_function() -> None:
    def double(x: int) -> int:
        return 2 * x

    for made in (tool(double), tool()(double), tool(name="twice")(double)):
        assert run(made, x=2) == 4
    assert tool(name="twice")(double).name == "twice"
    assert tool(tool(double)).name == "double"


def test_name_and_description_can_be_given() -> None:
    made = tool(name="web-search_2", description="  Search\n  the web. ")(lambda query: query)
    assert (made.name, made.definition.description) == ("web-search_2", "Search\nthe web.")


@pytest.mark.parametrize(
    ("effect", "annotations"),
    [
        ("read", ToolAnnotations(read_only=True, destructive=False, idempotent=True)),
        ("idempotent", ToolAnnotations(read_only=False, idempotent=True)),
        ("keyed", ToolAnnotations(read_only=False)),
        ("unsafe", ToolAnnotations(read_only=False)),
    ],
)
def test_effects_are_told_in_the_words_of_mcp(effect: Any, annotations: ToolAnnotations) -> None:
    made = tool(effect=effect, name="t")(lambda: None)
    assert (made.effect, made.effect_declared, made.definition.annotations) == (effect, True, annotations)


def test_an_undeclared_effect_is_unsafe_and_said_to_be_undeclared() -> None:
    made = tool(name="t")(lambda: None)
    assert (made.effect, made.effect_declared, made.definition.annotations) == ("unsafe", False, ToolAnnotations())


def test_a_reconcile_function_is_an_effect() -> None:
    def ask(order_id: str) -> bool:
        return order_id == "1"

    made = tool(reconcile=ask, name="t")(lambda order_id: order_id)
    assert (made.effect, made.effect_declared, made.reconcile) == ("reconcile", True, ask)


def test_what_a_call_needs_and_what_becomes_of_it_is_declared() -> None:
    made = tool(permission="orders:write", risk="high", trust="untrusted", retries=0, fallback="other")(take)
    assert (made.permission, made.risk, made.trust, made.retries, made.fallback) == (
        "orders:write",
        "high",
        "untrusted",
        0,
        "other",
    )
    plain = tool(take)
    assert (plain.permission, plain.risk, plain.trust, plain.retries, plain.fallback) == (
        None,
        None,
        "trusted",
        2,
        None,
    )


def test_reconcile_gets_what_it_names_of_the_call() -> None:
    def order(item: str, count: int = 1, note: str = "none") -> str:
        return item * count + note

    def ask(ctx: Context, count: int, note: str = "mine", more: int = 3) -> tuple[object, ...]:
        return (ctx.idempotency_key, count, note, more)

    made = tool(reconcile=ask)(order)
    assert made.bind_reconcile(made.validate({"item": "a"}).values, CONTEXT)() == ("key", 1, "mine", 3)
    given = {"item": "a", "count": 2, "note": "theirs"}
    assert made.bind_reconcile(made.validate(given).values, CONTEXT)() == ("key", 2, "theirs", 3)


def test_reconcile_may_be_a_tool_or_take_arguments_by_position_or_nothing() -> None:
    @tool(effect="read")
    def was_taken(a: int) -> bool:
        """Was it taken?"""
        return a > 1

    def by_position(a: int, /) -> bool:
        return a > 1

    for ask in (was_taken, by_position):
        made = tool(reconcile=ask)(take)
        assert made.bind_reconcile({"a": 2}, CONTEXT)() is True
    assert tool(reconcile=lambda: "sent")(take).bind_reconcile({"a": 2}, CONTEXT)() == "sent"


def test_reconcile_may_name_the_context_as_the_tool_does() -> None:
    def pay(amount: int, call: Context) -> None: ...

    made = tool(reconcile=lambda call: call.idempotency_key)(pay)
    assert made.bind_reconcile({"amount": 1}, CONTEXT)() == "key"


def test_a_method_of_the_same_class_can_be_asked_what_happened() -> None:
    class Shop:
        def __init__(self) -> None:
            self.sold = ["a"]

        def was_sold(self, item: str) -> bool:
            return item in self.sold

        @tool(reconcile=was_sold)
        def sell(self, item: str) -> None:
            """Sell."""

    sell = Shop().sell
    assert [sell.bind_reconcile({"item": item}, CONTEXT)() for item in "ab"] == [True, False]


def test_a_tool_without_reconcile_cannot_be_asked() -> None:
    with pytest.raises(UsageError, match="was not given reconcile="):
        tool(take).bind_reconcile({"a": 1}, CONTEXT)


class Unit(Enum):
    C = "celsius"


def test_examples_may_hold_python_values() -> None:
    made = tool(examples=[{"day": dt.date(2026, 1, 31), "unit": Unit.C}], name="t")(_forecast)
    assert made.definition.examples == ({"day": "2026-01-31", "unit": "celsius"},)


def _forecast(day: dt.date, unit: Unit) -> str:
    return f"{day} {unit}"


# ── functions of all kinds ───────────────────────────────────────────────────────────────────────────────────────────


class Shop:
    """A shop."""

    def __init__(self, name: str) -> None:
        self.name = name

    @tool(effect="read")
    def order(self, order_id: str, ctx: Context) -> str:
        """Show an order.

        Args:
            order_id: Its number.
        """
        return f"{self.name} {order_id} {ctx.run_id}"

    @classmethod
    @tool
    def kind(cls, x: int) -> str:
        return f"{cls.__name__} {x}"

    @staticmethod
    @tool
    def outer(x: int) -> int:
        return x

    @tool
    @staticmethod
    def inner(x: int) -> int:
        return x

    def plain(self, x: int) -> str:
        """Show plainly."""
        return f"{self.name} {x}"

    async def later(self, x: int) -> str:
        return f"{self.name} {x}"

    def __call__(self, x: int) -> str:
        """Ask the shop."""
        return f"{self.name} {x}"


def test_methods_are_tools_of_their_objects() -> None:
    one, other = Shop("one"), Shop("other")
    assert run(one.order, order_id="17") == "one 17 run"
    assert run(other.order, order_id="17") == "other 17 run"
    assert one.order("17", CONTEXT) == "one 17 run"
    assert list(one.order.definition.input_schema["properties"]) == ["order_id"]


def test_class_and_static_methods_are_tools_too() -> None:
    for made, expected in ((Shop("a").kind, "Shop 1"), (Shop.kind, "Shop 1"), (Shop.outer, 1), (Shop("a").inner, 1)):
        (subject,) = Toolset([made]).tools
        assert list(subject.definition.input_schema["properties"]) == ["x"]
        assert run(subject, x=1) == expected


def test_bound_methods_and_callable_objects_become_tools() -> None:
    shop = Shop("a")
    assert run(tool(shop.plain), x=1) == "a 1"
    assert tool(shop.later).is_async
    assert (tool(shop).name, tool(shop).definition.description, run(tool(shop), x=1)) == (
        "Shop",
        "Ask the shop.",
        "a 1",
    )


def test_a_method_without_its_object_says_so_when_it_is_used() -> None:
    assert Shop.order.definition.input_schema["required"] == ["order_id"]
    with pytest.raises(ToolSignatureError, match=r"method without its object.*`Shop\(\)\.order`"):
        Shop.order.bind({"order_id": "1"}, CONTEXT)
    for unbound in (Shop.order, Shop.plain):
        with pytest.raises(ToolSignatureError, match="method without its object"):
            Toolset([unbound])


def test_partials_hide_what_they_fix() -> None:
    def charge(client: object, account: str, amount: float, *, currency: str = "EUR") -> str:
        """Charge an account."""
        return f"{account} {amount} {currency} {client}"

    made = tool(functools.partial(charge, "client", currency="USD"))
    assert (made.name, made.definition.description) == ("charge", "Charge an account.")
    assert list(made.definition.input_schema["properties"]) == ["account", "amount"]
    assert run(made, account="a", amount=1) == "a 1.0 USD client"
    assert tool(functools.partial(Shop("a").later, 1)).is_async


def test_a_decorated_function_is_seen_through_functools_wraps() -> None:
    def logged(function: Callable[..., str]) -> Callable[..., str]:
        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> str:
            return f"logged {function(*args, **kwargs)}"

        return wrapper

    @tool
    @logged
    def greet(name: str) -> str:
        """Greet somebody."""
        return name

    assert run(greet, name="Ada") == "logged Ada"
    assert greet.definition.description == "Greet somebody."


def test_types_of_an_enclosing_function_are_found() -> None:
    class Local(BaseModel):
        x: int

    @tool
    def take(local: Local, ctx: Context | None = None) -> Local:
        return local

    assert run(take, local={"x": "3"}) == Local(x=3)


def test_results_of_asynchronous_functions_are_described() -> None:
    async def count() -> int:
        return 1

    def hand_on() -> Awaitable[int]:
        return count()

    assert tool(count).definition.output_schema == tool(hand_on).definition.output_schema == {"type": "integer"}


@pytest.mark.parametrize("annotation", ["None", "str", "Any", "bytes", "Missing", "Callable[[], int]"])
def test_results_without_a_form_worth_telling_have_no_output_schema(annotation: str) -> None:
    def get() -> None: ...

    get.__annotations__["return"] = annotation
    assert tool(get).definition.output_schema is None


# ── what cannot be a tool ────────────────────────────────────────────────────────────────────────────────────────────


def stars(*values: int) -> None: ...
def double_stars(**options: int) -> None: ...
def needs_callable(then: Callable[[], int]) -> None: ...
def needs_object(thing: list[Shop]) -> None: ...
def needs_missing(thing: Missing) -> None: ...
def broken(thing: "5 +") -> None: ...  # noqa: F722 - what a typing mistake looks like
def größe(x: int) -> None: ...  # noqa: PLC2401 - what people write


def generates() -> Iterator[int]:
    yield 1


async def generates_later() -> AsyncIterator[int]:
    yield 1


def one_name_twice(a: int, b: Annotated[int, Field(alias="a")]) -> None: ...
def alias_path(a: Annotated[int, Field(validation_alias=AliasPath("x", 0))]) -> None: ...
def take(a: int, b: dict[str, int] | None = None) -> None:
    """Take."""


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (stars, ["'stars'", "*values"]),
        (double_stars, ["'double_stars'", "**options"]),
        (needs_callable, ["'then'", "JSON can carry", "Callable"]),
        (needs_object, ["'thing'", "JSON can carry", "Shop"]),
        (needs_missing, ["'thing'", "can be looked up", "Missing", "type checking"]),
        (broken, ["'thing'", "can be looked up"]),
        (one_name_twice, ["different names", "a, a"]),
        (alias_path, ["'a'", "an alias that is one name"]),
        (generates, ["generator", "return a list"]),
        (generates_later, ["generator"]),
        (größe, ["größe", "letters A-Z"]),
        (lambda x: x, ["<lambda>", "letters A-Z"]),
        (Shop, ["the class Shop"]),
        (classmethod(take), ["@classmethod above @tool"]),
        (3, ["expected a function", "3"]),
        ("name", ["expected a function", "name=..."]),
        (print, ["*args"]),
    ],
)
def test_what_cannot_be_a_tool_is_refused_with_what_to_do(function: Any, words: list[str]) -> None:
    with pytest.raises(ToolSignatureError) as caught:
        tool(function)
    for word in words:
        assert word in str(caught.value)


@pytest.mark.parametrize(
    ("declared", "words"),
    [
        ({"effect": "destroy"}, ["read, idempotent, keyed, unsafe", "'destroy'"]),
        ({"effect": "reconcile"}, ["reconcile=function"]),
        ({"effect": "read", "reconcile": print}, ["both"]),
        ({"reconcile": 3}, ["to be a function", "3"]),
        ({"effect": "read", "writes": ["thing:{a}"]}, ["changes nothing"]),
        ({"reads": "thing:{a}"}, ["list of keys"]),
        ({"reads": [3]}, ["text", "3"]),
        ({"reads": [" "]}, ["text"]),
        ({"reads": ["thing:{c}"]}, ["'c'", "no parameter", "a, b"]),
        ({"reads": ["thing:{A}"]}, ["did you mean 'a'"]),
        ({"reads": ["thing:{}"]}, ["between the braces"]),
        ({"reads": ["thing:{a!r}"]}, ["a!r"]),
        ({"reads": ["thing:{a:>3}"]}, ["a:>3"]),
        ({"reads": ["thing:{a"]}, ["cannot be read"]),
        ({"reads": ["thing:{b}"]}, ["object"]),
        ({"timeout_s": 0}, ["seconds above 0"]),
        ({"timeout_s": float("inf")}, ["seconds above 0"]),
        ({"timeout_s": True}, ["seconds above 0"]),
        ({"timeout_s": "5"}, ["seconds above 0"]),
        ({"name": "a b"}, ["'a b'"]),
        ({"name": ""}, ["''"]),
        ({"name": "x" * 65}, ["65 characters"]),
        ({"description": ""}, ["description"]),
        ({"use_when": 3}, ["use_when"]),
        ({"examples": {"a": 1}}, ["list of arguments"]),
        ({"examples": [{"a": "1"}]}, ["examples[0]", "`a`", "an integer"]),
        ({"examples": [{"a": 1}, {}]}, ["examples[1]", "missing"]),
        ({"examples": [3]}, ["examples[0]"]),
        ({"examples": [{"a": object()}]}, ["examples[0]", "JSON"]),
        ({"effct": "read"}, ["effct", "effect"]),
        ({"permission": ""}, ["one permission", "''"]),
        ({"permission": " orders"}, ["one permission", "' orders'"]),
        ({"permission": "orders:*"}, ["one permission", "'orders:*'", "principal holds"]),
        ({"permission": ["orders"]}, ["one permission", "['orders']"]),
        ({"risk": "huge"}, ["'low', 'medium' or 'high'", "'huge'"]),
        ({"risk": True}, ["'low', 'medium' or 'high'", "True"]),
        ({"trust": "some"}, ["'trusted' or 'untrusted'", "'some'"]),
        ({"trust": ["untrusted"]}, ["'trusted' or 'untrusted'", "['untrusted']"]),
        ({"retries": -1}, ["from 0", "-1"]),
        ({"retries": 1.5}, ["from 0", "1.5"]),
        ({"retries": True}, ["from 0", "True"]),
        ({"fallback": "a b"}, ["fallback", "'a b'"]),
        ({"fallback": ""}, ["fallback", "''"]),
        ({"fallback": "take"}, ["another tool", "its own name"]),
        ({"fallback": print}, ["name of a tool", "Give its name"]),
        ({"reconcile": int}, ["to be a function", "int"]),
        ({"reconcile": lambda a, day: a}, ["'day'", "which the tool has not", "a, b, a Context"]),
        ({"reconcile": lambda *all_of_it: all_of_it}, ["*all_of_it", "a, b, a Context"]),
        ({"reconcile": lambda **all_of_it: all_of_it}, ["**all_of_it"]),
    ],
)
def test_what_is_declared_wrong_is_refused_with_what_to_do(declared: dict[str, Any], words: list[str]) -> None:
    with pytest.raises(ToolSignatureError) as caught:
        tool(**declared)(take)
    for word in words:
        assert word in str(caught.value)


def test_an_example_that_only_the_python_type_refuses_is_refused() -> None:
    def odd(value: int) -> int:
        if value % 2 == 0:
            raise ValueError("has to be odd")
        return value

    def count(value: Annotated[int, AfterValidator(odd)]) -> None: ...

    with pytest.raises(ToolSignatureError, match=r"examples\[0\](.|\n)*has to be odd"):
        tool(examples=[{"value": 2}])(count)
    assert tool(examples=[{"value": 3}])(count).definition.examples == ({"value": 3},)


def test_a_tool_is_not_declared_twice() -> None:
    with pytest.raises(ToolSignatureError, match="is a tool already"):
        tool(effect="read")(refund)
