"""A small shop as a web site: a customer's orders, which can be cancelled, and an address that can be changed.

Run it with a model, which sees the pages as text and acts on them by their numbered controls:

    wieldy eval examples/evals/shop.py --model local --yes
    wieldy eval examples/evals/shop.py --model script:oracle --yes
"""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape
from typing import Any

from wieldy.evals import Condition, ExpectedCall, Request, Response, Site, Task


@dataclass
class Shop:
    """What the shop knows of its one customer."""

    city: str = "Lyon"
    orders: dict[str, str] = field(
        default_factory=lambda: {"17": "open", "18": "open", "19": "shipped"},
    )


def answer(shop: Shop, request: Request) -> Response:
    """The shop's pages."""
    if request.path == "/":
        return page("Shop", '<a href="/orders">My orders</a> <a href="/account">My account</a>')
    if request.path == "/orders":
        rows = "".join(
            f'<tr><td>Order {number}</td><td>{status}</td><td><a href="/orders/{number}">Open {number}</a></td></tr>'
            for number, status in shop.orders.items()
        )
        return page("My orders", f"<table>{rows}</table>")
    if request.path.startswith("/orders/"):
        return order(shop, request)
    if request.path == "/account":
        return account(shop, request)
    return Response(html="<h1>There is no such page</h1>", status=404)


def order(shop: Shop, request: Request) -> Response:
    """One order; it can be cancelled as long as it has not been shipped."""
    number = request.path.rpartition("/")[2]
    status = shop.orders.get(number)
    if status is None:
        return Response(html="<h1>There is no such order</h1>", status=404)
    if request.method == "POST" and request.fields.get("sure") == "on" and status == "open":
        shop.orders[number] = "cancelled"
        return Response(location=request.path)
    form = (
        '<form method="post"><label><input type="checkbox" name="sure"> I am sure</label>'
        "<button>Cancel this order</button></form>"
        if status == "open"
        else ""
    )
    return page(f"Order {number}", f"<p>Status: {status}</p>{form}")


def account(shop: Shop, request: Request) -> Response:
    """The customer's city, which can be changed."""
    if request.method == "POST":
        shop.city = request.fields.get("city", "").strip() or shop.city
        return Response(location="/account")
    form = (
        f'<form method="post"><label for="city">City</label><input id="city" name="city" value="{escape(shop.city)}">'
    )
    return page("My account", f"{form}<button>Save</button></form>")


def page(title: str, content: str) -> Response:
    """A page with the shop's head."""
    return Response(html=f"<title>{title}</title><h1>{title}</h1><nav><a href='/'>Home</a></nav><main>{content}</main>")


def look(shop: Shop) -> dict[str, Any]:
    """The state of the server, as conditions of tasks see it."""
    return {"city": shop.city, "orders": dict(shop.orders)}


SHOP = Site(name="shop 1", start=Shop, answer=answer, look=look)


def do(tool: str, **arguments: Any) -> ExpectedCall:
    """A call of a script."""
    return ExpectedCall(name=tool, arguments=arguments)


TASKS = [
    Task(
        id="cancel",
        kind="pages",
        prompt="In the web shop, cancel my order 18. Begin at the page /.",
        environment=SHOP,
        milestones=(
            Condition(name="the order is cancelled", state={"/orders/18": "cancelled"}),
            Condition(name="no other order has changed", state={"/orders/17": "open", "/orders/19": "shipped"}),
        ),
        scripts={
            "oracle": (do("goto", path="/orders/18"), do("click", control=2), do("click", control=3)),
            "careless": (do("goto", path="/orders/17"), do("click", control=2), do("click", control=3)),
        },
    ),
    Task(
        id="move",
        kind="pages",
        prompt="I have moved to Genoa. Change my city in the web shop; begin at the page /.",
        environment=SHOP,
        milestones=(Condition(name="the city is changed", state={"/city": "Genoa"}),),
        minefields=(Condition(name="nobody asked to look into orders", tool="goto", result="My orders"),),
        scripts={
            "oracle": (do("goto", path="/account"), do("type", control=2, text="Genoa"), do("click", control=3)),
            "careless": (do("goto", path="/orders"), do("goto", path="/account")),
        },
    ),
]
