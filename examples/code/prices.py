"""One action instead of sixteen turns: where is a camera cheapest, over four tools and four countries?

    python examples/code/prices.py

All sixteen calls go through the same pipeline as calls that a model makes itself; the model reads one line.
"""

from wieldy import Agent, tool
from wieldy.testing import ScriptedModel, call, text

RATES = {"NO": 0.085, "JP": 0.006, "US": 0.92, "DE": 1.0}
PRICES = {"NO": 6900, "JP": 88000, "US": 640, "DE": 629}
TAXES = {"NO": 0.25, "JP": 0.10, "US": 0.07, "DE": 0.19}
SHIPPING = {"NO": 14, "JP": 39, "US": 32, "DE": 0}

CODE = """
async def cost(country):
    rate, price, tax, shipping = await asyncio.gather(
        get_rate(country), get_price("camera", country), get_tax(country), get_shipping(country)
    )
    return round(price * rate * (1 + tax) + shipping, 2)

countries = ["NO", "JP", "US", "DE"]
costs = dict(zip(countries, await asyncio.gather(*map(cost, countries))))
best = min(costs, key=costs.get)
[best, costs[best]]
"""
MODEL = ScriptedModel(
    lambda messages: [call("python", {"code": CODE})] if messages[-1].role == "user" else [text(messages[-1].text)]
)


@tool(effect="read")
def get_rate(country: str) -> float:
    """What one unit of the country's currency is in euros."""
    return RATES[country]


@tool(effect="read")
def get_price(item: str, country: str) -> float:
    """The price in the country's currency, without tax."""
    return PRICES[country]


@tool(effect="read")
def get_tax(country: str) -> float:
    """The part of the price that is added as tax."""
    return TAXES[country]


@tool(effect="read")
def get_shipping(country: str) -> float:
    """What shipping costs, in euros."""
    return SHIPPING[country]


def main() -> None:
    agent = Agent(MODEL, [get_rate, get_price, get_tax, get_shipping], actions="code")
    result = agent.run_sync("Where is a camera cheapest, tax and shipping included?")
    print(result.text)
    print(f"{result.usage.requests} requests to the model, {result.usage.calls} calls")


if __name__ == "__main__":
    main()
