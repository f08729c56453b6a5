"""Talk to the shop: one question, its calls, its answer.

    python examples/shop "Where is order 14?"
    python examples/shop "Refund order 17." --model local --data my-shop.json

Refunds are asked about before they happen. The data begins as shop.json and is changed elsewhere, so that trying costs
nothing.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from shop import Shop, confirmed_by, tools_of

from wieldy import Agent, careful
from wieldy.core.calls import ToolCall
from wieldy.core.errors import WieldyError

INSTRUCTIONS = (
    "You serve the customers of a small shop. Use the tools; never invent orders or prices. Sums are in dollars."
)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python examples/shop", description="Ask a small shop something.")
    parser.add_argument("question")
    parser.add_argument("--model", default="local", help="a model string, such as http://127.0.0.1:8000/v1#NAME")
    parser.add_argument("--data", type=Path, help="where the shop's data is kept between questions")
    options = parser.parse_args()
    data = options.data or Path(tempfile.mkdtemp(prefix="shop-")) / "shop.json"
    try:
        agent = Agent(
            options.model,
            tools_of(Shop(data)),
            instructions=INSTRUCTIONS,
            policy=careful(),
            approver=confirmed_by(ask),
        )
        result = agent.run_sync(options.question)
    except WieldyError as error:
        sys.exit(str(error))
    for message in result.messages:
        for call in message.calls:
            print(f"  called  {call.name} {call.arguments if isinstance(call, ToolCall) else call.text}")
        if message.result is not None:
            print(f"  result  {message.result.content}")
    print(result.text)
    print(f"(the shop's data: {data})", file=sys.stderr)


def ask(question: str) -> bool:
    """Yes or no from the person at the keyboard; no where nobody is."""
    try:
        return input(f"Allow {question} [y/N] ").strip().casefold() in ("y", "yes")
    except EOFError:
        return False


if __name__ == "__main__":
    main()
