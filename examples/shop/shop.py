"""A small shop and the tools over it: orders are found and listed, stock is looked up, money is given back.

    wieldy run "Refund order 17." --tools examples/shop/shop.py

What to look at: `refund` has an effect, so it says what it writes, takes the idempotency key, and is refused with words
that a model can act on; `confirmed_by` answers, for a person, the questions of a policy such as `careful()`.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any, Literal

import anyio

from wieldy import Approval, ApprovalRequest, Approver, Context, Tool, ToolError, Toolset, tool

Status = Literal["received", "packed", "shipped", "delivered", "cancelled"]
BEGINNING = Path(__file__).with_name("shop.json")
REFUNDABLE: tuple[Status, ...] = ("shipped", "delivered")


@dataclass(frozen=True)
class Order:
    """One order, with its sums in dollars."""

    order_id: str
    customer: str
    ordered_on: date
    status: Status
    articles: dict[str, int]
    total: float
    refunded: float


@dataclass(frozen=True)
class OrderLine:
    """What a list says of an order."""

    order_id: str
    customer: str
    status: Status
    total: float


@dataclass(frozen=True)
class Article:
    """One article; the price in dollars."""

    name: str
    price: float
    in_stock: int


@dataclass(frozen=True)
class Receipt:
    """Money that was given back, in dollars."""

    order_id: str
    refunded: float
    left_to_refund: float


class Shop:
    """The shop's data in one JSON file, which is always whole: a change is written beside it and moved into place.

    Where there is no such file yet, the shop begins with the data in shop.json.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()  # tools that are not async run in threads

    def read(self) -> dict[str, Any]:
        """The data as it is now."""
        path = self._path if self._path.exists() else BEGINNING
        return json.loads(path.read_text(encoding="utf-8"))

    @contextmanager
    def changing(self) -> Iterator[dict[str, Any]]:
        """The data, written back at the end unless something is raised."""
        with self._lock:
            data = self.read()
            yield data
            written = self._path.with_name(f"{self._path.name}.new")
            written.write_text(json.dumps(data, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
            written.replace(self._path)


def tools_of(shop: Shop) -> list[Tool]:
    """The tools that a model gets; keys are paths, so that `orders` stands for every `orders/...`."""

    @tool(
        effect="read",
        reads=["orders/{order_id}"],
        use_when="one order is meant and its number is known",
        examples=[{"order_id": "12"}],
    )
    def find_order(order_id: str) -> Order:
        """Find one order by its number: customer, date, status, articles, total and what was refunded.

        Args:
            order_id: The order's number, such as "12".
        """
        return _order(shop.read(), order_id)

    @tool(
        effect="read",
        reads=["orders"],
        use_when="the number of the order is not known, or several orders are meant",
        avoid_when="one order is meant and its number is known",
        examples=[{"customer": "Ben Okafor"}, {"status": "packed"}],
    )
    def list_orders(customer: str | None = None, status: Status | None = None) -> list[OrderLine]:
        """List orders with customer, status and total, the oldest first.

        Args:
            customer: Only orders of customers whose name contains this.
            status: Only orders in this state.
        """
        data = shop.read()
        orders = [_order(data, order_id) for order_id in data["orders"]]
        return [
            OrderLine(order_id=order.order_id, customer=order.customer, status=order.status, total=order.total)
            for order in orders
            if (customer is None or customer.casefold() in order.customer.casefold()) and status in (None, order.status)
        ]

    @tool(
        effect="read",
        reads=["articles"],
        use_when="the price of an article is wanted, or whether it is in stock",
        examples=[{"article": "mug"}],
    )
    def check_stock(article: str) -> Article:
        """Look up the price of one article and how many are in stock.

        Args:
            article: The article's name, such as "mug".
        """
        articles = shop.read()["articles"]
        name = article.strip().casefold().removesuffix("s")
        if name not in articles:
            raise ToolError(f"There is no article {article!r}. Articles: {', '.join(sorted(articles))}.")
        found = articles[name]
        return Article(name=name, price=found["price_cents"] / 100, in_stock=found["in_stock"])

    @tool(
        effect="keyed",
        writes=["orders/{order_id}"],
        use_when="the customer wants money back for an order that was shipped or delivered",
        avoid_when="it is only asked whether an order can be or was refunded",
        examples=[{"order_id": "12"}, {"order_id": "12", "amount": 20.5}],
    )
    def refund(order_id: str, ctx: Context, amount: float | None = None) -> Receipt:  # noqa: D417 (`ctx` is not shown)
        """Give money back for an order.

        Args:
            order_id: The order's number.
            amount: Part of the sum, in dollars; all that is left of it if not given.
        """
        with shop.changing() as data:
            return _refund(data, order_id, amount=amount, key=ctx.idempotency_key)

    return [find_order, list_orders, check_stock, refund]


def confirmed_by(ask: Callable[[str], bool]) -> Approver:
    """An approver: `ask` is asked with a question and answers yes or no; what it answered is on record."""

    async def approver(request: ApprovalRequest) -> Approval:
        arguments = ", ".join(f"{name}={value!r}" for name, value in request.arguments.items())
        # A person takes their time: in a thread, so that nothing else has to wait.
        if await anyio.to_thread.run_sync(ask, f"{request.tool_name}({arguments})?"):
            return request.approve(by="the person in charge")
        return request.deny(by="the person in charge", reason="say so in the answer")

    return approver


def _order(data: dict[str, Any], order_id: str) -> Order:
    record = data["orders"].get(order_id)
    if record is None:
        raise ToolError(f"There is no order {order_id!r}. Orders have the numbers {', '.join(data['orders'])}.")
    return Order(
        order_id=order_id,
        customer=record["customer"],
        ordered_on=date.fromisoformat(record["ordered_on"]),
        status=record["status"],
        articles=record["lines"],
        total=_total_cents(data, record) / 100,
        refunded=_refunded_cents(record) / 100,
    )


def _refund(data: dict[str, Any], order_id: str, *, amount: float | None, key: str) -> Receipt:
    order = _order(data, order_id)
    record = data["orders"][order_id]
    if all(refund["key"] != key for refund in record["refunds"]):  # the same call again: its money was given back
        left_cents = _total_cents(data, record) - _refunded_cents(record)
        cents = left_cents if amount is None else round(amount * 100)
        _check_refund(order, cents=cents, left_cents=left_cents)
        record["refunds"].append({"key": key, "cents": cents})
    cents = next(refund["cents"] for refund in record["refunds"] if refund["key"] == key)
    left_cents = _total_cents(data, record) - _refunded_cents(record)
    return Receipt(order_id=order_id, refunded=cents / 100, left_to_refund=left_cents / 100)


def _check_refund(order: Order, *, cents: int, left_cents: int) -> None:
    if order.status not in REFUNDABLE:
        raise ToolError(
            f"Order {order.order_id} is {order.status}; only {' or '.join(REFUNDABLE)} orders are refunded."
        )
    if left_cents <= 0:
        raise ToolError(f"Order {order.order_id} was refunded in full before.")
    if not 0 < cents <= left_cents:
        raise ToolError(
            f"Expected an amount above 0 and at most {left_cents / 100:.2f} dollars, "
            f"which is what is left of order {order.order_id}; found {cents / 100:.2f}."
        )


def _total_cents(data: dict[str, Any], record: dict[str, Any]) -> int:
    return sum(data["articles"][name]["price_cents"] * count for name, count in record["lines"].items())


def _refunded_cents(record: dict[str, Any]) -> int:
    return sum(refund["cents"] for refund in record["refunds"])


tools = Toolset(tools_of(Shop(Path("my-shop.json"))))
"""For the command line; changes are kept in the current folder."""
