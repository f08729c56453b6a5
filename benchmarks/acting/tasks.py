"""The tasks: what is asked, how a competent model goes about it by calls and by code, and when it has succeeded."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass

from acting.solving import Asked, CallsPlan, CodePlan, data, one
from acting.world import COUNTRIES, CUSTOMERS, ITEMS, LOCAL_PRICES, ORDERS, TICKETS, World, price_of, stock_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One task.

    Attributes:
        kind: What it tries.
        by_calls: The plan of a model that makes calls.
        by_code: That of a model that writes code.
        is_solved: Judges by the answer and by what was done to the world.
    """

    name: str
    kind: str
    prompt: str
    by_calls: Callable[[], CallsPlan]
    by_code: Callable[[], CodePlan]
    is_solved: Callable[[World, str], bool]


def coded(*codes: str) -> Callable[[], CodePlan]:
    """A plan that writes these pieces of code, one a turn, and answers with the value of the last."""

    def plan() -> CodePlan:
        read = ""
        for code in codes:
            read = yield code.strip()
        return read.removeprefix("value: ")

    return plan


def answers(*expected: object) -> Callable[[World, str], bool]:
    """Solved where the answer has all of these, and nothing was changed."""

    def is_solved(world: World, answer: str) -> bool:
        found = re.findall(r"[\w.]+", answer)
        return all(str(each) in found for each in expected) and not world.reordered and not world.closed

    return is_solved


def no_call() -> CallsPlan:
    yield from ()
    return "Paris"


def no_code() -> CodePlan:
    yield from ()
    return "Paris"


def one_call() -> CallsPlan:
    return (yield from one("stock", item="lamp 2"))


def chain() -> CallsPlan:
    found = data((yield from one("customer", name="Ada Byron")))
    return (yield from one("carrier", order_id=found["last_order"]))


def two_services() -> CallsPlan:
    station = yield from one("station", city="Bergen")
    return (yield from one("temperature", station=station))


def fan_out() -> CallsPlan:
    read = yield [("stock", {"item": item}) for item in ITEMS]
    return str(sum(map(int, read)))


def aggregate() -> CallsPlan:
    read = yield [(name, {"item": item}) for item in ITEMS[:8] for name in ("stock", "price")]
    numbers = list(map(float, read))
    return str(sum(stock * price for stock, price in zip(numbers[::2], numbers[1::2], strict=True)))


def filter_large() -> CallsPlan:
    rows = data((yield from one("orders")))
    return json.dumps([row["id"] for row in rows if row["status"] == "late" and row["sum"] > 900])


def group_large() -> CallsPlan:
    sums: dict[str, int] = {}
    for row in data((yield from one("orders"))):
        sums[row["region"]] = sums.get(row["region"], 0) + row["sum"]
    best = max(sums, key=lambda region: sums[region])
    return f"{best}: {sums[best]}"


def branch() -> CallsPlan:
    count = int((yield from one("stock", item="table 4")))
    if count < 20:
        yield [("reorder", {"item": "table 4", "count": 20 - count})]
    return "Done."


def branch_not_taken() -> CallsPlan:
    count = int((yield from one("stock", item="chair 3")))
    if count < 20:
        yield [("reorder", {"item": "chair 3", "count": 20 - count})]
    return "Done."


def recovery() -> CallsPlan:
    read = yield from one("customer", name="Jon Smith")
    if near := re.search(r"near: '([^']+)'", read):
        read = yield from one("customer", name=near[1])
    return (yield from one("spent", customer_id=data(read)["id"]))


def recovery_by_code() -> CodePlan:
    """Without a look at the error first, nobody knows the right name: the second action is written after reading it."""
    read = yield "(await spent((await customer('Jon Smith')).id))"
    if near := re.search(r"near: '([^']+)'", read):
        read = yield f"await spent((await customer({near[1]!r})).id)"
    return read.removeprefix("value: ")


def nested_fan_out() -> CallsPlan:
    names = ("local_price", "rate", "tax_and_shipping")
    asked: list[Asked] = [(name, {"country": country}) for country in COUNTRIES for name in names]
    read = list(map(data, (yield asked)))
    costs: dict[str, float] = {}
    for country, price, rate, more in zip(COUNTRIES, read[::3], read[1::3], read[2::3], strict=True):
        costs[country] = round(price * rate * (1 + more["tax"]) + more["shipping"], 2)
    best = min(costs, key=lambda country: costs[country])
    return f"{best}, {costs[best]}"


