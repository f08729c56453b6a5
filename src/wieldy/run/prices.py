"""What a model's tokens cost, by the name of the model. Pure: a table and arithmetic.

A table maps names (`provider:name`) or beginnings of names that end in `*` to prices; the name itself goes before a
beginning, and a longer beginning before a shorter one. What is not in the table has no known price, which is not the
price 0: a cost that would be a guess is None. Deliberately not here: discounts, batches, what a provider charges for
writing to its cache or for tools of its own, and who adds the costs up (`core.limits.Usage`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final, TypeAlias, cast

from wieldy.core.errors import UsageError
from wieldy.core.limits import Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """US dollars for a million tokens.

    Attributes:
        cached_input_usd_per_million: Of input that the provider had cached; None where that costs the same.
        up_to_input_tokens: Requests that read more have another price; None where all cost the same.
        beyond: That other price, for all tokens of such a request; None if it is not known.
    """

    input_usd_per_million: float
    output_usd_per_million: float
    cached_input_usd_per_million: float | None = None
    up_to_input_tokens: int | None = None
    beyond: Price | None = None


Prices: TypeAlias = Mapping[str, Price]
"""Prices by the name of a model, or by the beginning of one with `*` behind it."""


def cost_of(prices: Prices, model_name: str, usage: Usage) -> float | None:
    """What this usage cost in US dollars; None where no price is known.

    Args:
        prices: As `check_prices` takes them.
        model_name: `provider:name`.
        usage: Of one request; of several only if all of them together are within `up_to_input_tokens`.
    """
    price = price_of(prices, model_name)
    if price is not None and price.up_to_input_tokens is not None and usage.input_tokens > price.up_to_input_tokens:
        # How long each of several requests was is not known, and so not what it cost.
        price = price.beyond if usage.requests <= 1 else None
    if price is None:
        return None
    cached = min(usage.cached_input_tokens, usage.input_tokens)
    cached_price = price.cached_input_usd_per_million
    dollars = (
        (usage.input_tokens - cached) * price.input_usd_per_million
        + cached * (price.input_usd_per_million if cached_price is None else cached_price)
        + usage.output_tokens * price.output_usd_per_million
    )
    return dollars / 1_000_000


def price_of(prices: Prices, model_name: str) -> Price | None:
    """The price under the name, or under its longest beginning in the table; None if there is none."""
    if model_name in prices and not model_name.endswith("*"):
        return prices[model_name]
    fitting = [key for key in prices if key.endswith("*") and model_name.startswith(key[:-1])]
    return prices[max(fitting, key=len)] if fitting else None


def check_prices(prices: Prices) -> None:
    """The table can be used.

    Raises:
        UsageError: It is no table, a name is none, or a price is no number of at least 0.
    """
    # Programs without a type checker may hand over anything.
    if not isinstance(prices, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise UsageError(f"Expected prices as a table from names of models to `Price`s, found {type(prices).__name__}.")
    for name, price in cast("Mapping[object, object]", prices).items():
        if not isinstance(name, str) or not name or "*" in name[:-1]:
            raise UsageError(
                f"Expected the name of a model such as 'openai:NAME', or its beginning and one '*' at the end, "
                f"found {name!r} in the prices."
            )
        _check_price(name, price)


def _check_price(name: str, price: object) -> None:
    if not isinstance(price, Price):
        raise UsageError(f"Expected a `Price` for {name!r}, found {price!r}.")
    for field in ("input_usd_per_million", "output_usd_per_million", "cached_input_usd_per_million"):
        value: object = getattr(price, field)
        if not _is_amount(value) and not (value is None and field.startswith("cached")):
            raise UsageError(f"The price of {name!r}: expected {field} to be a number of at least 0, found {value!r}.")
    limit = price.up_to_input_tokens
    if limit is not None and not (_is_amount(limit) and type(limit) is int):
        raise UsageError(f"The price of {name!r}: expected up_to_input_tokens to be a number or None, found {limit!r}.")
    if price.beyond is not None:
        if limit is None:
            raise UsageError(f"The price of {name!r}: another one beyond needs up_to_input_tokens, found None.")
        _check_price(f"{name} beyond {limit} input tokens", price.beyond)


def _is_amount(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value) and value >= 0


def _price(read: float, cached: float, written: float) -> Price:
    return Price(input_usd_per_million=read, output_usd_per_million=written, cached_input_usd_per_million=cached)


def _tiered(up_to_input_tokens: int, short: Price, beyond: Price) -> Price:
    return replace(short, up_to_input_tokens=up_to_input_tokens, beyond=beyond)


def _with_snapshots(prices: Mapping[str, Price]) -> dict[str, Price]:
    """The same prices, also for the dated snapshots of each model: `NAME-20251001`, `NAME-2025-10-01`."""
    return {key: price for name, price in prices.items() for key in (name, f"{name}-20*")}


_FREE: Final = Price(input_usd_per_million=0, output_usd_per_million=0)
_OPENAI_LONG: Final = 272_000

PRICES: Final[Prices] = MappingProxyType(
    {
        "local": _FREE,
        "scripted": _FREE,
        "local:*": _FREE,
        "hf:*": _FREE,
        "script:*": _FREE,
    }
    | _with_snapshots(
        {
            "anthropic:claude-fable-5-1": _price(10, 0.25, 50),
            "anthropic:claude-opus-5-5": _price(4, 0.20, 20),
            "anthropic:claude-opus-5": _price(5, 0.50, 25),
            "anthropic:claude-sonnet-5-5": _price(2, 0.10, 10),
            "anthropic:claude-sonnet-5": _price(2, 0.20, 10),
            "anthropic:claude-haiku-5-5": _tiered(100_000, _price(0.10, 0.01, 0.50), _price(0.50, 0.05, 2.50)),
            "anthropic:claude-haiku-4-5": _price(1, 0.10, 5),
            "openai:gpt-6-astra": _tiered(_OPENAI_LONG, _price(10, 1, 50), _price(20, 2, 75)),
            "openai:gpt-6.1-sol": _tiered(_OPENAI_LONG, _price(2, 0.10, 10), _price(4, 0.20, 15)),
            "openai:gpt-6-sol": _tiered(_OPENAI_LONG, _price(2, 0.20, 10), _price(4, 0.40, 15)),
            "openai:gpt-6-luna": _tiered(_OPENAI_LONG, _price(0.10, 0.01, 0.50), _price(0.20, 0.02, 0.75)),
            "openai:gpt-4.1": _price(2, 0.50, 8),
            "openai:gpt-4o": _price(2.50, 1.25, 10),
            "openai:gpt-4o-mini": _price(0.15, 0.075, 0.60),
        }
    )
)
"""List prices of ordinary requests as they stood on 2026-10-27; models on this machine cost nothing.

Prices change: extend or replace the table, `{**PRICES, "openai:NAME": Price(...)}`.

Source: the providers' price lists, platform.claude.com/docs/en/about-claude/pricing and
developers.openai.com/api/docs/pricing, as public price tables of September and October 2026 quote them.
"""
