"""A data set to start from: a dozen small tasks of the kinds that every set of one's own should have.

Law: an oracle passes all of it, and a model that always answers in words passes none but those that want no call.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

_ORDERS: Final = {"17": "shipped", "18": "in the warehouse", "19": "cancelled"}
_PRICES: Final = {"pen": 2.5, "lamp": 40.0, "desk": 180.0}

_TOOLS: Final[tuple[dict[str, Any], ...]] = (
    {
        "name": "order_status",
        "description": "How far an order is.",
        "parameters": {
            "type": "object",
            "properties": {"order_id": {"type": "string", "description": "The order's number."}},
            "required": ["order_id"],
            "additionalProperties": False,
        },
        "results": [{"arguments": {"order_id": name}, "result": status} for name, status in _ORDERS.items()],
    },
    {
        "name": "price",
        "description": "What one piece of an article costs, in euros.",
        "parameters": {
            "type": "object",
            "properties": {"article": {"type": "string", "enum": list(_PRICES), "description": "Which article."}},
            "required": ["article"],
            "additionalProperties": False,
        },
        "results": [{"arguments": {"article": name}, "result": price} for name, price in _PRICES.items()],
    },
    {
        "name": "multiply",
        "description": "The product of two numbers.",
        "parameters": {
            "type": "object",
            "properties": {"a": {"type": "number"}, "b": {"type": "number"}},
            "required": ["a", "b"],
            "additionalProperties": False,
        },
        "results": [
            {"arguments": {"a": 2.5, "b": 12}, "result": 30.0},
            {"arguments": {"a": 12, "b": 2.5}, "result": 30.0},
            {"arguments": {"a": 40, "b": 3}, "result": 120.0},
            {"arguments": {"a": 3, "b": 40}, "result": 120.0},
        ],
    },
)


def _call(name: str, **arguments: Any) -> dict[str, Any]:
    return {"name": name, "arguments": arguments}


def _product(a: float, b: float) -> dict[str, Any]:
    return {"name": "multiply", "alternatives": {"a": [a, b], "b": [b, a]}}


_TASKS: Final[tuple[dict[str, Any], ...]] = (
    {"id": "greeting", "kind": "no call", "prompt": "Hello! Who are you?", "calls": []},
    {"id": "out-of-reach", "kind": "no call", "prompt": "What is the weather in Rome?", "calls": []},
    {
        "id": "status",
        "kind": "one call",
        "prompt": "Where is my order 17?",
        "calls": [_call("order_status", order_id="17")],
        "answer": ["shipped"],
    },
    {
        "id": "status-in-passing",
        "kind": "one call",
        "prompt": "I moved house last week. By the way, how far is order number 18?",
        "calls": [_call("order_status", order_id="18")],
        "answer": ["warehouse"],
    },
    {
        "id": "price",
        "kind": "one call",
        "prompt": "How much is a lamp?",
        "calls": [_call("price", article="lamp")],
        "answer": ["40"],
    },
    {
        "id": "two-orders",
        "kind": "parallel",
        "prompt": "How far are my orders 17 and 19?",
        "calls": [_call("order_status", order_id="17"), _call("order_status", order_id="19")],
        "answer": ["shipped", "cancelled"],
    },
    {
        "id": "order-and-price",
        "kind": "parallel",
        "prompt": "Is order 17 on its way, and what does a desk cost?",
        "calls": [_call("order_status", order_id="17"), _call("price", article="desk")],
        "answer": ["shipped", "180"],
    },
    {
        "id": "dozen-pens",
        "kind": "chain",
        "prompt": "What do 12 pens cost? Look the price up and use the tool to multiply.",
        "calls": [_call("price", article="pen"), _product(2.5, 12)],
        "order": "as listed",
        "answer": ["30"],
    },
    {
        "id": "three-lamps",
        "kind": "chain",
        "prompt": "Three lamps, please: first look up the price, then multiply it with the tool. What is the sum?",
        "calls": [_call("price", article="lamp"), _product(40, 3)],
        "order": "as listed",
        "answer": ["120"],
    },
    {
        "id": "unknown-order",
        "kind": "tool error",
        "prompt": "How far is order 99? If you cannot find it, say that it is unknown.",
        "calls": [_call("order_status", order_id="99")],
        "answer": ["unknown"],
        "tool_errors": True,
    },
    {
        "id": "one-of-two-unknown",
        "kind": "tool error",
        "prompt": "How far are orders 18 and 98? Call one that you cannot find unknown.",
        "calls": [_call("order_status", order_id="18"), _call("order_status", order_id="98")],
        "answer": ["warehouse", "unknown"],
        "tool_errors": True,
    },
)


def template_lines() -> Iterator[str]:
    """The data set as JSON lines, with words about them."""
    yield "// Tools come first: a line each, with what they say to which arguments. Any other arguments are an error."
    yield from (json.dumps({"tool": tool}, ensure_ascii=False) for tool in _TOOLS)
    yield "// Then tasks. `calls` are wanted, none for []; `answer` are texts that the answer must contain."
    yield from (json.dumps(task, ensure_ascii=False) for task in _TASKS)


PYTHON_TEMPLATE: Final = '''"""Tasks of my own: run them with `wieldy eval FILE.py --model ...`."""

from wieldy import ToolError, tool
from wieldy.evals import ExpectedCall, Outcome, Task

STATUS = {"17": "shipped", "18": "in the warehouse"}


@tool(effect="read")
def order_status(order_id: str) -> str:
    """How far an order is.

    Args:
        order_id: The order's number.
    """
    if order_id not in STATUS:
        raise ToolError(f"There is no order {order_id}.")
    return STATUS[order_id]


def says_unknown(outcome: Outcome) -> bool | str:
    """A check of one's own: True if it is as it should be, otherwise a sentence."""
    return "unknown" in outcome.text.lower() or "the answer does not say that the order is unknown"


def status(order_id: str) -> ExpectedCall:
    return ExpectedCall(name="order_status", arguments={"order_id": order_id})


TASKS = [
    Task(id="greeting", kind="no call", prompt="Hello! Who are you?", tools=[order_status], calls=()),
    Task(
        id="status",
        kind="one call",
        prompt="Where is my order 17?",
        tools=[order_status],
        calls=(status("17"),),
        answer=("shipped",),
    ),
    Task(
        id="two-orders",
        kind="parallel",
        prompt="How far are my orders 17 and 18?",
        tools=[order_status],
        calls=(status("17"), status("18")),
        answer=("shipped", "warehouse"),
    ),
    Task(
        id="next-order",
        kind="chain",
        prompt="How far is order 17? When you know, look at order 18 too.",
        tools=[order_status],
        calls=(status("17"), status("18")),
        order="as listed",
        answer=("warehouse",),
    ),
    Task(
        id="unknown-order",
        kind="tool error",
        prompt="How far is order 99? If you cannot find it, say that it is unknown.",
        tools=[order_status],
        calls=(status("99"),),
        answer=("unknown",),
        check=says_unknown,
        tool_errors=True,
    ),
]
'''