def pages() -> CallsPlan:
    count, cursor = 0, 0
    while cursor is not None:
        page = data((yield from one("tickets", cursor=cursor)))
        count += sum(ticket["state"] == "open" for ticket in page["tickets"])
        cursor = page["next"]
    return str(count)


def many_changes() -> CallsPlan:
    mine: list[int] = []
    cursor = 0
    while cursor is not None:
        page = data((yield from one("tickets", cursor=cursor)))
        mine += [each["id"] for each in page["tickets"] if each["customer"] == "Ada Byron" and each["state"] == "open"]
        cursor = page["next"]
    yield [("close_ticket", {"ticket_id": each}) for each in mine]
    return "Done."


def waiting() -> CallsPlan:
    export = yield from one("start_export")
    while True:
        status = data((yield from one("export_status", export_id=export)))
        if status["state"] == "done":
            return status["file"]


def compare() -> CallsPlan:
    names = ["John Smith", "Ada Byron", "Grace Hopper"]
    customers = list(map(data, (yield [("customer", {"name": name}) for name in names])))
    spent = list(map(int, (yield [("spent", {"customer_id": each["id"]}) for each in customers])))
    return names[spent.index(max(spent))]


MINE = sorted(each["id"] for each in TICKETS if each["customer"] == "Ada Byron" and each["state"] == "open")
LATE = [row["id"] for row in ORDERS if row["status"] == "late" and row["sum"] > 900]
SUMS = {region: sum(row["sum"] for row in ORDERS if row["region"] == region) for region in "NESW"}
COSTS = {
    country: round(LOCAL_PRICES[country] * rate * (1 + tax) + shipping, 2)
    for country, (rate, tax, shipping) in COUNTRIES.items()
}
BEST, CHEAPEST = max(SUMS, key=lambda region: SUMS[region]), min(COSTS, key=lambda country: COSTS[country])
RICHEST = max(CUSTOMERS, key=lambda name: CUSTOMERS[name] * 137 % 500)

