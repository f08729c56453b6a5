"""A small shop as tools: what it holds, what can be asked, and what can be changed. Everything in it is computed."""

from __future__ import annotations

from typing import Any

from wieldy import Tool, ToolError, tool

ITEMS = [f"{kind} {number}" for kind in ("lamp", "table", "chair", "shelf", "clock") for number in range(1, 5)]
COUNTRIES = {"NO": (0.085, 0.25, 14), "JP": (0.006, 0.10, 39), "US": (0.92, 0.07, 32), "DE": (1.0, 0.19, 0)}
LOCAL_PRICES = {"NO": 6900.0, "JP": 88000.0, "US": 640.0, "DE": 629.0}
CUSTOMERS = {"John Smith": 11, "Ada Byron": 12, "Grace Hopper": 13}
STATIONS = {"Bergen": "st-50540", "Oslo": "st-18700"}
PAGE = 15


def stock_of(item: str) -> int:
    return 7 * (ITEMS.index(item) + 2) % 31


def price_of(item: str) -> float:
    return 10.5 + 3 * ITEMS.index(item)


def order(number: int) -> dict[str, Any]:
    status = "late" if number % 13 == 0 else "sent"
    return {"id": number, "sum": number * 7 % 1000, "status": status, "region": "NESW"[number * number % 4]}


ORDERS = [order(number) for number in range(700)]
TICKETS = [
    {"id": number, "customer": list(CUSTOMERS)[number % 3], "state": "open" if number % 4 else "closed"}
    for number in range(40)
]


class World:
    """One shop; what was done to it is kept for the judge."""

    def __init__(self) -> None:
        self.reordered: list[tuple[str, int]] = []
        self.closed: list[int] = []
        self._asked_about_export = 0

    def tools(self) -> list[Tool]:
        """Everything that can be done here."""
        reading = [
            self.stock,
            self.price,
            self.orders,
            self.customer,
            self.spent,
            self.carrier,
            self.station,
            self.temperature,
            self.local_price,
            self.rate,
            self.tax_and_shipping,
            self.tickets,
        ]
        return [
            *(tool(effect="read")(method) for method in reading),
            tool(effect="idempotent")(self.start_export),
            # Not `read`: a read is not made again while nothing was changed, and an export goes on by itself.
            tool(effect="idempotent")(self.export_status),
            tool(effect="unsafe")(self.reorder),
            tool(effect="idempotent")(self.close_ticket),
        ]

    def stock(self, item: str) -> int:
        """How many of an item there are."""
        return stock_of(self._known(item))

    def price(self, item: str) -> float:
        """What an item costs, in euros."""
        return price_of(self._known(item))

    def orders(self) -> list[dict[str, Any]]:
        """All orders: id, sum, status (late or sent) and region."""
        return ORDERS

    def customer(self, name: str) -> dict[str, int]:
        """A customer's id and the id of their last order, by the full name."""
        if name not in CUSTOMERS:
            raise ToolError(f"There is no customer {name!r}. Names that are near: 'John Smith'.")
        return {"id": CUSTOMERS[name], "last_order": CUSTOMERS[name] * 3}

    def spent(self, customer_id: int) -> int:
        """What a customer has spent, in euros."""
        return customer_id * 137 % 500

    def carrier(self, order_id: int) -> str:
        """Who carries an order."""
        return ["Post", "Bring", "DHL"][order_id // 3 % 3]

    def station(self, city: str) -> str:
        """The weather station of a city."""
        return STATIONS[city]

    def temperature(self, station: str) -> float:
        """What a weather station measures, in degrees Celsius."""
        return int(station.removeprefix("st-")) % 97 / 4

    def local_price(self, country: str) -> float:
        """What a camera costs in a country, in its currency, without tax."""
        return LOCAL_PRICES[country]

    def rate(self, country: str) -> float:
        """What one unit of a country's currency is in euros."""
        return COUNTRIES[country][0]

    def tax_and_shipping(self, country: str) -> dict[str, float]:
        """The part of the price that is added as tax, and what shipping costs in euros."""
        return {"tax": COUNTRIES[country][1], "shipping": COUNTRIES[country][2]}

    def tickets(self, cursor: int = 0) -> dict[str, Any]:
        """Tickets, page by page: id, customer and state (open or closed); `next` is the next cursor, or null."""
        end = cursor + PAGE
        return {"tickets": TICKETS[cursor:end], "next": end if end < len(TICKETS) else None}

    def start_export(self) -> str:
        """Begins an export of the books; its id."""
        return "export-7"

    def export_status(self, export_id: str) -> dict[str, str | None]:
        """How far an export is: state (running or done), and its file once it is done."""
        self._asked_about_export += 1
        is_done = self._asked_about_export >= 3
        return {"state": "done" if is_done else "running", "file": f"{export_id}.csv" if is_done else None}

    def reorder(self, item: str, count: int) -> str:
        """Orders more of an item."""
        self.reordered.append((self._known(item), count))
        return "ordered"

    def close_ticket(self, ticket_id: int) -> str:
        """Closes a ticket."""
        self.closed.append(ticket_id)
        return "closed"

    def _known(self, item: str) -> str:
        if item not in ITEMS:
            raise ToolError(f"There is no item {item!r}. Items are called like 'lamp 1'.")
        return item