TASKS = (
    Task(
        name="no_call",
        kind="no call needed",
        prompt="What is the capital of France?",
        by_calls=no_call,
        by_code=no_code,
        is_solved=answers("Paris"),
    ),
    Task(
        name="one_call",
        kind="one call",
        prompt="How many of lamp 2 are there?",
        by_calls=one_call,
        by_code=coded("await stock('lamp 2')"),
        is_solved=answers(stock_of("lamp 2")),
    ),
    Task(
        name="chain",
        kind="chain",
        prompt="Who carries the last order of Ada Byron?",
        by_calls=chain,
        by_code=coded("await carrier((await customer('Ada Byron')).last_order)"),
        is_solved=answers(["Post", "Bring", "DHL"][CUSTOMERS["Ada Byron"] % 3]),
    ),
    Task(
        name="two_services",
        kind="two dependent services",
        prompt="How warm is it in Bergen?",
        by_calls=two_services,
        by_code=coded("await temperature(await station('Bergen'))"),
        is_solved=answers(50540 % 97 / 4),
    ),
    Task(
        name="fan_out",
        kind="fan-out",
        prompt=f"How many items are there in all, of {', '.join(ITEMS)}?",
        by_calls=fan_out,
        by_code=coded(
            "items = [f'{kind} {n}' for kind in ('lamp', 'table', 'chair', 'shelf', 'clock') for n in range(1, 5)]\n"
            "sum(await asyncio.gather(*map(stock, items)))"
        ),
        is_solved=answers(sum(map(stock_of, ITEMS))),
    ),
    Task(
        name="aggregate",
        kind="aggregate",
        prompt=f"What are all of {', '.join(ITEMS[:8])} worth together?",
        by_calls=aggregate,
        by_code=coded(
            "items = [f'{kind} {n}' for kind in ('lamp', 'table') for n in range(1, 5)]\n"
            "counts = await asyncio.gather(*map(stock, items))\n"
            "prices = await asyncio.gather(*map(price, items))\n"
            "sum(count * each for count, each in zip(counts, prices))"
        ),
        is_solved=answers(sum(stock_of(item) * price_of(item) for item in ITEMS[:8])),
    ),
    Task(
        name="filter_large",
        kind="filter a large result",
        prompt="Which late orders are above 900? Give their ids.",
        by_calls=filter_large,
        by_code=coded("[row.id for row in await orders() if row.status == 'late' and row.sum > 900]"),
        is_solved=answers(*LATE),
    ),
    Task(
        name="group_large",
        kind="aggregate a large result",
        prompt="Which region has the highest sum of orders, and which sum?",
        by_calls=group_large,
        by_code=coded(
            "sums = {}\nfor row in await orders():\n    sums[row.region] = sums.get(row.region, 0) + row.sum\n"
            "best = max(sums, key=sums.get)\n[best, sums[best]]"
        ),
        is_solved=answers(BEST, SUMS[BEST]),
    ),
    Task(
        name="branch",
        kind="branch on a result",
        prompt="If there are fewer than 20 of table 4, reorder so that there are 20.",
        by_calls=branch,
        by_code=coded("count = await stock('table 4')\nif count < 20:\n    await reorder('table 4', 20 - count)"),
        is_solved=lambda world, _: world.reordered == [("table 4", 20 - stock_of("table 4"))],
    ),
    Task(
        name="branch_not_taken",
        kind="branch on a result",
        prompt="If there are fewer than 20 of chair 3, reorder so that there are 20.",
        by_calls=branch_not_taken,
        by_code=coded("count = await stock('chair 3')\nif count < 20:\n    await reorder('chair 3', 20 - count)"),
        is_solved=lambda world, _: not world.reordered,
    ),
    Task(
        name="recovery",
        kind="error and recovery",
        prompt="What has Jon Smith spent?",
        by_calls=recovery,
        by_code=recovery_by_code,
        is_solved=answers(CUSTOMERS["John Smith"] * 137 % 500),
    ),
    Task(
        name="nested_fan_out",
        kind="fan-out",
        prompt="In which of NO, JP, US, DE is a camera cheapest with tax and shipping, and what is it in euros?",
        by_calls=nested_fan_out,
        by_code=coded(
            "async def cost(country):\n"
            "    price, euros, more = await asyncio.gather(local_price(country), rate(country), "
            "tax_and_shipping(country))\n"
            "    return round(price * euros * (1 + more.tax) + more.shipping, 2)\n"
            "countries = ['NO', 'JP', 'US', 'DE']\n"
            "costs = dict(zip(countries, await asyncio.gather(*map(cost, countries))))\n"
            "min(costs.items(), key=lambda item: item[1])"
        ),
        is_solved=answers(CHEAPEST, COSTS[CHEAPEST]),
    ),
    Task(
        name="pages",
        kind="pages",
        prompt="How many tickets are open?",
        by_calls=pages,
        by_code=coded(
            "count, cursor = 0, 0\nwhile cursor is not None:\n    page = await tickets(cursor)\n"
            "    count += sum(each.state == 'open' for each in page.tickets)\n    cursor = page.next\ncount"
        ),
        is_solved=answers(sum(each["state"] == "open" for each in TICKETS)),
    ),
    Task(
        name="many_changes",
        kind="many changes",
        prompt="Close all open tickets of Ada Byron.",
        by_calls=many_changes,
        by_code=coded(
            "mine, cursor = [], 0\nwhile cursor is not None:\n    page = await tickets(cursor)\n"
            "    mine += [each.id for each in page.tickets if each.customer == 'Ada Byron' and each.state == 'open']\n"
            "    cursor = page.next\nawait asyncio.gather(*map(close_ticket, mine))\nlen(mine)"
        ),
        is_solved=lambda world, _: sorted(world.closed) == MINE,
    ),
    Task(
        name="waiting",
        kind="chain",
        prompt="Export the books and name the file.",
        by_calls=waiting,
        by_code=coded(
            "export = await start_export()\nwhile (status := await export_status(export)).state != 'done':\n"
            "    await asyncio.sleep(1)\nstatus.file"
        ),
        is_solved=answers("7.csv"),
    ),
    Task(
        name="compare",
        kind="two dependent services",
        prompt="Who has spent most: John Smith, Ada Byron or Grace Hopper?",
        by_calls=compare,
        by_code=coded(
            "names = ['John Smith', 'Ada Byron', 'Grace Hopper']\nfound = await asyncio.gather(*map(customer, names))\n"
            "spent_ = await asyncio.gather(*[spent(each.id) for each in found])\nmax(zip(spent_, names))[1]"
        ),
        is_solved=answers(*RICHEST.split()),
    ),
)
